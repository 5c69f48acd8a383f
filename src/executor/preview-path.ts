import { routesOf } from "../catalog/route.ts";
import { isList, requiredParams } from "../catalog/schema.ts";
import type { Action, Before, Call } from "../catalog/types.ts";

export type Params = Readonly<Record<string, unknown>>;

/** How the thing that a call changes, or each of the things, is read. */
export interface Look {
  readonly action: string;
  /** Params of each read: one for each thing, where the call names several and they are read one by one. */
  readonly reads: readonly Params[];
  /** Where to look, one after the other, until the thing is there. */
  readonly places: readonly Params[];
  /** Field of the answer that holds the list which the things stand in. */
  readonly within?: string;
  /** Which of a list they are. */
  readonly find?: { readonly field?: string; readonly param: string; readonly values: readonly string[] };
  /** The list itself is the thing. */
  readonly isWhole?: boolean;
  /** Params of the call are called as the fields are that they change. */
  readonly ownNames: boolean;
  /** Params of the call that only say which things they are. */
  readonly used: ReadonlySet<string>;
}

export type Asked = Pick<Call, "action" | "params" | "route">;

export const isPlaceholder = (part: string | undefined): part is string => part?.startsWith("{") === true;
export const nameIn = (part: string) => part.slice(1, -1);
export const partsOf = (path: string) => path.split("/");
const textOf = (value: unknown): string => (Array.isArray(value) ? "" : String(value));
export const isGiven = (value: unknown) => value !== undefined && value !== null;

interface Route {
  readonly action: Action;
  readonly parts: readonly string[];
}

const known = new WeakMap<readonly Action[], readonly Route[]>();

/** Everything that can be read by GET. */
function readsOf(actions: readonly Action[]): readonly Route[] {
  const routes =
    known.get(actions) ??
    actions
      .filter(({ effect, returns }) => effect === "read" && returns !== "binary" && returns !== "text")
      .flatMap((action) =>
        routesOf(action)
          .filter(([method]) => method === "GET")
          .map(([, path]) => ({ action, parts: partsOf(path) })),
      );
  known.set(actions, routes);
  return routes;
}

/** What a read needs beside its path, where the call has it, under the same name or for the same thing. */
function beside(action: Action, given: Params): Params | undefined {
  // A branch that is made by the call begins as the one that it starts from.
  const all: Params = { ...given, ref: given.ref ?? given.start_branch ?? given.branch };
  const needed = requiredParams(action).filter((name) => action.params[name]?.in !== "path");
  if (!needed.every((name) => isGiven(all[name]))) return undefined;
  const narrowing = ["filter", "ref"].filter((name) => name in action.params && isGiven(all[name]));
  return Object.fromEntries([...needed, ...narrowing].map((name) => [name, all[name]]));
}

/** The one placeholder whose values some rows write out in their paths. */
const WORD = "{slug}";

/** The GET whose path leads where this one does: a word of the path may be the value of a placeholder. */
function readAt(parts: readonly string[], { params }: Asked, actions: readonly Action[]): { action: Action; params: Params } | undefined {
  const fits = readsOf(actions).filter(
    (one) =>
      one.parts.length === parts.length &&
      one.parts.every((part, at) => part === parts[at] || (isPlaceholder(part) && (isPlaceholder(parts[at]) || part === WORD))),
  );
  const exact = (one: Route) => one.parts.filter((part, at) => part !== parts[at]).length;
  for (const { action, parts: own } of fits.toSorted((one, other) => exact(one) - exact(other))) {
    const inPath = own.flatMap((part, at) => {
      const there = parts[at] ?? "";
      return isPlaceholder(part) ? [[nameIn(part), isPlaceholder(there) ? params[nameIn(there)] : there]] : [];
    });
    const more = beside(action, params);
    if (more && inPath.every(([, value]) => isGiven(value))) return { action, params: { ...more, ...Object.fromEntries(inPath) } };
  }
  return undefined;
}

const NONE: ReadonlySet<string> = new Set();
/** The path says it all. */
export const HERE: readonly Params[] = [{}];

/** What a call is about that ends in a verb: whatever stands before it. */
function withoutVerb(parts: readonly string[], asked: Asked, actions: readonly Action[]): readonly string[] {
  if (isPlaceholder(parts.at(-1)) || parts.length < 3 || readAt(parts, asked, actions)) return parts;
  return withoutVerb(parts.slice(0, -1), asked, actions);
}

/** A thing that only stands in a list: of its kind, or of the whole that it is a part of. */
function inList(parts: readonly string[], asked: Asked, actions: readonly Action[]): Omit<Look, "used" | "ownNames"> | undefined {
  const last = parts.at(-1);
  if (!isPlaceholder(last)) return undefined;
  const param = nameIn(last);
  const find = { param, values: [textOf(asked.params[param])] };
  const list = readAt(parts.slice(0, -1), asked, actions);
  if (list && isList(list.action)) return { action: list.action.id, reads: [list.params], places: HERE, find };
  const whole = readAt(parts.slice(0, -2), asked, actions);
  const within = parts.at(-2);
  if (!whole || isList(whole.action) || within === undefined || asked.route?.[0] === "POST") return undefined;
  return { action: whole.action.id, reads: [whole.params], places: HERE, within, find };
}

/** An update of the thing at the end of the path calls its fields by their names; a verb behind it may mean something else. */
export function hasOwnNames(asked: Asked, actions: readonly Action[]): boolean {
  if (!asked.route) return true;
  const parts = partsOf(asked.route[1]);
  return /^(PUT|PATCH)$/.test(asked.route[0]) && (isPlaceholder(parts.at(-1)) || readAt(parts, asked, actions) !== undefined);
}

/** How a thing is read by a path like that of the call: its own, or that of the list or the whole which it stands in. */
export function byPath(asked: Asked, before: Before, actions: readonly Action[]): Look | undefined {
  if (!asked.route) return undefined;
  const path = partsOf(asked.route[1]);
  const parts = before.sets ? withoutVerb(path, asked, actions) : path;
  const itself = readAt(parts, asked, actions);
  const found =
    itself && !isList(itself.action) ? { action: itself.action.id, reads: [itself.params], places: HERE } : inList(parts, asked, actions);
  return found && { ...found, used: NONE, ownNames: hasOwnNames(asked, actions) };
}
