/** Prints what the built rows cost a process that has read nothing yet: `node --expose-gc --import tsx scripts/bench-rows.ts`. */
import { readFileSync } from "node:fs";
import { unpackRows } from "../src/catalog/packed.ts";

const collect = globalThis.gc as () => void;
collect();
const before = process.memoryUsage().heapUsed;
const began = performance.now();
const rows = unpackRows(readFileSync("dist/data/rows.json", "latin1"));
const ms = performance.now() - began;
collect();
console.log(JSON.stringify({ ms, mb: (process.memoryUsage().heapUsed - before) / 1e6, rows: rows.length }));
