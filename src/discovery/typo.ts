import { WEIGHTS } from "./weights.ts";

/**
 * Edit distance with swapped neighbours as one edit, given up as soon as it must exceed `limit`.
 * @returns the distance, or `limit + 1`
 */
export function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > limit) return limit + 1;
    before = last;
    last = row;
  }
  return Math.min(last[b.length] ?? 0, limit + 1);
}

/** A word that typing mistakes are led back to; a heavier one wins among equals. */
export interface Target {
  readonly word: string;
  readonly weight: number;
}

export interface Corrector {
  /** The nearest known word within the allowed edits, if any. `bold`: two edits in a word of five or six letters as well. */
  correct(word: string, bold?: boolean): string | undefined;
}

const ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/** Keys that lie side by side: where a finger slips. */
function areNear(a: string, b: string): boolean {
  const row = ROWS.findIndex((keys) => keys.includes(a));
  const other = ROWS.findIndex((keys) => keys.includes(b));
  if (row < 0 || other < 0 || Math.abs(row - other) > 1) return false;
  return Math.abs((ROWS[row] ?? "").indexOf(a) - (ROWS[other] ?? "").indexOf(b)) <= 1;
}

/** A short word with one other letter in it is another word, unless a finger slipped. */
function isOtherWord(word: string, target: string): boolean {
  if (word.length > 5 || word.length !== target.length) return false;
  const places = [...word].flatMap((letter, at) => (letter === target[at] ? [] : [at]));
  const [at = 0] = places;
  return places.length === 1 && !areNear(word[at] ?? "", target[at] ?? "");
}

const mask = (word: string): number => {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
};

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Short words bear one edit, longer ones two. */
const allowed = (length: number, bold: boolean) => (length < (bold ? 5 : 7) ? WEIGHTS.typo.short : WEIGHTS.typo.long);

const CACHE = 2_000;

/** Leads unknown words of three letters and more back to known ones. */
export function createCorrector(targets: readonly Target[]): Corrector {
  const byLength = new Map<number, { target: Target; bits: number }[]>();
  for (const target of targets) {
    const list = byLength.get(target.word.length) ?? [];
    list.push({ target, bits: mask(target.word) });
    byLength.set(target.word.length, list);
  }
  const nearest = (word: string, bold: boolean): string | undefined => {
    const limit = allowed(word.length, bold);
    const bits = mask(word);
    let best: string | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (let length = word.length - limit; length <= word.length + limit; length++) {
      for (const { target, bits: other } of byLength.get(length) ?? []) {
        if (ones(bits ^ other) > 2 * limit) continue;
        const edits = distance(word, target.word, limit);
        if (edits > limit || isOtherWord(word, target.word)) continue;
        const head = word[0] === target.word[0] ? 0 : 0.8;
        if (edits + head > limit + 0.3 && length < 7) continue;
        const cost = edits + head - target.weight;
        if (cost < bestCost || (cost === bestCost && best !== undefined && target.word < best)) {
          bestCost = cost;
          best = target.word;
        }
      }
    }
    return best;
  };
  const known = new Map<string, string | undefined>();
  return {
    correct(word, bold = false) {
      if (word.length < 3 || word.length > 24 || /\d/.test(word)) return undefined;
      const key = bold ? `${word}!` : word;
      if (known.has(key)) return known.get(key);
      const found = nearest(word, bold);
      if (known.size > CACHE) known.clear();
      known.set(key, found);
      return found;
    },
  };
}
