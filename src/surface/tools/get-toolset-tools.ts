import type { Action } from "../../catalog/types.ts";
import { chosen, groupWithheld, judge } from "../choose.ts";
import { toolOf } from "../dispatcher.ts";
import { fitBudget } from "../fit.ts";
import { fullSchema, signatureFor } from "../signature.ts";
import { defineEntryTool, READS, type ToolCall } from "../tool.ts";

const BUDGET = 1_900;
const SCHEMA_BUDGET = 7_500;

const essentialFirst = (actions: readonly Action[]): Action[] =>
  [...actions].sort((a, b) => Number(b.essential ?? false) - Number(a.essential ?? false));

type Row = Record<string, unknown>;

function toVariants(call: ToolCall, action: Action, detail: string): Row[] {
  const { connection } = call;
  const on = connection.session.isOn(action) ? { enabled: true } : {};
  const poorest: Row = { name: toolOf(connection, action), action: action.id };
  if (detail === "names") return [poorest];
  const plain: Row = { ...poorest, effect: action.effect, ...(action.essential ? { essential: true } : {}), ...on };
  const signed: Row = { ...plain, title: action.title, signature: signatureFor(connection, action) };
  if (detail === "summary") return [poorest, plain, signed];
  return [plain, signed, { ...signed, input_schema: fullSchema(connection, action) }];
}

export const getToolsetTools = defineEntryTool({
  name: "get_toolset_tools",
  title: "Show a toolset's tools",
  description: "What is in a toolset: names, effects and signatures, or full input schemas of single tools.",
  inputSchema: {
    type: "object",
    properties: {
      toolset: { type: "string", description: "Its name" },
      detail: { type: "string", enum: ["names", "summary", "schemas"], description: "Default summary" },
      tools: { type: "array", items: { type: "string" }, description: "Only these" },
    },
    required: ["toolset"],
  },
  annotations: () => READS,
  async run(args, call) {
    const { connection } = call;
    const toolset = connection.registry.requireToolset(String(args.toolset));
    const names = args.tools as readonly string[] | undefined;
    const detail = String(args.detail ?? "summary");
    const facts = connection.facts.known(call.context);
    const asked = names ? chosen(toolset, names, connection.settings.prefix) : essentialFirst(toolset.actions);
    const { permitted, withheld } = judge(connection, asked, facts);
    const variants = permitted.map((action) => toVariants(call, action, detail));
    const tools = fitBudget(variants, detail === "schemas" ? SCHEMA_BUDGET : BUDGET);
    const groups = groupWithheld(withheld, !connection.policy.tellsSettings);
    const lines = tools.map((row, index) => {
      const action = permitted[index] as Action;
      return row.signature === undefined ? `${row.name} (${action.id}, ${action.effect})` : `${row.signature} – ${action.effect}`;
    });
    const refused = groups.map((group) => `withheld: ${group.count}, ${group.reason}`);
    const short = tools.some((row) => row.signature === undefined) && detail !== "names";
    const more = short ? ['Shortened. For one action: detail "schemas" with tools ["its name"].'] : [];
    return {
      text: [`${toolset.name}: ${permitted.length} ${permitted.length === 1 ? "tool" : "tools"}`, ...lines, ...refused, ...more].join("\n"),
      json: { toolset: toolset.name, tools, ...(groups.length > 0 ? { withheld: groups } : {}), ...(short ? { shortened: true } : {}) },
    };
  },
});
