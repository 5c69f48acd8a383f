import { SettingsError } from "../config/fault.ts";
import type { Loaded } from "../config/load.ts";
import { OPTIONS, type OptionName } from "../config/options.ts";
import type { PolicyFile } from "../config/policy-file.ts";
import { type Limits, narrow, type Wishes } from "./narrow.ts";

/** Keys of the file and the settings that they narrow. */
const KEYS: Readonly<Record<keyof PolicyFile, OptionName & keyof Wishes>> = {
  read_only: "readOnly",
  safe_mode: "safeMode",
  allow_toolsets: "allowToolsets",
  allow_tools: "allowTools",
  exclude_tools: "excludeTools",
  deny_regex: "denyRegex",
  allow_projects: "allowProjects",
  allow_groups: "allowGroups",
  admin: "admin",
  tier: "tier",
  confirm: "confirm",
  reveal_secrets: "revealSecrets",
  max_writes_per_minute: "maxWrites",
};

/** Settings with one value: two that differ say two things, and neither may win in silence. */
const SINGLE: ReadonlySet<OptionName> = new Set(["readOnly", "safeMode", "admin", "tier", "confirm", "revealSecrets", "maxWrites"]);

const told = (value: unknown) => (Array.isArray(value) ? value.join(",") : String(value));

/** Pairs of file and flag that say different things. */
function contradiction(file: PolicyFile, { settings, sources }: Pick<Loaded, "settings" | "sources">): string | undefined {
  for (const [key, name] of Object.entries(KEYS) as [keyof PolicyFile, OptionName][]) {
    const said = file[key];
    if (said === undefined || sources[name] === "default" || !SINGLE.has(name) || told(said) === told(settings[name])) continue;
    const source = sources[name].replace(/^(env|flag) /, "");
    return `${key}: ${told(said)} and ${source} (${told(settings[name])}, --${OPTIONS[name].flag}) contradict each other; keep one of them`;
  }
  return undefined;
}

const toWishes = (file: PolicyFile): Wishes =>
  Object.fromEntries(Object.entries(file).map(([key, value]) => [KEYS[key as keyof PolicyFile], value]));

/**
 * The settings under a policy file.
 * @throws SettingsError where the file says one thing and a flag or variable another.
 */
export function underPolicy(loaded: Pick<Loaded, "settings" | "sources">, file: PolicyFile, name: string): Limits {
  const found = contradiction(file, loaded);
  if (found) throw new SettingsError(`${name}: ${found}`);
  return narrow(loaded.settings, toWishes(file));
}
