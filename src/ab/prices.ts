import { z } from "zod";
import { BridgeError } from "../errors.ts";
import type { Run } from "./types.ts";

/** What a million tokens of one model cost, in the table's currency. */
export interface Price {
  readonly model: string;
  readonly input: number;
  /** Input that the prompt cache had. */
  readonly cached: number;
  readonly output: number;
}

/** A table that whoever runs the comparison fills: prices change, and no table here would stay true. */
export interface Prices {
  readonly currency: string;
  readonly rows: readonly Price[];
}

/** What costs money in a run. */
export type Spent = Pick<Run, "prompt" | "cached" | "completion">;

const amount = z.number().nonnegative();
const TABLE = z.strictObject({
  about: z.string().optional(),
  currency: z.string().min(1),
  rows: z.array(z.strictObject({ model: z.string().min(1), input: amount, cached: amount, output: amount })),
});

const wrong = (file: string, why: string) =>
  new BridgeError("invalid_params", `The price table ${file} cannot be used: ${why}`, "See fixtures/ab/prices.json for the form.");

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(file, "it is not JSON.");
  }
}

/** Reads a price table; `file` only names it in errors. */
export function toPrices(text: string, file: string): Prices {
  const table = TABLE.safeParse(parsed(text, file));
  if (!table.success) throw wrong(file, z.prettifyError(table.error).replaceAll("\n", " "));
  const { currency, rows } = table.data;
  const twice = rows.find(({ model }, index) => rows.findIndex((row) => row.model === model) !== index);
  if (twice) throw wrong(file, `"${twice.model}" stands in it twice.`);
  return { currency, rows };
}

export function priceOf(prices: Prices, model: string): Price | undefined {
  return prices.rows.find((row) => row.model === model);
}

/** What a run costs. Hand in `cached: 0` for a host without a prompt cache. */
export function cost(run: Spent, price: Price): number {
  const { prompt, cached, completion } = run;
  return ((prompt - cached) * price.input + cached * price.cached + completion * price.output) / 1_000_000;
}
