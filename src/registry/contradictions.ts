import type { Action } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { meansToolset } from "../policy/names.ts";
import { ceilingsOf, type Limits } from "../policy/narrow.ts";
import { ceilingOver, names } from "../policy/rules.ts";
import { holdsProject, NOTHING_KNOWN, scopesOf } from "../policy/scope.ts";
import { requireKnownNames } from "./choice.ts";
import type { Registry } from "./registry.ts";

const WORDS = new Set(["all", "default", "meta"]);

/** Entries that would never do anything, since another setting takes all of it away again. */
function deadEntries(registry: Registry, limits: Limits): string | undefined {
  const over = (actions: readonly Action[]) => {
    const flags = actions.map((action) => ceilingOver(action, limits));
    return flags.length > 0 && flags.every((flag) => flag !== undefined) ? flags[0] : undefined;
  };
  const ofToolset = (word: string) =>
    WORDS.has(word.toLowerCase()) ? [] : registry.actions().filter((action) => meansToolset(word, action.toolset));
  const ofTool = (word: string) => registry.actions().filter((action) => names(word, action));
  const lists: (readonly [string, readonly string[], (word: string) => readonly Action[]])[] = [
    ["--toolsets", limits.toolsets, ofToolset],
    ["--tools", limits.tools, ofTool],
    ...ceilingsOf(limits).flatMap(({ allowToolsets, allowTools }): [string, readonly string[], (word: string) => readonly Action[]][] => [
      ["--allow-toolsets", allowToolsets, ofToolset],
      ["--allow-tools", allowTools, ofTool],
    ]),
  ];
  for (const [flag, entries, actionsOf] of lists)
    for (const entry of entries) {
      const taker = over(actionsOf(entry));
      if (taker) return `${flag} names ${entry}, and ${taker} rules all of it out`;
    }
  return undefined;
}

/** The current project is outside of what may be reached, as far as their names tell. */
function strayProject(limits: Limits): string | undefined {
  const { project } = limits;
  if (project === undefined || /^\d+$/.test(project)) return undefined;
  const outside = scopesOf(limits).find(
    (scope) =>
      ![...scope.allowProjects, ...scope.allowGroups].some((entry) => /^\d+$/.test(entry)) &&
      !holdsProject(scope, { path: project }, NOTHING_KNOWN),
  );
  return outside && `--default-project is ${project}, and --allow-projects and --allow-groups rule it out`;
}

/**
 * Settings must name what exists and not contradict each other: a start that half works would hide what was meant.
 * @throws BridgeError invalid_params
 */
export function requireSense(registry: Registry, limits: Limits): void {
  for (const ceiling of ceilingsOf(limits)) requireKnownNames(registry, { ...limits, ...ceiling });
  const fault = deadEntries(registry, limits) ?? strayProject(limits);
  if (fault) throw new BridgeError("invalid_params", `${fault}; keep one of them`, "Correct the settings.");
}
