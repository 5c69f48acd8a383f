import { estimateJson } from "../executor/tokens.ts";

/**
 * Picks for each entry the richest of its variants (poorest first) so that all fit the budget: every entry is there
 * in its poorest form before any gets richer, and earlier entries get richer first.
 */
export function fitBudget<T>(entries: readonly (readonly T[])[], budget: number, cost: (entry: T) => number = estimateJson): T[] {
  const poorest = entries.map((variants) => variants[0] as T);
  let left = budget - poorest.reduce((sum, entry) => sum + cost(entry), 0);
  const chosen = poorest.map(() => 0);
  const deepest = Math.max(0, ...entries.map((variants) => variants.length - 1));
  for (let level = 1; level <= deepest; level++) {
    for (const [index, variants] of entries.entries()) {
      const now = variants[chosen[index] ?? 0];
      const richer = variants[level];
      if (richer === undefined) continue;
      const more = cost(richer) - cost(now as T);
      if (more > left) continue;
      chosen[index] = level;
      left -= more;
    }
  }
  return entries.map((variants, index) => variants[chosen[index] ?? 0] as T);
}
