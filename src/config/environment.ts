import { meant, ROWS, SettingsError, shown } from "./fault.ts";
import type { Option } from "./option.ts";
import type { OptionName } from "./options.ts";
import { toBoolean } from "./values.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type Transport = "stdio" | "http";

export interface EnvironmentValue {
  readonly env: string;
  readonly text: string;
  /** The option's own name; false for names that people bring along. */
  readonly own: boolean;
}

interface Elsewhere {
  /** What does it here. */
  readonly why: string;
  /** Said only where the switch stands so. */
  readonly only?: "on" | "off";
}

const CHECKED: Elsewhere = { why: "certificates are always checked; use --ca-file (GITLAB_BRIDGE_CA_FILE)", only: "on" };
const leftOut = (toolset: string): Elsewhere => ({ why: `--exclude-tools=toolset:${toolset} withholds these actions`, only: "off" });

/** Names of other servers, and of Node, that have no meaning here, and what does it instead. */
const WITHOUT_EFFECT: Readonly<Record<string, Elsewhere>> = {
  GITLAB_SKIP_TLS_VERIFY: CHECKED,
  GITLAB_MCP_SKIP_TLS_VERIFY: CHECKED,
  SKIP_TLS_VERIFY: CHECKED,
  NODE_TLS_REJECT_UNAUTHORIZED: { ...CHECKED, only: "off" },
  ENABLE_DYNAMIC_API_URL: { why: "instances are a fixed list; use --instances (GITLAB_BRIDGE_INSTANCES)", only: "on" },
  USE_GITLAB_WIKI: leftOut("wikis"),
  USE_PIPELINE: leftOut("ci"),
  USE_VARIABLES: leftOut("ci_variables"),
  USE_MRS: leftOut("merge_requests"),
  USE_WORKITEMS: leftOut("work_items"),
  USE_FILES: leftOut("repository"),
  USE_LABELS: leftOut("planning"),
  USE_MILESTONE: leftOut("planning"),
};

/** Limits of other servers, in words that are not ours: dropped in silence they would open what was meant to be shut. */
const LIMITS_ELSEWHERE: Readonly<Record<string, string>> = {
  GITLAB_DENIED_ACTIONS: "--exclude-tools (GITLAB_BRIDGE_EXCLUDE_TOOLS)",
  GITLAB_ALLOWED_TOOLS: "--allow-tools (GITLAB_BRIDGE_ALLOW_TOOLS)",
};

const OWN = ROWS.map(([, option]) => option.env);
const ALL = new Set(ROWS.flatMap(([, option]) => [option.env, ...(option.aliases ?? [])]));

/** Blank counts as not set: that is how a shell or a container file says so. */
const read = (env: Environment, name: string): string | undefined => (env[name]?.trim() ? env[name] : undefined);

/** A switch of another server, in this option's own words. */
function translate(option: Option, env: Environment, transport: Transport): EnvironmentValue[] {
  return (option.translated ?? []).flatMap((name): EnvironmentValue[] => {
    const text = read(env, name.env);
    if (text === undefined) return [];
    const on = toBoolean(text);
    if (on === undefined) throw new SettingsError(`${name.env}: ${shown(text)} is neither true nor false; the nearest is ${name.env}=true`);
    const value = on ? name.on : name.off;
    if (value === undefined) return [];
    if (name.stdioOnly && transport === "http") {
      throw new SettingsError(
        `${name.env} is not taken over HTTP, where it would hold for everybody; the setting is --${option.flag}=${value}`,
      );
    }
    return [{ env: name.env, text: value, own: false }];
  });
}

/** Everything that the environment says about one option, strongest first. */
function namedValues(option: Option, env: Environment, transport: Transport): EnvironmentValue[] {
  const named = [option.env, ...(option.aliases ?? [])].flatMap((name, index): EnvironmentValue[] => {
    const text = read(env, name);
    return text === undefined ? [] : [{ env: name, text, own: index === 0 }];
  });
  return [...named, ...translate(option, env, transport)];
}

/** Stops at names that are surely meant for the bridge and are not known; tells of those that have no effect. */
function checkNames(env: Environment): string[] {
  const set = Object.keys(env).filter((name) => read(env, name) !== undefined);
  for (const name of set) {
    if (name.startsWith("GITLAB_BRIDGE_") && !ALL.has(name))
      throw new SettingsError(`${name} is not a setting; ${meant(name, OWN, "GITLAB_BRIDGE_")}`);
    const limit = LIMITS_ELSEWHERE[name];
    if (limit !== undefined) throw new SettingsError(`${name} is a limit that is not understood here; the nearest is ${limit}`);
  }
  return set.flatMap((name) => {
    const elsewhere = WITHOUT_EFFECT[name];
    if (elsewhere) return toBoolean(env[name] ?? "") === (elsewhere.only !== "on") ? [] : [`${name} has no effect: ${elsewhere.why}`];
    const foreign = name.startsWith("GITLAB_MCP_") && !ALL.has(name);
    return foreign
      ? [`${name} has no effect: it is not a setting; ${meant(name.replace("_MCP_", "_BRIDGE_"), OWN, "GITLAB_BRIDGE_")}`]
      : [];
  });
}

export function readEnvironment(env: Environment, transport: Transport) {
  const warnings = checkNames(env);
  const values = new Map<OptionName, readonly EnvironmentValue[]>();
  for (const [name, option] of ROWS) values.set(name, namedValues(option, env, transport));
  return { values, warnings };
}
