import { areaOf, deedOf } from "./area.ts";
import { type AskIndex, bagOf, compareAsks, LIKES, likedBy, likest } from "./asks.ts";
import { type Board, clearBoard, makeBoard, touch, type WindowBoard } from "./board.ts";
import { likelihood } from "./classes.ts";
import { fitOf, VERB_CLASSES, type Wish, wishFor } from "./intent.ts";
import { leaningOf, leanOf } from "./lean.ts";
import { add, gathered } from "./pile.ts";
import { VERB } from "./postings.ts";
import type { Group, Item } from "./query.ts";
import { inputsOf, rankScore, topsOf } from "./rank.ts";
import type { Doc, SearchIndex } from "./search-index.ts";
import { LANGUAGES } from "./vocabulary.ts";
import { WEIGHTS } from "./weights.ts";
import { groupsOf, headOf, isStory, type Window, windowsOf, wishOf } from "./windows.ts";

export interface Hit {
  readonly doc: number;
  readonly score: number;
  /** Share of what was said (in the best window) that the action answers. */
  readonly coverage: number;
  /** A destructive action whose verb and resource were both said exactly; true for all others. */
  readonly licensed: boolean;
  /** The window that spoke for it. */
  readonly window?: Window | undefined;
}

type Fillable = { -readonly [K in keyof Hit]: Hit[K] };

/** What one group gives to each action that it touches, side by side in arrays. */
interface Reach {
  readonly docs: number[];
  readonly gains: number[];
  /** Bits of the action's name, said plainly or only by a distant alternative. */
  readonly strong: number[];
  readonly weak: number[];
  readonly isVerb: boolean[];
  /** The most that the group can give. */
  most: number;
}

/** An alternative below this weight only hints at the resource; below the other it says nothing about it. */
const PLAINLY = 0.7;
const HINTS = 0.4;

/** `places` is room for the place of each action in a reach, and is left as it was found: all -1. */
function reachOf(group: Group, index: SearchIndex, places: Int16Array): Reach {
  const reach: Reach = { docs: [], gains: [], strong: [], weak: [], isVerb: [], most: 0 };
  for (const { term, weight } of group.terms) {
    const idf = index.idf(term) * weight * group.weight;
    reach.most = Math.max(reach.most, idf);
    const found = index.postings.get(term);
    for (let place = 0; found && place < found.docs.length; place++) {
      const doc = found.docs[place] as number;
      const bits = found.bits[place] as number;
      let at = places[doc] as number;
      if (at < 0) {
        at = reach.docs.push(doc) - 1;
        places[doc] = at;
        reach.gains.push(0);
        reach.strong.push(0);
        reach.weak.push(0);
        reach.isVerb.push(false);
      }
      reach.gains[at] = Math.max(reach.gains[at] ?? 0, idf * (found.weights[place] as number));
      if (group.faint) continue;
      const named = bits & ~VERB;
      if (weight >= PLAINLY && !group.past) reach.strong[at] = (reach.strong[at] ?? 0) | named;
      else if (weight >= HINTS) reach.weak[at] = (reach.weak[at] ?? 0) | named;
      if (bits & VERB) reach.isVerb[at] = true;
    }
  }
  for (const doc of reach.docs) places[doc] = -1;
  return reach;
}

function gather(board: WindowBoard, reach: Reach, group: Group, stamp: number, isHead: boolean): void {
  const counts = group.said !== "";
  for (let at = 0; at < reach.docs.length; at++) {
    const doc = reach.docs[at] as number;
    const isVerb = reach.isVerb[at] as boolean;
    const gain = (reach.gains[at] as number) * (group.past && isVerb ? WEIGHTS.participle : 1);
    touch(board, doc, stamp);
    board.gain[doc] = (board.gain[doc] as number) + gain;
    if (counts) board.answered[doc] = (board.answered[doc] as number) + Math.min(reach.most, 2 * gain);
    const strong = reach.strong[at] as number;
    const weak = reach.weak[at] as number;
    board.strong[doc] = (board.strong[doc] as number) | strong;
    board.weak[doc] = (board.weak[doc] as number) | weak;
    if (isHead && (strong | weak) !== 0) board.head[doc] = 1;
    if (group.fuzzy || (isVerb && group.past)) continue;
    if (isVerb) board.verb[doc] = 1;
    else board.exact[doc] = (board.exact[doc] as number) | strong | weak;
  }
}

function coreOf(shares: ArrayLike<number>, strong: number, weak: number): number {
  let core = 0;
  for (let bit = 0; bit < shares.length; bit++) {
    const share = shares[bit] as number;
    if (strong & (1 << bit)) core += share;
    else if (weak & (1 << bit)) core += share * WEIGHTS.weakCore;
  }
  return Math.min(1, core);
}

const EFFECTS = ["read", "write", "destructive"] as const;

/** Fit of every class and effect under a wish, by number. */
const fitsOf = (wish: Wish): number[] => VERB_CLASSES.flatMap((verb) => EFFECTS.map((effect) => fitOf(verb, effect, wish)));

/** An action with a verb of its own also answers, a little less, a wish for the plain class that its verb is a kind of. */
function kindFit({ kind, kinds }: Doc, fits: readonly number[], { verbs }: Wish): number {
  let fit = fits[kind] ?? 1;
  if (verbs.size === 0) return fit;
  for (const one of kinds) fit = Math.max(fit, WEIGHTS.intent.kind * (fits[one * EFFECTS.length + (kind % EFFECTS.length)] ?? 0));
  return fit;
}

/** Only reading is wished for. */
function wantsReading({ asks, verbs }: Wish): boolean {
  return asks || ((verbs.has("list") || verbs.has("get")) && !verbs.has("create") && !verbs.has("update"));
}

const DELETE = VERB_CLASSES.indexOf("delete");

/** A window as the actions are judged by it. */
interface Judge {
  readonly window: Window;
  readonly number: number;
  readonly wish: Wish;
  readonly fits: readonly number[];
  /** Parameter names only. */
  readonly isNames: boolean;
  readonly exactVerbs: ReadonlySet<string>;
  readonly reading: boolean;
  /** How likely each kind of doing is meant. */
  readonly lean: Float64Array;
  /** How likely each area is meant. */
  readonly area: Float64Array;
  /** The most that the window could give. */
  readonly total: number;
}

function judgeOf(window: Window, number: number, total: number, terms: readonly string[]): Judge {
  const wish = wishOf(window.items);
  return {
    window,
    number,
    wish,
    fits: fitsOf(wish),
    isNames: window.items.every(({ group }) => group !== undefined && (group.faint || group.terms[0]?.term.startsWith("="))),
    exactVerbs: new Set(window.items.filter((item) => !item.fuzzy).flatMap((item) => item.verbs ?? [])),
    reading: wantsReading(wish),
    lean: leanOf(window.items),
    area: areaOf(terms),
    total,
  };
}

/** Turns what a window gathered for an action into a score, and keeps the action's best. */
function settle(id: number, doc: Doc, judge: Judge, { now, best, like, areas }: Board): void {
  const { wish, total, exactVerbs } = judge;
  const { coreFloor, coverageFloor, ownVerb, ownVerbAsked, asks } = WEIGHTS;
  const { effect } = doc.action;
  const verbSaid = now.verb[id] === 1;
  const ownFit = effect === "read" || !judge.reading ? ownVerb : ownVerbAsked;
  const fit = doc.specific && verbSaid ? ownFit : kindFit(doc, judge.fits, wish);
  const core = coreOf(doc.shares, now.strong[id] as number, now.weak[id] as number);
  const coverage = total > 0 ? Math.min(1, (now.answered[id] as number) / total) : 0;
  const worth = (coverageFloor + (1 - coverageFloor) * coverage) * (coreFloor + (1 - coreFloor) * core);
  const liked = total * asks.add * likest(like.likes, id * LIKES) ** asks.power;
  const score = ((now.gain[id] as number) * worth * fit + liked * fit ** asks.fit) * doc.prior * judge.window.weight;
  best.sum[id] = (best.sum[id] as number) + score;
  if ((best.score[id] as number) >= score) return;
  if ((best.score[id] as number) < 0) add(best.touched, id);
  const said = verbSaid || exactVerbs.has(doc.verb) || (doc.kinds.includes(DELETE) && exactVerbs.has("delete"));
  best.score[id] = score;
  best.core[id] = core;
  best.coverage[id] = coverage;
  best.fit[id] = fit;
  for (let at = id * LIKES; at < id * LIKES + LIKES; at++) best.likes[at] = like.likes[at] as number;
  best.said[id] = (now.strong[id] as number) | (now.weak[id] as number);
  best.asked[id] = wish.asks && effect !== "read" ? 1 : 0;
  best.lean[id] = judge.lean[leaningOf(doc.verb, effect)] as number;
  best.area[id] = likelihood(judge.area, areas[id]);
  best.wish[id] = wishFor(doc.verb, wish);
  best.verb[id] = verbSaid ? 1 : 0;
  best.head[id] = now.head[id] as number;
  best.licensed[id] = effect !== "destructive" || judge.isNames || (said && now.exact[id] !== 0) ? 1 : 0;
  best.window[id] = judge.number;
}

export interface Scorer {
  /** All actions that anything speaks for, best first. Each hit is filled anew by the next query. */
  score(items: readonly Item[]): Hit[];
  /** The same before they are ranked, with what the ranker looks at. For fitting weights. */
  inputs(items: readonly Item[]): { readonly doc: number; readonly inputs: readonly number[] }[];
}

/** Made once for each key. */
function once<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

/** Windows that are judged at most; of a long story those that say the most. */
const MOST_WINDOWS = 4;

/** How much a window could say, at a glance. */
function promiseOf({ items, weight }: Window, index: SearchIndex): number {
  let sum = 0;
  for (const { group } of items) {
    const first = group?.terms[0];
    if (group && first) sum += index.idf(first.term) * first.weight * group.weight;
  }
  return sum * weight;
}

const saidIn = ({ items }: Window) => items.map(({ group, verbs }) => `${group?.said}!${verbs}`).join(" ");

/** The windows of a query, in its order; of many the most promising, and what is said again only once. */
function promising(items: readonly Item[], index: SearchIndex): readonly Window[] {
  const windows = windowsOf(items);
  if (windows.length <= MOST_WINDOWS) return windows;
  const promises = new Map(windows.map((window) => [window, promiseOf(window, index)]));
  const chosen = new Map<string, Window>();
  for (const window of [...windows].sort((a, b) => (promises.get(b) as number) - (promises.get(a) as number))) {
    const said = saidIn(window);
    if (!chosen.has(said)) chosen.set(said, window);
    if (chosen.size === MOST_WINDOWS) break;
  }
  const kept = new Set(chosen.values());
  return windows.filter((window) => kept.has(window));
}

/** Judges every action by every window of a query, on the board. */
function judgeAll(items: readonly Item[], index: SearchIndex, asks: AskIndex, board: Board): readonly Window[] {
  clearBoard(board);
  const reach = once<Group, Reach>((group) => reachOf(group, index, board.places));
  const language = Math.max(0, LANGUAGES.indexOf(items.find((item) => item.language)?.language ?? "en"));
  const windows = promising(items, index);
  const deed = deedOf(items);
  for (let id = 0; id < index.docs.length; id++) board.best.deed[id] = likelihood(deed, board.deeds[id]);
  windows.forEach((window, number) => {
    const said = groupsOf(window.items, index);
    const head = headOf(window.items)?.group?.said;
    board.now.touched.size = 0;
    let total = 0;
    for (const group of said.groups) {
      const one = reach(group);
      total += one.most;
      gather(board.now, one, group, number, group.said === head);
    }
    for (const pair of said.pairs) gather(board.now, reach(pair), pair, number, false);
    const terms = bagOf(window.items);
    compareAsks(terms, language, asks, board.like);
    for (const doc of likedBy(board.like)) touch(board.now, doc, number);
    const judge = judgeOf(window, number, total, [...terms.keys()]);
    for (const id of gathered(board.now.touched)) {
      const doc = index.docs[id];
      if (doc) settle(id, doc, judge, board);
    }
  });
  return windows;
}

export function createScorer(index: SearchIndex, asks: AskIndex): Scorer {
  const board = makeBoard(index.docs, asks);
  const { best } = board;
  // One for each action: made anew for each query, they would be most of what it leaves behind.
  const hits = index.docs.map((_, doc): Fillable => ({ doc, score: 0, coverage: 0, licensed: false, window: undefined }));
  const room: number[] = [];
  return {
    score(items) {
      const windows = judgeAll(items, index, asks, board);
      const tops = topsOf(best);
      const isLong = isStory(items);
      const found = Array.from(gathered(best.touched), (doc) => {
        const hit = hits[doc] as Fillable;
        hit.score = rankScore(inputsOf(doc, index.docs[doc] as Doc, board, tops, isLong, room));
        hit.coverage = best.coverage[doc] as number;
        hit.licensed = best.licensed[doc] === 1;
        hit.window = windows[best.window[doc] as number];
        return hit;
      });
      return found.sort((a, b) => b.score - a.score || a.doc - b.doc);
    },
    inputs(items) {
      judgeAll(items, index, asks, board);
      const tops = topsOf(best);
      const isLong = isStory(items);
      return Array.from(gathered(best.touched), (doc) => ({ doc, inputs: inputsOf(doc, index.docs[doc] as Doc, board, tops, isLong) }));
    },
  };
}

/** The words of the query that spoke for an action. */
export function wordsFor(hit: Hit, index: SearchIndex): string[] {
  const speaks = (term: string) => Array.prototype.includes.call(index.postings.get(term)?.docs ?? [], hit.doc);
  const said = (hit.window?.items ?? []).flatMap(({ group }) => (group?.terms.some(({ term }) => speaks(term)) ? [group.said] : []));
  return [...new Set(said)].filter((word) => word !== "");
}
