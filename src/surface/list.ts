import type { Connection } from "./connection.ts";
import { dispatchersOn, hasDispatchers, toListedDispatcher } from "./dispatcher.ts";
import { entryToolsFor } from "./entry.ts";
import { type ListedTool, toListedTool } from "./signature.ts";
import type { EntryTool } from "./tool.ts";
import { hintsForEntry } from "./tool-hints.ts";
import { disableToolset } from "./tools/disable-toolset.ts";

export const namer = (connection: Connection) => (tool: string) => `${connection.settings.prefix}${tool}`;

function toEntry(connection: Connection, tool: EntryTool): ListedTool {
  return {
    name: namer(connection)(tool.name),
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    annotations: tool.annotations(connection),
    ...hintsForEntry(connection.settings),
  };
}

function listActions(connection: Connection): readonly ListedTool[] {
  if (hasDispatchers(connection)) return dispatchersOn(connection).map((dispatcher) => toListedDispatcher(connection, dispatcher));
  return connection.session.on().map((action) => toListedTool(connection, action, namer(connection)));
}

/**
 * The whole list, one page, deterministic: entry tools, what is on at connect, what was enabled in order, and
 * `disable_toolset` at the end once anything was enabled at run time.
 */
export function listTools(connection: Connection): readonly ListedTool[] {
  const { session } = connection;
  return [
    ...entryToolsFor(connection).map((tool) => toEntry(connection, tool)),
    ...listActions(connection),
    ...(session.switched() ? [toEntry(connection, disableToolset)] : []),
  ];
}
