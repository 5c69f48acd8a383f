import { fitOf, VERB_CLASSES, type Wish } from "./intent.ts";
import type { Group, Item } from "./query.ts";
import type { Doc, Posting, SearchIndex } from "./search-index.ts";
import { WEIGHTS } from "./weights.ts";
import { groupsOf, type Window, windowsOf, wishOf } from "./windows.ts";

export interface Hit {
  readonly doc: number;
  readonly score: number;
  /** Share of what was said (in the best window) that the action answers. */
  readonly coverage: number;
  /** A destructive action whose verb and resource were both said exactly; true for all others. */
  readonly licensed: boolean;
  /** The window that spoke for it. */
  readonly window?: Window;
}

/** What one group gives to each action that it touches, side by side in arrays. */
interface Reach {
  readonly docs: readonly number[];
  readonly gains: readonly number[];
  /** Bits of the action's core terms, said plainly or only by a distant alternative. */
  readonly strong: readonly number[];
  readonly weak: readonly number[];
  readonly isVerb: readonly boolean[];
  /** The most that the group can give. */
  readonly most: number;
}

/** An alternative below this weight only hints at the resource; below the other it says nothing about it. */
const PLAINLY = 0.7;
const HINTS = 0.4;

const NOWHERE: Posting = { docs: [], weights: [] };

function reachOf(group: Group, index: SearchIndex): Reach {
  const places = new Map<number, number>();
  const reach = {
    docs: [] as number[],
    gains: [] as number[],
    strong: [] as number[],
    weak: [] as number[],
    isVerb: [] as boolean[],
    most: 0,
  };
  for (const { term, weight } of group.terms) {
    const idf = index.idf(term) * weight * group.weight;
    reach.most = Math.max(reach.most, idf);
    const { docs, weights } = index.postings.get(term) ?? NOWHERE;
    for (let place = 0; place < docs.length; place++) {
      const doc = docs[place] as number;
      const share = weights[place] as number;
      const known = index.docs[doc];
      const bit = known?.bits.get(term) ?? 0;
      let at = places.get(doc);
      if (at === undefined) {
        at = reach.docs.push(doc) - 1;
        places.set(doc, at);
        reach.gains.push(0);
        reach.strong.push(0);
        reach.weak.push(0);
        reach.isVerb.push(false);
      }
      reach.gains[at] = Math.max(reach.gains[at] ?? 0, idf * share);
      if (group.faint) continue;
      if (weight >= PLAINLY && !group.past) reach.strong[at] = (reach.strong[at] ?? 0) | bit;
      else if (weight >= HINTS) reach.weak[at] = (reach.weak[at] ?? 0) | bit;
      if (known?.verbTerms.has(term)) reach.isVerb[at] = true;
    }
  }
  return reach;
}

/** What a window gathered for each action; reused from window to window. */
interface Board {
  readonly gain: Float64Array;
  readonly answered: Float64Array;
  readonly strong: Int32Array;
  readonly weak: Int32Array;
  readonly exact: Int32Array;
  readonly verb: Uint8Array;
  readonly stamp: Int32Array;
}

const makeBoard = (size: number): Board => ({
  gain: new Float64Array(size),
  answered: new Float64Array(size),
  strong: new Int32Array(size),
  weak: new Int32Array(size),
  exact: new Int32Array(size),
  verb: new Uint8Array(size),
  stamp: new Int32Array(size),
});

function gather(board: Board, reach: Reach, group: Group, stamp: number, touched: number[]): void {
  const counts = group.said !== "";
  for (let at = 0; at < reach.docs.length; at++) {
    const doc = reach.docs[at] as number;
    const gain = (reach.gains[at] as number) * (group.past && reach.isVerb[at] ? WEIGHTS.participle : 1);
    if (board.stamp[doc] !== stamp) {
      board.stamp[doc] = stamp;
      board.gain[doc] = board.answered[doc] = board.strong[doc] = board.weak[doc] = board.exact[doc] = board.verb[doc] = 0;
      touched.push(doc);
    }
    board.gain[doc] = (board.gain[doc] as number) + gain;
    if (counts) board.answered[doc] = (board.answered[doc] as number) + Math.min(reach.most, 2 * gain);
    const strong = reach.strong[at] as number;
    const weak = reach.weak[at] as number;
    board.strong[doc] = (board.strong[doc] as number) | strong;
    board.weak[doc] = (board.weak[doc] as number) | weak;
    if (group.fuzzy) continue;
    if (reach.isVerb[at] && group.past) continue;
    if (reach.isVerb[at]) board.verb[doc] = 1;
    else board.exact[doc] = (board.exact[doc] as number) | strong | weak;
  }
}

function coreOf(shares: readonly number[], strong: number, weak: number): number {
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
function kindFit({ kind, verb }: Doc, fits: readonly number[], { verbs }: Wish): number {
  let fit = fits[kind] ?? 1;
  if (verbs.size === 0) return fit;
  for (const one of verb.kinds)
    fit = Math.max(fit, WEIGHTS.intent.kind * (fits[VERB_CLASSES.indexOf(one) * EFFECTS.length + (kind % EFFECTS.length)] ?? 0));
  return fit;
}

/** Only reading is wished for. */
function wantsReading({ asks, verbs }: Wish): boolean {
  return asks || ((verbs.has("list") || verbs.has("get")) && !verbs.has("create") && !verbs.has("update"));
}

/** Turns what a window gathered into scores, and keeps an action's best. */
function settle(window: Window, touched: readonly number[], board: Board, total: number, index: SearchIndex, best: Map<number, Hit>): void {
  const wish = wishOf(window.items);
  const fits = fitsOf(wish);
  const isNames = window.items.every(({ group }) => group !== undefined && (group.faint || group.terms[0]?.term.startsWith("=")));
  const exactVerbs = new Set(window.items.filter((item) => !item.fuzzy).flatMap((item) => item.verbs ?? []));
  const reading = wantsReading(wish);
  const { coreFloor, coverageFloor, ownVerb, ownVerbAsked } = WEIGHTS;
  for (const id of touched) {
    const doc = index.docs[id];
    if (!doc) continue;
    const { effect } = doc.action;
    const verbSaid = board.verb[id] === 1;
    const ownFit = effect === "read" || !reading ? ownVerb : ownVerbAsked;
    const fit = doc.verb.specific && verbSaid ? ownFit : kindFit(doc, fits, wish);
    const core = coreOf(doc.shares, board.strong[id] ?? 0, board.weak[id] ?? 0);
    const coverage = total > 0 ? Math.min(1, (board.answered[id] ?? 0) / total) : 0;
    const worth = (coverageFloor + (1 - coverageFloor) * coverage) * (coreFloor + (1 - coreFloor) * core);
    const score = (board.gain[id] ?? 0) * worth * fit * doc.prior * window.weight;
    const known = best.get(id);
    if (known && known.score >= score) continue;
    const said = verbSaid || exactVerbs.has(doc.verb.verb) || (doc.verb.kinds.includes("delete") && exactVerbs.has("delete"));
    const licensed = effect !== "destructive" || isNames || (said && (board.exact[id] ?? 0) !== 0);
    best.set(id, { doc: id, score, coverage, licensed, window });
  }
}

/** Scores of all actions that any window touches; the best window of each counts. */
export function scoreAll(items: readonly Item[], index: SearchIndex): Hit[] {
  const reaches = new Map<string, Reach>();
  const reach = (group: Group): Reach => {
    const key = `${group.weight} ${group.terms.map(({ term, weight }) => term + weight).join(" ")}`;
    const known = reaches.get(key) ?? reachOf(group, index);
    reaches.set(key, known);
    return known;
  };
  const best = new Map<number, Hit>();
  const board = makeBoard(index.docs.length);
  let stamp = 0;
  for (const window of windowsOf(items)) {
    stamp++;
    const { groups, pairs } = groupsOf(window.items, index);
    const touched: number[] = [];
    let total = 0;
    for (const group of groups) {
      const one = reach(group);
      total += one.most;
      gather(board, one, group, stamp, touched);
    }
    for (const pair of pairs) gather(board, reach(pair), pair, stamp, touched);
    settle(window, touched, board, total, index, best);
  }
  return [...best.values()].sort((a, b) => b.score - a.score || a.doc - b.doc);
}

/** The words of the query that spoke for an action. */
export function wordsFor(hit: Hit, index: SearchIndex): string[] {
  const said = (hit.window?.items ?? []).flatMap(({ group }) =>
    group?.terms.some(({ term }) => index.postings.get(term)?.docs.includes(hit.doc)) ? [group.said] : [],
  );
  return [...new Set(said)].filter((word) => word !== "");
}
