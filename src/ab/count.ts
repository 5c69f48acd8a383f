import { estimateTokens } from "../executor/tokens.ts";
import type { Run } from "./types.ts";

export interface Counter {
  readonly name: Run["counter"];
  count(text: string): number;
  /** The same for a text that comes again in other runs, as a tool of a list does: counted once. */
  countOnce(text: string): number;
}

/** Texts that are remembered; more than the tools of all arms together. */
const MOST = 20_000;

export function createCounter(name: Run["counter"], count: (text: string) => number): Counter {
  const known = new Map<string, number>();
  return {
    name,
    count,
    countOnce(text) {
      const before = known.get(text);
      if (before !== undefined) return before;
      if (known.size >= MOST) known.clear();
      const tokens = count(text);
      known.set(text, tokens);
      return tokens;
    },
  };
}

/** Words like `<|endoftext|>` in a result are text like any other. */
const PLAIN = { disallowedSpecial: new Set<string>() };

/** o200k_base where `gpt-tokenizer` is installed, else the estimate that the server itself budgets by. Each run says which. */
export async function openCounter(): Promise<Counter> {
  try {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
    return createCounter("o200k_base", (text) => countTokens(text, PLAIN));
  } catch {
    return createCounter("estimate", estimateTokens);
  }
}
