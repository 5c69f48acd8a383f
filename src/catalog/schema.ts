import * as z from "zod";
import { paramText } from "./load.ts";
import { placeholders, routesOf } from "./route.ts";
import type { Action, ActionRow, JsonSchema, Param, Shape } from "./types.ts";

/** `listed`: required, common and the arguments a call cannot do without. `full`: everything. */
export type Detail = "listed" | "full";

export interface SchemaOptions {
  readonly detail: Detail;
  /** A current project stands in for `project_id`, which is then optional. */
  readonly project?: boolean;
}

const FILE = /\/files\/\{file_path\}$/;

/** Long texts come in parts, as lists come in pages: logs, downloads, and files that come inside JSON. */
const isText = (row: ActionRow): boolean =>
  row.returns === "text" || row.returns === "binary" || (row.effect === "read" && FILE.test(row.http?.[1] ?? ""));

const isDownload = (row: ActionRow): boolean => row.effect === "read" && (row.returns === "text" || row.returns === "binary");

interface Reserved {
  readonly schema: JsonSchema;
  readonly listed: boolean;
  readonly on: (row: ActionRow) => boolean;
}

export const isList = (row: ActionRow): boolean => row.returns === "array" || (row.paging !== undefined && row.paging !== "none");

/** The reserved arguments (DESIGN.md §3): the same in every action's parameters. */
export const RESERVED: Readonly<Record<string, Reserved>> = {
  limit: {
    schema: { type: "integer", minimum: 1, maximum: 100, description: "Rows per page (20)" },
    listed: true,
    on: isList,
  },
  cursor: {
    schema: { type: "string", description: "page.next of the previous answer" },
    listed: true,
    on: (row) => isList(row) || isText(row),
  },
  all: { schema: { type: "boolean", description: "Every page, up to a cap" }, listed: false, on: isList },
  select: {
    schema: { type: "array", items: { type: "string" }, description: 'Only these fields, e.g. ["iid","author.username"]' },
    listed: false,
    on: () => true,
  },
  full: { schema: { type: "boolean", description: "Whole objects instead of the chosen fields" }, listed: false, on: () => true },
  budget: {
    schema: { type: "integer", minimum: 500, maximum: 50_000, description: "Tokens this answer may have (8000)" },
    listed: false,
    on: () => true,
  },
  save_as: {
    schema: { type: "string", description: "Name of a file to save it to instead, where the operator allows it (--files-dir)" },
    listed: false,
    on: isDownload,
  },
  overwrite: { schema: { type: "boolean", description: "save_as may replace a file" }, listed: false, on: isDownload },
  tail: { schema: { type: "integer", minimum: 1, description: "Only the last lines" }, listed: true, on: isText },
  grep: { schema: { type: "string", description: "Only lines with this text, or /pattern/i" }, listed: true, on: isText },
  head: { schema: { type: "integer", minimum: 1, description: "Only the first lines" }, listed: false, on: isText },
  context: {
    schema: { type: "integer", minimum: 0, description: "Lines around each that grep or errors finds" },
    listed: false,
    on: isText,
  },
  lines: { schema: { type: "string", description: "A range of lines, e.g. 120-180" }, listed: false, on: isText },
  errors: { schema: { type: "boolean", description: "Only lines that tell what went wrong" }, listed: false, on: isText },
  confirm: {
    schema: { type: "boolean", description: "true only after the user has agreed" },
    listed: true,
    on: (row) => row.effect === "destructive",
  },
};

/** Reserved arguments that this action takes. */
export function reservedOf(row: ActionRow): readonly string[] {
  return Object.keys(RESERVED).filter((name) => RESERVED[name]?.on(row) && row.params[name] === undefined);
}

function toShape(shape: Shape, name: string, detail: Detail): JsonSchema {
  const about = shape.about ?? paramText(name);
  return {
    type: shape.type,
    ...(shape.enum && shape.type === "string" ? { enum: shape.enum } : {}),
    ...(shape.type === "array" ? { items: shape.items ? toShape(shape.items, "", detail) : { type: "string" } } : {}),
    ...(shape.properties ? toProperties(shape.properties, detail) : {}),
    ...(about && name ? { description: about } : {}),
  };
}

/** An object that marks some of its properties as common is listed with those and the required ones only. */
function toProperties(properties: Readonly<Record<string, Shape>>, detail: Detail): JsonSchema {
  const required = Object.keys(properties).filter((name) => properties[name]?.required);
  const whole = detail === "full" || !Object.values(properties).some((shape) => shape.common);
  const shown = Object.entries(properties).filter(([, shape]) => whole || shape.common || shape.required);
  return {
    properties: Object.fromEntries(shown.map(([name, shape]) => [name, toShape(shape, name, detail)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Parameters that every call of the action must give, whatever its route. */
export function requiredParams(row: ActionRow, project = false): readonly string[] {
  const routes = routesOf(row);
  return Object.entries(row.params)
    .filter(([name, param]) => {
      if (name === "project_id" && project) return false;
      if (param.in === "path") return routes.length === 0 || routes.every(([, path]) => placeholders(path).includes(name));
      return param.required === true && param.on === undefined;
    })
    .map(([name]) => name);
}

const isListed = (row: ActionRow, name: string, param: Param) =>
  param.common === true || param.in === "path" || requiredParams(row).includes(name) || param.required === true;

/**
 * JSON Schema of an action's parameters: root `type: object`, no unions, no `$ref`, every property described.
 * An upstream's own schema is returned as it is.
 */
export function toInputSchema(action: ActionRow & { schema?: JsonSchema }, options: SchemaOptions): JsonSchema {
  if (action.schema) return action.schema;
  const full = options.detail === "full";
  const shown = Object.entries(action.params).filter(([name, param]) => full || isListed(action, name, param));
  const reserved = reservedOf(action).filter((name) => full || RESERVED[name]?.listed);
  const required = requiredParams(action, options.project);
  return {
    type: "object",
    properties: Object.fromEntries([
      ...shown.map(([name, param]): [string, JsonSchema] => [name, toShape(param, name, options.detail)]),
      ...reserved.map((name): [string, unknown] => [name, RESERVED[name]?.schema]),
    ]),
    ...(required.length > 0 ? { required } : {}),
    ...(full ? { additionalProperties: false } : {}),
  };
}

const enumText = (values: readonly string[]) => (values.length > 4 ? `${values.slice(0, 3).join("|")}|…` : values.join("|"));

/**
 * One line that is enough for the next call: `issue.create(project_id, title, labels?, …)`.
 * `…` stands for parameters that `get_toolset_tools(detail: schemas, tools)` shows.
 */
export function toSignature(action: Action, project = false): string {
  const required = new Set(requiredParams(action, project));
  const names = Object.entries(action.params).filter(([name, param]) => isListed(action, name, param));
  const parts = names.map(([name, param]) => {
    const mark = required.has(name) ? "" : "?";
    if (param.enum) return `${name}${mark}: ${enumText(param.enum)}`;
    return param.type === "string" ? `${name}${mark}` : `${name}${mark}: ${param.type}`;
  });
  if (action.effect === "destructive") parts.push("confirm?: boolean");
  if (isList(action)) parts.push("limit?", "cursor?");
  else if (isText(action)) parts.push("tail?", "grep?", "cursor?");
  if (names.length < Object.keys(action.params).length) parts.push("…");
  return `${action.id}(${parts.join(", ")})`;
}

const compiled = new WeakMap<ActionRow, z.ZodType>();

/** The validator of a row's parameters, compiled on first use. */
export function validatorOf(action: ActionRow): z.ZodType {
  const known = compiled.get(action);
  if (known) return known;
  const schema = z.fromJSONSchema(toInputSchema(action, { detail: "full", project: true }) as Parameters<typeof z.fromJSONSchema>[0]);
  compiled.set(action, schema);
  return schema;
}
