import { valueAt } from "./place.ts";
import type { Json, Step } from "./types.ts";

/** What earlier steps kept, by name. */
export type Kept = Readonly<Json>;

const ONE = /^\{([a-z_]+)\}$/;
const ANY = /\{([a-z_]+)\}/g;

/** @throws Error where no step kept that name. */
function keptValue(kept: Kept, name: string): unknown {
  if (!Object.hasOwn(kept, name)) throw new Error(`nothing was kept as ${name}`);
  return kept[name];
}

const written = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(", ") : String(value));

/** The text with every `{name}` replaced; a list is written with commas. */
export function fillText(text: string, kept: Kept): string {
  return text.replace(ANY, (_whole, name: string) => written(keptValue(kept, name)));
}

function filled(value: unknown, kept: Kept): unknown {
  if (Array.isArray(value)) return value.map((item) => filled(item, kept));
  if (typeof value === "object" && value !== null) return fill(value as Json, kept);
  if (typeof value !== "string") return value;
  const whole = ONE.exec(value)?.[1];
  return whole === undefined ? fillText(value, kept) : keptValue(kept, whole);
}

/**
 * Parameters with what was kept put in: a string that is only `{name}` becomes the value itself, with its type.
 * @throws Error where no step kept that name.
 */
export function fill(params: Readonly<Json>, kept: Kept): Json {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, filled(value, kept)]));
}

/**
 * What a step keeps of its structured result.
 * @throws Error where the result has nothing at the path.
 */
export function keepFrom(step: Step, structured: unknown): Json {
  return Object.fromEntries(
    Object.entries(step.keep ?? {}).map(([name, path]) => {
      const value = valueAt(structured, path);
      if (value === undefined) throw new Error(`the result of ${step.action} has nothing at ${path}`);
      return [name, value];
    }),
  );
}

/** Names of the placeholders in a text or in parameters. */
export function placeholders(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(ANY)].map(([, name = ""]) => name);
}
