import { isPlain } from "./slim.ts";
import { estimateJson, estimateTokens } from "./tokens.ts";

/** The longest start of the text that fits, cut at the end of a line (or, in a line that is too long alone, of a word). */
export function headOf(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text;
  let low = 0;
  let high = text.length;
  while (high - low > 16) {
    const middle = (low + high) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle;
  }
  const line = text.lastIndexOf("\n", low);
  if (line > 0) return text.slice(0, line + 1);
  const word = text.lastIndexOf(" ", low);
  return text.slice(0, word > low / 2 ? word : low).replace(/[\uD800-\uDBFF]$/, "");
}

export interface Fitted {
  readonly value: unknown;
  /** What was cut, in words; absent where all fits. */
  readonly cuts: readonly string[];
}

const COST_OF_A_CUT = 30;

function widest(value: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = Object.entries(value).map(([key, inner]) => [key, estimateJson(inner)] as const);
  return sizes.sort((a, b) => b[1] - a[1])[0]?.[0];
}

function fitList(items: readonly unknown[], tokens: number, name: string): Fitted {
  const count = countFitting(items, tokens);
  const first = items[0];
  if (count > 0 || first === undefined) return { value: items.slice(0, count), cuts: [`${name}: the first ${count} of ${items.length}`] };
  const { value, cuts } = cutToFit(first, tokens, `${name}.0`);
  return { value: [value], cuts: [`${name}: the first 1 of ${items.length}`, ...cuts] };
}

function fitText(text: string, tokens: number, name: string): Fitted {
  const kept = headOf(text, tokens);
  return { value: `${kept}…`, cuts: [`${name}: the first ${kept.length} of ${text.length} characters`] };
}

/** Cuts the largest part first, at borders of items and lines, until the whole fits. */
export function cutToFit(value: unknown, tokens: number, name = "answer"): Fitted {
  const cuts: string[] = [];
  let current = value;
  for (let round = 0; round < 20 && estimateJson(current) > tokens; round++) {
    if (typeof current === "string") return fitText(current, tokens, name);
    if (Array.isArray(current)) return fitList(current, tokens, name);
    const key = isPlain(current) ? widest(current) : undefined;
    if (key === undefined || !isPlain(current)) break;
    const rest = estimateJson({ ...current, [key]: null });
    const room = Math.max(tokens - rest - COST_OF_A_CUT, COST_OF_A_CUT);
    const inner = cutToFit(current[key], room, name === "answer" ? key : `${name}.${key}`);
    cuts.push(...inner.cuts);
    current = { ...current, [key]: inner.value };
    if (inner.cuts.length === 0) break;
  }
  return { value: current, cuts };
}

/** How many items from the start fit. */
export function countFitting(items: readonly unknown[], tokens: number): number {
  let used = 0;
  for (const [index, item] of items.entries()) {
    used += estimateJson(item) + 1;
    if (used > tokens) return index;
  }
  return items.length;
}
