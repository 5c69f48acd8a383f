/**
 * Measures find and writes docs/find-quality.md.
 * `--misses` prints what the tune half misses (never another set), `--ablation` what each part gains.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import type { Finder } from "../src/discovery/find.ts";
import { ablate } from "./find-ablation.ts";
import { answerer } from "./find-answers.ts";
import { type Case, isHeldOut, readCases, readGarbled } from "./find-cases.ts";
import { type Judged, judge, percentile, type Tally, tallyBy } from "./find-score.ts";
import { latency, measureIndex } from "./find-speed.ts";

const REPORT = new URL("../docs/find-quality.md", import.meta.url);
const permitted = () => true;
const flags = new Set(process.argv.slice(2));

const share = (part: number, whole: number) => (whole === 0 ? "-" : (part / whole).toFixed(2));

const two = (values: readonly number[], high: number, digits = 0) =>
  `${percentile(values, 0.5).toFixed(digits)} / ${percentile(values, high).toFixed(digits)}`;

const line = (name: string, { n, one, five, mrr, confident, sure, text, json, ms }: Tally) =>
  `| ${[name, n, share(one, n), share(five, n), share(mrr, n), share(confident, n), share(sure, confident), two(text, 0.95), two(json, 0.95), two(ms, 0.99, 1)].join(" | ")} |`;

function table(judged: readonly Judged[]): string[] {
  const tallies = tallyBy(judged, ({ lang, kind }) => (lang === "en" ? ["English", `· ${kind}`] : ["other languages", `· ${lang}`]));
  const order = ["English", ...judged.filter(({ case: { lang } }) => lang === "en").map(({ case: { kind } }) => `· ${kind}`)];
  const rest = ["other languages", ...judged.filter(({ case: { lang } }) => lang !== "en").map(({ case: { lang } }) => `· ${lang}`)];
  const names = [...new Set([...order, ...rest])];
  return [
    "| | n | @1 | @5 | MRR | confident | right when confident | text, tokens | JSON, tokens | ms |",
    "|---|---|---|---|---|---|---|---|---|---|",
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
  const { finder, readyMs, firstMs, megabytes } = measureIndex();
  const actions = loadActions();
  const ids = new Set(actions.map(({ id }) => id));
  const known = (cases: readonly Case[]) => cases.filter((one) => one.ids.some((id) => ids.has(id)));
  const own = known(readCases("queries"));
  const outside = known(readCases("outside"));
  const hard = known(readCases("hard"));
  const sets: Record<string, readonly Case[]> = {
    tune: own.filter(({ query }) => !isHeldOut(query)),
    "held-out": own.filter(({ query }) => isHeldOut(query)),
    "outside, tune": outside.filter(({ query }) => !isHeldOut(query)),
    "outside, held-out": outside.filter(({ query }) => isHeldOut(query)),
    blind: known(readCases("blind")),
    "blind 2": known(readCases("blind-2")),
    "blind 3": known(readCases("blind-3")),
    "blind 4": known(readCases("blind-4")),
    "hard, tune": hard.filter(({ query }) => !isHeldOut(query)),
    "hard, held-out": hard.filter(({ query }) => isHeldOut(query)),
    stories: known(readCases("long")),
  };
  const tokensOf = answerer();
  // As long as its code is not compiled, a find takes a few times as long.
  for (const one of own) judge(finder, one);
  const judged: (readonly [string, readonly Judged[]])[] = [];
  for (const [name, cases] of Object.entries(sets)) {
    const list: Judged[] = [];
    for (const one of cases) list.push({ ...judge(finder, one), tokens: await tokensOf(one.query) });
    judged.push([name, list]);
  }
  if (flags.has("--misses")) showMisses(finder, judged[0]?.[1] ?? []);
  const garbled = readGarbled();
  const unsafe = garbled.filter((query) => finder.find(query, { permitted }).results[0]?.action.effect === "destructive");
  const queries = own.map(({ query }) => query);
  const report = [
    "# How well find finds",
    "",
    "Written by `npm run eval:find`. The queries of `queries.json`, `outside.json` and `hard.json` in `fixtures/find/` are split by a fixed",
    "rule (a hash of the query): word lists and weights may be fitted on *tune* only. The author of `queries.json` also wrote the first word",
    "lists, so that *held-out* flatters; those of *outside* and *hard* had seen nothing of find, and chose harder queries: situations that",
    "name neither thing nor deed, long stories, lists of parameters. *Blind* to *blind 4* are of four further authors: nobody who works on",
    "find reads their single queries. The totals of *blind* to *blind 3* were looked at while find was made, those of *blind 4* only at the",
    "end. *Stories* (`long.json`) are long prompts that the ranker was fitted on beside *tune*.",
    "",
    ...judged.filter(([, list]) => list.length > 0).flatMap(([name, list]) => [`## ${name}`, "", ...table(list), ""]),
    "## Safety, size, speed",
    "",
    `- Garbled queries that put a destructive action first: ${unsafe.length} of ${garbled.length}.`,
    "- Tokens of the answer are o200k, median / p95, as the entry tool gives it; milliseconds are by the clock, p50 / p99, each query once.",
    `- ${actions.length} actions; the index that the build leaves is ready after ${readyMs.toFixed(1)} ms of processor time (median), one built on the spot after ${firstMs.toFixed(0)} ms; it keeps ${megabytes.toFixed(1)} MB.`,
    ...Object.entries(latency(finder, queries)).map(
      ([name, { p50, p99 }]) => `- Milliseconds, ${name}, in the middle one of five rounds: p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}.`,
    ),
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
        "The same on the blind set, whose author had other words.",
        "",
        ...ablate(actions, sets.blind ?? []),
        "",
      ].join("\n")
    : lastAblation();
  const text = `${report.join("\n")}${ablation === "" ? "" : `\n${ablation}`}`;
  writeFileSync(REPORT, text);
  console.log(text, unsafe);
}

await main();
