import { BridgeError } from "../../errors.ts";
import { cost, type Price } from "../prices.ts";
import type { Usage } from "../types.ts";

/** The most that all runs of one driver together may take. */
export interface Budget {
  readonly tokens?: number;
  readonly money?: { readonly most: number; readonly price: Price };
}

/** What is spent and what is promised to requests that are under way; a reservation is given back by settling it. */
export interface Purse {
  /** Throws before anything is sent where the request could go over the cap. */
  reserve(most: Usage): (spent: Usage) => void;
  readonly spent: () => Usage;
}

const NOTHING: Usage = { prompt: 0, cached: 0, completion: 0 };

export const plus = (a: Usage, b: Usage): Usage => ({
  prompt: a.prompt + b.prompt,
  cached: a.cached + b.cached,
  completion: a.completion + b.completion,
});

const minus = (a: Usage, b: Usage): Usage => plus(a, { prompt: -b.prompt, cached: -b.cached, completion: -b.completion });

const reached = (what: string) =>
  new BridgeError(
    "too_large",
    `The next request could go over the budget of ${what}, so it was not sent.`,
    "Raise the budget and run again; what is done is kept.",
    {
      rule: "budget",
    },
  );

/** Whether a run broke off because the budget is used up: no other run can go on then. */
export const isBudgetReached = (error: unknown): boolean => error instanceof BridgeError && error.detail.rule === "budget";

export function createPurse({ tokens, money }: Budget): Purse {
  let spent = NOTHING;
  let promised = NOTHING;
  const check = (sum: Usage) => {
    if (tokens !== undefined && sum.prompt + sum.completion > tokens) throw reached(`${tokens} tokens`);
    if (money && cost(sum, money.price) > money.most) throw reached(`${money.most} for ${money.price.model}`);
  };
  return {
    spent: () => spent,
    reserve(most) {
      check(plus(plus(spent, promised), most));
      promised = plus(promised, most);
      let open = true;
      return (usage) => {
        if (!open) return;
        open = false;
        promised = minus(promised, most);
        spent = plus(spent, usage);
      };
    },
  };
}
