import { visible } from "../visible.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lines as one line. By hand: a pattern would look at long runs of blanks again and again. */
function joinLines(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  if (rest.length === 0) return first;
  const last = rest.pop() ?? "";
  const between = rest.map((line) => line.trim()).filter((line) => line !== "");
  return [first.trimEnd(), ...between, last.trimStart()].join(" ⏎ ");
}

/** A name that somebody made up is one line too. */
const nameOf = (key: string) => joinLines(visible(key));

/** One line; objects inside other values stand in braces, lists of objects in brackets, so that it stays clear what belongs where. */
function inline(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return joinLines(visible(value));
  if (Array.isArray(value)) {
    const items = value.map((item) => inline(item, depth + 1)).join(", ");
    return depth > 0 || value.some(isObject) ? `[${items}]` : items;
  }
  if (!isObject(value)) return String(value);
  const fields = Object.entries(value).map(([key, inner]) => `${nameOf(key)}=${inline(inner, depth + 1)}`);
  return depth > 0 ? `{${fields.join("; ")}}` : fields.join("; ");
}

/** An object as `key: value` lines; long text keeps its own lines below its key. */
function objectLines(value: Readonly<Record<string, unknown>>): string {
  return Object.entries(value)
    .map(([key, inner]) => {
      if (typeof inner === "string" && visible(inner).includes("\n")) return `${nameOf(key)}:\n${visible(inner)}`;
      if (Array.isArray(inner) && inner.some((item) => typeof item === "object" && item !== null))
        return `${nameOf(key)}:\n${inner.map((item) => `- ${inline(item)}`).join("\n")}`;
      return `${nameOf(key)}: ${inline(inner)}`;
    })
    .join("\n");
}

/** One line per row where all rows have the same keys: a header, then the values. */
function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => keys.map((key) => (row[key] === undefined ? "" : inline(row[key]).replaceAll("|", "¦"))).join(" | "));
  return [keys.map(nameOf).join(" | "), ...lines].join("\n");
}

/** The text form of a value: fewer tokens than JSON and nothing lost that the next call needs. */
export function toLines(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isObject)) return table(value);
    return value.map((item) => `- ${inline(item)}`).join("\n");
  }
  return isObject(value) ? objectLines(value) : inline(value);
}
