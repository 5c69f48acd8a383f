import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { chosenFor, gather, isPlain, parseField } from "./slim.ts";

const MOST_SHOWN = 40;

/** Names that an answer is shown with and that GitLab does not know: `ref` for `references.full`. */
function aliases(entity: string | undefined): ReadonlyMap<string, readonly string[]> {
  const chosen = chosenFor(entity);
  const fields = [...(chosen?.list ?? []), ...(chosen?.get ?? [])].map(parseField);
  return new Map(fields.flatMap(({ alias, path }) => (alias ? [[alias, path] as const] : [])));
}

function objectsAt(values: readonly unknown[]): Record<string, unknown>[] {
  return values.flatMap((value) => (Array.isArray(value) ? objectsAt(value) : isPlain(value) ? [value] : []));
}

/** The first part of the path that no object has, with the names that are there; undefined where all is known (or cannot be told). */
function unknownPart(items: readonly unknown[], path: readonly string[]): { readonly part: string; readonly names: string[] } | undefined {
  let level = objectsAt(items);
  for (const part of path) {
    if (level.length === 0) return undefined;
    const names = [...new Set(level.flatMap((object) => Object.keys(object)))];
    if (!names.includes(part)) return { part, names };
    level = objectsAt(level.map((object) => object[part]));
  }
  return undefined;
}

function refuse(path: string, names: readonly string[]): never {
  const near = nearest(path.split(".").at(-1) ?? path, names);
  const known = near.length > 0 ? `Nearest: ${near.join(", ")}.` : `Known: ${names.slice(0, MOST_SHOWN).join(", ")}.`;
  const hint = `${known} full: true shows every field.`;
  throw new BridgeError("invalid_params", `select: there is no field ${path} in the answer.`, hint, {
    fields: { select: `no field ${path}` },
    nearest: near,
  });
}

/** Lists inside an object are kept as lists of objects: `notes.body` → `notes: [{ body }]`. */
function copy(source: unknown, target: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return source;
  if (Array.isArray(source)) return source.map((item, index) => copy(item, Array.isArray(target) ? target[index] : undefined, path));
  const base = isPlain(target) ? target : {};
  if (!isPlain(source) || !Object.hasOwn(source, head)) return target ?? (isPlain(source) ? base : source);
  return { ...base, [head]: copy(source[head], base[head], rest) };
}

export interface Selection {
  readonly items: readonly unknown[];
  readonly unknown: readonly string[];
}

/**
 * Only the fields asked for, by dotted paths, as GitLab gave them.
 * @throws BridgeError invalid_params naming the nearest field, unless `lenient` (a write that is done cannot be refused any more).
 */
export function select(items: readonly unknown[], paths: readonly string[], entity: string | undefined, lenient = false): Selection {
  const shown = aliases(entity);
  const unknown: string[] = [];
  let picked: readonly unknown[] = items.map(() => undefined);
  for (const text of paths) {
    const path = text.split(".").filter((part) => part !== "");
    const missing = unknownPart(items, path);
    const alias = missing ? shown.get(text) : undefined;
    if (missing && !alias && !lenient) refuse(text, [...missing.names, ...(missing.part === path[0] ? shown.keys() : [])]);
    if (missing && !alias) unknown.push(text);
    else if (alias) picked = picked.map((target, index) => withAlias(target, text, gather(items[index], alias)));
    else picked = picked.map((target, index) => copy(items[index], target, path));
  }
  return { items: picked.map((item) => item ?? {}), unknown };
}

const withAlias = (target: unknown, name: string, value: unknown) => ({ ...(isPlain(target) ? target : {}), [name]: value });
