import { type Chosen, chosenFields } from "../catalog/load.ts";

type Plain = Readonly<Record<string, unknown>>;

/** The chosen fields of an entity, in the notation of `parseField`. */
export const chosenFor = (entity: string | undefined): Chosen | undefined => (entity === undefined ? undefined : chosenFields(entity));

export const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * `path` keeps a field (dots lead inward, through lists too); `name=path` gives it another name and flattens it;
 * `?` at the end drops it unless it is true; `~80` cuts a text.
 */
export interface Field {
  readonly path: readonly string[];
  readonly alias?: string;
  readonly ifTrue: boolean;
  readonly clip?: number;
}

const parsed = new Map<string, Field>();

export function parseField(text: string): Field {
  const known = parsed.get(text);
  if (known) return known;
  const match = /^(?:([a-z_]+)=)?([\w.-]+)(?:~(\d+))?(\?)?$/.exec(text);
  if (!match) throw new Error(`slim.json: ${text} is not a field`);
  const [, alias, path = "", clip, ifTrue] = match;
  const field = {
    path: path.split("."),
    ifTrue: ifTrue !== undefined,
    ...(alias === undefined ? {} : { alias }),
    ...(clip === undefined ? {} : { clip: Number(clip) }),
  };
  parsed.set(text, field);
  return field;
}

/** The value at the end of the path; lists on the way are gathered into one. */
export function gather(source: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return source;
  if (Array.isArray(source)) return source.map((item) => gather(item, path)).filter((value) => value !== undefined && value !== null);
  return isPlain(source) && Object.hasOwn(source, head) ? gather(source[head], rest) : undefined;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isPlain(value) && Object.keys(value).length === 0);

const NOISE = /^(_links|avatar_url|avatar_path|custom_attributes|.*_html|task_completion_status|readme_url|license_url)$/;
const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|[+-]\d\d:\d\d)$/;

const isUser = (value: Plain) => typeof value.username === "string" && "name" in value && "id" in value;

/** Without nulls, empty values, links and pictures; users inside as their username; times without fractions. */
export function compact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replace(STAMP, "$1$2");
  if (Array.isArray(value)) return value.map((item) => compact(item, depth + 1));
  if (!isPlain(value)) return value;
  if (depth > 0 && isUser(value)) return value.username;
  const kept = Object.entries(value)
    .filter(([key]) => !NOISE.test(key))
    .map(([key, inner]) => [key, compact(inner, depth + 1)] as const)
    .filter(([, inner]) => !isEmpty(inner));
  return Object.fromEntries(kept);
}

/** Hashes are cut without a mark: their start is still a name that Git knows. */
function clipText(value: unknown, length: number | undefined): unknown {
  if (length === undefined || typeof value !== "string" || value.length <= length) return value;
  const start = value.slice(0, length);
  return /^[0-9a-f]+$/.test(value) ? start : `${start.trimEnd()}…`;
}

interface Branch {
  readonly leaf?: Field;
  readonly inner: Map<string, Branch>;
}

function toTree(fields: readonly Field[]): Branch {
  const root: Branch = { inner: new Map() };
  for (const field of fields) {
    let at = root;
    field.path.forEach((name, index) => {
      const last = index === field.path.length - 1;
      const next = at.inner.get(name) ?? { inner: new Map(), ...(last ? { leaf: field } : {}) };
      at.inner.set(name, next);
      at = next;
    });
  }
  return root;
}

const isKept = (value: unknown, { ifTrue }: Field) =>
  !isEmpty(value) && (!ifTrue || value === true || (typeof value !== "boolean" && value !== 0));

function project(source: unknown, tree: Branch): unknown {
  if (Array.isArray(source)) return source.map((item) => project(item, tree));
  if (!isPlain(source)) return compact(source, 1);
  const kept: [string, unknown][] = [];
  for (const [name, { leaf, inner }] of tree.inner) {
    const value = leaf ? clipText(compact(source[name], 1), leaf.clip) : project(source[name], { inner });
    if (leaf ? isKept(value, leaf) : !isEmpty(value)) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** The chosen fields of one object, in the order of the table. */
function choose(source: Plain, texts: readonly string[]): Plain {
  const fields = texts.map(parseField);
  const flat = new Map<string, unknown>();
  for (const field of fields) {
    const value = field.alias ? clipText(compact(gather(source, field.path), 1), field.clip) : undefined;
    if (field.alias && isKept(value, field)) flat.set(field.alias, value);
  }
  const nested = project(source, toTree(fields.filter(({ alias }) => !alias)));
  const plain = isPlain(nested) ? nested : {};
  const names = [...new Set(fields.map(({ alias, path }) => alias ?? path[0] ?? ""))];
  return Object.fromEntries(
    names.map((name) => [name, flat.has(name) ? flat.get(name) : plain[name]]).filter(([, value]) => value !== undefined),
  );
}

export interface Slim {
  readonly value: unknown;
  /** Fields with something in them that were left out. */
  readonly omitted: number;
}

const LONG_TEXT = 400;
const SHOWN_ANYWAY = new Set(["id", "iid", "name", "title", "path", "key"]);

/** Of an entity that the table does not know: everything but noise, on lists with long texts cut. */
function uncharted(source: Plain, form: "list" | "get"): Plain {
  const plain = compact(source) as Plain;
  if (form === "get") return plain;
  return Object.fromEntries(Object.entries(plain).map(([key, inner]) => [key, clipText(inner, LONG_TEXT)]));
}

/** One object with its chosen fields; where the table knows none of them, without its noise. */
export function slim(source: unknown, entity: string | undefined, form: "list" | "get", without: readonly string[] = []): Slim {
  if (!isPlain(source)) return { value: compact(source), omitted: 0 };
  const texts = chosenFor(entity)?.[form].filter((text) => !without.includes(text));
  const chosen = texts ? choose(source, texts) : undefined;
  const fits = chosen !== undefined && Object.keys(chosen).length > 0;
  const value = fits ? chosen : uncharted(source, form);
  const used = new Set(fits && texts ? texts.map((text) => parseField(text).path[0]) : Object.keys(value));
  const omitted = Object.entries(source).filter(
    ([key, inner]) => !used.has(key) && !isEmpty(inner) && inner !== false && !SHOWN_ANYWAY.has(key),
  ).length;
  return { value, omitted };
}
