import type { Wish } from "./intent.ts";
import type { Group, Item } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import { WEIGHTS } from "./weights.ts";

/** A part of a query that is judged by itself. */
export interface Window {
  readonly items: readonly Item[];
  readonly weight: number;
}

const contentOf = (items: readonly Item[]) => items.filter((item) => item.group).length;

/** So much was said that most of it is beside the point. */
const STORY = 20;
export const isStory = (items: readonly Item[]): boolean => contentOf(items) > STORY;

/** The whole of a short query; clauses and runs of a few words of a long one. */
export function windowsOf(items: readonly Item[]): Window[] {
  const { size, whole, part } = WEIGHTS.window;
  const windows: Window[] = [];
  const short = contentOf(items) <= size + 2;
  if (short) windows.push({ items, weight: whole });
  if (short && items.length <= 4) return windows;
  const clauses = clausesOf(items);
  const asking = short ? undefined : askingSentences(items);
  const isAside = (clause: readonly Item[]) =>
    asking !== undefined && asking.size > 0 && !clause.some(({ sentence }) => asking.has(sentence ?? -1));
  for (const clause of carryVerbs(clauses)) {
    const asked = askedOf(clause) * (isAside(clause) ? WEIGHTS.window.aside : 1);
    if (clause.length <= size + 1) windows.push({ items: clause, weight: (short ? part : 1) * asked });
    else windows.push(...slide(clause, (short ? part : 1) * asked));
  }
  return windows;
}

/** Numbers of the sentences that ask for something: in so many words or by what they begin with; else the questions. */
function askingSentences(items: readonly Item[]): ReadonlySet<number> {
  const numbers = (isOne: (item: Item, at: number) => boolean) =>
    new Set(items.flatMap((item, at) => (item.sentence !== undefined && isOne(item, at) ? [item.sentence] : [])));
  const wishes = (item: Item) => (item.verbs !== undefined || item.acts === true) && !item.hushed;
  const polite = numbers((item) => item.asked === true);
  const withWish = numbers((item) => polite.has(item.sentence ?? -1) && wishes(item));
  const imperative = numbers((item, at) => wishes(item) && items[at - 1]?.sentence !== item.sentence);
  const asking = new Set([...(withWish.size > 0 ? withWish : polite), ...imperative]);
  return asking.size > 0 ? asking : numbers((item) => item.asks === true);
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

/** A clause without a wish of its own goes on with the one before it. */
function carryVerbs(clauses: readonly Item[][]): readonly Item[][] {
  let verb: Item | undefined;
  return clauses.map((clause) => {
    const own = clause.find((item) => item.verbs || item.acts);
    if (own) verb = own;
    if (own || !verb || clause.some((item) => item.asks)) return clause;
    const { verbs, acts, fuzzy } = verb;
    return [{ ...(verbs ? { verbs } : {}), ...(acts ? { acts } : {}), fuzzy, start: false, cue: false }, ...clause];
  });
}

/** Runs of a few words; each keeps the verb that was said before it in its clause. */
function slide(clause: readonly Item[], weight: number): Window[] {
  const { size } = WEIGHTS.window;
  const windows: Window[] = [];
  let verb: Item | undefined;
  for (let at = 0; at + 3 <= clause.length; at++) {
    const before = clause[at - 1];
    if (before?.verbs && !verb) verb = { verbs: before.verbs, fuzzy: before.fuzzy, start: false, cue: false };
    if (at + size > clause.length && at > 0) break;
    const run = clause.slice(at, at + size);
    windows.push({ items: verb && !run.some((item) => item.verbs) ? [verb, ...run] : run, weight });
  }
  return windows;
}

/** What is to be done, as the window says it. */
export function wishOf(items: readonly Item[]): Wish {
  const verbs = new Set(mainVerbs(items));
  if (verbs.has("list")) verbs.delete("get");
  return {
    verbs,
    asks: items.some((item) => item.asks),
    plural: headOf(items)?.plural === true,
    maybePlural: headOf(items)?.plural === "maybe",
    demands: items.some((item) => item.demands),
  };
}

/** What is to be done is said first; verbs further on tell of the thing (`a hook that posts events`). */
function mainVerbs(items: readonly Item[]): string[] {
  const verbs: string[] = [];
  let things = 0;
  for (const item of items) {
    if (item.start) things = 0;
    if (things < WEIGHTS.window.verbReach) verbs.push(...(item.verbs ?? []), ...(item.acts ? ["act"] : []));
    if (item.group && (verbs.length > 0 || item.of)) things++;
  }
  return verbs;
}

/** The thing that is asked for: the last thing said before `of …`. */
export function headOf(items: readonly Item[]): Item | undefined {
  let head: Item | undefined;
  for (const item of items) {
    if (!item.group || item.group.faint) continue;
    if (head && item.of) break;
    head = item;
  }
  return head;
}

/** With several things asked for, `latest` says in which order, not which one. */
const LATEST = "latest";

/** Groups of a window, each meaning once, and the pairs that stand side by side. */
export function groupsOf(
  items: readonly Item[],
  index: SearchIndex,
): { readonly groups: readonly Group[]; readonly pairs: readonly Group[] } {
  const groups: Group[] = [];
  const pairs: Group[] = [];
  const seen = new Set<string>();
  let last: string | undefined;
  const isMany = headOf(items)?.plural === true;
  for (const { group: said, of } of items) {
    const group = said && isMany && said.terms[0]?.term === LATEST ? { ...said, weight: said.weight * WEIGHTS.latestOfMany } : said;
    const head = group?.terms[0]?.term;
    if (!group || head === undefined) continue;
    const before = last;
    last = head;
    if (seen.has(head)) continue;
    const terms = group.terms.filter(({ term }) => !seen.has(term));
    seen.add(head);
    const weight = group.weight * (groups.length < WEIGHTS.window.near ? 1 : WEIGHTS.window.far);
    groups.push(terms.length === group.terms.length && weight === group.weight ? group : { ...group, terms, weight });
    const pair = of ? `${head}_${before}` : `${before}_${head}`;
    if (before !== undefined && index.postings.has(pair))
      pairs.push({ terms: [{ term: pair, weight: 1 }], said: "", fuzzy: group.fuzzy, weight: WEIGHTS.pair });
  }
  return { groups, pairs };
}
