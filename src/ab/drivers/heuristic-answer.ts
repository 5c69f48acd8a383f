import type { Seen } from "../types.ts";
import { type Fields, rank, toQuery } from "./heuristic-words.ts";

/** Longest answer, in characters. */
const MOST = 1_500;
const LINE = 400;

/** JSON on one line reads as its fields: one line each, with the place it stands at. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  const walk = (value: unknown, place: string): void => {
    if (Array.isArray(value)) {
      const plain = value.every((one) => typeof one !== "object");
      if (plain) lines.push(`${place}: ${value.join(", ")}`);
      else for (const one of value) walk(one, place);
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      const flat = entries.filter(([, one]) => one !== null && one !== "" && typeof one !== "object").map(([key, one]) => `${key}: ${one}`);
      if (flat.length > 0) lines.push(flat.join("; "));
      for (const [key, one] of entries) if (typeof one === "object" && one !== null) walk(one, key);
    }
  };
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object") walk(json, "");
  } catch {
    return text.split("\n");
  }
  return lines.length > 0 ? lines : text.split("\n");
}

/** An extract of the last results: the lines that are most like the prompt, in their order. */
export function toAnswer(prompt: string, results: readonly Seen[]): string {
  const lines = results
    .slice(-4)
    .flatMap(({ text }) => linesOf(text))
    .map((line) => line.trim().slice(0, LINE))
    .filter((line) => line !== "");
  const likeness = rank(
    toQuery(prompt),
    lines.map((line): Fields => [[line, 1]]),
  );
  // The first lines of a result say what it is and how much there is of it.
  const order = lines.map((_line, index) => index).sort((a, b) => (likeness[b] ?? 0) - (likeness[a] ?? 0) || a - b);
  const kept = new Set<number>();
  let length = 0;
  for (const index of order) {
    const more = (lines[index]?.length ?? 0) + 1;
    if (length + more > MOST) continue;
    kept.add(index);
    length += more;
  }
  const text = lines.filter((_line, index) => kept.has(index)).join("\n");
  return text === "" ? "I found nothing that does this." : text;
}
