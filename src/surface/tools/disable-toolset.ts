import { chosen } from "../choose.ts";
import { maySwitch } from "../connection.ts";
import { toolOf } from "../dispatcher.ts";
import { defineEntryTool } from "../tool.ts";
import { applySwitch, toolsetNames } from "./enable-toolset.ts";

export const disableToolset = defineEntryTool({
  name: "disable_toolset",
  title: "Disable a toolset",
  description: "Takes tools off your list again; nothing in GitLab changes.",
  inputSchema: {
    type: "object",
    properties: {
      toolset: { type: "string", description: "One name, or several with commas" },
      tools: { type: "array", items: { type: "string" }, description: "Only these" },
    },
    required: ["toolset"],
  },
  annotations: () => ({ readOnlyHint: true, idempotentHint: true, openWorldHint: false }),
  async run(args, call) {
    const { connection } = call;
    const names = args.tools as readonly string[] | undefined;
    const plans = toolsetNames(args.toolset).map((name) => {
      const toolset = connection.registry.requireToolset(name);
      return { toolset, actions: names ? chosen(toolset, names, connection.settings.prefix) : toolset.actions };
    });
    const switching = maySwitch(connection.settings, call.link);
    const actions = plans.flatMap((plan) => plan.actions);
    const { added: removed } = await applySwitch(call, () => (switching ? connection.session.disable(actions) : []));
    const toolsets = plans.map((plan) => {
      const tools = [...new Set(plan.actions.filter((action) => removed.has(action)).map((action) => toolOf(connection, action)))];
      return { toolset: plan.toolset.name, status: tools.length > 0 ? "disabled" : "not_enabled", tools };
    });
    const lines = toolsets.map(({ toolset, status, tools }) => `${toolset}: ${status}${tools.length > 0 ? ` (${tools.join(", ")})` : ""}`);
    return { text: lines.join("\n"), json: { toolsets } };
  },
});
