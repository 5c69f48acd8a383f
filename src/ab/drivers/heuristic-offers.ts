import type { Json, ListedTool } from "../types.ts";

export type ParamType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "unknown";

/** One parameter, as a schema or a one-line signature shows it. */
export interface Param {
  readonly name: string;
  readonly type: ParamType;
  /** Of the members of an array. */
  readonly item?: ParamType;
  readonly required: boolean;
  readonly about: string;
  readonly values?: readonly string[];
  /** Names of the properties that the members of an array have. */
  readonly fields?: readonly string[];
}

export interface Call {
  readonly tool: string;
  readonly args: Json;
}

/** Something that can be called, whichever way leads there. */
export interface Offer {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Absent where nothing has shown them yet. */
  readonly params?: readonly Param[];
  readonly effect?: "read" | "write" | "destructive";
  /** The call with these arguments. */
  toCall(args: Json): Call;
  /** A yes-or-no parameter beside the arguments, as a tool that runs named actions may have. */
  readonly outer?: readonly Param[];
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const TYPES: readonly ParamType[] = ["string", "integer", "number", "boolean", "array", "object"];

/** One form of a property that may be written in several: the first of them that has a type. */
function settled(property: Json): Json {
  const forms = [property.anyOf, property.oneOf, property.allOf].find(Array.isArray) as unknown[] | undefined;
  const form = forms?.filter(isObject).find(({ type, enum: values }) => (type !== undefined && type !== "null") || values !== undefined);
  return form ? { ...settled(form), ...(property.description === undefined ? {} : { description: property.description }) } : property;
}

function typeOf({ type, enum: values, properties, items }: Json): ParamType {
  const named = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  const known = TYPES.find((one) => one === named);
  if (known) return known;
  if (Array.isArray(values)) return "string";
  return properties === undefined ? (items === undefined ? "unknown" : "array") : "object";
}

function toParam(name: string, given: unknown, required: boolean): Param {
  const property = settled(isObject(given) ? given : {});
  const items = isObject(property.items) ? settled(property.items) : undefined;
  const values = property.enum ?? items?.enum ?? (property.const === undefined ? undefined : [property.const]);
  return {
    name,
    type: typeOf(property),
    required,
    about: textOf(property.description),
    ...(items ? { item: typeOf(items) } : {}),
    ...(items && isObject(items.properties) ? { fields: Object.keys(items.properties) } : {}),
    ...(Array.isArray(values) ? { values: values.filter((value): value is string => typeof value === "string") } : {}),
  };
}

/** The parameters of a JSON Schema, required ones first. */
export function paramsOf(schema: Readonly<Json>): Param[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const params = Object.entries(isObject(schema.properties) ? schema.properties : {});
  return params
    .map(([name, property]) => toParam(name, property, required.includes(name)))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/** `name(a, b?: x|y, c: integer, …)` → parameters. */
export function paramsOfSignature(signature: string): Param[] | undefined {
  const inside = /\(([^()]*)\)/.exec(signature)?.[1];
  if (inside === undefined) return undefined;
  const parts = inside
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && part !== "…" && part !== "...");
  if (!parts.every((part) => /^[A-Za-z_][\w.-]*\??(\s*:.*)?$/.test(part))) return undefined;
  return parts.flatMap((part): Param[] => {
    const [, name, optional, type = ""] = /^\s*([A-Za-z_][\w.-]*)(\?)?\s*(?::\s*(.+?))?\s*$/.exec(part) ?? [];
    if (name === undefined) return [];
    const known = TYPES.find((one) => one === type.replace(/\[\]$/, "")) ?? "string";
    const values = type.includes("|")
      ? { values: type.split("|").flatMap((value) => (value.trim() === "…" ? [] : value.trim().replace(/^["']|["']$/g, ""))) }
      : {};
    return [{ name, type: type.endsWith("[]") ? "array" : known, required: optional === undefined, about: "", ...values }];
  });
}

function effectOf(annotations: Readonly<Json> | undefined): Pick<Offer, "effect"> {
  if (annotations?.readOnlyHint === true) return { effect: "read" };
  if (annotations?.destructiveHint === true) return { effect: "destructive" };
  return annotations?.readOnlyHint === false ? { effect: "write" } : {};
}

/** What hosts pass on of a tool beside its name and schema: its description. Titles and annotations stay with the host. */
export const shownText = ({ description, title }: ListedTool): string => description ?? title ?? "";

/** A tool of the list as it stands. */
export function toOffer(tool: ListedTool): Offer {
  return {
    name: tool.name,
    title: "",
    about: shownText(tool),
    params: paramsOf(tool.inputSchema),
    toCall: (args) => ({ tool: tool.name, args }),
  };
}

/** One thing that an answer of a discovery tool names. */
export interface Row {
  /** Every word it can be called by, in the order in which the answer gives them. */
  readonly names: readonly string[];
  readonly title: string;
  readonly about: string;
  readonly params?: readonly Param[];
  readonly effect?: NonNullable<Offer["effect"]>;
}

const NAME_KEYS = ["name", "id", "action", "tool", "operation", "command", "toolset", "category", "group"];
const ABOUT_KEYS = ["description", "summary", "about", "purpose"];
const SCHEMA_KEYS = ["input_schema", "inputSchema", "schema", "parameters", "params", "arguments"];

function rowParams(row: Json): Pick<Row, "params"> {
  const schema = SCHEMA_KEYS.map((key) => row[key]).find((value) => isObject(value) && isObject(value.properties));
  if (schema) return { params: paramsOf(schema as Json) };
  const signature = typeof row.signature === "string" ? paramsOfSignature(row.signature) : undefined;
  return signature ? { params: signature } : {};
}

function rowEffect({ effect, annotations, read_only: readOnly }: Json): Pick<Row, "effect"> {
  if (effect === "read" || effect === "write" || effect === "destructive") return { effect };
  if (typeof readOnly === "boolean") return { effect: readOnly ? "read" : "write" };
  return isObject(annotations) ? effectOf(annotations) : {};
}

function toRow(value: unknown): Row[] {
  if (typeof value === "string" && /^[\w.:/-]{2,80}$/.test(value)) return [{ names: [value], title: "", about: "" }];
  if (!isObject(value)) return [];
  const names = NAME_KEYS.flatMap((key) => (typeof value[key] === "string" ? [value[key] as string] : []));
  if (names.length === 0) return [];
  const about = ABOUT_KEYS.map((key) => textOf(value[key])).find((text) => text !== "") ?? "";
  return [{ names, title: textOf(value.title), about, ...rowParams(value), ...rowEffect(value) }];
}

/** The rows of the deepest lists of objects that have names; a list of names alone counts where there is no other. */
function rowsOfJson(json: unknown): Row[] {
  const found: Row[] = [];
  const names: Row[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const one of value) (isObject(one) ? found : names).push(...toRow(one));
      for (const one of value) visit(one);
    } else if (isObject(value)) {
      if (!Array.isArray(value.type)) for (const [key, one] of Object.entries(value)) if (!SCHEMA_KEYS.includes(key)) visit(one);
    }
  };
  visit(json);
  const single = found.length === 0 ? toRow(json) : [];
  return found.length > 0 ? found : single.length > 0 ? single : names;
}

/** `name(params) – text`, `name: other_name(params)`, `- **name**: text`, `name – text`. */
function rowOfLine(line: string): Row[] {
  const [, first, rest = ""] = /^[\s>*#-]*(?:\d+[.)]\s+)?[*`]*([A-Za-z][\w.:/-]*\w)[*`]*\s*(.*)$/.exec(line) ?? [];
  if (first === undefined) return [];
  const [, second, after] = /^[:–—-]\s*([A-Za-z][\w.:/-]*\w)(\(.*)$/.exec(rest) ?? [];
  const [, signature, about = ""] = /^(\([^()]*\))?\s*(?:[:–—-]+\s*(.*))?$/.exec(after ?? rest) ?? [];
  const params = signature === undefined ? undefined : paramsOfSignature(signature);
  const text = params ? about : rest;
  if (params === undefined && !/^[:–—(-]/.test(rest) && rest !== "") return [];
  const effect = /^(read|write|destructive)\b/.exec(about)?.[1] as Row["effect"];
  return [
    {
      names: second === undefined ? [first] : [first, second],
      title: "",
      about: text,
      ...(params ? { params } : {}),
      ...(effect ? { effect } : {}),
    },
  ];
}

/** Where lines show how things are called, the others are headings and remarks. */
function rowsOfText(text: string): Row[] {
  const rows = text.split("\n").flatMap(rowOfLine);
  const shown = rows.filter(({ params }) => params !== undefined);
  return shown.length > 0 ? shown : rows;
}

/** What an answer names: from JSON, else from the lines of its text. */
export function rowsOf(text: string): Row[] {
  const json = jsonOf(text);
  return json === undefined ? rowsOfText(text) : rowsOfJson(json);
}

/** A text as JSON; nothing where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
