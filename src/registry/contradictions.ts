import { GITLAB } from "../catalog/load.ts";
import type { Action, Facts } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { isRaw } from "../policy/call-effects.ts";
import { meansToolset } from "../policy/names.ts";
import { ceilingsOf, type Limits } from "../policy/narrow.ts";
import { createPolicy } from "../policy/policy.ts";
import { ceilingOver, names } from "../policy/rules.ts";
import { holdsProject, NOTHING_KNOWN, scopesOf } from "../policy/scope.ts";
import { requireKnownNames } from "./choice.ts";
import type { Registry } from "./registry.ts";

const WORDS = new Set(["all", "default", "meta"]);

/** Whoever calls may turn out to be an administrator: that alone rules nothing out. */
const ADMIN: Facts = { user: { id: 0, username: "", admin: true } };

/** Flags that open an action; without them it is shut. */
const SWITCHES: ReadonlySet<string> = new Set(["--allow-raw", "--allow-own-token"]);

const LISTS: ReadonlySet<string> = new Set(["--exclude-tools", "--deny-regex", "--allow-toolsets", "--allow-tools"]);

/** The flag that stands against an action, whoever calls. */
function flagAgainst(limits: Limits): (action: Action) => string | undefined {
  const policy = createPolicy(limits);
  return (action) => {
    const verdict = policy.verdict(action, ADMIN);
    return verdict.permitted ? undefined : (verdict.reason.setting ?? verdict.reason.rule);
  };
}

/** Entries that would never do anything, since another setting takes all of it away again, by `against`. */
function deadEntries(
  registry: Registry,
  limits: Limits,
  against: (action: Action) => string | undefined = (action) => ceilingOver(action, limits),
): string | undefined {
  const over = (actions: readonly Action[], isCeiling: boolean) => {
    const flags = actions.map(against);
    const taker = flags.length > 0 && flags.every((flag) => flag !== undefined) ? flags[0] : undefined;
    // Ceilings are limits among limits: only what would open a thing, or a list that shuts what another list opens, was not meant.
    return isCeiling && taker !== undefined && !LISTS.has(taker) && !SWITCHES.has(taker) ? undefined : taker;
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
      const taker = over(actionsOf(entry), flag.startsWith("--allow"));
      if (taker && SWITCHES.has(taker)) return `${flag} names ${entry}, which needs ${taker} beside it`;
      if (taker) return `${flag} names ${entry}, and ${taker} rules all of it out; keep one of them`;
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
  return outside && `--default-project is ${project}, and --allow-projects and --allow-groups rule it out; keep one of them`;
}

/** What was opened by a switch and shut by a list. */
function shutAgain(registry: Registry, limits: Limits): string | undefined {
  const raw = registry.actions().filter(isRaw);
  if (!limits.allowRaw || raw.length === 0) return undefined;
  const flag = raw.map((action) => ceilingOver(action, limits)).find((one) => one !== undefined);
  const shut = raw.every((action) => ceilingOver(action, limits) !== undefined);
  return shut ? `--allow-raw opens requests written by hand, and ${flag} rules them out; keep one of them` : undefined;
}

/** A server that may do nothing at all was not meant. */
function nothingLeft(registry: Registry, limits: Limits): string | undefined {
  const ours = registry.actions().filter(({ source }) => source === GITLAB);
  const against = flagAgainst(limits);
  const flags = new Set<string>();
  for (const action of ours) {
    const flag = against(action);
    if (flag === undefined) return undefined;
    if (flag !== "--admin" && !SWITCHES.has(flag)) flags.add(flag);
  }
  return ours.length > 0 ? `${[...flags].join(" and ")} together rule out every action` : undefined;
}

/**
 * Settings must name what exists and not contradict each other: a start that half works would hide what was meant.
 * @param running limits are read again: what only makes them tighter, as read-only does, must hold at once, whatever else was chosen.
 * @throws BridgeError invalid_params
 */
export function requireSense(registry: Registry, limits: Limits, running = false): void {
  for (const ceiling of ceilingsOf(limits)) requireKnownNames(registry, { ...limits, ...ceiling });
  const fault =
    deadEntries(registry, limits) ??
    strayProject(limits) ??
    (running
      ? undefined
      : (deadEntries(registry, limits, flagAgainst(limits)) ?? shutAgain(registry, limits) ?? nothingLeft(registry, limits)));
  if (fault) throw new BridgeError("invalid_params", fault, "Correct the settings.");
}
