import { isDeepStrictEqual } from "node:util";
import { valueAt } from "./place.ts";
import type { Check, Json } from "./types.ts";

/** What the sandbox answers to one GET. */
export interface Reading {
  readonly status: number;
  /** JSON where it is JSON, text otherwise. */
  readonly body: unknown;
}

/** Whether a value holds what is expected of it, read as a part: named fields of objects, members of lists; all else is equal. */
function holds(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) return Array.isArray(actual) && expected.every((item) => hasMember(actual, item));
  if (typeof expected !== "object" || expected === null) return isDeepStrictEqual(actual, expected);
  if (typeof actual !== "object" || actual === null) return false;
  return Object.entries(expected).every(([name, value]) => Object.hasOwn(actual, name) && holds((actual as Json)[name], value));
}

const hasMember = (list: readonly unknown[], item: unknown) => list.some((row) => holds(row, item));

function contains(actual: unknown, expected: unknown): boolean {
  if (typeof actual === "string" && typeof expected === "string") return actual.includes(expected);
  if (Array.isArray(actual) && !Array.isArray(expected)) return hasMember(actual, expected);
  return holds(actual, expected);
}

/** None of what is named may be there; of several members, not a single one. */
const containsAny = (actual: unknown, expected: unknown): boolean =>
  Array.isArray(expected) ? expected.some((item) => contains(actual, item)) : contains(actual, expected);

/** The one thing that is wrong with a place, or nothing. */
function faultAt(check: Check, actual: unknown): string | undefined {
  if ("is" in check && !isDeepStrictEqual(actual, check.is)) return `is not ${JSON.stringify(check.is)}`;
  if ("has" in check && !contains(actual, check.has)) return `lacks ${JSON.stringify(check.has)}`;
  if ("lacks" in check && (actual === undefined || containsAny(actual, check.lacks))) return `has ${JSON.stringify(check.lacks)}`;
  if (check.matches !== undefined && !(typeof actual === "string" && new RegExp(check.matches).test(actual)))
    return `does not match ${check.matches}`;
  if (check.count !== undefined && !(Array.isArray(actual) && actual.length === check.count)) return `does not have ${check.count} members`;
  return undefined;
}

const MOST = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

/** What is wrong with one reading, in a sentence; nothing where the check holds. */
export function checkFault(check: Check, { status, body }: Reading): string | undefined {
  const wanted = check.status ?? 200;
  if (status !== wanted) return `GET ${check.get} answers ${status}, not ${wanted}`;
  const actual = check.at === undefined ? body : valueAt(body, check.at);
  const fault = faultAt(check, actual);
  return fault && `GET ${check.get}${check.at === undefined ? "" : ` at ${check.at}`} ${fault}: ${shown(actual)}`;
}
