import { loadActions } from "../catalog/load.ts";
import { TOOLSETS } from "../catalog/toolsets.ts";
import type { Action, Facts } from "../catalog/types.ts";
import { SettingsError } from "../config/fault.ts";
import { loadSettings } from "../config/load.ts";
import { createPolicy, type Policy } from "../policy/policy.ts";
import { requireSense } from "../registry/contradictions.ts";
import { createRegistry } from "../registry/registry.ts";
import { limitsOf } from "./open-bridge.ts";
import type { Host } from "./run.ts";

const USAGE =
  "doctor policy FILE [ACTION …] [flags]: what the file, with these flags, makes of an action; without actions, of every toolset.";

/** Nothing is known of a caller here: what a token's scopes would refuse is not told. */
const FACTS: Facts = {};

/** What becomes of an action, and by which rule. */
export function explain(policy: Policy, action: Action): string {
  const verdict = policy.verdict(action, FACTS);
  if (!verdict.permitted) {
    const { rule, text, setting } = verdict.reason;
    return `refused by the rule ${rule}: ${text}${setting === undefined ? "" : ` (${setting})`}`;
  }
  const { preview, confirm } = verdict;
  if (preview) return `shown, not sent, by the rule ${preview.rule} (${preview.setting})`;
  return confirm ? `permitted; the rule ${confirm.rule} asks first (${confirm.setting})` : "permitted";
}

function summary(policy: Policy, toolset: string): string {
  const actions = loadActions().filter((action) => action.toolset === toolset);
  const counts = new Map<string, number>();
  for (const action of actions) {
    const verdict = policy.verdict(action, FACTS);
    const word = verdict.permitted
      ? verdict.preview
        ? "shown only"
        : verdict.confirm
          ? "permitted, asking first"
          : "permitted"
      : `refused (${verdict.reason.rule})`;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return `${toolset}: ${[...counts].map(([word, count]) => `${count} ${word}`).join(", ") || "no actions"}`;
}

const isFlag = (word: string) => word.startsWith("-");

/** Words up to the first flag; flags and their values after it. */
function split(argv: readonly string[]): { words: readonly string[]; flags: readonly string[] } {
  const at = argv.findIndex(isFlag);
  return at < 0 ? { words: argv, flags: [] } : { words: argv.slice(0, at), flags: argv.slice(at) };
}

/** The lines of `doctor policy`. */
export async function doctorPolicy(argv: readonly string[], env: Host["env"]): Promise<readonly string[]> {
  const { words, flags } = split(argv);
  const [file, ...names] = words;
  if (file === undefined) throw new SettingsError(USAGE);
  const limits = await limitsOf(loadSettings({ argv: flags, env, transport: "stdio" }), file);
  const registry = createRegistry([
    { name: "gitlab", toolsets: () => TOOLSETS, actions: loadActions, run: () => Promise.reject(), preview: () => Promise.reject() },
  ]);
  requireSense(registry, limits);
  const policy = createPolicy(limits);
  if (names.length === 0) return TOOLSETS.map(({ name }) => summary(policy, name));
  return names.map((name) => {
    const action = registry.resolve(name);
    return `${action.id} (${action.effect}, toolset ${action.toolset}): ${explain(policy, action)}`;
  });
}

/** `doctor policy FILE`: explains a policy without a GitLab. */
export async function doctor(argv: readonly string[], host: Host): Promise<void> {
  const [what, ...rest] = argv;
  if (what !== "policy") throw new SettingsError(USAGE);
  for (const line of await doctorPolicy(rest, host.env)) console.log(line);
}
