/** Names below this likeness are not worth showing. */
const FLOOR = 0.34;

const tokensOf = (name: string): string[] => name.split(/[^a-z0-9]+/).filter((token) => token !== "");

/**
 * Edits (insert, delete, replace, swap of neighbours) from `a` to `b`; `limit + 1` as soon as it is known to be more than `limit`.
 */
export function editDistance(a: string, b: string, limit = Math.max(a.length, b.length)): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current.push(cost);
    }
    if (Math.min(...current) > limit) return limit + 1;
    before = above;
    above = current;
  }
  return Math.min(at(above, b.length), limit + 1);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;

/** Equal, a start of at least three letters, or one slip in a longer word. */
function tokensMeet(a: string, b: string): boolean {
  if (a === b) return true;
  const shorter = Math.min(a.length, b.length);
  if (shorter >= 3 && (a.startsWith(b) || b.startsWith(a))) return true;
  return shorter >= 4 && editDistance(a, b, 1) <= 1;
}

function shared(words: readonly string[], others: readonly string[]): number {
  const met = words.filter((word) => others.some((other) => tokensMeet(word, other))).length;
  return met / Math.max(words.length, others.length, 1);
}

function likeness(word: string, candidate: string): number {
  const longest = Math.max(word.length, candidate.length, 1);
  const limit = Math.max(1, Math.floor(longest * 0.4));
  const edits = editDistance(word, candidate, limit);
  const letters = edits > limit ? 0 : 1 - edits / longest;
  const words = 0.8 * shared(tokensOf(word), tokensOf(candidate));
  return Math.max(letters, words) + Math.min(letters, words) / 10;
}

/**
 * The candidates most like `word`, best first, by spelling and by shared words. Case does not count; equal likeness keeps the
 * alphabetical order, so that the answer is always the same.
 */
export function nearest(word: string, candidates: readonly string[], limit = 3): string[] {
  const wanted = word.toLowerCase();
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, score: likeness(wanted, candidate.toLowerCase()) }))
    .filter(({ score }) => score >= FLOOR)
    .sort((a, b) => b.score - a.score || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}
