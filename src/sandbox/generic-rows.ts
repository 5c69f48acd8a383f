import { lookUpGroup, lookUpProject } from "./access.ts";
import { notFound } from "./errors.ts";
import type { Json, Request } from "./types.ts";

/** A template without the names of its placeholders. */
export const nameless = (path: string) => path.replace(/\{[a-z0-9_]+\*?\}/g, "{}");
export const isItem = (path: string) => path.endsWith("}");
export const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/"));
export const lastName = (path: string) => /\{([a-z0-9_]+)\}$/.exec(path)?.[1] ?? "";

/** The template with the values of this request; project and group by number, whatever they were called. */
export function keyOf(request: Request, template: string): string {
  return template.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => {
    const value = request.params[name] ?? "";
    if (name === "project_id") return String(lookUpProject(request.world, value)?.id ?? value);
    if (name === "group_id") return String(lookUpGroup(request.world, value)?.id ?? value);
    return value;
  });
}

/** The rows of a collection, here and now. */
export function rowsOf(request: Request, collection: string): Json[] {
  const key = keyOf(request, collection);
  const rows = request.world.tables.get(key) ?? [];
  request.world.tables.set(key, rows);
  return rows;
}

export const NAMES = ["key", "name", "slug", "title", "tag_name", "email", "username", "id"];

function isNamed(row: Json, placeholder: string, value: string): boolean {
  if (placeholder.endsWith("_iid")) return String(row.iid) === value;
  const fields = placeholder.endsWith("_id") ? ["id", placeholder, "username"] : [placeholder, ...NAMES];
  return fields.some((field) => row[field] !== undefined && row[field] !== null && String(row[field]) === value);
}

/** The row that an item's path names. */
export const findRow = (request: Request, item: string): Json | undefined =>
  rowsOf(request, parentOf(item)).find((row) => isNamed(row, lastName(item), request.params[lastName(item)] ?? ""));

const capital = (words: string) => words.replaceAll("_", " ").replace(/(^| )[a-z]/g, (letter) => letter.toUpperCase());

/** `/badges/{badge_id}` → "Badge"; `/custom_attributes/{key}` → "Custom Attribute". */
export const thing = (item: string) => {
  const name = lastName(item);
  if (/_i?id$/.test(name)) return capital(name.replace(/_i?id$/, ""));
  return capital(
    (parentOf(item).split("/").at(-1) ?? "")
      .replace(/ies$/, "y")
      .replace(/(ch|sh|ss|x)es$/, "$1")
      .replace(/s$/, ""),
  );
};

/** @throws 404 */
export function requireRow(request: Request, item: string): Json {
  const row = findRow(request, item);
  if (!row) throw notFound(thing(item));
  return row;
}
