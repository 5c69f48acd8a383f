import { otherName } from "../catalog/load.ts";
import type { Action, Facts, Tier } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { isRaw } from "./call-effects.ts";
import { matches } from "./names.ts";

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

export type RuleName = "tier" | "admin" | "scopes" | "raw" | "ceiling" | "read_only" | "safe_mode" | "confirm";

/** A rule can refuse, never grant. */
export type Rule = (action: Action, settings: Settings, facts: Facts) => Reason | undefined;

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

const scopes: Rule = (action, _settings, facts) => {
  const held = facts.scopes;
  // Fine-grained tokens are judged by GitLab's own answer.
  if (!held || held.includes("granular") || held.includes("api") || ANY_SCOPE.has(action.id)) return undefined;
  const reads = action.effect === "read";
  if (reads && held.includes("read_api")) return undefined;
  const beside = SCOPES_BESIDE.some(([pattern, scope]) => held.includes(scope) && matches(pattern, action.id));
  if (beside && (reads || held.includes("self_rotate"))) return undefined;
  const needed = reads ? "read_api or api" : "api";
  return { rule: "scopes", kind: "withheld", text: `the token has the scopes ${held.join(", ") || "(none)"} and it needs ${needed}` };
};

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

const ceiling: Rule = (action, settings) => {
  const withheld = (setting: string): Reason => ({
    rule: "ceiling",
    kind: "withheld",
    text: "it is outside what this server allows",
    setting,
  });
  if (settings.excludeTools.some((entry) => names(entry, action))) return withheld("--exclude-tools");
  const toolsets = settings.allowToolsets.map((name) => name.toLowerCase());
  if (toolsets.length === 0 && settings.allowTools.length === 0) return undefined;
  if (toolsets.includes(action.toolset) || (toolsets.includes("all") && !isRaw(action))) return undefined;
  if (settings.allowTools.some((entry) => names(entry, action))) return undefined;
  return withheld(toolsets.length > 0 ? "--allow-toolsets" : "--allow-tools");
};

const readOnly: Rule = (action, settings) =>
  settings.readOnly && action.effect !== "read"
    ? { rule: "read_only", kind: "withheld", text: "the server is read-only", setting: "--read-only" }
    : undefined;

const safeMode: Rule = (action, settings) =>
  settings.safeMode && action.effect !== "read"
    ? { rule: "safe_mode", kind: "preview", text: "the server is in safe mode: writes are shown, not sent", setting: "--safe-mode" }
    : undefined;

const confirm: Rule = (action, settings) =>
  action.effect === "destructive" && settings.confirm !== "off"
    ? { rule: "confirm", kind: "confirm", text: "destructive actions need the user's agreement", setting: "--confirm" }
    : undefined;

/** The ordered rules (DESIGN.md §5): the first refusal is the one that is told. */
export const RULES: readonly Rule[] = [tier, admin, scopes, raw, ceiling, readOnly, safeMode, confirm];
