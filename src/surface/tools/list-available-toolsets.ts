import type { Action, Effect, Facts } from "../../catalog/types.ts";
import type { Toolset } from "../../registry/registry.ts";
import type { Connection } from "../connection.ts";
import { defineEntryTool, READS } from "../tool.ts";

const EFFECTS: readonly Effect[] = ["read", "write", "destructive"];

/** Counts of what this caller may use; zeros are left out. */
function count(actions: readonly Action[]): Record<string, number> {
  const pairs = EFFECTS.map((effect): [string, number] => [effect, actions.filter((action) => action.effect === effect).length]);
  return Object.fromEntries(pairs.filter(([, number]) => number > 0));
}

/** A title that only says the name again is left out. */
const repeatsName = ({ name, title }: Toolset) => title.toLowerCase() === name.replaceAll("_", " ");

function toRow(connection: Connection, toolset: Toolset, facts: Facts): Record<string, unknown> {
  const { policy, session } = connection;
  const permitted = toolset.actions.filter((action) => policy.permits(action, facts));
  const on = permitted.filter((action) => session.isOn(action)).length;
  const foreign = toolset.sources.filter((source) => source !== "gitlab");
  const first = toolset.actions[0];
  const verdict = permitted.length === 0 && first ? policy.verdict(first, facts) : undefined;
  return {
    name: toolset.name,
    ...(repeatsName(toolset) ? {} : { title: toolset.title }),
    ...(foreign.length > 0 ? { source: foreign.join(",") } : {}),
    actions: permitted.length,
    essential: permitted.filter((action) => action.essential).length,
    ...count(permitted),
    ...(on > 0 ? { enabled: on } : {}),
    ...(permitted.length === 0 ? { can_enable: false } : {}),
    ...(verdict && !verdict.permitted ? { reason: verdict.reason.text } : {}),
    ...(toolset.note === undefined ? {} : { reason: toolset.note }),
  };
}

function toLine(row: Record<string, unknown>): string {
  const name = row.title === undefined ? row.name : `${row.name} – ${row.title}`;
  if (row.reason !== undefined && row.can_enable === false)
    return `${name}: ${row.actions === 0 && row.source ? "" : "not permitted, "}${row.reason}`;
  const counts = EFFECTS.filter((effect) => row[effect] !== undefined).map((effect) => `${row[effect]} ${effect}`);
  const on = row.enabled === undefined ? "" : `; ${row.enabled} on`;
  const note = row.reason === undefined ? "" : `: ${row.reason}`;
  return `${name} (${counts.join(", ")}${on})${note}`;
}

/** Every toolset as this caller may use it. */
export const toolsetRows = (connection: Connection, facts: Facts): readonly Record<string, unknown>[] =>
  connection.registry.toolsets().map((toolset) => toRow(connection, toolset, facts));

export const listAvailableToolsets = defineEntryTool({
  name: "list_available_toolsets",
  title: "List toolsets",
  description: "Groups of GitLab actions: what each holds and what is on. For browsing; to do one thing, search instead.",
  inputSchema: { type: "object", properties: {} },
  annotations: () => READS,
  async run(_args, { connection, context }) {
    const toolsets = toolsetRows(connection, connection.facts.known(context));
    return { text: toolsets.map(toLine).join("\n"), json: { toolsets } };
  },
});
