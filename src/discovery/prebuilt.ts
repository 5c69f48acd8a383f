import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Action } from "../catalog/types.ts";
import type { VerbClass } from "./intent.ts";
import { bitsOf, type Doc, idfOver, kindOf, type Posting, type SearchIndex } from "./search-index.ts";
import { stem } from "./tokenize.ts";
import { WEIGHTS } from "./weights.ts";

/** An index as the build leaves it beside the rows. */
export interface Packed {
  /** Of the rows and weights that it was made from: an index of other rows is never used. */
  readonly key: string;
  readonly words: Readonly<Record<string, number>>;
  /** Actions and their weights in turn, by term. */
  readonly postings: Readonly<Record<string, readonly number[]>>;
  readonly docs: readonly (readonly [
    verb: VerbClass,
    kinds: readonly VerbClass[],
    words: readonly string[],
    specific: boolean,
    terms: readonly string[],
    shares: readonly number[],
    prior: number,
  ])[];
}

/** Changes with anything that the index is made from. */
export const keyOf = (actions: readonly Action[]): string =>
  createHash("sha1").update(JSON.stringify(actions)).update(JSON.stringify(WEIGHTS)).digest("base64");

const EXACT = 1e6;
const rounded = (value: number) => Math.round(value * EXACT) / EXACT;

/** Weights are rounded so that a packed index and a fresh one rank alike to the sixth digit. */
export function pack(index: SearchIndex, key: string): Packed {
  return {
    key,
    words: Object.fromEntries([...index.words].map(([word, { count }]) => [word, count])),
    postings: Object.fromEntries(
      [...index.postings].map(([term, { docs, weights }]) => [term, docs.flatMap((doc, at) => [doc, rounded(weights[at] ?? 0)])]),
    ),
    docs: index.docs.map(({ verb, terms, shares, prior }) => [
      verb.verb,
      verb.kinds,
      verb.words,
      verb.specific,
      terms,
      shares.map(rounded),
      rounded(prior),
    ]),
  };
}

function toPosting(flat: readonly number[]): Posting {
  const docs: number[] = [];
  const weights: number[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    docs.push(flat[at] as number);
    weights.push(flat[at + 1] as number);
  }
  return { docs, weights };
}

export function unpack(packed: Packed, actions: readonly Action[]): SearchIndex {
  const postings = new Map<string, Posting>();
  for (const term of Object.keys(packed.postings)) postings.set(term, toPosting(packed.postings[term] ?? []));
  const words = new Map<string, { readonly count: number }>();
  for (const word of Object.keys(packed.words)) words.set(word, { count: packed.words[word] ?? 0 });
  const docs = actions.flatMap((action, at): Doc[] => {
    const row = packed.docs[at];
    if (!row) return [];
    const [verb, kinds, verbWords, specific, terms, shares, prior] = row;
    const kind = kindOf(verb, action.effect);
    const verbTerms = new Set(verbWords.map(stem));
    return [{ action, verb: { verb, kinds, words: verbWords, specific }, verbTerms, kind, terms, bits: bitsOf(terms), shares, prior }];
  });
  return { docs, postings, words, idf: idfOver(postings, actions.length) };
}

/** The index that was made with the build, if it is there and of these very rows. */
export function readPrebuilt(
  actions: readonly Action[],
  file = new URL("./data/find-index.json", import.meta.url),
): SearchIndex | undefined {
  if (!existsSync(file)) return undefined;
  const packed = JSON.parse(readFileSync(file, "utf8")) as Packed;
  return packed.key === keyOf(actions) ? unpack(packed, actions) : undefined;
}
