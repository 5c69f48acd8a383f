import { otherName } from "../../catalog/load.ts";
import type { Action } from "../../catalog/types.ts";
import { toCanonicalNames } from "../../executor/param-names.ts";
import { keepFrom } from "../fill.ts";
import type { Host, Json, ListedTool, Step } from "../types.ts";
import { type Result, toResult, type Way } from "./scripted-ways.ts";

/** How much of a list, in which form: a server that has no such parameter answers in its own way. */
const MANNERS = ["limit", "cursor", "select", "full", "all", "confirm", "tail", "head", "grep", "context", "lines", "errors"];

const bare = (name: string) =>
  name
    .toLowerCase()
    .replace(/^gitlab[_-]/, "")
    .replaceAll("-", "_");

/** The tool of another server that does the same: by our tool's name, or by a name that our catalog knows for the action. */
function counterpart(action: Action, tools: readonly ListedTool[]): ListedTool | undefined {
  const names = new Set([action.tool, ...(action.aliases ?? [])]);
  return (
    tools.find(({ name }) => names.has(bare(name))) ??
    tools.find(({ name }) => otherName(name) === action.id || otherName(bare(name)) === action.id)
  );
}

type Property = { readonly type?: unknown };

/** A value as the other schema wants it: numbers and lists as text and back. */
function toType(value: unknown, { type }: Property): unknown {
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("string") && Array.isArray(value)) return value.join(",");
  if (types.includes("string") && typeof value === "number") return String(value);
  if (types.includes("array") && typeof value === "string") return value.split(",").map((part) => part.trim());
  if ((types.includes("number") || types.includes("integer")) && typeof value === "string" && /^\d+$/.test(value)) return Number(value);
  return value;
}

/** Parameters under the other server's names: the same name, or one that our catalog takes for ours. */
function toArguments(action: Action, params: Readonly<Json>, tool: ListedTool): { readonly args: Json } | { readonly missing: string } {
  const properties = (tool.inputSchema.properties ?? {}) as Readonly<Record<string, Property>>;
  const means = (property: string, value: unknown) => [...toCanonicalNames(action, { [property]: value }).values.keys()][0];
  const args: Json = {};
  for (const [param, value] of Object.entries(params)) {
    const name = Object.hasOwn(properties, param) ? param : Object.keys(properties).find((property) => means(property, value) === param);
    if (name !== undefined) args[name] = toType(value, properties[name] ?? {});
    else if (!MANNERS.includes(param)) return { missing: param };
  }
  return { args };
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
      if (!tool) throw new Error(`no tool for ${action.id}`);
      const mapped = toArguments(action, params, tool);
      if ("missing" in mapped) throw new Error(`no tool for ${action.id}: ${tool.name} has nothing for ${mapped.missing}`);
      const seen = await host.call(tool.name, mapped.args);
      return toResult({ ...seen, json: (seen.json ?? parsed(seen.text) ?? {}) as Json });
    },
    keep: (step: Step, json: unknown) => keepFrom(step, inOurShape(json)),
  };
}
