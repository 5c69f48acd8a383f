import { placeholders, routesOf } from "../catalog/route.ts";
import { requiredParams } from "../catalog/schema.ts";
import type { Action } from "../catalog/types.ts";
import type { Check } from "../errors.ts";

type Params = Readonly<Record<string, unknown>>;

/**
 * Reads that could show the effect, best first: the thing itself where its ids are known, else the list it stands in.
 * `issue.note_create` → `issue.note_get`, `issue.note_list`, `issue.get`, `issue.list`.
 */
export function candidates(id: string): string[] {
  const [domain = "", name = ""] = id.split(".");
  const noun = name.split("_").slice(0, -1).join("_");
  const prefixes = noun === "" ? [""] : [`${noun}_`, ""];
  return prefixes.flatMap((prefix) => ["get", "list"].map((verb) => `${domain}.${prefix}${verb}`));
}

/** Where a GraphQL read looks: the project or group of the write; nothing where it needs one and there is none. */
function placeFor(action: Action, write: Params): Params | undefined {
  const names = ["project_id", "group_id"].filter((name) => Object.hasOwn(action.params, name));
  const given = names.filter((name) => write[name] !== undefined);
  if (action.graphql === undefined) return {};
  return names.length === 2 && given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, write[name]]));
}

/** The params of the write that the read takes too, if they are enough for it. */
function paramsFor(action: Action, write: Params): Params | undefined {
  const given: Params = { ...write, ref: write.ref ?? write.branch };
  const paths = action.graphql === undefined ? routesOf(action).map(([, path]) => placeholders(path)) : [[]];
  const names = paths
    .map((inPath) => [...inPath, ...requiredParams(action)])
    .find((needed) => needed.every((name) => given[name] !== undefined));
  const place = placeFor(action, write);
  if (!names || !place) return undefined;
  const words = write.title ?? write.name;
  const search = action.params.search && typeof words === "string" ? { search: words } : {};
  return { ...place, ...Object.fromEntries(names.map((name) => [name, given[name]])), ...search };
}

/** Which read tells whether a write was done. */
export function checkOf(action: Action, params: Params, actions: readonly Action[]): Check | undefined {
  if (action.effect === "read") return undefined;
  for (const id of candidates(action.id)) {
    const found = actions.find((one) => one.id === id && one.effect === "read" && (one.http || one.graphql));
    const fitting = found && paramsFor(found, params);
    if (found && fitting) return { action: found.id, params: fitting };
  }
  return undefined;
}
