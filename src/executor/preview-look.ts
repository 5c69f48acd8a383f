import { beforeOf } from "../catalog/load.ts";
import { isList, requiredParams } from "../catalog/schema.ts";
import type { Action, Before } from "../catalog/types.ts";
import { candidates } from "./check.ts";
import { paramsIn, valueFor } from "./preview-changes.ts";
import { type Asked, byPath, HERE, hasOwnNames, isGiven, isPlaceholder, type Look, nameIn, type Params, partsOf } from "./preview-path.ts";

const MAKES = /[._](?:create|add|import|start|upload|award|attach|assign)$/;
const REMOVES = /[._](?:delete|remove|unassign)$/;

/** Whether it makes something that is not there yet: there is nothing to compare it with. */
export const isCreation = ({ id }: Action): boolean => MAKES.test(id) && beforeOf(id).sets === undefined;

/** Whether the thing would be gone. */
export const isRemoval = ({ id, http, graphql }: Action): boolean =>
  beforeOf(id).sets === undefined && (http?.[0] === "DELETE" || (graphql !== undefined && REMOVES.test(id)));

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

/** How the call calls what a read calls `name`: the same, or in the plural where it is about several. */
const nameGiven = (name: string, params: Params): string | undefined => [name, `${name}s`].find((one) => isGiven(params[one]));

/** The param that chooses a twin of the read's document, where the call has it. */
const twinFor = ({ documents = {} }: Action, params: Params): string | undefined =>
  Object.keys(documents).find((name) => nameGiven(name, params) !== undefined);

/** What a read needs to know of the thing, beside its place: one set of params for each thing; and which params of the call gave it. */
function idsFor(action: Action, params: Params): { names: readonly string[]; reads: readonly Params[] } | undefined {
  const twin = twinFor(action, params);
  const needed = twin === undefined ? requiredParams(action).filter((name) => !PLACES.has(name) || action.graphql === undefined) : [twin];
  const names = needed.flatMap((name) => nameGiven(name, params) ?? []);
  if (names.length < needed.length) return undefined;
  // Whose it is, where the read need not be told: left out, it would be the caller's own.
  const whose = Object.keys(action.params).filter(
    (name) => !PLACES.has(name) && action.params[name]?.in === "path" && isGiven(params[name]),
  );
  const one: Params = Object.fromEntries([...needed, ...whose].map((name) => [name, params[name]]));
  const many = needed.find((name) => !isGiven(params[name]));
  const values = many === undefined ? undefined : params[`${many}s`];
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
  const places = twinFor(row, asked.params) === undefined ? placesFor(row, asked, project) : HERE;
  const more = Object.fromEntries(Object.entries(before.with ?? {}).map(([name, value]) => [name, valueFor(value, asked.params)]));
  const ids = idsFor(row, { ...asked.params, ...more });
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
