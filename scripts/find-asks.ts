/**
 * Brings phrases together in src/discovery/data/asks*.json, one action a line: `tsx scripts/find-asks.ts <language> [<file> ...]`.
 * What stands under two actions, or is a query of an evaluation, is left out.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { readAsks } from "../src/discovery/asks.ts";
import { plainly, readQueries } from "./find-cases.ts";

type Asks = Readonly<Record<string, readonly string[]>>;

const [language = "en", ...files] = process.argv.slice(2);
const parts: readonly Asks[] = [readAsks(language), ...files.map((file) => JSON.parse(readFileSync(file, "utf8")) as Asks)];
const queries = readQueries();
const taken = new Set<string>();
const lines = loadActions().flatMap(({ id }) => {
  const phrases = parts
    .flatMap((part) => part[id] ?? [])
    .map((phrase) => phrase.trim().toLowerCase())
    .filter((phrase) => {
      const key = plainly(phrase);
      if (taken.has(key) || queries.has(key)) return false;
      taken.add(key);
      return true;
    });
  return phrases.length > 0 ? [`${JSON.stringify(id)}:${JSON.stringify(phrases)}`] : [];
});
const name = language === "en" ? "asks" : `asks-${language}`;
writeFileSync(new URL(`../src/discovery/data/${name}.json`, import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
