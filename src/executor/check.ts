import { placeholders, routesOf } from "../catalog/route.ts";
import type { Action } from "../catalog/types.ts";
import type { Check } from "../errors.ts";

type Params = Readonly<Record<string, unknown>>;

const isCreation = (verb: string) => /^(create|add|upload|fork|import|share|invite)/.test(verb);

/** Reads that could show the effect, best first: `issue.note_create` → `issue.note_list`, `issue.get`; `issue.update` → `issue.get`. */
function candidates(id: string): string[] {
  const [domain = "", name = ""] = id.split(".");
  const parts = name.split("_");
  const verb = parts.at(-1) ?? "";
  const noun = parts.slice(0, -1).join("_");
  const prefixes = noun === "" ? [""] : [`${noun}_`, ""];
  const verbs = isCreation(verb) ? ["list", "get"] : ["get", "list"];
  return prefixes.flatMap((prefix) => verbs.map((one) => `${domain}.${prefix}${one}`));
}

/** The params of the write that the read takes too, if they are enough for it. */
function paramsFor(action: Action, given: Params): Params | undefined {
  const scopes = routesOf(action).map(([, path]) => placeholders(path));
  const fits = scopes.find((names) => names.every((name) => given[name] !== undefined));
  if (!fits) return undefined;
  const path = fits.map((name) => [name, given[name]] as const);
  const words = given.title ?? given.name;
  const search = action.params.search && typeof words === "string" ? [["search", words] as const] : [];
  return Object.fromEntries([...path, ...search]);
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
