import type { Action, Facts } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { Reason } from "../policy/rules.ts";
import type { Toolset } from "../registry/registry.ts";
import type { Connection } from "./connection.ts";

/** Actions that are not permitted, grouped by reason: `{reason, setting?, count, actions: first five}`. */
export function groupWithheld(
  entries: readonly { action: Action; reason: Reason }[],
  contact: boolean,
): readonly Record<string, unknown>[] {
  const groups = new Map<string, { reason: Reason; actions: Action[] }>();
  for (const { action, reason } of entries) {
    const group = groups.get(reason.text) ?? { reason, actions: [] };
    group.actions.push(action);
    groups.set(reason.text, group);
  }
  return [...groups.values()].map(({ reason, actions }) => ({
    reason: reason.text,
    ...(reason.setting === undefined || contact ? {} : { setting: reason.setting }),
    count: actions.length,
    actions: actions.slice(0, 5).map((action) => action.id),
  }));
}

/** Splits by the verdict of this moment. */
export function judge(connection: Connection, actions: readonly Action[], facts: Facts) {
  const permitted: Action[] = [];
  const withheld: { action: Action; reason: Reason }[] = [];
  for (const action of actions) {
    const verdict = connection.policy.verdict(action, facts);
    if (verdict.permitted) permitted.push(action);
    else withheld.push({ action, reason: verdict.reason });
  }
  return { permitted, withheld };
}

/** The actions of a toolset that a `tools` argument names (tool names or ids). @throws BridgeError unknown_action */
export function chosen(toolset: Toolset, names: readonly string[], prefix: string): readonly Action[] {
  return names.map((name) => {
    const word = name.trim().toLowerCase();
    const bare = word.startsWith(prefix) ? word.slice(prefix.length) : word;
    const found = toolset.actions.find((action) => action.id === word || action.tool === bare || action.aliases?.includes(word));
    if (found) return found;
    const near = nearest(
      bare,
      toolset.actions.flatMap((action) => [action.tool, action.id]),
    );
    const hint = near.length > 0 ? `Nearest: ${near.join(", ")}.` : "get_toolset_tools lists what it holds.";
    throw new BridgeError("unknown_action", `Toolset ${toolset.name} has no "${name}".`, hint, { nearest: near });
  });
}
