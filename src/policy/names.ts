import { TOOLSETS } from "../catalog/toolsets.ts";

/** Whether `text` is meant by `pattern`, in which `*` stands for any characters. Case does not count. */
export function matches(pattern: string, text: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const word = text.toLowerCase();
  const first = parts[0] ?? "";
  if (parts.length === 1) return first === word;
  const last = parts.at(-1) ?? "";
  if (!word.startsWith(first) || !word.endsWith(last) || word.length < first.length + last.length) return false;
  const end = word.length - last.length;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = word.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** Whether a word of a list of toolsets (a name, an alias, `default`, `all`) means the toolset. */
export function meansToolset(entry: string, toolset: string): boolean {
  const word = entry.trim().toLowerCase();
  if (word === toolset || word === "all") return true;
  const row = TOOLSETS.find(({ name }) => name === toolset);
  return row !== undefined && ((word === "default" && row.default === true) || (row.aliases ?? []).includes(word));
}
