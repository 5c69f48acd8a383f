import { readFileSync } from "node:fs";

export interface Case {
  readonly kind: string;
  readonly lang: string;
  readonly query: string;
  /** Ids that are right; a case without any in the catalog is left out. */
  readonly ids: readonly string[];
}

export const readCases = (name: string): Case[] =>
  JSON.parse(readFileSync(new URL(`../fixtures/find/${name}.json`, import.meta.url), "utf8")) as Case[];

/** The fixed rule of the halves: FNV-1a of the query, odd is held out. */
export function isHeldOut(query: string): boolean {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(query)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return (hash >>> 7) % 2 === 1;
}
