/** How fast find is and what it keeps, for the report and for the benchmark. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadActions } from "../src/catalog/load.ts";
import { buildIndexes, createEngine } from "../src/discovery/engine.ts";
import { createFinder, type Finder } from "../src/discovery/find.ts";
import { keyOf, pack, unpack } from "../src/discovery/prebuilt.ts";
import { percentile } from "./find-score.ts";

const permitted = () => true;

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

const spread = (times: readonly number[]): Spread => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) });

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Processor time until the index is ready and the first answer is given, and the memory that it keeps. */
export function measureIndex(): {
  readonly finder: Finder;
  readonly readyMs: number;
  readonly firstMs: number;
  readonly megabytes: number;
} {
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

/** A story in which no sentence comes twice: what is said again is judged once. */
const PROSE = `We looked at the dashboards on Monday, talked to the vendor and wrote it all down in the minutes, as always. Nobody was happy
with the numbers, since the new storage is slower than the old one and the invoices grow every month. Martha asked whether the customers in
the north had been told about the outage, and Peter answered that support had sent two mails and a letter. The office in Lyon moves to the
second floor in spring, so whoever needs a desk with a window should say so before Friday. On the technical side the team has replaced half
of the caches, thrown out an old library for dates, and written a small tool that compares two configurations and tells which lines matter.
It was planned for the summer, but the auditors wanted to see it earlier because of the new law, and our lawyers agreed with them for once.
There were questions about the budget of the next quarter: the licences of the editor are more expensive than last year, the machines in the
basement should be sold, and travel is only paid for those who speak at a conference. Sandra will collect what everybody has already booked.
The interviews for the open position went well, two people come back next week to meet the others, and one of them has worked with our
scheduler before. For the anniversary there is a cake at three, and whoever still has photos of the first servers may bring them along. The
coffee machine is broken again; a mechanic comes tomorrow between nine and eleven, please keep the kitchen free. We also spoke about quiet
hours: between ten and twelve no meetings, no calls, and messages are answered when there is time. Some find it strange, most like it, and
we try it until Easter. At the end Lukas showed how the night of the migration went, minute by minute, from the first alarm to the last.`;

const ROUNDS = 5;
const FINDS = 300;

/**
 * Latency in milliseconds by the clock, over all queries and over inputs made to be slow, some hundred finds a round. Of five rounds
 * that with the middle p99 is told, since other work on the machine lengthens single ones. The first round is not counted: as long as
 * its code is not compiled, a find takes a few times as long.
 */
export function latency(finder: Finder, queries: readonly string[]): Readonly<Record<string, Spread>> {
  const time = (query: string) => {
    const at = performance.now();
    finder.find(query, { permitted });
    return performance.now() - at;
  };
  const middle = (textAt: (at: number) => string, finds = FINDS): Spread => {
    let at = 0;
    const round = () => spread(Array.from({ length: finds }, () => time(textAt(at++))));
    round();
    const rounds = Array.from({ length: ROUNDS }, round).sort((a, b) => a.p99 - b.p99);
    return rounds[Math.floor(ROUNDS / 2)] as Spread;
  };
  const long = `${PROSE} Now list the failed jobs of the last pipeline.`;
  return {
    "all queries": middle((at) => queries[at % queries.length] as string, Math.max(FINDS, queries.length)),
    [`${long.length} characters of prose`]: middle(() => long),
    "one word of 2,000 characters": middle((at) => `${at.toString(36)}${"x".repeat(2_000)}`),
  };
}
