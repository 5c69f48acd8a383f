import type { Action } from "../catalog/types.ts";
import { bagOf } from "./asks.ts";
import { classesOf, likely, numbersOf } from "./classes.ts";
import { pairsOf } from "./lean.ts";
import type { Item } from "./query.ts";

/** The first part of an id: what the action is about. */
export const areaName = ({ id }: Pick<Action, "id">): string => id.split(".", 1)[0] ?? id;

/** Told by words as they were said and by canonical ones; the area without what is to be done. */
export const areaMarks = (terms: readonly string[]): string[] => [".", ...terms.filter((term) => !term.startsWith("!") && term !== "?")];
/** The very action also by words side by side; what was said in another language has no order of its own any more. */
export const deedMarks = (items: readonly Item[]): string[] => [
  ".",
  ...bagOf(items).keys(),
  ...(items.some(({ language }) => language) ? [] : new Set(pairsOf(items))),
];

/** What is meant, by terms: the area of an action (`issue`), and the very action. */
export const areaOf = (terms: readonly string[]): Float64Array => likely(areaMarks(terms), classesOf("area"));
export const deedOf = (items: readonly Item[]): Float64Array => likely(deedMarks(items), classesOf("deed"));

/** Numbers of the areas of actions, and of the actions themselves. */
export const areasOf = (actions: readonly Action[]): Int16Array => numbersOf(actions.map(areaName), classesOf("area"));
export const deedsOf = (actions: readonly Action[]): Int16Array =>
  numbersOf(
    actions.map(({ id }) => id),
    classesOf("deed"),
  );
