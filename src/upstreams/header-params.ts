import type { JsonSchema } from "../catalog/types.ts";
import { isObject } from "./clean.ts";

const MARK = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];
const DEEPEST = 50;

/** Whether the mark stands anywhere in it. */
function isMarked(value: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return true;
  if (Array.isArray(value)) return value.some((one) => isMarked(one, depth + 1));
  return isObject(value) && Object.entries(value).some(([key, inner]) => key === MARK || isMarked(inner, depth + 1));
}

/**
 * What is wrong with the parameters that a tool wants as HTTP headers; undefined where nothing is. A client must leave such a tool out: it could not
 * be called as its server, and whatever stands before it, expects.
 */
export function faultInHeaders(schema: JsonSchema): string | undefined {
  const names = new Set<string>();
  const visit = (node: JsonSchema, depth: number): string | undefined => {
    const { properties, ...rest } = node;
    const own = depth === 0 ? rest : Object.fromEntries(Object.entries(rest).filter(([key]) => key !== MARK));
    if (isMarked(own)) return "a header for what is not one plain property";
    for (const property of isObject(properties) ? Object.values(properties) : []) {
      if (!isObject(property)) continue;
      const fault = (MARK in property ? faultOf(property, names) : undefined) ?? visit(property, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  return visit(schema, 0);
}

function faultOf({ [MARK]: name, type }: JsonSchema, names: Set<string>): string | undefined {
  if (typeof name !== "string" || !TOKEN.test(name)) return "the name of a header is not valid";
  if (!TYPES.includes(type)) return `the header ${name} is for a value that is not a string, an integer or a boolean`;
  if (names.has(name.toLowerCase())) return `the header ${name} is wanted twice`;
  names.add(name.toLowerCase());
  return undefined;
}
