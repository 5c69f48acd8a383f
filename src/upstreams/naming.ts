import { createHash } from "node:crypto";

/** Longest tool name: clients and gateways put words before it and cut at 64. */
export const LONGEST = 32;

/** Any name as `[a-z0-9_]`, words kept apart, no `__`. */
export const toSnake = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "") || "tool";

/** The second part of an id; other names that fold to the same word get a mark of their own. */
export function toIdPart(tool: string, taken: ReadonlySet<string>): string {
  const plain = toSnake(tool);
  return taken.has(plain) ? `${plain}_${mark(tool)}` : plain;
}

const mark = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 6);

/** At most 32 characters: the beginning, and a mark that is the same on every start. */
export function shorten(name: string, whole: string): string {
  if (name.length <= LONGEST) return name;
  return `${name.slice(0, LONGEST - 7).replace(/_+$/, "")}_${mark(whole)}`;
}

/**
 * Tool names of this process. A name, once given, belongs to its action for good: a call by a name that a client still remembers never
 * reaches another tool.
 */
export interface Names {
  give(id: string, upstream: string, tool: string, prefix: string): string;
}

/** @param isTaken names of our own tools, which no upstream may have. */
export function createNames(isTaken: (name: string) => boolean): Names {
  const owners = new Map<string, string>();
  const given = new Map<string, string>();
  const isFree = (name: string, id: string) => !isTaken(name) && (owners.get(name) ?? id) === id;
  return {
    give(id, upstream, tool, prefix) {
      const known = given.get(id);
      if (known !== undefined) return known;
      const plain = toSnake(`${prefix}${tool}`);
      const long = toSnake(`${upstream}_${tool}`);
      const candidates = [shorten(plain, id), shorten(long, id), shorten(`${long.slice(0, LONGEST - 7)}_${mark(id)}`, id)];
      const name = candidates.find((candidate) => isFree(candidate, id)) ?? `tool_${mark(id)}`;
      owners.set(name, id);
      given.set(id, name);
      return name;
    },
  };
}
