/** Brings phrases together in src/discovery/data/asks.json, one action a line: `tsx scripts/find-asks.ts <folder of JSON files>`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadActions } from "../src/catalog/load.ts";

type Asks = Record<string, readonly string[]>;

const FILE = new URL("../src/discovery/data/asks.json", import.meta.url);
const read = (file: string | URL) => JSON.parse(readFileSync(file, "utf8")) as Asks;

const folder = process.argv[2];
const parts = folder === undefined ? [] : readdirSync(folder).map((name) => read(join(folder, name)));
const all: Asks = Object.assign(read(FILE), ...parts);
const taken = new Set<string>();
const lines = loadActions().flatMap(({ id }) => {
  const phrases = (all[id] ?? []).map((phrase) => phrase.trim().toLowerCase()).filter((phrase) => !taken.has(phrase));
  for (const phrase of phrases) taken.add(phrase);
  return phrases.length > 0 ? [`${JSON.stringify(id)}:${JSON.stringify(phrases)}`] : [];
});
writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
