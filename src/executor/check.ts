import { placeholders, routesOf } from "../catalog/route.ts";
import { requiredParams } from "../catalog/schema.ts";
import type { Action } from "../catalog/types.ts";
import type { Check } from "../errors.ts";

type Params = Readonly<Record<string, unknown>>;

/**
 * Reads that could show the effect, best first: the thing itself where its ids are known, else the list it stands in.
 * `issue.note_create` → `issue.note_get`, `issue.note_list`, `issue.get`, `issue.list`.
 */
function candidates(id: string): string[] {
  const [domain = "", name = ""] = id.split(".");
  const noun = name.split("_").slice(0, -1).join("_");
  const prefixes = noun === "" ? [""] : [`${noun}_`, ""];
  return prefixes.flatMap((prefix) => ["get", "list"].map((verb) => `${domain}.${prefix}${verb}`));
}

/** The params of the write that the read takes too, if they are enough for it. */
function paramsFor(action: Action, write: Params): Params | undefined {
  const given: Params = { ...write, ref: write.ref ?? write.branch };
  const names = routesOf(action)
    .map(([, path]) => [...placeholders(path), ...requiredParams(action)])
    .find((needed) => needed.every((name) => given[name] !== undefined));
  if (!names) return undefined;
  const words = write.title ?? write.name;
  const search = action.params.search && typeof words === "string" ? { search: words } : {};
  return { ...Object.fromEntries(names.map((name) => [name, given[name]])), ...search };
}

/** Which read tells whether a write was done. */
export function checkOf(action: Action, params: Params, actions: readonly Action[]): Check | undefined {
  if (action.effect === "read") return undefined;
  for (const id of candidates(action.id)) {
    const found = actions.find((one) => one.id === id && one.effect === "read" && one.http);
    const fitting = found && paramsFor(found, params);
    if (found && fitting) return { action: found.id, params: fitting };
  }
  return undefined;
}
