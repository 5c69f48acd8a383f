import { readFileSync } from "node:fs";
import type { Action } from "../catalog/types.ts";
import type { Container, Part } from "./container.ts";
import { add, gathered, makePile, type Pile } from "./pile.ts";
import { createPostings, type Flat, flatten, type Postings, packFlat, unpackFlat } from "./postings.ts";
import { type Item, parseQuery } from "./query.ts";
import { remember } from "./remember.ts";
import type { Lexicon } from "./translate.ts";
import { LANGUAGES } from "./vocabulary.ts";
import { WEIGHTS } from "./weights.ts";

type Asks = Readonly<Record<string, readonly string[]>>;

const asks = new Map<string, Asks>();

/** How people ask for actions at work, in a language: id → phrases. */
export function readAsks(language = "en"): Asks {
  const known = asks.get(language);
  if (known) return known;
  const name = language === "en" ? "asks" : `asks-${language}`;
  const read = JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), "utf8")) as Asks;
  asks.set(language, read);
  return read;
}

/** Where a phrase of an action comes from. */
export const TITLE = 0;
export const KEYWORD = 1;
export const ASK = 2;

/** The best likeness by source, and the second best of the asks. */
export const SECOND = 3;
export const LIKES = 4;

export interface Phrase {
  readonly doc: number;
  readonly source: number;
  /** Its place among LANGUAGES; English is the first. */
  readonly language: number;
  readonly text: string;
}

/** Phrases that stand for an action as a whole: its title, its keywords, and how people ask for it. From one action on. */
export function phrasesOf(actions: readonly Action[], from = 0): Phrase[] {
  // Those that join others later are tools of other servers, of which no phrases are known.
  const all = from > 0 ? [] : LANGUAGES.map((language) => readAsks(language));
  return actions.slice(from).flatMap(({ id, title, keywords = [] }, at) => {
    const doc = from + at;
    return [
      { doc, source: TITLE, language: 0, text: title },
      ...keywords.map((text) => ({ doc, source: KEYWORD, language: 0, text })),
      ...all.flatMap((one, language) => (one[id] ?? []).map((text) => ({ doc, source: ASK, language, text }))),
    ];
  });
}

/** Phrases by the terms in them; each phrase is judged by itself, so that no action gathers words. */
export interface AskIndex {
  readonly postings: Postings;
  /** By phrase: its action, its source, its language, and its length as a vector. */
  readonly docs: Uint16Array;
  readonly sources: Uint8Array;
  readonly languages: Uint8Array;
  readonly norms: Float32Array;
  readonly flat: Flat;
}

/** Terms, each with its greatest weight. */
export type Bag = ReadonlyMap<string, number>;

const asSaid = remember((word) => `~${word}`);
const asVerb = remember((verb) => `!${verb}`);

/** What the steps of a query say, in words as they were said and in canonical ones. */
export function bagOf(items: readonly Item[]): Bag {
  const { raw: plain, verb, question, canonical } = WEIGHTS.asks;
  const bag = new Map<string, number>();
  const put = (term: string, weight: number) => {
    if (weight > (bag.get(term) ?? 0)) bag.set(term, weight);
  };
  for (const { raw, group, verbs, asks: asking } of items) {
    if (raw) for (const word of raw) put(asSaid(word), plain);
    if (group)
      for (const { term, weight } of group.terms) if (!term.startsWith("=")) put(term, canonical * weight * Math.min(1, group.weight));
    if (verbs) for (const one of verbs) put(asVerb(one), verb);
    if (asking) put("?", question);
  }
  return bag;
}

const idfs = new Map<number, number>();

/** How telling a term is that stands in so many of so many phrases. */
function idfOf(phrases: number, count: number): number {
  const key = phrases * 65_536 + count;
  const known = idfs.get(key);
  if (known !== undefined) return known;
  const idf = Math.log(1 + phrases / Math.max(count, 1)) ** WEIGHTS.asks.idfPower;
  if (idfs.size < 5_000) idfs.set(key, idf);
  return idf;
}

/** Phrases of the first actions, read before: the others join them, in a fifth of the time that all would take. */
export interface ReadyAsks {
  readonly asks: AskIndex;
  readonly actions: number;
}

const toLists = ({ terms, starts, docs, weights }: Flat): Map<string, { docs: number[]; weights: number[] }> =>
  new Map(
    terms.map((term, at) => {
      const [from, to] = [starts[at], starts[at + 1]];
      return [term, { docs: [...docs.subarray(from, to)], weights: [...weights.subarray(from, to)] }];
    }),
  );

export function buildAsks(actions: readonly Action[], lexicon: Lexicon, ready?: ReadyAsks): AskIndex {
  const phrases = phrasesOf(actions, ready?.actions);
  const before = ready?.asks.docs.length ?? 0;
  const lists = ready ? toLists(ready.asks.flat) : new Map<string, { docs: number[]; weights: number[] }>();
  const bags = phrases.map(({ text }) => bagOf(parseQuery(text, lexicon, false)));
  bags.forEach((bag, at) => {
    for (const [term, weight] of bag) {
      const list = lists.get(term) ?? { docs: [], weights: [] };
      lists.set(term, list);
      list.docs.push(before + at);
      list.weights.push(weight);
    }
  });
  const count = before + phrases.length;
  const lengthOf = (bag: Bag) =>
    Math.hypot(...[...bag].map(([term, weight]) => weight * idfOf(count, lists.get(term)?.docs.length ?? 0))) || 1;
  const flat = flatten(lists);
  return {
    postings: createPostings(flat),
    docs: Uint16Array.from([...(ready?.asks.docs ?? []), ...phrases.map(({ doc }) => doc)]),
    sources: Uint8Array.from([...(ready?.asks.sources ?? []), ...phrases.map(({ source }) => source)]),
    languages: Uint8Array.from([...(ready?.asks.languages ?? []), ...phrases.map(({ language }) => language)]),
    // Of those before, as they were: a few phrases more hardly change how telling a term is.
    norms: Float32Array.from([...(ready?.asks.norms ?? []), ...bags.map(lengthOf)]),
    flat,
  };
}

export const packAsks = ({ flat, docs, sources, languages, norms }: AskIndex): Record<string, Part> => ({
  ...packFlat("asks", flat),
  "asks.of": docs,
  "asks.sources": sources,
  "asks.languages": languages,
  "asks.norms": norms,
});

export function unpackAsks(file: Container): AskIndex {
  const flat = unpackFlat("asks", file);
  const postings = createPostings(flat);
  return {
    postings,
    docs: file.numbers("asks.of"),
    sources: file.numbers("asks.sources"),
    languages: file.numbers("asks.languages"),
    norms: file.numbers("asks.norms"),
    flat,
  };
}

/** What was found of each phrase and each action; reused from window to window. */
export interface LikeBoard {
  readonly sums: Float32Array;
  readonly touched: Pile;
  /** By action: four likenesses, 0 to 1. */
  readonly likes: Float32Array;
  /** Actions with any. */
  readonly docs: Pile;
}

export const makeLikeBoard = (index: AskIndex, actions: number): LikeBoard => ({
  sums: new Float32Array(index.docs.length),
  touched: makePile(index.docs.length),
  likes: new Float32Array(actions * LIKES),
  docs: makePile(actions),
});

function clear(board: LikeBoard): void {
  board.sums.fill(0);
  board.likes.fill(0);
  board.touched.size = board.docs.size = 0;
}

function note(board: LikeBoard, doc: number, source: number, like: number): void {
  const { likes } = board;
  const at = doc * LIKES;
  if (likes[at] === 0 && likes[at + KEYWORD] === 0 && likes[at + ASK] === 0) add(board.docs, doc);
  if (like > (likes[at + source] as number)) {
    if (source === ASK) likes[at + SECOND] = likes[at + ASK] as number;
    likes[at + source] = like;
  } else if (source === ASK && like > (likes[at + SECOND] as number)) likes[at + SECOND] = like;
}

/** The best of an action's likenesses, which begin at a place. */
export function likest(likes: Float32Array, at: number): number {
  return Math.max(likes[at] as number, likes[at + KEYWORD] as number, likes[at + ASK] as number);
}

/** What is less like than this says nothing of an action that nothing else speaks for, and what is less than half as like nothing at all. */
const FAINT = 0.2;
const TINY = FAINT / 2;

/** Actions that their phrases alone speak for. */
export const likedBy = ({ docs, likes }: LikeBoard): Uint16Array => gathered(docs).filter((doc) => likest(likes, doc * LIKES) >= FAINT);

/** What more phrases than this share have tells them apart too little for the time that it takes. */
const COMMON = 0.05;

/**
 * Writes on the board how like the phrases of each action are to a bag of terms (the cosine): those of its own language and the English
 * ones. Others, led to English by lists of their own, would only disturb.
 */
export function compareAsks(bag: Bag, language: number, index: AskIndex, board: LikeBoard): void {
  clear(board);
  const { postings, docs, sources, languages, norms } = index;
  let norm = 0;
  for (const [term, weight] of bag) {
    const count = postings.count(term);
    const idf = idfOf(docs.length, count) * (count === 0 ? WEIGHTS.asks.stranger : 1);
    norm += (weight * idf) ** 2;
    const found = count === 0 || count > docs.length * COMMON ? undefined : postings.get(term);
    if (!found) continue;
    const gain = weight * idf * idf;
    for (let at = 0; at < found.docs.length; at++) {
      const phrase = found.docs[at] as number;
      if (board.sums[phrase] === 0) add(board.touched, phrase);
      board.sums[phrase] = (board.sums[phrase] as number) + gain * (found.weights[at] as number);
    }
  }
  const own = Math.sqrt(norm) || 1;
  for (const phrase of gathered(board.touched)) {
    const like = (board.sums[phrase] as number) / (own * (norms[phrase] as number));
    const spoken = languages[phrase] as number;
    if (like < TINY || (spoken !== 0 && spoken !== language)) continue;
    note(board, docs[phrase] as number, sources[phrase] as number, like);
  }
}
