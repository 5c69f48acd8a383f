import { beforeOf } from "../catalog/load.ts";
import { routesOf } from "../catalog/route.ts";
import { isList, requiredParams } from "../catalog/schema.ts";
import type { Action, Before, Call } from "../catalog/types.ts";
import { candidates } from "./check.ts";
import { paramsIn, valueFor } from "./preview-changes.ts";

type Params = Readonly<Record<string, unknown>>;

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

type Asked = Pick<Call, "action" | "params" | "route">;

const MAKES = /[._](?:create|add|import|start|upload|award|attach|assign)$/;
const REMOVES = /[._](?:delete|remove|unassign|detach)$/;

/** Whether it makes something that is not there yet: there is nothing to compare it with. */
export const isCreation = ({ id }: Action): boolean => MAKES.test(id) && beforeOf(id).sets === undefined;

/** Whether the thing would be gone. */
export const isRemoval = ({ id, http, graphql }: Action): boolean =>
  beforeOf(id).sets === undefined && (http?.[0] === "DELETE" || (graphql !== undefined && REMOVES.test(id)));

const isPlaceholder = (part: string | undefined): part is string => part?.startsWith("{") === true;
const nameIn = (part: string) => part.slice(1, -1);
const partsOf = (path: string) => path.split("/");
const textOf = (value: unknown): string => (Array.isArray(value) ? "" : String(value));
const isGiven = (value: unknown) => value !== undefined && value !== null;

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
  const all: Params = { ...given, ref: given.ref ?? given.branch };
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
const HERE: readonly Params[] = [{}];

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
function hasOwnNames(asked: Asked, actions: readonly Action[]): boolean {
  if (!asked.route) return true;
  const parts = partsOf(asked.route[1]);
  return /^(PUT|PATCH)$/.test(asked.route[0]) && (isPlaceholder(parts.at(-1)) || readAt(parts, asked, actions) !== undefined);
}

function byPath(asked: Asked, before: Before, actions: readonly Action[]): Look | undefined {
  if (!asked.route) return undefined;
  const path = partsOf(asked.route[1]);
  const parts = before.sets ? withoutVerb(path, asked, actions) : path;
  const itself = readAt(parts, asked, actions);
  const found =
    itself && !isList(itself.action) ? { action: itself.action.id, reads: [itself.params], places: HERE } : inList(parts, asked, actions);
  return found && { ...found, used: NONE, ownNames: hasOwnNames(asked, actions) };
}

/** The groups that a project stands in, the nearest first. */
function groupsAbove(project: string): readonly string[] {
  const parts = project.split("/").slice(0, -1);
  return parts.map((_part, at) => parts.slice(0, parts.length - at).join("/"));
}

/**
 * Where a read looks: the call's own place; where the call has none to name, since an id is enough for it, the current project and
 * the groups above it. An id of the whole instance is found in the right place only.
 */
function placesFor(action: Action, { action: own, params }: Asked, project: string | undefined): readonly Params[] {
  const names = ["project_id", "group_id"].filter((name) => Object.hasOwn(action.params, name));
  const given = names.filter((name) => isGiven(params[name]));
  if (given.length > 0) return [Object.fromEntries(given.map((name) => [name, params[name]]))];
  if (names.length === 0 || action.graphql === undefined) return HERE;
  if (project === undefined || names.some((name) => Object.hasOwn(own.params, name))) return [];
  const groups = names.includes("group_id") ? groupsAbove(project).map((group_id) => ({ group_id })) : [];
  return [...(names.includes("project_id") ? [{ project_id: project }] : []), ...groups];
}

const PLACES = new Set(["project_id", "group_id"]);

/** Params that name a thing: the read's own name for it, or the same in the plural. */
function idsFor(action: Action, asked: Asked): { names: readonly string[]; reads: readonly Params[] } | undefined {
  const twin = Object.keys(action.documents ?? {}).find((name) => isGiven(asked.params[name]) || isGiven(asked.params[`${name}s`]));
  const needed = twin === undefined ? requiredParams(action).filter((name) => !PLACES.has(name) || action.graphql === undefined) : [twin];
  const names = needed.map((name) => (isGiven(asked.params[name]) ? name : `${name}s`));
  if (!names.every((name) => isGiven(asked.params[name]))) return undefined;
  const many = needed.find((name, at) => names[at] !== name);
  const one: Params = Object.fromEntries(needed.map((name) => [name, asked.params[name]]));
  const values = many === undefined ? undefined : asked.params[`${many}s`];
  return { names, reads: many !== undefined && Array.isArray(values) ? values.map((value) => ({ ...one, [many]: value })) : [one] };
}

/** The param that says what the call is about: the last of its path, the first of its document. */
function subjectOf({ action, route }: Asked): string | undefined {
  const last = route && partsOf(route[1]).findLast(isPlaceholder);
  return last === undefined ? Object.keys(action.params).find((name) => !PLACES.has(name) && /(_id|_iid|_ids)$/.test(name)) : nameIn(last);
}

/** `user_achievement_id` is no id of `achievement.list`; `framework_id` is one of `compliance_framework.list`. */
const isNamedAfter = ({ id }: Action, param: string) =>
  id
    .replace(/[._]list$/, "")
    .replace(".", "_")
    .endsWith(param.replace(/_i?ids?$/, ""));

/** Where in the answer the thing stands: in a list of many, or in a part. */
function spotIn(row: Action, asked: Asked, ids: readonly string[], before: Before): Pick<Look, "find" | "within" | "isWhole"> | undefined {
  const within = before.in === undefined ? {} : { within: before.in };
  if (!isList(row) && before.find === undefined) return within;
  const [field, named = subjectOf(asked)] = before.find ?? [];
  if (!before.action && named !== undefined && !isNamedAfter(row, named)) return undefined;
  const isWhole = named === undefined || (!before.find && (ids.includes(named) || paramsIn(before.sets).includes(named)));
  if (isWhole) return before.sets ? { ...within, isWhole } : undefined;
  const values = [asked.params[named]].flat().map(String);
  return { ...within, find: { ...(field === undefined ? {} : { field }), param: named.replace(/_ids$/, "_id"), values } };
}

function byRow(row: Action, asked: Asked, actions: readonly Action[], project: string | undefined): Look | undefined {
  const before = beforeOf(asked.action.id);
  const places = twinGiven(row, asked) ? HERE : placesFor(row, asked, project);
  const more = Object.fromEntries(Object.entries(before.with ?? {}).map(([name, value]) => [name, valueFor(value, asked.params)]));
  const ids = idsFor(row, { ...asked, params: { ...asked.params, ...more } });
  const spot = ids && spotIn(row, asked, ids.names, before);
  if (places.length === 0 || !ids || !spot) return undefined;
  const subject = before.find?.[1] ?? subjectOf(asked);
  return {
    ...spot,
    action: row.id,
    places,
    reads: ids.reads.map((one) => ({ ...more, ...one })),
    used: new Set([...ids.names, ...(subject === undefined ? [] : [subject])]),
    ownNames: hasOwnNames(asked, actions),
  };
}

const twinGiven = (action: Action, { params }: Asked) =>
  Object.keys(action.documents ?? {}).some((name) => isGiven(params[name]) || isGiven(params[`${name}s`]));

/** `work_item.note_update` and `work_item.note_get`; `alert.status_set` and `alert.get`, if it names the same alert. */
function byName(asked: Asked, actions: readonly Action[], project: string | undefined): Look | undefined {
  const { action } = asked;
  const look = (id: string) => {
    const row = actions.find((one) => one.id === id && one.effect === "read" && one.composite === undefined);
    return row && byRow(row, asked, actions, project);
  };
  const [get = "", list = "", ...wider] = candidates(action.id);
  // A path that leads to no list of its own says nothing of what its ids are the ids of.
  const found = look(get) ?? (asked.route ? undefined : look(list));
  if (found || isRemoval(action) || asked.route) return found;
  const subject = subjectOf(asked);
  return wider
    .map(look)
    .find((one) => one !== undefined && subject !== undefined && one.reads.some((params) => sameThing(params, subject, one)));
}

/** A wider read is about the same thing where it takes, or is searched for, what the call is about. */
const sameThing = (params: Params, subject: string, { find }: Look) =>
  Object.hasOwn(params, subject) || Object.hasOwn(params, subject.replace(/s$/, "")) || find !== undefined;

/**
 * How the thing is read that a call would change: the row that the table names; else the GET of the same path, or of the list or the
 * whole that it stands in; else the row of the same name. Undefined for what is new, and where nothing reads it.
 */
export function lookFor(asked: Asked, actions: readonly Action[], project?: string): Look | undefined {
  const before = beforeOf(asked.action.id);
  if (before.action !== undefined) {
    const row = actions.find(({ id }) => id === before.action);
    return row && byRow(row, asked, actions, project);
  }
  if (isCreation(asked.action)) return undefined;
  return byPath(asked, before, actions) ?? byName(asked, actions, project);
}
