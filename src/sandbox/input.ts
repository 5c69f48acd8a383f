import { badParams } from "./errors.ts";
import type { Json, Request } from "./types.ts";

type Input = Readonly<Json>;

/** A value as text; absent and null are nothing. */
export function text(input: Input, name: string): string | undefined {
  const value = input[name];
  return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
}

/** A whole number. @throws 400 where it is none. */
export function integer(input: Input, name: string): number | undefined {
  const value = text(input, name);
  if (value === undefined || value === "") return undefined;
  if (!/^-?\d+$/.test(value)) throw badParams(`${name} is invalid`);
  return Number(value);
}

/** true, false, 1, 0, yes … @throws 400 on anything else. */
export function flag(input: Input, name: string): boolean | undefined {
  const value = text(input, name);
  if (value === undefined || value === "") return undefined;
  if (/^(true|t|1|on|yes)$/i.test(value)) return true;
  if (/^(false|f|0|off|no)$/i.test(value)) return false;
  throw badParams(`${name} is invalid`);
}

/** A list given as array or comma-joined; `undefined` where absent, empty where cleared. */
export function texts(input: Input, name: string): string[] | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  const items = Array.isArray(value) ? value.flatMap((item) => String(item).split(",")) : String(value).split(",");
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

export function integers(input: Input, name: string): number[] | undefined {
  return texts(input, name)?.map((item) => {
    if (!/^-?\d+$/.test(item)) throw badParams(`${name} is invalid`);
    return Number(item);
  });
}

/** One of `values`. @throws 400 `… does not have a valid value`. */
export function oneOf<T extends string>(input: Input, name: string, values: readonly T[]): T | undefined {
  const value = text(input, name);
  if (value === undefined) return undefined;
  const found = values.find((item) => item === value);
  if (found === undefined) throw badParams(`${name} does not have a valid value`);
  return found;
}

/** @throws 400 `a is missing, b is missing` where a parameter is absent. */
export function required(request: Request, ...names: readonly string[]): void {
  const missing = names.filter((name) => request.input[name] === undefined);
  if (missing.length > 0) throw badParams(missing.map((name) => `${name} is missing`).join(", "));
}

/** @throws 400 where none of the names is there. */
export function atLeastOne(request: Request, names: readonly string[]): void {
  if (names.every((name) => request.input[name] === undefined)) {
    throw badParams(`${names.join(", ")} are missing, at least one parameter must be provided`);
  }
}
