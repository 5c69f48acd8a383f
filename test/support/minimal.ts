import { placeholders } from "../../src/catalog/route.ts";
import type { Action, Shape } from "../../src/catalog/types.ts";

/** A value that a parameter takes: its first enum value, a day where a date is asked for, a list of one. */
function sample(shape: Shape): unknown {
  if (shape.enum) return shape.enum[0];
  if (shape.type === "array") return [shape.items ? sample(shape.items) : "x"];
  if (shape.type === "object") {
    const required = Object.entries(shape.properties ?? {}).filter(([, property]) => property.required);
    return Object.fromEntries(required.map(([name, property]) => [name, sample(property)]));
  }
  if (shape.type === "string") return shape.format?.startsWith("date") ? "2026-01-31" : "x";
  return shape.type === "boolean" ? true : 1;
}

/** The smallest params that the action accepts, with the scope of its first route given. */
export function minimal(action: Action): Record<string, unknown> {
  const path = placeholders(action.http?.[1] ?? "");
  const needed = Object.entries(action.params).filter(
    ([name, param]) =>
      path.includes(name) || (param.required && (param.on === undefined || param.on.some((scope) => path.includes(scope)))),
  );
  return Object.fromEntries(needed.map(([name, param]) => [name, sample(param)]));
}
