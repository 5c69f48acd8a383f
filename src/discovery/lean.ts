import type { Effect } from "../catalog/types.ts";
import { classesOf, likely } from "./classes.ts";
import type { VerbClass } from "./intent.ts";
import type { Item } from "./query.ts";

/** What may be done with a thing; verbs of their own apart by whether they only read. */
export const LEANINGS = ["list", "get", "create", "update", "delete", "read", "act"] as const;

export const leaningOf = (verb: VerbClass, effect: Effect): number =>
  LEANINGS.indexOf(verb === "act" ? (effect === "read" ? "read" : "act") : verb);

/** Words as they were said, in their order with the small ones between them, each after the one before it. */
export function pairsOf(items: readonly Item[]): string[] {
  let before = "^";
  return items.flatMap(({ small = [], raw = [] }) =>
    [...small, ...raw].map((word) => {
      const pair = `${before} ${word}`;
      before = word;
      return pair;
    }),
  );
}

/** What tells of the doing: words in their order with the small ones between them, verbs that are known, questions, several. */
export function marksOf(items: readonly Item[]): Set<string> {
  const marks = new Set<string>([".", ...pairsOf(items)]);
  for (const { small = [], raw = [], verbs = [], hushed, asks, acts, demands, plural } of items) {
    for (const word of small) marks.add(word);
    for (const word of raw) marks.add(word);
    for (const verb of verbs) marks.add(`!${verb}`);
    if (hushed) marks.add("not");
    if (asks) marks.add("?");
    if (acts) marks.add("!act");
    if (demands) marks.add("!must");
    if (plural === true) marks.add("-s");
  }
  return marks;
}

/** How likely each kind of doing is meant, as logarithms. */
export const leanOf = (items: readonly Item[]): Float64Array => likely(marksOf(items), classesOf("lean"));
