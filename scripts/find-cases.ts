import { existsSync, readFileSync } from "node:fs";

export interface Case {
  readonly kind: string;
  readonly lang: string;
  readonly query: string;
  /** Ids that are right; a case without any in the catalog is left out. */
  readonly ids: readonly string[];
}

/** The form in which queries of another author come. */
interface OtherForm {
  readonly q: string;
  readonly want: readonly string[];
  readonly kind: string;
  readonly lang: string;
}

const fileOf = (name: string) => new URL(`../fixtures/find/${name}.json`, import.meta.url);

const toCase = (row: Case | OtherForm): Case => ("q" in row ? { kind: row.kind, lang: row.lang, query: row.q, ids: row.want } : row);

export function readCases(name: string): Case[] {
  const file = fileOf(name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as (Case | OtherForm)[]).map(toCase) : [];
}

export const readGarbled = (): string[] => JSON.parse(readFileSync(fileOf("garbled"), "utf8")) as string[];

/** What people say at work from which a need for an action follows, by its id: to learn from only. */
export const readTales = (): Readonly<Record<string, readonly string[]>> => JSON.parse(readFileSync(fileOf("tales"), "utf8"));

/** The fixed rule of the halves: FNV-1a of the query, odd is held out. */
export function isHeldOut(query: string): boolean {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(query)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return (hash >>> 7) % 2 === 1;
}

/** Files of queries: our own, of outsiders with a tune half too, of three other authors, and stories. */
const SETS = ["queries", "outside", "hard", "blind", "blind-2", "blind-3", "blind-4", "long"] as const;

/** A text as it is compared with another: letters and digits alone. */
export const plainly = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** All queries of all sets, to keep them out of what is learned from. */
export const readQueries = (): ReadonlySet<string> => new Set(SETS.flatMap((name) => readCases(name).map(({ query }) => plainly(query))));
