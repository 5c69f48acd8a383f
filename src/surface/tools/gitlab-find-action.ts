import { requiredParams } from "../../catalog/schema.ts";
import type { Action, Facts } from "../../catalog/types.ts";
import type { FindAnswer } from "../../discovery/find.ts";
import { BridgeError } from "../../errors.ts";
import { groupWithheld, judge } from "../choose.ts";
import type { Connection } from "../connection.ts";
import { toolOf } from "../dispatcher.ts";
import { fitBudget } from "../fit.ts";
import { fullSchema, listedSchema, signatureFor } from "../signature.ts";
import { defineEntryTool, READS, type ToolCall } from "../tool.ts";

/** Tokens of the JSON: rows first, then input schemas, best first. */
const BUDGET = 1_200;

type Row = Record<string, unknown>;

/** From bare row to row with input schema: the schemas that fit the budget are kept, best first. */
function toVariants(call: ToolCall, action: Action, exact: boolean, why?: readonly string[]): Row[] {
  const { connection } = call;
  const bare: Row = {
    id: action.id,
    ...(connection.session.isOn(action) ? { tool: toolOf(connection, action) } : {}),
    toolset: action.toolset,
    title: action.title,
    effect: action.effect,
    required: requiredParams(action, connection.project() !== undefined),
    ...(action.next ? { next: action.next.filter((id) => isLive(connection, id)) } : {}),
    ...(why ? { why } : {}),
  };
  if (exact) return [{ ...bare, input_schema: fullSchema(connection, action) }];
  return [bare, { ...bare, input_schema: listedSchema(connection, action) }];
}

function isLive(connection: Connection, id: string): boolean {
  try {
    return connection.policy.permits(connection.registry.resolve(id), {});
  } catch {
    return false;
  }
}

function toText(call: ToolCall, found: FindAnswer, withheld: readonly Row[]): string {
  if (found.results.length === 0) {
    const near = found.suggestions.length > 0 ? ` Try: ${found.suggestions.join("; ")}.` : "";
    const refused = withheld.map((group) => `Exists, but withheld (${group.reason}): ${(group.actions as string[]).join(", ")}`);
    return [`Nothing found for "${found.query.slice(0, 80)}".${near}`, ...refused].join("\n");
  }
  const lines = found.results.map(
    ({ action }) => `${signatureFor(call.connection, action)} – ${action.effect}. ${action.title}: ${action.about}`,
  );
  const refused = withheld.map((group) => `withheld: ${group.count}, ${group.reason}`);
  const sure = found.confident ? [] : ["Not sure which is meant: compare before you write."];
  return [...lines, ...refused, ...sure, `Run one with ${call.named("gitlab_execute_action")}.`].join("\n");
}

export const gitlabFindAction = defineEntryTool({
  name: "gitlab_find_action",
  title: "Find a GitLab action",
  description: "Searches all GitLab actions by what you want to do, in any language. Returns ids, signatures and schemas.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What you want to do, or an id" },
      limit: { type: "integer", minimum: 1, maximum: 50, description: "Default 5" },
      toolset: { type: "string", description: "Only in this one" },
      effect: { type: "string", enum: ["read", "write", "destructive"], description: "Only this kind" },
    },
    required: ["query"],
  },
  annotations: () => READS,
  async run(args, call) {
    const { connection } = call;
    const query = String(args.query);
    if (query.trim() === "") throw new BridgeError("invalid_params", "query is empty.", "Say in a few words what you want to do.");
    const facts: Facts = connection.facts.known(call.context);
    const toolset = args.toolset === undefined ? undefined : connection.registry.requireToolset(String(args.toolset)).name;
    const effect = args.effect as Action["effect"] | undefined;
    const found = (await connection.finder()).find(query, {
      limit: Number(args.limit ?? 5),
      ...(toolset === undefined ? {} : { toolset }),
      ...(effect === undefined ? {} : { effect }),
      explain: args.explain === true,
      permitted: (action) => connection.policy.permits(action, facts),
    });
    const variants = found.results.map(({ action, exact, why }) => toVariants(call, action, exact === true, why));
    const withheld = groupWithheld(judge(connection, found.withheld, facts).withheld, !connection.policy.tellsSettings);
    const json = {
      query: query.slice(0, 200),
      count: found.count,
      confident: found.confident,
      results: fitBudget(variants, BUDGET),
      ...(withheld.length > 0 ? { withheld } : {}),
      ...(found.suggestions.length > 0 ? { suggestions: found.suggestions } : {}),
    };
    return { text: toText(call, found, withheld), json };
  },
});
