import type { Shape } from "../catalog/types.ts";

const UNITS: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/^(min|mins|minutes?)$/, 60],
  [/^(h|hours?)$/, 3_600],
  [/^(d|days?)$/, 86_400],
  [/^(w|weeks?)$/, 7 * 86_400],
  [/^(mo|m|months?)$/, 30 * 86_400],
  [/^(y|years?)$/, 365 * 86_400],
];

const WORDS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

const AHEAD = /^(due_date|due_on|start_date|expires_at|expiry|end_date)$/;

/** The parameter holds a moment or a day. */
export function isDate(name: string, shape: Shape): boolean {
  if (shape.type !== "string" || shape.enum) return false;
  return shape.format?.startsWith("date") === true || /_(after|before)$/.test(name) || /^(since|until)$/.test(name) || AHEAD.test(name);
}

const isDay = (name: string, shape: Shape) => shape.format === "date" || AHEAD.test(name);

const toText = (date: Date, day: boolean) => (day ? date.toISOString().slice(0, 10) : date.toISOString());

/** `7d` looks back, except for a date that is set ahead (`due_date: 7d`); `in …`, `+` and `ago` say it. */
function offsetOf(text: string, ahead: boolean): number | undefined {
  const match = /^(in\s+|[+-])?(\d{1,4})\s*([a-z]+)(\s+ago)?$/.exec(text);
  const seconds = UNITS.find(([pattern]) => pattern.test(match?.[3] ?? ""))?.[1];
  if (!match || seconds === undefined) return undefined;
  const sign = match[1]?.trim();
  const forward = sign === "in" || sign === "+" || (ahead && sign === undefined && !match[4]);
  return (forward ? 1 : -1) * Number(match[2]) * seconds;
}

/**
 * Words and distances (`yesterday`, `7d`, `2 weeks ago`) as a date or a moment; everything that is a date already stays as it is.
 * @returns undefined when the text is no date.
 */
export function toDate(text: string, name: string, shape: Shape, now: Date): string | undefined {
  const word = text.trim().toLowerCase();
  const day = isDay(name, shape);
  if (word === "now") return toText(now, day);
  const days = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (days !== undefined) {
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days);
    return toText(new Date(midnight), day);
  }
  const offset = offsetOf(word, AHEAD.test(name));
  if (offset !== undefined) return toText(new Date(now.getTime() + offset * 1000), day);
  if (/^\d{4}-\d{2}/.test(word)) return Number.isNaN(Date.parse(text)) ? undefined : text;
  // GitLab's own words in date filters (`due_date: overdue`) and fields that are no plain date.
  return shape.format?.startsWith("date") || /_(after|before)$/.test(name) ? undefined : text;
}
