import * as z from "zod";
import { nearest } from "../nearest.ts";
import type { Option } from "./option.ts";
import { OPTIONS, type OptionName } from "./options.ts";

/** A setting that stops the start: one line, exit code 2. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly exitCode = 2;
}

/** The table as one type, for code that walks it. */
export const ROWS = Object.entries(OPTIONS) as readonly (readonly [OptionName, Option])[];
export const rowOf = (name: OptionName): Option => OPTIONS[name];

const SECRET_LOOK = /gl[a-z]{2,8}-[\w-]{8,}|^[\w+/=.-]{20,}$|:\/\/[^/]*@|^(basic|bearer)\s/i;

/** A value as a message may show it: never a secret, nor what looks like one. */
export function shown(value: string, secret = false): string {
  if (secret || SECRET_LOOK.test(value)) return "the value";
  const plain = value.replace(/\s+/g, " ");
  return `"${plain.length > 60 ? `${plain.slice(0, 59)}…` : plain}"`;
}

/** The nearest of the names that begin as `word` does; what they share in front does not count as likeness. */
export function meant(word: string, names: readonly string[], front: string): string {
  const bare = (name: string) => (name.startsWith(front) ? name.slice(front.length) : name);
  const near = nearest(bare(word), names.map(bare), 1)[0];
  const full = names.find((name) => bare(name) === near);
  return full === undefined ? "--help lists all of them" : `the nearest is ${full}`;
}

/** What is inside `.default()` and `.optional()`. */
export function inner(schema: z.ZodType): z.ZodType {
  let current: z.ZodType = schema;
  while (current instanceof z.ZodDefault || current instanceof z.ZodOptional || current instanceof z.ZodReadonly) {
    current = current.unwrap() as z.ZodType;
  }
  return current;
}

/** The words that an option knows, where it knows only some. */
export function choices(schema: z.ZodType): readonly string[] | undefined {
  const plain = inner(schema);
  return plain instanceof z.ZodEnum ? plain.options.map(String) : undefined;
}

export function range(schema: z.ZodType): { least: number; most: number } | undefined {
  const plain = inner(schema);
  if (!(plain instanceof z.ZodNumber)) return undefined;
  return { least: plain.minValue ?? 0, most: plain.maxValue ?? Number.MAX_SAFE_INTEGER };
}

function numberFault(value: string, option: Option, { least, most }: { least: number; most: number }): string {
  const number = Number(value);
  const fallback = Number(option.schema.parse(undefined));
  const near = Number.isFinite(number) ? Math.min(most, Math.max(least, Math.round(number))) : fallback;
  return `${shown(value)} is not a whole number from ${least} to ${most}; the nearest is ${near}`;
}

function choiceFault(value: string, words: readonly string[]): string {
  const near = nearest(value, words, 1)[0];
  return `${shown(value)} is not one of ${words.join(", ")}${near === undefined ? "" : `; the nearest is ${near}`}`;
}

/** Why a value is refused, in one line that names what would be right. */
export function valueFault(option: Option, value: string, message: string): string {
  const words = choices(option.schema);
  if (words) return choiceFault(value, words);
  const numbers = range(option.schema);
  if (numbers) return numberFault(value, option, numbers);
  const good = message.includes(";") || option.example === undefined ? "" : `; such as ${option.example}`;
  return `${shown(value, option.secret)} ${message}${good}`;
}
