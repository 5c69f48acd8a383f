import { MASK } from "../log.ts";
import { compact, isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

const LONG = 200;
/** Of a long text, how much is shown before the place where it begins to differ. */
const LEAD = 40;

const cut = (text: string, from: number): string => {
  if (text.length <= LONG) return text;
  const part = text.slice(from, from + LONG);
  return `${from > 0 ? "…" : ""}${part}${from + part.length < text.length ? "…" : ""} (${text.length} characters)`;
};

/** Of a long list, how many of its things are shown. */
const MOST = 20;

/** A value as a preview shows it: long texts in part, of long lists the start. */
export function short(value: unknown, from = 0): unknown {
  if (typeof value === "string") return cut(String(compact(value, 1)), from);
  if (Array.isArray(value)) {
    const more = value.length - MOST;
    return [...value.slice(0, MOST).map((one) => short(one)), ...(more > 0 ? [`… and ${more} more`] : [])];
  }
  return isPlain(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, short(one)])) : (value ?? null);
}

/** What stands at the end of `a.b.0.c`. */
export const partAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isPlain(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined;
  }, value);

/** Two values side by side; of long texts the part in which they differ. */
export function sideBySide(from: unknown, to: unknown): { readonly from: unknown; readonly to: unknown } {
  if (typeof from !== "string" || typeof to !== "string") return { from: short(from), to: short(to) };
  let at = 0;
  while (at < from.length && from[at] === to[at]) at += 1;
  const start = at < LONG / 2 ? 0 : at - LEAD;
  return { from: short(from, start), to: short(to, start) };
}

const NAMES = ["username", "name", "title", "key", "full_path", "path", "value"];

const tail = (value: unknown): unknown => (typeof value === "string" ? value.replace(/^gid:\/\/gitlab\/.*\//, "") : value);

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

const DAY = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;

const plainText = (text: string) => text.replace(/\r\n?/g, "\n").trimEnd();

function sameScalar(one: unknown, other: unknown): boolean {
  const [a, b] = [plainText(String(one)), plainText(String(other))];
  return a === b || (DAY.test(a) && DAY.test(b) && Date.parse(a) === Date.parse(b));
}

const isNumber = (value: unknown) => /^\d+$/.test(String(value));

/** Whether a thing is meant by this number or word. */
const isCalled = (thing: Plain, by: unknown): boolean =>
  isNumber(by)
    ? sameScalar(thing.id ?? thing.iid, by)
    : NAMES.some((name) => thing[name] !== undefined && thing[name] !== null && sameScalar(thing[name], by));

/** Behind a mask may stand anything. */
const isMasked = (value: unknown) => typeof value === "string" && value.includes(MASK);

const snake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();

/** A field by its name, which GraphQL's inputs spell otherwise than answers. */
export const fieldOf = (thing: Plain, name: string): unknown => thing[name] ?? thing[snake(name)];

/** Every part that is asked for stands there already; lists hold the same things in any order. */
export function isSame(now: unknown, asked: unknown): boolean {
  if (isMasked(now) || isMasked(asked)) return false;
  if (isNothing(now) || isNothing(asked)) return isNothing(now) && isNothing(asked);
  if (Array.isArray(asked)) {
    if (!Array.isArray(now) || now.length !== asked.length) return false;
    const left = [...now];
    return asked.every((one) => {
      const at = left.findIndex((other) => isSame(other, one));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
  }
  if (isPlain(asked)) return isPlain(now) && Object.entries(asked).every(([name, value]) => isSame(fieldOf(now, name), value));
  if (isPlain(now)) return isCalled(now, tail(asked));
  return !Array.isArray(now) && sameScalar(now, asked);
}

/** A thing in a few words: what says which it is. */
export function briefOf(thing: unknown): unknown {
  if (!isPlain(thing)) return thing;
  if (thing.id === undefined && isPlain(thing.user)) return briefOf(thing.user);
  const name = NAMES.find((one) => typeof thing[one] === "string");
  return thing.id === undefined || name === undefined ? thing : { id: thing.id, [name]: thing[name] };
}

/** Ids or names that were given for things: with both where the thing is known from what stands there now. */
export function toThings(asked: unknown, now: unknown): unknown {
  const known = (Array.isArray(now) ? now : [now]).filter(isPlain);
  const one = (by: unknown) => known.find((thing) => isSame(thing, by)) ?? (known.length > 0 && isNumber(tail(by)) ? { id: tail(by) } : by);
  return Array.isArray(asked) ? asked.map(one) : isNothing(asked) ? null : one(asked);
}

/** A list with these in it: what has the id of one that is there takes its place, or goes where that is asked. */
export function withThese(now: readonly unknown[], more: readonly unknown[]): unknown[] {
  const replaces = (one: unknown, other: unknown) => isPlain(one) && isPlain(other) && other.id !== undefined && isSame(one.id, other.id);
  const kept = now.filter((one) => !more.some((other) => replaces(one, other)));
  const added = more.filter((one) => !(isPlain(one) && one._destroy) && !kept.some((other) => isSame(other, one)));
  return [...kept, ...added];
}

export const withoutThese = (now: readonly unknown[], less: readonly unknown[]): unknown[] =>
  now.filter((one) => !less.some((other) => isSame(one, other)));

/** What a caller wrote as a list, or as words with commas. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : String(value)
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
