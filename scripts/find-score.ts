import { performance } from "node:perf_hooks";
import type { Finder } from "../src/discovery/find.ts";
import type { AnswerTokens } from "./find-answers.ts";
import type { Case } from "./find-cases.ts";

export interface Tally {
  readonly ms: number[];
  readonly text: number[];
  readonly json: number[];
  n: number;
  one: number;
  five: number;
  mrr: number;
  confident: number;
  sure: number;
}

export const emptyTally = (): Tally => ({ ms: [], text: [], json: [], n: 0, one: 0, five: 0, mrr: 0, confident: 0, sure: 0 });

const permitted = () => true;

export interface Judged {
  readonly case: Case;
  /** Place of the first right action; 0 where none is among the first twenty. */
  readonly rank: number;
  readonly confident: boolean;
  readonly ms: number;
  readonly tokens?: AnswerTokens;
}

export function judge(finder: Finder, one: Case): Judged {
  const at = performance.now();
  const answer = finder.find(one.query, { permitted, limit: 20 });
  const ms = performance.now() - at;
  return { case: one, rank: answer.results.findIndex(({ action }) => one.ids.includes(action.id)) + 1, confident: answer.confident, ms };
}

export function add(tally: Tally, { rank, confident, ms, tokens }: Judged): void {
  tally.n++;
  tally.ms.push(ms);
  if (tokens) {
    tally.text.push(tokens.text);
    tally.json.push(tokens.json);
  }
  if (rank === 1) tally.one++;
  if (rank > 0 && rank <= 5) tally.five++;
  if (rank > 0) tally.mrr += 1 / rank;
  if (confident) tally.confident++;
  if (confident && rank === 1) tally.sure++;
}

/** Tallies under every key that a case belongs to. */
export function tallyBy(judged: readonly Judged[], keysOf: (one: Case) => readonly string[]): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const one of judged) {
    for (const key of keysOf(one.case)) {
      const tally = tallies.get(key) ?? emptyTally();
      tallies.set(key, tally);
      add(tally, one);
    }
  }
  return tallies;
}

export const percentile = (values: readonly number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
};
