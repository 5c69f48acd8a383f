import type { CallContext, JsonSchema, Outcome } from "../catalog/types.ts";
import type { Connection, Link } from "./connection.ts";

/** MCP's own annotation keys and no others. */
export interface Annotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** An entry tool's answer in both forms: each alone is enough for the next call. */
export interface Answer {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** What an entry tool is handed for one call. */
export interface ToolCall {
  readonly connection: Connection;
  readonly link: Link;
  readonly context: CallContext;
  /** A tool's or action's name as this client sees it (with the prefix). */
  readonly named: (tool: string) => string;
  /** Sends `tools/list_changed` on this request's own stream. */
  readonly tellListChanged: () => Promise<void>;
}

/** One of the few tools that are ours and not an action of GitLab. */
export interface EntryTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: (connection: Connection) => Annotations;
  readonly run: (args: Readonly<Record<string, unknown>>, call: ToolCall) => Promise<Answer | Outcome>;
}

export function defineEntryTool(tool: EntryTool): EntryTool {
  return Object.freeze(tool);
}

export const READS: Annotations = Object.freeze({ readOnlyHint: true, openWorldHint: false });
