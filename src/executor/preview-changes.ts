import type { Action, Before, Call } from "../catalog/types.ts";
import { briefOf, fieldOf, isSame, listOf, partAt, sideBySide, toThings, withoutThese, withThese } from "./preview-values.ts";
import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What a call does to the fields of a thing: what each is, and what it would be. */
export interface Changes {
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
  /** Fields that are asked to be what they are. */
  readonly unchanged: readonly string[];
}

const STATES: Readonly<Record<string, string>> = {
  close: "closed",
  reopen: "opened",
  activate: "active",
  CLOSE: "CLOSED",
  REOPEN: "OPEN",
};

/** Parts of an answer in which GitLab keeps what a call gives beside the rest. */
const PARTS = ["properties", "events"];

const holderOf = (name: string, now: Plain): string | undefined => [`${name}s`, name].find((field) => Object.hasOwn(now, field));

/** A list that changes by what is added or taken away; things are given by id or by name. */
function listChange(field: string, from: unknown, asked: unknown, way: "add" | "remove" | "replace"): Change {
  const [now, given] = [Array.isArray(from) ? from : [], listOf(asked ?? [])];
  const named = (now.length > 0 ? toThings(given, now) : given) as readonly unknown[];
  const to = way === "replace" ? named : way === "add" ? withThese(now, named) : withoutThese(now, given);
  return { field, from: now, to };
}

/** Words for how a list is meant, in the calls that have them. */
const MODES: Readonly<Record<string, "add" | "remove" | "replace">> = { APPEND: "add", ADD: "add", REMOVE: "remove", REPLACE: "replace" };

/** None is written as 0, too, where an id is asked for. */
const isNone = (id: unknown) => String(id) === "0";
const withoutNone = (ids: unknown): unknown => (Array.isArray(ids) ? ids.filter((id) => !isNone(id)) : isNone(ids) ? null : ids);

/** By number inside a project (`_iid`) nothing is compared: beside an id it says another thing. */
function thingsChange(name: string, given: unknown, now: Plain, params: Plain): Change | undefined {
  const [, bare = ""] = /^(.+)_(?:ids?|usernames?|names?|titles?)$/.exec(name) ?? [];
  const field = bare === "" ? undefined : holderOf(bare, now);
  if (field === undefined) return undefined;
  const [from, asked] = [now[field], withoutNone(given)];
  if (Array.isArray(from) || Array.isArray(asked)) return listChange(field, from, asked, MODES[String(params.mode)] ?? "replace");
  return { field, from, to: toThings(asked, from) };
}

function ownChange(field: string, from: unknown, to: unknown): Change {
  if (!Array.isArray(from) || isPlain(to)) return { field, from, to };
  return listChange(field, from, to, "replace");
}

/** What one parameter changes of the thing as it is now; undefined where the thing does not show it. */
function changeOf(name: string, to: unknown, now: Plain, params: Plain): Change | undefined {
  if (name === "state_event" && Object.hasOwn(now, "state")) return { field: "state", from: now.state, to: STATES[String(to)] ?? to };
  if (Object.hasOwn(now, name)) return ownChange(name, now[name], to);
  const [, way, list = ""] = /^(add|remove)_(.+?)s?(?:_ids?)?$/.exec(name) ?? [];
  const grown = way === undefined ? undefined : holderOf(list, now);
  if (grown !== undefined && (Array.isArray(now[grown]) || now[grown] === null))
    return listChange(grown, now[grown], to, way as "add" | "remove");
  const attributes = name.replace(/_attributes$/, "");
  if (attributes !== name && Object.hasOwn(now, attributes)) return { field: attributes, from: now[attributes], to };
  const part = PARTS.map((one) => now[one]).find((inner) => isPlain(inner) && Object.hasOwn(inner, name));
  if (isPlain(part)) return ownChange(name, part[name], to);
  return thingsChange(name, to, now, params);
}

const PARAM = /\{([a-z_]+)\}/g;

/** A value of the table: itself, or made from params; undefined where one of them is not given. */
export function valueFor(text: unknown, params: Plain): unknown {
  if (typeof text !== "string") return text;
  const names = [...text.matchAll(PARAM)].map(([, name = ""]) => name);
  if (names.some((name) => params[name] === undefined)) return undefined;
  const [whole] = names;
  return whole !== undefined && text === `{${whole}}` ? params[whole] : text.replace(PARAM, (_all, name: string) => String(params[name]));
}

/** A change that the table tells: `+` adds to a list, `-` takes away from it. */
function setChange(field: string, text: unknown, now: Plain, params: Plain): Change | undefined {
  const way = typeof text === "string" ? /^([+-])(\{[a-z_]+\})$/.exec(text) : null;
  const to = valueFor(way ? way[2] : text, params);
  const from = partAt(now, field);
  if (to === undefined || from === undefined) return undefined;
  if (way) return listChange(field, from, to, way[1] === "+" ? "add" : "remove");
  if (Array.isArray(from)) return listChange(field, from, to, "replace");
  return { field, from, to: isPlain(from) ? toThings(to, from) : to };
}

/** Params that the table's values are made from. */
export const paramsIn = (sets: Plain = {}): readonly string[] =>
  Object.values(sets).flatMap((text) => String(text).match(/[a-z_]+(?=\})/g) ?? []);

/** Of things, what says which they are; of settings, those that are asked to change. */
function shown({ field, from, to }: Change): Change {
  if (isPlain(from) && isPlain(to) && to.id === undefined) {
    const parts = Object.keys(to).filter((name) => !isSame(fieldOf(from, name), to[name]));
    const of = (whole: Plain) => Object.fromEntries(parts.map((name) => [name, fieldOf(whole, name) ?? null]));
    return { field, from: of(from), to: of(to) };
  }
  // Of things that are written out, every part may be another.
  const isWhole = (one: unknown) => isPlain(one) && Object.keys(one).length > 1 && !(Array.isArray(from) && from.includes(one));
  if (Array.isArray(to) && to.some(isWhole)) return { field, from, to };
  const brief = (value: unknown) => (Array.isArray(value) ? value.map(briefOf) : briefOf(value));
  return { field, from: brief(from), to: brief(to) };
}

/** Params that only say which thing it is, or where. */
const isPlace = (action: Action, name: string, used: ReadonlySet<string>) =>
  used.has(name) || action.params[name]?.in !== "body" || (action.graphql !== undefined && (name === "project_id" || name === "group_id"));

/** How the params of a call are to be understood: those that name the thing, and whether the others are called as its fields are. */
export interface Reading extends Pick<Before, "sets" | "skips"> {
  readonly used: ReadonlySet<string>;
  readonly ownNames: boolean;
}

/** One after the other: what a call adds and what it takes away can be of the same list. */
function gathered(now: Plain, steps: readonly ((now: Plain) => Change | undefined)[]): readonly Change[] {
  const found = new Map<string, Change>();
  let current = now;
  for (const step of steps) {
    const change = step(current);
    if (!change) continue;
    const { field, to } = change;
    const earlier = found.get(field);
    found.set(field, earlier ? { ...earlier, to } : change);
    if (Object.hasOwn(now, field)) current = { ...current, [field]: to };
  }
  return [...found.values()];
}

/** Each field that the call would change, and those that are so already. What the thing does not show is not told. */
export function changesOf({ action, params }: Pick<Call, "action" | "params">, now: Plain, reading: Reading): Changes {
  const { used, ownNames, sets = {}, skips = [] } = reading;
  const apart = new Set([...paramsIn(sets), ...skips]);
  const given = Object.entries(params).filter(([name]) => ownNames && !apart.has(name) && !isPlace(action, name, used));
  const found = gathered(now, [
    ...given.map(
      ([name, to]) =>
        (current: Plain) =>
          changeOf(name, to, current, params),
    ),
    ...Object.entries(sets).map(
      ([field, text]) =>
        (current: Plain) =>
          setChange(field, text, current, params),
    ),
  ]);
  const isKept = ({ from, to }: Change) => isSame(from, to);
  const changed = found.filter((change) => !isKept(change)).map(shown);
  return {
    changes: Object.fromEntries(changed.map(({ field, from, to }) => [field, sideBySide(from, to)])),
    unchanged: found.filter(isKept).map(({ field }) => field),
  };
}
