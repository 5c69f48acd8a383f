import { GITLAB, otherName } from "../catalog/load.ts";
import type { Action, Facts, Tier } from "../catalog/types.ts";
import { type Pattern, toPattern } from "../config/pattern.ts";
import { isRaw } from "./call-effects.ts";
import { matches, meansToolset } from "./names.ts";
import { type Ceiling, ceilingsOf, type Limits } from "./narrow.ts";
import { OWN_TOKEN } from "./own-token.ts";
import { isOpen, scopesOf } from "./scope.ts";

/**
 * What a rule has to say about an action. `withheld`: it may not be listed, found, enabled or called.
 * `preview`: a call answers with what it would send. `confirm`: a call needs the user's agreement.
 */
export interface Reason {
  readonly rule: RuleName;
  readonly kind: "withheld" | "preview" | "confirm";
  readonly text: string;
  /** Flag of the setting behind it. */
  readonly setting?: string;
}

export const RULE_NAMES = [
  "tier",
  "admin",
  "scopes",
  "own_token",
  "secrets",
  "raw",
  "ceiling",
  "scope",
  "read_only",
  "safe_mode",
  "confirm",
] as const;

export type RuleName = (typeof RULE_NAMES)[number];

/** A rule can refuse, never grant. */
export type Rule = (action: Action, settings: Limits, facts: Facts) => Reason | undefined;

const RANK: Readonly<Record<Tier, number>> = { unknown: 0, free: 0, premium: 1, ultimate: 2 };

const tier: Rule = (action, settings) => {
  if (settings.tier === undefined || RANK[action.tier ?? "free"] <= RANK[settings.tier]) return undefined;
  return {
    rule: "tier",
    kind: "withheld",
    text: `it needs GitLab ${action.tier}, and this server is set to ${settings.tier}`,
    setting: "--tier",
  };
};

const admin: Rule = (action, settings, facts) => {
  if (!action.admin || settings.admin || facts.user?.admin === true) return undefined;
  return {
    rule: "admin",
    kind: "withheld",
    text: "it is for GitLab administrators, and the user is not known to be one",
    setting: "--admin",
  };
};

/** Scopes that open an action beside `api`; `read_api` opens every read. */
const SCOPES_BESIDE: readonly (readonly [pattern: string, scope: string])[] = [
  ["repository.*", "read_repository"],
  ["user.current_get", "read_user"],
  ["personal_access_token.self_rotate", "self_rotate"],
];

/** Actions that work with any live token, whatever its scopes. */
const ANY_SCOPE: ReadonlySet<string> = new Set(["personal_access_token.self_get", "personal_access_token.self_revoke", "batch.run"]);

/** Actions on the token that the request is made with. */
const ENDS_ITSELF: ReadonlySet<string> = new Set([
  "personal_access_token.self_rotate",
  "personal_access_token.self_revoke",
  "access_token.self_rotate",
]);

const scopes: Rule = (action, _settings, facts) => {
  const held = facts.scopes;
  // GitLab's token says nothing of other servers.
  if (action.source !== GITLAB) return undefined;
  // Fine-grained tokens are judged by GitLab's own answer.
  if (!held || held.includes("granular") || held.includes("api") || ANY_SCOPE.has(action.id)) return undefined;
  const reads = action.effect === "read";
  if (reads && held.includes("read_api")) return undefined;
  const beside = SCOPES_BESIDE.some(([pattern, scope]) => held.includes(scope) && matches(pattern, action.id));
  if (beside && (reads || held.includes("self_rotate"))) return undefined;
  const needed = reads ? "read_api or api" : "api";
  return { rule: "scopes", kind: "withheld", text: `the token has the scopes ${held.join(", ") || "(none)"} and it needs ${needed}` };
};

const ownToken: Rule = (action, settings) => (ENDS_ITSELF.has(action.id) && !settings.allowOwnToken ? OWN_TOKEN : undefined);

/** A secret that may be told in no way is not made. Where a file could not be written, the call itself is refused. */
const secrets: Rule = (action, settings) =>
  action.secret && settings.revealSecrets === "never"
    ? { rule: "secrets", kind: "withheld", text: "it makes a new secret, and this server gives out none", setting: "--reveal-secrets" }
    : undefined;

const raw: Rule = (action, settings) =>
  isRaw(action) && !settings.allowRaw
    ? { rule: "raw", kind: "withheld", text: "requests written by hand are off on this server", setting: "--allow-raw" }
    : undefined;

/** Whether one entry of a ceiling list (id, tool name, alias, pattern, `toolset:NAME`) means the action. */
export function names(entry: string, action: Action): boolean {
  const word = entry.trim().toLowerCase();
  if (word.startsWith("toolset:")) return matches(word.slice("toolset:".length), action.toolset);
  return matches(word, action.id) || matches(word, action.tool) || (action.aliases ?? []).includes(word) || otherName(word) === action.id;
}

const compiled = new Map<string, Pattern>();

function patternOf(source: string): Pattern {
  const known = compiled.get(source) ?? toPattern(source);
  compiled.set(source, known);
  return known;
}

const isUnder = ({ allowToolsets, allowTools }: Ceiling, action: Action): boolean => {
  if (allowToolsets.length === 0 && allowTools.length === 0) return true;
  const toolsets = allowToolsets.map((name) => name.toLowerCase());
  return (
    toolsets.includes(action.toolset) || (toolsets.includes("all") && !isRaw(action)) || allowTools.some((entry) => names(entry, action))
  );
};

/** The flag of the ceiling that an action is outside of, if there is one. */
export function ceilingOver(action: Action, settings: Limits): string | undefined {
  if (settings.excludeTools.some((entry) => names(entry, action))) return "--exclude-tools";
  const isFound = (source: string) => [action.id, action.tool].some((name) => patternOf(source).test(name));
  if (settings.denyRegex.some(isFound)) return "--deny-regex";
  const over = ceilingsOf(settings).find((one) => !isUnder(one, action));
  return over && (over.allowToolsets.length > 0 ? "--allow-toolsets" : "--allow-tools");
}

const ceiling: Rule = (action, settings) => {
  const setting = ceilingOver(action, settings);
  return setting === undefined ? undefined : { rule: "ceiling", kind: "withheld", text: "it is outside what this server allows", setting };
};

/** The flag that limits projects and groups. */
export const scopeFlag = (settings: Limits): string => {
  const scope = scopesOf(settings)[0];
  return scope && scope.allowProjects.length === 0 ? "--allow-groups" : "--allow-projects";
};

const scope: Rule = (action, settings) => {
  if (scopesOf(settings).length === 0 || !isOpen(action)) return undefined;
  const text = "it cannot be limited to the projects that this server allows";
  return { rule: "scope", kind: "withheld", text, setting: scopeFlag(settings) };
};

/** Whether a toolset may only be read. */
export const isReadOnly = ({ readOnly }: Pick<Limits, "readOnly">, toolset: string | undefined): boolean =>
  typeof readOnly === "boolean" ? readOnly : toolset === undefined || readOnly.some((name) => meansToolset(name, toolset));

const readOnly: Rule = (action, settings) => {
  if (action.effect === "read" || !isReadOnly(settings, action.toolset)) return undefined;
  const what = settings.readOnly === true ? "the server is read-only" : `the toolset ${action.toolset} is read-only here`;
  return { rule: "read_only", kind: "withheld", text: what, setting: "--read-only" };
};

const safeMode: Rule = (action, settings) =>
  settings.safeMode && action.effect !== "read"
    ? { rule: "safe_mode", kind: "preview", text: "the server is in safe mode: writes are shown, not sent", setting: "--safe-mode" }
    : undefined;

const confirm: Rule = (action, settings) =>
  action.effect === "destructive" && settings.confirm !== "off"
    ? { rule: "confirm", kind: "confirm", text: "destructive actions need the user's agreement", setting: "--confirm" }
    : undefined;

/** The ordered rules (DESIGN.md §5): the first refusal is the one that is told. */
export const RULES: readonly Rule[] = [tier, admin, scopes, ownToken, secrets, raw, ceiling, scope, readOnly, safeMode, confirm];
