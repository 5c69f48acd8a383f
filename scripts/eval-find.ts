/**
 * Measures find and writes docs/find-quality.md.
 * `--misses` prints what the tune half misses (never another set), `--ablation` what each part gains.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadActions } from "../src/catalog/load.ts";
import { buildIndexes, createEngine } from "../src/discovery/engine.ts";
import { createFinder, type Finder } from "../src/discovery/find.ts";
import { keyOf, pack, unpack } from "../src/discovery/prebuilt.ts";
import { ablate } from "./find-ablation.ts";
import { answerTokens } from "./find-answers.ts";
import { type Case, isHeldOut, readCases, readGarbled } from "./find-cases.ts";
import { type Judged, judge, percentile, type Tally, tallyBy } from "./find-score.ts";

const REPORT = new URL("../docs/find-quality.md", import.meta.url);
const permitted = () => true;
const flags = new Set(process.argv.slice(2));

const share = (part: number, whole: number) => (whole === 0 ? "-" : (part / whole).toFixed(2));

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Processor time until the index is ready and the first answer is given, and the memory that it keeps. */
function build(): { readonly finder: Finder; readonly readyMs: number; readonly firstMs: number; readonly megabytes: number } {
  const actions = loadActions();
  const key = keyOf(actions);
  const file = pack(buildIndexes(actions), key);
  const readies = Array.from({ length: 15 }, () => {
    const at = cpu();
    unpack(file, actions, keyOf(actions));
    return cpu() - at;
  });
  const rows = actions.map((action) => ({ ...action }));
  collectGarbage();
  const before = process.memoryUsage();
  const finder = createFinder(() => rows);
  const at = cpu();
  createEngine(rows);
  const firstMs = cpu() - at;
  finder.find("warm up", { permitted });
  collectGarbage();
  const after = process.memoryUsage();
  const megabytes = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20;
  return { finder, readyMs: percentile(readies, 0.5), firstMs, megabytes };
}

/** Processor time, which other work on the machine does not lengthen as it does the clock. */
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Latency in milliseconds over all queries and over inputs made to be slow. */
function latency(finder: Finder, queries: readonly string[]): Readonly<Record<string, string>> {
  const time = (query: string) => {
    const at = cpu();
    finder.find(query, { permitted });
    return cpu() - at;
  };
  const prose = "We looked at the dashboards, talked to the vendor and wrote it all down in the minutes, as always. ";
  const long = `${prose.repeat(19)}Now list the failed jobs of the last pipeline.`;
  for (const query of queries) time(query);
  const times = Array.from({ length: 5 }, () => queries.map(time)).flat();
  const longs = Array.from({ length: 60 }, () => time(long));
  const words = Array.from({ length: 60 }, (_, at) => time(String.fromCharCode(97 + (at % 26)).repeat(at) + "x".repeat(2_000)));
  return {
    "all queries": `p50 ${percentile(times, 0.5).toFixed(2)}, p99 ${percentile(times, 0.99).toFixed(2)}`,
    [`${long.length} characters of prose`]: `p50 ${percentile(longs, 0.5).toFixed(2)}, p99 ${percentile(longs, 0.99).toFixed(2)}`,
    "one word of 2,000 characters": `p50 ${percentile(words, 0.5).toFixed(2)}, p99 ${percentile(words, 0.99).toFixed(2)}`,
  };
}

const line = (name: string, { n, one, five, mrr, confident, sure }: Tally) =>
  `| ${name} | ${n} | ${share(one, n)} | ${share(five, n)} | ${share(mrr, n)} | ${share(confident, n)} | ${share(sure, confident)} |`;

function table(judged: readonly Judged[]): string[] {
  const tallies = tallyBy(judged, ({ lang, kind }) => (lang === "en" ? ["English", `· ${kind}`] : ["other languages", `· ${lang}`]));
  const order = ["English", ...judged.filter(({ case: { lang } }) => lang === "en").map(({ case: { kind } }) => `· ${kind}`)];
  const rest = ["other languages", ...judged.filter(({ case: { lang } }) => lang !== "en").map(({ case: { lang } }) => `· ${lang}`)];
  const names = [...new Set([...order, ...rest])];
  return [
    "| | n | @1 | @5 | MRR | confident | right when confident |",
    "|---|---|---|---|---|---|---|",
    ...names.flatMap((name) => {
      const tally = tallies.get(name);
      return tally ? [line(name, tally)] : [];
    }),
  ];
}

function showMisses(finder: Finder, judged: readonly Judged[]): void {
  for (const { case: one, rank } of judged.filter((miss) => miss.rank !== 1)) {
    const { results } = finder.find(one.query, { permitted, limit: 3, explain: true });
    const got = results.map(({ action, score, why }) => `${action.id} ${score} (${why?.join(",")})`).join("; ");
    console.log(`${rank || "-"} [${one.lang} ${one.kind}] ${one.query.slice(0, 90)} -> want ${one.ids[0]}; got ${got}`);
  }
}

const ABLATION = "## What each part gains";

/** The table of the last run with `--ablation`, which takes longer. */
function lastAblation(): string {
  const text = existsSync(REPORT) ? readFileSync(REPORT, "utf8") : "";
  const at = text.indexOf(ABLATION);
  return at < 0 ? "" : text.slice(at);
}

async function main(): Promise<void> {
  const { finder, readyMs, firstMs, megabytes } = build();
  const actions = loadActions();
  const ids = new Set(actions.map(({ id }) => id));
  const known = (cases: readonly Case[]) => cases.filter((one) => one.ids.some((id) => ids.has(id)));
  const own = known(readCases("queries"));
  const sets: Record<string, readonly Case[]> = {
    tune: own.filter(({ query }) => !isHeldOut(query)),
    "held-out": own.filter(({ query }) => isHeldOut(query)),
    blind: known(readCases("blind")),
    stories: known(readCases("long")),
  };
  const judged = Object.entries(sets).map(([name, cases]) => [name, cases.map((one) => judge(finder, one))] as const);
  if (flags.has("--misses")) showMisses(finder, judged[0]?.[1] ?? []);
  const garbled = readGarbled();
  const unsafe = garbled.filter((query) => finder.find(query, { permitted }).results[0]?.action.effect === "destructive");
  const queries = own.map(({ query }) => query);
  const report = [
    "# How well find finds",
    "",
    "Written by `npm run eval:find`. The queries of `fixtures/find/queries.json` are split by a fixed rule (a hash of the query): word lists",
    "and weights may be fitted on *tune* only. Both halves come from one author, who also wrote the word lists, so *held-out* flatters.",
    "*Blind* (`blind.json`) was written by another author who saw neither; nobody who works on find reads its single queries. *Stories*",
    "(`long.json`) are long prompts that the ranker was fitted on beside *tune*.",
    "",
    ...judged.filter(([, list]) => list.length > 0).flatMap(([name, list]) => [`## ${name}`, "", ...table(list), ""]),
    "## Safety, size, speed",
    "",
    `- Garbled queries that put a destructive action first: ${unsafe.length} of ${garbled.length}.`,
    `- Tokens of the answer (o200k): ${Object.entries(await answerTokens(queries))
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}.`,
    `- ${actions.length} actions; the index that the build leaves is ready after ${readyMs.toFixed(1)} ms of processor time (median), one built on the spot after ${firstMs.toFixed(0)} ms; it keeps ${megabytes.toFixed(1)} MB.`,
    ...Object.entries(latency(finder, queries)).map(([name, value]) => `- Milliseconds of processor time, ${name}: ${value}.`),
    "",
  ];
  const ablation = flags.has("--ablation")
    ? [
        ABLATION,
        "",
        "Held-out half; one part switched off at a time (`npm run eval:find -- --ablation`).",
        "",
        ...ablate(actions, sets["held-out"] ?? []),
        "",
      ].join("\n")
    : lastAblation();
  const text = `${report.join("\n")}${ablation === "" ? "" : `\n${ablation}`}`;
  writeFileSync(REPORT, text);
  console.log(text, unsafe);
}

await main();
