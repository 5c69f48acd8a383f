import type { Action, Facts } from "../../catalog/types.ts";
import { BridgeError } from "../../errors.ts";
import { estimateJson } from "../../executor/tokens.ts";
import type { Reason } from "../../policy/rules.ts";
import type { Toolset } from "../../registry/registry.ts";
import { chosen, groupWithheld, judge } from "../choose.ts";
import { maySwitch } from "../connection.ts";
import { hasDispatchers, toolOf } from "../dispatcher.ts";
import { fitBudget } from "../fit.ts";
import { listedSchema, signatureFor, toListedTool } from "../signature.ts";
import { defineEntryTool, type ToolCall } from "../tool.ts";

/** Tokens of list that level "all" may add. */
const LIST_CAP = 8_000;
const BUDGET_REFRESHED = 550;
const BUDGET_OTHERWISE = 4_100;

interface Plan {
  readonly toolset: Toolset;
  /** Permitted and to be on. */
  readonly wanted: readonly Action[];
  readonly withheld: readonly { action: Action; reason: Reason }[];
  /** Permitted, but left out by the cap. */
  readonly over: readonly Action[];
  /** Permitted actions that level "all" would add. */
  readonly rest: number;
}

/** `a, b` or `["a","b"]`; each once. @throws BridgeError when nothing is named. */
export function toolsetNames(value: unknown): readonly string[] {
  const names = String(value ?? "")
    .replace(/[[\]"']/g, "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0) throw new BridgeError("invalid_params", "toolset is empty.", "Name one toolset, or several with commas.");
  return [...new Set(names)];
}

function underCap(call: ToolCall, actions: readonly Action[]): { kept: readonly Action[]; over: readonly Action[] } {
  let left = LIST_CAP;
  const kept: Action[] = [];
  const over: Action[] = [];
  for (const action of actions) {
    left -= estimateJson(hasDispatchers(call.connection) ? action.id : toListedTool(call.connection, action, call.named));
    if (left >= 0) kept.push(action);
    else over.push(action);
  }
  return { kept, over };
}

function plan(call: ToolCall, name: string, args: Readonly<Record<string, unknown>>, facts: Facts): Plan {
  const { connection } = call;
  const toolset = connection.registry.requireToolset(name);
  const tools = args.tools as readonly string[] | undefined;
  const named = tools && tools.length > 0 ? chosen(toolset, tools, connection.settings.prefix) : undefined;
  const level = args.level ?? (hasDispatchers(connection) ? "all" : "essential");
  const asked = named ?? (level === "all" ? toolset.actions : toolset.actions.filter((action) => action.essential));
  const { permitted, withheld } = judge(connection, asked, facts);
  const { kept, over } = underCap(call, permitted);
  const everything = judge(connection, toolset.actions, facts).permitted;
  const rest = everything.filter((action) => !kept.includes(action) && !connection.session.isOn(action)).length;
  return { toolset, wanted: kept, withheld, over, rest };
}

type Status = "enabled" | "already_enabled" | "partly_enabled" | "callable" | "not_permitted";

function statusOf(entry: Plan, added: readonly Action[], switching: boolean): Status {
  if (entry.wanted.length === 0) return "not_permitted";
  if (added.length === 0) return switching ? "already_enabled" : "callable";
  return entry.over.length > 0 || entry.withheld.length > 0 ? "partly_enabled" : "enabled";
}

function toVariants(call: ToolCall, action: Action, withSchema: boolean): Record<string, unknown>[] {
  const { connection } = call;
  const poorest = hasDispatchers(connection) ? { action: action.id } : { name: toolOf(connection, action), action: action.id };
  const plain = { ...poorest, effect: action.effect };
  const signed = { ...plain, signature: signatureFor(connection, action) };
  return withSchema ? [poorest, plain, signed, { ...signed, input_schema: listedSchema(connection, action) }] : [poorest, plain, signed];
}

/** The work behind the answer: what was switched, told, and seen by the client. */
interface Switched {
  readonly added: ReadonlySet<Action>;
  readonly listChanged: "sent" | "not_needed" | "not_available";
  readonly refreshed: true | false | "unknown";
}

/** Switches, tells once, and waits for the client to ask again. */
export async function applySwitch(call: ToolCall, change: () => readonly Action[]): Promise<Switched> {
  const { session } = call.connection;
  const added = new Set(change());
  if (added.size === 0) return { added, listChanged: "not_needed", refreshed: "unknown" };
  if (!call.link.canTell()) return { added, listChanged: "not_available", refreshed: "unknown" };
  return { added, listChanged: "sent", refreshed: await session.settle(call.tellListChanged) };
}

/** What the client's list shows now needs no telling but its name: one row for a dispatcher, one for each tool. */
function toRows(call: ToolCall, { wanted }: Plan, viaTools: boolean, budget: number): readonly Record<string, unknown>[] {
  const [first] = wanted;
  if (viaTools && first && hasDispatchers(call.connection)) return [{ name: toolOf(call.connection, first), actions: wanted.length }];
  return fitBudget(
    wanted.map((action) => toVariants(call, action, !viaTools)),
    budget,
  );
}

function toEntry(call: ToolCall, entry: Plan, status: Status, tools: readonly Record<string, unknown>[]): Record<string, unknown> {
  const groups = groupWithheld(entry.withheld, !call.connection.policy.tellsSettings);
  return {
    toolset: entry.toolset.name,
    status,
    tools,
    ...(groups.length > 0 ? { withheld: groups } : {}),
    ...(entry.rest > 0 ? { more: { actions: entry.rest, how: entry.over.length > 0 ? "name them in tools" : 'level "all"' } } : {}),
  };
}

function toLine({ name, action, actions, signature }: Record<string, unknown>): string {
  if (actions !== undefined) return `${name}({ action, params }): ${actions} actions`;
  return name === undefined ? String(signature ?? action) : `${name}: ${signature ?? action}`;
}

function toText(entries: readonly Record<string, unknown>[], answer: Record<string, unknown>): string {
  const lines = entries.flatMap((entry) => {
    const tools = entry.tools as readonly Record<string, unknown>[];
    const withheld = (entry.withheld ?? []) as readonly Record<string, unknown>[];
    const more = entry.more as { actions: number; how: string } | undefined;
    return [
      `${entry.toolset}: ${entry.status}, ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`,
      ...tools.map((tool) => `  ${toLine(tool)}`),
      ...withheld.map((group) => `  withheld: ${group.count}, ${group.reason}`),
      ...(more ? [`  ${more.actions} more actions: ${more.how}`] : []),
    ];
  });
  const path =
    answer.call_via === "tools"
      ? "Call them by name."
      : `Call them now through ${answer.call_via} (action, params); by name works too once your list shows them.`;
  return [...lines, `list_changed: ${answer.list_changed}; client_refreshed: ${answer.client_refreshed}. ${path}`].join("\n");
}

export const enableToolset = defineEntryTool({
  name: "enable_toolset",
  title: "Enable a toolset",
  description: "Adds a toolset's tools to your list, as far as permitted, and says how to call them now.",
  inputSchema: {
    type: "object",
    properties: {
      toolset: { type: "string", description: "One name, or several with commas" },
      tools: { type: "array", items: { type: "string" }, description: "Only these" },
      level: { type: "string", enum: ["essential", "all"], description: "Default essential" },
    },
    required: ["toolset"],
  },
  annotations: () => ({ readOnlyHint: true, idempotentHint: true, openWorldHint: false }),
  async run(args, call) {
    const { connection } = call;
    const names = toolsetNames(args.toolset);
    const facts = await connection.facts.learn(call.context);
    const plans = names.map((name) => plan(call, name, args, facts));
    const switching = maySwitch(connection.settings, call.link);
    const switched = await applySwitch(call, () => (switching ? connection.session.enable(plans.flatMap((entry) => entry.wanted)) : []));
    const viaTools =
      switched.refreshed === true || (switched.listChanged === "not_needed" && switching && plans.some((p) => p.wanted.length > 0));
    const budget = (viaTools ? BUDGET_REFRESHED : BUDGET_OTHERWISE) / plans.length;
    const entries = plans.map((entry) => {
      const added = entry.wanted.filter((action) => switched.added.has(action));
      return toEntry(call, entry, statusOf(entry, added, switching), toRows(call, entry, viaTools, budget));
    });
    const answer = {
      list_changed: switching || switched.added.size > 0 ? switched.listChanged : "not_available",
      client_refreshed: switched.refreshed,
      call_via: viaTools ? "tools" : call.named("gitlab_execute_action"),
      keep: `--toolsets=${plans.map((entry) => entry.toolset.name).join(",")}`,
    };
    return { text: toText(entries, answer), json: { toolsets: entries, ...answer } };
  },
});
