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

/** Latency in milliseconds over all queries and over inputs made to be slow. */
export function latency(finder: Finder, queries: readonly string[]): Readonly<Record<string, Spread>> {
  const time = (query: string) => {
    const at = cpu();
    finder.find(query, { permitted });
    return cpu() - at;
  };
  const prose = "We looked at the dashboards, talked to the vendor and wrote it all down in the minutes, as always. ";
  const long = `${prose.repeat(19)}Now list the failed jobs of the last pipeline.`;
  // As long as its code is not compiled, a find takes a few times as long.
  const warm = (make: () => number, rounds: number) => {
    for (let round = 0; round < 200; round++) make();
    return Array.from({ length: rounds }, make);
  };
  for (const query of queries) time(query);
  const times = Array.from({ length: 5 }, () => queries.map(time)).flat();
  const longs = warm(() => time(long), 400);
  const words = Array.from({ length: 60 }, (_, at) => time(String.fromCharCode(97 + (at % 26)).repeat(at) + "x".repeat(2_000)));
  return {
    "all queries": spread(times),
    [`${long.length} characters of prose`]: spread(longs),
    "one word of 2,000 characters": spread(words),
  };
}
