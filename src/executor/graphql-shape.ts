import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

/** A list as GraphQL pages it. */
export interface Connection {
  readonly nodes: readonly unknown[];
  /** Where the next page begins; absent on the last one. */
  readonly after?: string;
  readonly total?: number;
}

const toSnake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();

/** `gid://gitlab/WorkItem/123` → 123, as all other answers have it; ids that are no numbers stay texts. */
function toPlainId(text: string): unknown {
  const id = /^gid:\/\/gitlab\/[\w:]+\/([\w-]+)$/.exec(text)?.[1];
  if (id === undefined) return text;
  return /^\d{1,15}$/.test(id) ? Number(id) : id;
}

/** Objects that were asked for one word only stand for that word: `{ username }`, `{ title }`. */
const WORDS = new Set(["username", "name", "title", "full_path", "access_level_description"]);

function toWord(value: Plain): unknown {
  const [key = "", ...others] = Object.keys(value);
  return others.length === 0 && WORDS.has(key) ? value[key] : value;
}

const listOf = (value: unknown) => (isPlain(value) && Array.isArray(value.nodes) && !isPlain(value.pageInfo) ? value.nodes : undefined);

/** Widgets are parts of one thing: their fields become fields of the work item. */
function entriesOf(source: Plain): [string, unknown][] {
  return Object.entries(source).flatMap(([key, inner]): [string, unknown][] =>
    key === "widgets" && Array.isArray(inner) ? inner.flatMap((widget) => Object.entries(isPlain(widget) ? widget : {})) : [[key, inner]],
  );
}

/** An answer in the form that REST answers have: snake case, plain ids, plain lists. */
export function toRestShape(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return toPlainId(value);
  const list = Array.isArray(value) ? value : listOf(value);
  if (list) return list.map((item) => toRestShape(item, depth + 1));
  if (!isPlain(value)) return value;
  const shaped = Object.fromEntries(entriesOf(value).map(([key, inner]) => [toSnake(key), toRestShape(inner, depth + 1)]));
  return depth > 0 ? toWord(shaped) : shaped;
}

/** The things inside an answer that stand for the whole: what the only field leads to, again and again. */
export function innermost(data: unknown): unknown {
  if (!isPlain(data)) return data;
  const keys = Object.keys(data);
  const inner = data[keys[0] ?? ""];
  return keys.length === 1 && (inner === null || isPlain(inner) || Array.isArray(inner)) ? innermost(inner) : data;
}

function nextOf(info: Plain): string | undefined {
  return info.hasNextPage === true && typeof info.endCursor === "string" ? info.endCursor : undefined;
}

/** The list of an answer, wherever it stands; undefined where there is none. */
export function connectionIn(data: unknown): Connection | undefined {
  if (Array.isArray(data)) {
    for (const item of data) {
      const found = connectionIn(item);
      if (found) return found;
    }
    return undefined;
  }
  if (!isPlain(data)) return undefined;
  if (isPlain(data.pageInfo)) {
    const after = nextOf(data.pageInfo);
    const nodes = Array.isArray(data.nodes) ? data.nodes.filter((node) => node !== null) : [];
    return { nodes, ...(after === undefined ? {} : { after }), ...(typeof data.count === "number" ? { total: data.count } : {}) };
  }
  return connectionIn(Object.values(data));
}
