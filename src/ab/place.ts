/** `items`, `0`, `[title=Nightly run]`, `[*]`: the parts of a path. */
const PART = /\[([^\]]*)\]|[^.[\]]+/g;

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** The first member of a list whose field (itself a path) reads as said. */
function picked(value: unknown, condition: string): unknown {
  const equals = condition.indexOf("=");
  const [field, wanted] = [condition.slice(0, equals), condition.slice(equals + 1)];
  return Array.isArray(value) ? value.find((row) => String(valueAt(row, field)) === wanted) : undefined;
}

/**
 * What stands at a path: fields and indexes by dots; in brackets, the first member of a list with a field of that value
 * (`items[title=Nightly run].id`), or all members, each read on (`items[*].name`).
 */
export function valueAt(value: unknown, path: string): unknown {
  const parts = [...path.matchAll(PART)];
  let here = value;
  for (const [index, [text, condition]] of parts.entries()) {
    if (condition === "*") {
      const rest = path.slice((parts[index]?.index ?? 0) + text.length).replace(/^\./, "");
      return Array.isArray(here) ? here.map((row) => valueAt(row, rest)) : undefined;
    }
    here = condition === undefined ? member(here, text) : picked(here, condition);
  }
  return here;
}
