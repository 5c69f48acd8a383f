const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** Ends of lines beside the usual ones; a carriage return alone would let a line overwrite itself. */
const LINE_ENDS = /\r(?!\n)|[\u0085\u2028\u2029]/g;
const CONTROLS = /[^\P{Cc}\t\n\r]/gu;

/**
 * What a person does not see and a model may read: marks that turn the direction of text, tags, blanks without width. Joiners, direction
 * marks, soft hyphens and variation selectors belong to scripts and emoji; only several in a row hide something.
 */
const HIDDEN =
  /[\u115F\u1160\u17B4\u17B5\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]+|[\u00AD\u061C\u200C-\u200F]{2,}|[\u180B-\u180D\uFE00-\uFE0F]{2,}/gu;

function told(run: string): string {
  const [first = "", ...others] = run;
  if (others.length > 0) return `‹${others.length + 1} hidden characters›`;
  return `‹U+${(first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}›`;
}

/** The text with nothing hidden in it: control characters are dropped, invisible ones are told, every end of a line is one. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(LINE_ENDS, "\n").replace(CONTROLS, "").replace(HIDDEN, told);
}

/** The same for every text in a value. */
export function visibleIn(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.map(visibleIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [visible(key), visibleIn(inner)]));
}
