import { fitOf, type VerbClass, type Wish } from "./intent.ts";
import type { Group, Item } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import { WEIGHTS } from "./weights.ts";

export interface Hit {
  readonly doc: number;
  readonly score: number;
  /** Share of what was said (in the best window) that the action answers. */
  readonly coverage: number;
  /** A destructive action whose verb and resource were both said exactly; true for all others. */
  readonly licensed: boolean;
  /** Terms that matched, for `why`. */
  readonly said: readonly string[];
}

/** What one group gives to each action that it touches. */
interface Reach {
  readonly group: Group;
  readonly docs: readonly { readonly doc: number; readonly gain: number; readonly core: number; readonly term: string }[];
  /** The most that the group can give. */
  readonly most: number;
}

function reachOf(group: Group, index: SearchIndex): Reach {
  const best = new Map<number, { doc: number; gain: number; core: number; term: string }>();
  let most = 0;
  for (const { term, weight } of group.terms) {
    const idf = index.idf(term) * weight * group.weight;
    most = Math.max(most, idf);
    for (const { doc, weight: share } of index.postings.get(term) ?? []) {
      const gain = idf * share;
      const core = (index.docs[doc]?.core.get(term) ?? 0) * weight;
      const known = best.get(doc);
      if (!known || gain > known.gain) best.set(doc, { doc, gain, core: Math.max(core, known?.core ?? 0), term });
      else if (core > known.core) best.set(doc, { ...known, core });
    }
  }
  return { group, docs: [...best.values()], most };
}

interface Window {
  readonly items: readonly Item[];
  readonly weight: number;
}

const contentOf = (items: readonly Item[]) => items.filter((item) => item.group).length;

/** The whole of a short query; clauses and runs of a few words of a long one. */
export function windowsOf(items: readonly Item[]): Window[] {
  const { size, whole } = WEIGHTS.window;
  const windows: Window[] = [];
  const short = contentOf(items) <= size + 2;
  if (short) windows.push({ items, weight: whole });
  if (items.length <= 4) return windows;
  for (const clause of clausesOf(items)) {
    const asked = askedOf(clause);
    if (clause.length <= size + 1) windows.push({ items: clause, weight: (short ? 0.92 : 1) * asked });
    else windows.push(...slide(clause, asked * 0.98));
  }
  if (!short) for (let at = 0; at + 3 <= items.length; at += 2) windows.push({ items: items.slice(at, at + size), weight: 0.9 });
  return windows;
}

/** How much a clause sounds like a wish: it asks politely, or it begins with what is to be done. */
function askedOf(clause: readonly Item[]): number {
  const { cue, imperative, verb } = WEIGHTS.window;
  const polite = clause.some((item) => item.cue) ? cue : 1;
  if (clause[0]?.verbs) return polite * imperative;
  return clause.some((item) => item.verbs) ? polite * verb : polite;
}

function clausesOf(items: readonly Item[]): Item[][] {
  const clauses: Item[][] = [];
  for (const item of items) {
    if (item.start || clauses.length === 0) clauses.push([item]);
    else clauses.at(-1)?.push(item);
  }
  return clauses;
}

/** Runs of a few words; each keeps the verb that was said before it in its clause. */
function slide(clause: readonly Item[], weight: number): Window[] {
  const { size } = WEIGHTS.window;
  const windows: Window[] = [];
  let verb: Item | undefined;
  for (let at = 0; at + 3 <= clause.length; at++) {
    const before = clause[at - 1];
    if (before?.verbs) verb = { verbs: before.verbs, fuzzy: before.fuzzy, start: false, cue: false };
    const run = clause.slice(at, at + size);
    windows.push({ items: verb && !run.some((item) => item.verbs) ? [verb, ...run] : run, weight });
  }
  return windows;
}

function wishOf(items: readonly Item[]): Wish {
  const verbs = new Set(items.flatMap((item) => item.verbs ?? []));
  return { verbs, asks: items.some((item) => item.asks), plural: items.some((item) => item.plural && item.group) };
}

interface Cell {
  gain: number;
  core: number;
  answered: number;
  exactCore: boolean;
  exactVerb: boolean;
  stamp: number;
  said: string[];
}

/** Groups of a window, each meaning once, with the pairs that stand side by side. */
function groupsOf(items: readonly Item[], index: SearchIndex): Group[] {
  const groups: Group[] = [];
  const seen = new Set<string>();
  let last: Group | undefined;
  for (const { group, of } of items) {
    if (!group) continue;
    const head = group.terms[0]?.term ?? "";
    const before = last?.terms[0]?.term;
    last = group;
    if (seen.has(head)) continue;
    seen.add(head);
    groups.push(group);
    const pair = of ? `${head}_${before}` : `${before}_${head}`;
    if (before && index.postings.has(pair))
      groups.push({ terms: [{ term: pair, weight: 1 }], said: "", fuzzy: group.fuzzy, weight: WEIGHTS.pair });
  }
  return groups;
}

const CLASSES: readonly VerbClass[] = ["list", "get", "create", "update", "delete", "act"];
const EFFECTS = ["read", "write", "destructive"] as const;

function fitTable(wish: Wish): Map<string, number> {
  return new Map(CLASSES.flatMap((verb) => EFFECTS.map((effect): [string, number] => [verb + effect, fitOf(verb, effect, wish)])));
}

/** Scores of all actions that any window touches; the best window of each counts. */
export function scoreAll(items: readonly Item[], index: SearchIndex): Hit[] {
  const reaches = new Map<Group, Reach>();
  const best = new Map<number, Hit>();
  const cells = new Map<number, Cell>();
  let stamp = 0;
  for (const window of windowsOf(items)) {
    stamp++;
    const groups = groupsOf(window.items, index);
    const touched: number[] = [];
    let total = 0;
    for (const group of groups) {
      let reach = reaches.get(group);
      if (!reach) {
        reach = reachOf(group, index);
        reaches.set(group, reach);
      }
      if (group.said !== "") total += reach.most;
      for (const { doc, gain, core, term } of reach.docs) {
        let cell = cells.get(doc);
        if (!cell) {
          cell = { gain: 0, core: 0, answered: 0, exactCore: false, exactVerb: false, stamp: 0, said: [] };
          cells.set(doc, cell);
        }
        if (cell.stamp !== stamp) {
          Object.assign(cell, { gain: 0, core: 0, answered: 0, exactCore: false, exactVerb: false, stamp, said: [] });
          touched.push(doc);
        }
        cell.gain += gain;
        cell.core += core;
        if (group.said !== "") cell.answered += gain > 0 ? reach.most * Math.min(1, (2 * gain) / (reach.most || 1)) : 0;
        const isVerb = index.docs[doc]?.verbTerms.has(term) ?? false;
        if (!group.fuzzy && isVerb) cell.exactVerb = true;
        if (!group.fuzzy && core > 0 && !isVerb) cell.exactCore = true;
        if (group.said !== "") cell.said.push(group.said);
      }
    }
    settle(window, touched, cells, total, index, best);
  }
  return [...best.values()].sort((a, b) => b.score - a.score || a.doc - b.doc);
}

/** Turns what a window gathered into scores, and keeps an action's best. */
function settle(
  window: Window,
  touched: readonly number[],
  cells: ReadonlyMap<number, Cell>,
  total: number,
  index: SearchIndex,
  best: Map<number, Hit>,
): void {
  const wish = wishOf(window.items);
  const fits = fitTable(wish);
  const exactDelete = window.items.some((item) => !item.fuzzy && item.verbs?.includes("delete"));
  const exactVerbs = new Set(window.items.filter((item) => !item.fuzzy).flatMap((item) => item.verbs ?? []));
  for (const id of touched) {
    const doc = index.docs[id];
    const cell = cells.get(id);
    if (!doc || !cell) continue;
    const { verb, action } = doc;
    const own = verb.specific && cell.exactVerb;
    const read = wish.asks || ((wish.verbs.has("list") || wish.verbs.has("get")) && !wish.verbs.has("create") && !wish.verbs.has("update"));
    const ownFit = action.effect === "read" || !read ? WEIGHTS.ownVerb : WEIGHTS.ownVerbAsked;
    const fit = own ? ownFit : (fits.get(verb.verb + action.effect) ?? 1);
    const core = Math.min(1, cell.core);
    const coverage = total > 0 ? Math.min(1, cell.answered / total) : 0;
    const answered = WEIGHTS.coverageFloor + (1 - WEIGHTS.coverageFloor) * coverage;
    const score = cell.gain * answered * (WEIGHTS.coreFloor + (1 - WEIGHTS.coreFloor) * core) * fit * doc.prior * window.weight;
    const known = best.get(id);
    if (known && known.score >= score) continue;
    const verbSaid = verb.verb === "delete" ? exactDelete : cell.exactVerb || exactVerbs.has(verb.verb);
    const licensed = action.effect !== "destructive" || (verbSaid && cell.exactCore);
    best.set(id, { doc: id, score, coverage, licensed, said: cell.said });
  }
}
