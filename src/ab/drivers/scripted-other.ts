import { otherName } from "../../catalog/load.ts";
import type { Action } from "../../catalog/types.ts";
import { toCanonicalNames } from "../../executor/param-names.ts";
import { keepFrom } from "../fill.ts";
import { NoPath } from "../no-path.ts";
import type { Host, Json, ListedTool, Step } from "../types.ts";
import { type Result, toResult, type Way } from "./scripted-ways.ts";

/** How much of a list, in which form: a server that has no such parameter answers in its own way. */
const MANNERS = ["limit", "cursor", "select", "full", "all", "confirm", "tail", "head", "grep", "context", "lines", "errors"];

const bare = (name: string) => name.toLowerCase().replace(/^gitlab[_-]/, "");

/** Words that say the same in names of tools. */
const SAME: Readonly<Record<string, string>> = {
  ...{ add: "create", new: "create", show: "get", fetch: "get", read: "get", edit: "update", modify: "update", remove: "delete" },
};

/** The words of a name, whatever their order and number: `create_branch`, `branch.create` and `addBranch` mean the same. */
const meaning = (name: string): string =>
  bare(name.replace(/([a-z])([A-Z])/g, "$1_$2"))
    .replace(/(^|[_.-])mrs?(?=[_.-]|$)/g, "$1merge_request")
    .split(/[_.-]+/)
    .map((word) => SAME[word] ?? word.replace(/(?<=..)s$/, ""))
    .sort()
    .join(" ");

/** The tool of another server that does the same: by our tool's name, by a name that our catalog knows for the action, or by its words. */
function counterpart(action: Action, tools: readonly ListedTool[]): ListedTool | undefined {
  const names = new Set([action.tool, ...(action.aliases ?? [])]);
  const meanings = new Set([meaning(action.tool), meaning(action.id)]);
  return (
    tools.find(({ name }) => names.has(bare(name))) ??
    tools.find(({ name }) => otherName(name) === action.id || otherName(bare(name)) === action.id) ??
    tools.find(({ name }) => meanings.has(meaning(name)))
  );
}

interface Property {
  readonly type?: unknown;
  readonly items?: Property;
}

const typesOf = ({ type }: Property) => (Array.isArray(type) ? type : [type]);
const isNumeric = (property: Property) => typesOf(property).some((type) => type === "number" || type === "integer");

/** A value as the other schema wants it: numbers and lists as text and back. Nothing where it can only be had by looking it up. */
function toType(value: unknown, property: Property): unknown {
  const types = typesOf(property);
  if (types.includes("array")) {
    const list = Array.isArray(value) ? value : String(value).split(",");
    const items = list.map((item) => toType(typeof item === "string" ? item.trim() : item, property.items ?? {}));
    return items.includes(undefined) ? undefined : items;
  }
  if (types.includes("string") && Array.isArray(value)) return value.join(",");
  if (types.includes("string") && typeof value === "number") return String(value);
  if (isNumeric(property) && typeof value === "string") return /^\d+$/.test(value) ? Number(value) : undefined;
  return value;
}

/**
 * Parameters under the other server's names: the same name, or one that our catalog takes for ours.
 * @throws NoPath where the step has something that the tool does not take as it is, or has not what the tool requires.
 */
function toArguments(action: Action, params: Readonly<Json>, tool: ListedTool): Json {
  const no = (why: string) => new NoPath(`no tool for ${action.id}: ${tool.name} ${why}`);
  const properties = (tool.inputSchema.properties ?? {}) as Readonly<Record<string, Property>>;
  const means = (property: string, value: unknown) => [...toCanonicalNames(action, { [property]: value }).values.keys()][0];
  const args: Json = {};
  for (const [param, value] of Object.entries(params)) {
    const name = Object.hasOwn(properties, param) ? param : Object.keys(properties).find((property) => means(property, value) === param);
    if (name === undefined && MANNERS.includes(param)) continue;
    if (name === undefined) throw no(`has nothing for ${param}`);
    args[name] = toType(value, properties[name] ?? {});
    if (args[name] === undefined) throw no(`takes ${name} only as a number`);
  }
  const missing = ((tool.inputSchema.required ?? []) as readonly string[]).filter((name) => !(name in args));
  if (missing.length > 0) throw no(`requires ${missing.join(", ")}`);
  return args;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Our lists have `items`; others are a bare list, or hold one under a name of their own. */
function inOurShape(json: unknown): unknown {
  if (Array.isArray(json)) return { items: json };
  if (typeof json !== "object" || json === null || "items" in json) return json;
  const list = Object.values(json).find(Array.isArray);
  return list ? { ...json, items: list } : json;
}

/** @throws NoPath where the other server's result has another shape. */
function keep(step: Step, json: unknown): Json {
  try {
    return keepFrom(step, inOurShape(json));
  } catch (error) {
    throw new NoPath(error instanceof Error ? error.message : String(error));
  }
}

const words = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^a-z]+|s\b/)
    .filter((word) => word.length > 1);

/** Categories that a server's tool for discovery names, those first that share words with the action. */
function categoriesFor(action: Action, { description = "" }: ListedTool): readonly string[] {
  const listed = /categories:\s*([^.]+)\./i.exec(description)?.[1]?.split(",") ?? [];
  const own = new Set(words(`${action.toolset} ${action.id} ${action.tool}`));
  const score = (category: string) => words(category).filter((word) => own.has(word)).length;
  const names = listed.map((name) => name.trim()).filter((name) => score(name) > 0);
  return names.toSorted((a, b) => score(b) - score(a));
}

/** A server of somebody else: each step by the tool that is its counterpart, which is looked for where the server can show more. */
export function otherWay(host: Host): Way {
  const tried = new Set<string>();
  async function find(action: Action): Promise<ListedTool | undefined> {
    const discover = host.tools.find(({ name }) => bare(name) === "discover_tools");
    for (const category of discover ? categoriesFor(action, discover) : []) {
      const found = counterpart(action, host.tools);
      if (found) return found;
      if (!tried.has(category)) await host.call(discover?.name ?? "", { category });
      tried.add(category);
    }
    return counterpart(action, host.tools);
  }
  return {
    async run(action, params): Promise<Result> {
      const tool = counterpart(action, host.tools) ?? (await find(action));
      if (!tool) throw new NoPath(`no tool for ${action.id}`);
      const seen = await host.call(tool.name, toArguments(action, params, tool));
      return toResult({ ...seen, json: (seen.json ?? parsed(seen.text) ?? {}) as Json });
    },
    keep,
  };
}
