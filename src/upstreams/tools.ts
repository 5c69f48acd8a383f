import { createHash } from "node:crypto";
import type { Action, Effect, JsonSchema, JsonType, Param, ToolsetRow } from "../catalog/types.ts";
import { isObject, listedSchema, type UpstreamTool } from "./clean.ts";
import type { UpstreamConfig } from "./config.ts";
import { type Names, toIdPart, toSnake } from "./naming.ts";

/** Essential tools of one toolset: what enabling it puts on a list. */
const MOST_ESSENTIAL = 20;
const MOST_ESSENTIAL_CHARACTERS = 14_000;

/** Whether a name fits an entry: the name itself, or a pattern with `*`. */
export function fits(entry: string, name: string): boolean {
  if (!entry.includes("*")) return entry === name;
  const parts = entry.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

const isWanted = ({ include, exclude }: UpstreamConfig, name: string) =>
  (include.length === 0 || include.some((entry) => fits(entry, name))) && !exclude.some((entry) => fits(entry, name));

/** What the upstream says of its tool; where it is not trusted, only what makes the tool worse counts. */
function hinted({ annotations }: UpstreamTool, trust: boolean): Effect {
  if (annotations.destructiveHint === true && annotations.readOnlyHint !== true) return "destructive";
  return annotations.readOnlyHint === true && trust ? "read" : "write";
}

export function effectOf(config: UpstreamConfig, tool: UpstreamTool): Effect {
  const said = config.effect.find(([pattern]) => fits(pattern, tool.name))?.[1] ?? "annotations";
  return said === "annotations" ? hinted(tool, config.trust) : said;
}

const toToolset = (value: unknown): string | undefined => {
  const name = typeof value === "string" ? toSnake(value).slice(0, 40) : "";
  return /^[a-z]/.test(name) ? name : undefined;
};

export function toolsetOf(config: UpstreamConfig, tool: UpstreamTool): string {
  const mapped = Object.entries(config.toolsets).find(([, entries]) => entries.some((entry) => fits(entry, tool.name)))?.[0];
  return toToolset(tool.meta["com.gitlab/toolset"]) ?? toToolset(tool.annotations.toolset) ?? mapped ?? config.name;
}

const TYPES: readonly string[] = ["string", "integer", "number", "boolean", "array", "object"];

/** The first levels of a foreign schema, for signatures and search; the schema itself is relayed as it is. */
function toParams(schema: JsonSchema): Readonly<Record<string, Param>> {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return Object.fromEntries(
    properties.slice(0, 100).map(([name, value]): [string, Param] => {
      const property = isObject(value) ? value : {};
      const type = [property.type].flat().find((one): one is JsonType => typeof one === "string" && TYPES.includes(one)) ?? "string";
      const words =
        Array.isArray(property.enum) && property.enum.every((one) => typeof one === "string") ? (property.enum as string[]) : [];
      return [
        name,
        {
          in: "body",
          type,
          common: true,
          ...(required.includes(name) ? { required: true } : {}),
          ...(type === "string" && words.length > 0 && words.length <= 50 ? { enum: words } : {}),
          ...(typeof property.description === "string" ? { about: property.description.slice(0, 200) } : {}),
        },
      ];
    }),
  );
}

const HINTS = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/** Parts of the upstream's own definition that our list keeps; `outputSchema` is not among them. */
function toListed(tool: UpstreamTool): NonNullable<Action["listed"]> {
  const annotations = Object.fromEntries(Object.entries(tool.annotations).filter(([key]) => HINTS.includes(key)));
  return { annotations, ...(tool.icons ? { icons: tool.icons } : {}), meta: tool.meta };
}

export interface Mapped {
  readonly actions: readonly Action[];
  /** Action id → the tool behind it. */
  readonly tools: ReadonlyMap<string, UpstreamTool>;
}

export interface Mapping {
  readonly config: UpstreamConfig;
  readonly names: Names;
  /** Our own action that does the same as a tool, where there is one. */
  readonly same: (tool: string) => string | undefined;
  /** Tools that do the same as ours are essential in place of ours. */
  readonly preferred: boolean;
}

function toAction(tool: UpstreamTool, id: string, mapping: Mapping): Action {
  const { config, names } = mapping;
  const schema = listedSchema(tool.inputSchema);
  const same = mapping.same(tool.name);
  const name = names.give(id, config.name, tool.name, config.prefix);
  const about = tool.description === "" ? `The tool ${tool.name} of ${config.name}` : tool.description;
  return {
    id,
    tool: name,
    title:
      tool.title ??
      toSnake(tool.name)
        .replaceAll("_", " ")
        .replace(/^./, (letter) => letter.toUpperCase()),
    about: same === undefined ? about : `${about} (the same as ${same})`,
    effect: effectOf(config, tool),
    params: toParams(schema),
    toolset: toolsetOf(config, tool),
    source: config.name,
    schema,
    listed: toListed(tool),
    keywords: [config.name],
    ...(same === undefined ? {} : { same }),
  };
}

/** The first tools of each toolset are its core, within bounds; what we have ourselves is not, unless it is preferred. */
function markEssential(actions: readonly Action[], { preferred }: Mapping): readonly Action[] {
  const counts = new Map<string, number>();
  const sizes = new Map<string, number>();
  return actions.map((action) => {
    const count = counts.get(action.toolset) ?? 0;
    const size = (sizes.get(action.toolset) ?? 0) + JSON.stringify([action.about, action.schema]).length;
    const fitting = (action.same === undefined || preferred) && count < MOST_ESSENTIAL && size <= MOST_ESSENTIAL_CHARACTERS;
    if (!fitting) return action;
    counts.set(action.toolset, count + 1);
    sizes.set(action.toolset, size);
    return { ...action, essential: true };
  });
}

/** Tools as actions; one that is as it was keeps its object, so that lists can tell what changed. */
export function toActions(tools: readonly UpstreamTool[], mapping: Mapping, before: readonly Action[]): Mapped {
  const known = new Map(before.map((action) => [action.id, action]));
  const parts = new Set<string>();
  const behind = new Map<string, UpstreamTool>();
  const made = tools
    .filter((tool) => isWanted(mapping.config, tool.name))
    .map((tool) => {
      const part = toIdPart(tool.name, parts);
      parts.add(part);
      const id = `${mapping.config.name}.${part}`;
      behind.set(id, tool);
      return toAction(tool, id, mapping);
    });
  const actions = markEssential(made, mapping).map((action) => {
    const old = known.get(action.id);
    return old && JSON.stringify(old) === JSON.stringify(action) ? old : action;
  });
  return { actions, tools: behind };
}

/** Toolsets that an upstream brings; `note` says what is wrong with it now. */
export function toToolsets(config: UpstreamConfig, actions: readonly Action[], note: string | undefined): readonly ToolsetRow[] {
  const used = new Set(actions.map((action) => action.toolset));
  if (used.size === 0) used.add(config.name);
  const mark = note === undefined ? {} : { note };
  return [...used].map((name) => ({
    name,
    title: name === config.name ? `Server ${name}` : name.replaceAll("_", " "),
    about: `Tools of ${config.name}`,
    ...mark,
  }));
}

/** What a set of upstreams is known by: the same file at the other end means that we are talking to ourselves. */
export const fingerprintOf = (configs: readonly UpstreamConfig[]): string =>
  createHash("sha256")
    .update(
      JSON.stringify(configs.map(({ name, link }) => [name, link.kind, link.kind === "stdio" ? [link.command, link.args] : link.url])),
    )
    .digest("base64url");
