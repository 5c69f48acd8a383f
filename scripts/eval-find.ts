import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { loadActions } from "../src/catalog/load.ts";
import type { Action } from "../src/catalog/types.ts";
import { createFinder } from "../src/discovery/find.ts";
import { isHeldOut, readCases } from "./find-cases.ts";

interface Tally {
  n: number;
  one: number;
  five: number;
  mrr: number;
  confident: number;
  sure: number;
}

const share = (part: number, whole: number) => (whole === 0 ? "-" : (part / whole).toFixed(2));
const percentile = (sorted: readonly number[], p: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;

function main(): void {
  const extra = process.env.FIND_ROWS;
  const own = loadActions();
  const known = new Set(own.map(({ id }) => id));
  const more = extra ? (JSON.parse(readFileSync(extra, "utf8")) as Action[]).filter(({ id }) => !known.has(id)) : [];
  const actions: readonly Action[] = [...own, ...more.map((row) => ({ ...row, source: "gitlab" }))];
  const ids = new Set(actions.map(({ id }) => id));
  const show = process.env.FIND_SHOW;
  const finder = createFinder(() => actions);
  const permitted = () => true;
  const started = performance.now();
  finder.find("warm up", { permitted });
  const ready = performance.now() - started;
  const rows = new Map<string, Tally>();
  const times: number[] = [];
  const fresh = process.env.FIND_SET;
  const cases = readCases(fresh ?? "queries").filter((one) => one.ids.some((id) => ids.has(id)));
  for (const one of cases) {
    const half = fresh ?? (isHeldOut(one.query) ? "held-out" : "tune");
    const at = performance.now();
    const answer = finder.find(one.query, { permitted, limit: 20, explain: true });
    times.push(performance.now() - at);
    const rank = answer.results.findIndex(({ action }) => one.ids.includes(action.id)) + 1;
    for (const key of [
      `${half} all`,
      `${half} ${one.lang === "en" ? "en" : "other"}`,
      ...(one.lang === "en" ? [`${half} en ${one.kind}`] : [`${half} other ${one.lang}`]),
    ]) {
      const tally = rows.get(key) ?? { n: 0, one: 0, five: 0, mrr: 0, confident: 0, sure: 0 };
      tally.n++;
      if (rank === 1) tally.one++;
      if (rank > 0 && rank <= 5) tally.five++;
      if (rank > 0) tally.mrr += 1 / rank;
      if (answer.confident) tally.confident++;
      if (answer.confident && rank === 1) tally.sure++;
      rows.set(key, tally);
    }
    if (show && (show === half || show === "all") && rank !== 1)
      console.log(
        `${rank || "-"} [${one.lang} ${one.kind}] ${one.query.slice(0, 90)} -> want ${one.ids[0]}; got ${answer.results
          .slice(0, 3)
          .map(({ action, score, why }) => `${action.id} ${score} (${why?.join(",")})`)
          .join("; ")}`,
      );
  }
  console.log("half and kind            n    @1    @5    MRR   confident  right when confident");
  for (const [key, { n, one, five, mrr, confident, sure }] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(
      key.padEnd(22),
      String(n).padStart(4),
      share(one, n).padStart(6),
      share(five, n).padStart(6),
      (mrr / n).toFixed(2).padStart(6),
      share(confident, n).padStart(8),
      share(sure, confident).padStart(10),
    );
  const garbled = JSON.parse(readFileSync(new URL("../fixtures/find/garbled.json", import.meta.url), "utf8")) as string[];
  const unsafe = garbled.filter((query) => finder.find(query, { permitted }).results[0]?.action.effect === "destructive");
  console.log(`garbled with a destructive action first: ${unsafe.length} of ${garbled.length}`, unsafe);
  const long = `${"We looked at the dashboards, talked to the vendor and wrote it all down in the minutes, as always. ".repeat(19)}Now list the failed jobs of the last pipeline.`;
  for (let round = 0; round < 20; round++)
    for (const query of [...cases.map((one) => one.query), long, long, long, long]) {
      const at = performance.now();
      finder.find(query, { permitted });
      times.push(performance.now() - at);
    }
  const sorted = times.sort((a, b) => a - b);
  const longAt = performance.now();
  for (let round = 0; round < 50; round++) finder.find(long, { permitted });
  const longTime = (performance.now() - longAt) / 50;
  console.log(
    `${actions.length} actions; first answer ${ready.toFixed(1)} ms; find p50 ${percentile(sorted, 0.5).toFixed(2)} ms, p99 ${percentile(sorted, 0.99).toFixed(2)} ms; ${long.length} characters ${longTime.toFixed(2)} ms`,
  );
}

main();
