import type { Outcome } from "../../catalog/types.ts";
import type { Connection } from "../connection.ts";
import { defineEntryTool, type ToolCall } from "../tool.ts";

const ACTION = { type: "string", description: "Id or tool name" };
const PARAMS = { type: "object", description: "The action's parameters" };

async function execute(args: Readonly<Record<string, unknown>>, call: ToolCall, readsOnly?: string): Promise<Outcome> {
  const runner = await call.connection.runner();
  const request = {
    name: String(args.action),
    params: args.params ?? {},
    ...(args.confirm === true ? { confirm: true } : {}),
    ...(readsOnly === undefined ? {} : { readsOnly }),
  };
  return await runner.run(request, call.context);
}

const readsOnly = (connection: Connection) => connection.settings.readOnly === true;

export const gitlabExecuteAction = defineEntryTool({
  name: "gitlab_execute_action",
  title: "Run a GitLab action",
  description: "Runs one action. Lists take limit and cursor; select picks fields.",
  inputSchema: {
    type: "object",
    properties: {
      action: ACTION,
      params: PARAMS,
      confirm: { type: "boolean", description: "For destructive actions, once the user has agreed" },
    },
    required: ["action", "params"],
  },
  annotations: (connection) =>
    readsOnly(connection)
      ? { readOnlyHint: true, openWorldHint: true }
      : { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  run: (args, call) => execute(args, call),
});

export const gitlabReadAction = defineEntryTool({
  name: "gitlab_read_action",
  title: "Read from GitLab",
  description: "Runs one action that only reads. Lists take limit and cursor; select picks fields.",
  inputSchema: { type: "object", properties: { action: ACTION, params: PARAMS }, required: ["action", "params"] },
  annotations: () => ({ readOnlyHint: true, openWorldHint: true }),
  run: (args, call) => execute(args, call, `Run it with ${call.named("gitlab_execute_action")}.`),
});
