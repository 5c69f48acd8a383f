import type { Action } from "../catalog/types.ts";
import type { Connection } from "./connection.ts";
import { dispatcherNamed } from "./dispatcher.ts";
import { entryTool } from "./entry.ts";

/** The action that a tool call would run, as far as its name and arguments tell; none for discovery, and for names that mean nothing. */
export function actionCalled(connection: Connection, name: unknown, args: unknown): Action | undefined {
  if (typeof name !== "string") return undefined;
  const { prefix } = connection.settings;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const direct = connection.registry.tool(bare);
  if (direct) return direct;
  const relayed = entryTool(bare) !== undefined || dispatcherNamed(connection, bare) !== undefined;
  const target = relayed ? (args as { readonly action?: unknown } | undefined)?.action : bare;
  try {
    return typeof target === "string" ? connection.registry.resolve(target) : undefined;
  } catch {
    return undefined;
  }
}
