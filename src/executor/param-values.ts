import type { Shape } from "../catalog/types.ts";
import { nearest } from "../nearest.ts";
import { parseGid, parseReference } from "./identifiers.ts";
import { isDate, toDate } from "./param-dates.ts";

/** A value that cannot be understood: which field, and what was expected, in plain words. */
export interface Problems {
  add(field: string, problem: string): void;
}

export interface Reading {
  readonly now: Date;
  readonly problems: Problems;
}

/** What a value is called in a message. */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return `${typeof value === "string" ? "the text " : ""}${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}

const KINDS: Readonly<Record<Shape["type"], string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

const article = (shape: Shape) =>
  shape.type === "array" && shape.items
    ? `a list of ${shape.items.type === "string" ? "texts" : `${shape.items.type}s`}`
    : KINDS[shape.type];

function mismatch(value: unknown, field: string, shape: Shape, reading: Reading): undefined {
  reading.problems.add(field, `expected ${article(shape)}, got ${describe(value)}`);
}

/** Words for one state that GitLab names differently from place to place. */
const ENUM_WORDS: Readonly<Record<string, readonly string[]>> = {
  open: ["opened", "reopen", "active"],
  opened: ["reopen", "active"],
  reopened: ["reopen"],
  closed: ["close"],
  cancelled: ["canceled"],
  cancelling: ["canceling"],
  passed: ["success"],
  succeeded: ["success"],
  successful: ["success"],
  failure: ["failed"],
  in_progress: ["running"],
  done: ["closed", "close"],
  newest: ["desc"],
  oldest: ["asc"],
  true: ["yes"],
  false: ["no"],
};

const fold = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

/** The value of a closed list that is meant: by case, by a synonym, or as the only one that starts so (or that it starts with). */
function toEnum(text: string, values: readonly string[]): string | undefined {
  if (values.includes(text)) return text;
  const word = fold(text);
  const equal = values.find((value) => fold(value) === word);
  if (equal !== undefined) return equal;
  const synonyms = Object.hasOwn(ENUM_WORDS, word) ? (ENUM_WORDS[word] ?? []) : [];
  const synonym = synonyms.find((value) => values.includes(value));
  if (synonym !== undefined || word.length < 3) return synonym;
  const starts = values.filter((value) => fold(value).startsWith(word) || word.startsWith(fold(value)));
  return starts.length === 1 ? starts[0] : undefined;
}

function readString(value: unknown, field: string, shape: Shape, reading: Reading): string | undefined {
  const name = field.split(".").at(-1) ?? field;
  if (Array.isArray(value)) {
    const flat = value.every((item) => typeof item === "string" || typeof item === "number");
    if (!flat || (value.length > 1 && !/s$|^in$/.test(name))) return mismatch(value, field, shape, reading);
    return readString(value.map(String).join(","), field, shape, reading);
  }
  if (typeof value === "object") return mismatch(value, field, shape, reading);
  const text = typeof value === "string" ? value : String(value);
  if (shape.enum) {
    const found = toEnum(text, shape.enum);
    const near = found === undefined ? nearest(text, shape.enum, 1)[0] : undefined;
    const guess = near === undefined ? "" : `; nearest: ${near}`;
    if (found === undefined) reading.problems.add(field, `expected one of ${shape.enum.join(", ")}, got ${describe(value)}${guess}`);
    return found;
  }
  if (!isDate(name, shape)) return text;
  const date = toDate(text, name, shape, reading.now);
  if (date === undefined) reading.problems.add(field, `expected a date (2026-01-31, 7d, yesterday), got ${describe(value)}`);
  return date;
}

/** GitLab's roles, where a number is asked for. */
const ROLES: Readonly<Record<string, number>> = {
  no_access: 0,
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
  admin: 60,
};

function toNumber(text: string, name: string): number | undefined {
  const role = [fold(text), fold(text).replace(/_access$/, "")].find((word) => Object.hasOwn(ROLES, word));
  if (role !== undefined && /(^|_)access(_level)?$/.test(name)) return ROLES[role];
  const id = parseGid(text) ?? (/(^|_)i?ids?$/.test(name) ? parseReference(text)?.number : undefined);
  if (id !== undefined) return id;
  return /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function readNumber(value: unknown, field: string, shape: Shape, reading: Reading): number | undefined {
  const name = (field.split(".").at(-1) ?? field).replace(/\[\d+\]$/, "");
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const number = typeof single === "string" ? toNumber(single, name) : single;
  if (typeof number !== "number" || (shape.type === "integer" && !Number.isSafeInteger(number))) {
    return mismatch(value, field, shape, reading);
  }
  return number;
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  yes: true,
  no: false,
  on: true,
  off: false,
  "1": true,
  "0": false,
};

function readBoolean(value: unknown, field: string, shape: Shape, reading: Reading): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" || typeof value === "number" ? fold(String(value)) : "";
  return Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : mismatch(value, field, shape, reading);
}

/** JSON that came as text: the parsed value where it is a list or an object. */
export function fromJsonText(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** `{ NAME: "value" }` where a list of `{ key, value }` is asked for. */
function toPairs(value: Record<string, unknown>, items: Shape): unknown {
  const names = items.properties ?? {};
  const isPair = Object.hasOwn(names, "key") && Object.hasOwn(names, "value") && !Object.hasOwn(value, "key");
  return isPair ? Object.entries(value).map(([key, content]) => ({ key, value: content })) : [value];
}

/** A list, whatever stands for it: a list, JSON as text, comma-separated text, or one value. */
export function toList(value: unknown, items: Shape): unknown[] {
  const given = fromJsonText(value);
  if (Array.isArray(given)) return given;
  if (isObject(given)) return toPairs(given, items) as unknown[];
  if (typeof given !== "string" || items.type === "object" || items.type === "array") return [given];
  return given
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function readArray(value: unknown, field: string, shape: Shape, reading: Reading): unknown[] {
  const items = shape.items ?? { type: "string" as const };
  return toList(value, items)
    .map((item, index) => (item === null ? undefined : readValue(item, `${field}[${index}]`, items, reading)))
    .filter((item) => item !== undefined);
}

/** Names that people know from other tools → ours, inside the objects of a list: edits of files, comments on lines. */
const INNER_NAMES: Readonly<Record<string, string>> = {
  file: "path",
  file_path: "path",
  filename: "path",
  old_string: "old",
  old_str: "old",
  old_text: "old",
  new_string: "new",
  new_str: "new",
  new_text: "new",
  body: "text",
  comment: "text",
  note: "text",
  new_line: "line",
  line_number: "line",
};

/** The property that a name means: its own, or the one it is another word for where that is not given itself. */
function innerName(name: string, shapes: Readonly<Record<string, Shape>>, given: Readonly<Record<string, unknown>>): string {
  const other = Object.hasOwn(INNER_NAMES, name) ? (INNER_NAMES[name] ?? name) : name;
  return !Object.hasOwn(shapes, name) && Object.hasOwn(shapes, other) && !Object.hasOwn(given, other) ? other : name;
}

/** `[{ key, value }]` where an object is asked for. */
function fromPairs(value: unknown): unknown {
  const pairs = Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item.key === "string");
  return pairs ? Object.fromEntries((value as Record<string, unknown>[]).map((item) => [item.key, item.value ?? ""])) : value;
}

function readObject(value: unknown, field: string, shape: Shape, reading: Reading): Record<string, unknown> | undefined {
  const given = fromPairs(fromJsonText(value));
  if (!isObject(given)) return mismatch(value, field, shape, reading);
  const shapes = shape.properties;
  if (!shapes || Object.keys(shapes).length === 0) return given;
  const entries = Object.entries(given).filter(([, inner]) => inner !== null && inner !== undefined);
  const found: [string, unknown][] = [];
  for (const [asGiven, inner] of entries) {
    const name = innerName(asGiven, shapes, given);
    const known = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (known) found.push([name, readValue(inner, `${field}.${name}`, known, reading)]);
    else
      reading.problems.add(
        `${field}.${name}`,
        `is not known here; nearest: ${nearest(name, Object.keys(shapes))[0] ?? Object.keys(shapes).join(", ")}`,
      );
  }
  for (const [name, inner] of Object.entries(shapes)) {
    if (inner.required && !found.some(([given]) => given === name)) reading.problems.add(`${field}.${name}`, "is missing");
  }
  return Object.fromEntries(found.filter(([, inner]) => inner !== undefined));
}

/** One value read as its shape asks; what cannot be is reported and left out. A value that fits already comes back unchanged. */
export function readValue(value: unknown, field: string, shape: Shape, reading: Reading): unknown {
  switch (shape.type) {
    case "string":
      return readString(value, field, shape, reading);
    case "integer":
    case "number":
      return readNumber(value, field, shape, reading);
    case "boolean":
      return readBoolean(value, field, shape, reading);
    case "array":
      return readArray(value, field, shape, reading);
    case "object":
      return readObject(value, field, shape, reading);
  }
}
