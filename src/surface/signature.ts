import { toInputSchema, toSignature } from "../catalog/schema.ts";
import type { Action, JsonSchema } from "../catalog/types.ts";
import type { Connection } from "./connection.ts";
import type { Annotations } from "./tool.ts";
import { hintsForAction } from "./tool-hints.ts";

/** The signature as this connection sees it: a current project makes `project_id` optional. */
export const signatureFor = (connection: Connection, action: Action): string => toSignature(action, connection.project() !== undefined);

/** Required and common parameters: what listed, found and enabled schemas show. */
export const listedSchema = (connection: Connection, action: Action): JsonSchema =>
  toInputSchema(action, { detail: "listed", project: connection.project() !== undefined });

export const fullSchema = (connection: Connection, action: Action): JsonSchema =>
  toInputSchema(action, { detail: "full", project: connection.project() !== undefined });

/** A PUT that does something anew each time: a commit, a rebase. */
const ANEW: ReadonlySet<string> = new Set([
  "repository.file_update",
  "repository.submodule_update",
  "merge_request.rebase",
  "suggestion.apply",
  "suggestion.apply_batch",
]);

/** Writes that end in the same state however often they are sent. */
const isIdempotent = ({ id, http }: Action) => (http?.[0] === "PUT" || http?.[0] === "DELETE") && !ANEW.has(id);

/** Only what differs from MCP's defaults (not read-only, destructive, open world), and always which of the three it is. */
export function annotationsFor(action: Action): Annotations {
  if (action.effect === "read") return { readOnlyHint: true };
  const idempotent = isIdempotent(action) ? { idempotentHint: true } : {};
  return { destructiveHint: action.effect === "destructive", ...idempotent };
}

/** A tool of `tools/list`, as it goes over the wire. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: Annotations;
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export function toListedTool(connection: Connection, action: Action, named: (tool: string) => string): ListedTool {
  return {
    name: named(action.tool),
    title: action.title,
    description: action.about,
    inputSchema: listedSchema(connection, action),
    annotations: { ...action.listed?.annotations, ...annotationsFor(action) },
    ...(action.listed?.icons ? { icons: action.listed.icons } : {}),
    _meta: { ...action.listed?.meta, "com.gitlab/toolset": action.toolset, ...hintsForAction(action, connection.settings) },
  };
}
