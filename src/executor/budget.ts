import { isPlain } from "./slim.ts";
import { estimateJson, estimateTokens } from "./tokens.ts";

/** Characters that a token never exceeds: nothing is cheaper than a run of blanks. */
const MOST_PER_TOKEN = 64;

/** The longest start of the text that fits, cut at the end of a line (or, in a line that is too long alone, of a word). */
export function headOf(text: string, tokens: number, measure: (text: string) => number = estimateTokens): string {
  let low = 0;
  let high = Math.min(text.length, tokens * MOST_PER_TOKEN);
  if (high === text.length && measure(text) <= tokens) return text;
  while (high - low > 16) {
    const middle = (low + high) >> 1;
    if (measure(text.slice(0, middle)) <= tokens) low = middle;
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

const WHOLE = "answer";
/** A field is not cut below this. */
const COST_OF_A_CUT = 30;
/** Fields of one object that are cut; beyond them the rest is left out. */
const MOST_FIELDS = 12;

type Plain = Readonly<Record<string, unknown>>;

function widest(value: Plain, without: ReadonlySet<string>): string | undefined {
  const sizes = Object.entries(value)
    .filter(([key]) => !without.has(key))
    .map(([key, inner]) => [key, estimateJson(inner)] as const);
  return sizes.sort((a, b) => b[1] - a[1])[0]?.[0];
}

/** Many small fields: the first of them. */
function fitFields(value: Plain, tokens: number, name: string): Fitted {
  const entries = Object.entries(value);
  const count = countFitting(entries, tokens);
  return { value: Object.fromEntries(entries.slice(0, count)), cuts: [`${name}: the first ${count} of ${entries.length} fields`] };
}

/** The largest field first, each once. */
function fitObject(value: Plain, tokens: number, name: string): Fitted {
  const cuts: string[] = [];
  const done = new Set<string>();
  let current = value;
  while (estimateJson(current) > tokens) {
    const key = done.size < MOST_FIELDS ? widest(current, done) : undefined;
    if (key === undefined || (estimateJson(current[key]) <= COST_OF_A_CUT && done.size === 0)) break;
    done.add(key);
    const rest = estimateJson({ ...current, [key]: null });
    // A name that somebody made up does not stand among our own words.
    const told = /^[\w.-]{1,60}$/.test(key) ? key : "(a field)";
    const inner = cutToFit(current[key], Math.max(tokens - rest, COST_OF_A_CUT), name === WHOLE ? told : `${name}.${told}`);
    cuts.push(...inner.cuts);
    current = { ...current, [key]: inner.value };
  }
  if (estimateJson(current) <= tokens) return { value: current, cuts };
  const fields = fitFields(current, tokens, name);
  return { value: fields.value, cuts: [...cuts, ...fields.cuts] };
}

function fitList(items: readonly unknown[], tokens: number, name: string): Fitted {
  const count = countFitting(items, tokens);
  const first = items[0];
  if (count > 0 || first === undefined) return { value: items.slice(0, count), cuts: [`${name}: the first ${count} of ${items.length}`] };
  const { value, cuts } = cutToFit(first, tokens, `${name}.0`);
  return { value: [value], cuts: [`${name}: the first 1 of ${items.length}`, ...cuts] };
}

function fitText(text: string, tokens: number, name: string): Fitted {
  const kept = headOf(text, tokens, estimateJson);
  return { value: `${kept}…`, cuts: [`${name}: the first ${kept.length} of ${text.length} characters`] };
}

/** Cuts the largest part first, at borders of items and lines, until the whole fits. */
export function cutToFit(value: unknown, tokens: number, name = WHOLE): Fitted {
  if (estimateJson(value) <= tokens) return { value, cuts: [] };
  if (typeof value === "string") return fitText(value, tokens, name);
  if (Array.isArray(value)) return fitList(value, tokens, name);
  return isPlain(value) ? fitObject(value, tokens, name) : { value, cuts: [] };
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
