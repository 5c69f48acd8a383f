import { BridgeError } from "../../errors.ts";
import { type Prices, priceOf } from "../prices.ts";
import type { ApiName, ModelOptions } from "./model.ts";
import type { Budget } from "./model-budget.ts";

/** The flags of the model driver, for help texts; a value is always text. */
export const MODEL_FLAGS = {
  "model-api": "openai (chat completions, as most servers of open models offer it) or anthropic; openai where absent",
  "model-url": "base address of the API, e.g. http://127.0.0.1:11434/v1",
  model: "name of the model",
  "model-key-env": "name of the environment variable that holds the key; none for servers that want none",
  "model-temperature": "0 to 2; not sent where absent",
  "model-max-output": "most tokens of one reply (4096)",
  "model-retries": "how often a request is tried again after 429 or 5xx (4)",
  "model-timeout": "milliseconds that one request may take (120000)",
  "budget-tokens": "most tokens of all runs together",
  "budget-money": "most money of all runs together, by the price table",
} as const;

export type ModelFlag = keyof typeof MODEL_FLAGS;
export type ModelFlags = Readonly<Partial<Record<ModelFlag, string>>>;

const wrong = (message: string, hint: string) => new BridgeError("invalid_params", message, hint);

function numberOf(flags: ModelFlags, name: ModelFlag, low: number, high: number, whole = true): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value >= low && value <= high && (!whole || Number.isInteger(value))) return value;
  throw wrong(`--${name} is "${text}".`, `It is a ${whole ? "whole " : ""}number from ${low} to ${high}.`);
}

function required(flags: ModelFlags, name: ModelFlag): string {
  const value = flags[name]?.trim();
  if (value) return value;
  throw wrong(`--${name} is missing.`, `It is the ${MODEL_FLAGS[name]}.`);
}

function apiOf(flags: ModelFlags): ApiName {
  const api = flags["model-api"] ?? "openai";
  if (api === "openai" || api === "anthropic") return api;
  throw wrong(`--model-api is "${api}".`, "It is openai or anthropic.");
}

/** The address up to the path that the API adds, whichever part of it was pasted. */
function urlOf(flags: ModelFlags, api: ApiName): string {
  const text = required(flags, "model-url");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrong(`--model-url is "${text}".`, "It is an address that starts with http:// or https://.");
  if (url.username !== "" || url.password !== "") throw wrong("--model-url holds a user or password.", "Give the key by --model-key-env.");
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  return api === "openai" ? base.replace(/\/chat\/completions$/, "") : base.replace(/\/v1(\/messages)?$/, "");
}

function keyOf(flags: ModelFlags, env: Readonly<Record<string, string | undefined>>): { key?: () => string } {
  const name = flags["model-key-env"];
  if (name === undefined) return {};
  // Whoever gives the key itself here must not find it in the error.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw wrong("--model-key-env is not the name of a variable.", "Give the name, not the key.");
  const value = env[name]?.trim();
  if (!value)
    throw wrong("The variable that --model-key-env names is not set.", "Set it to the key, or leave the flag out where no key is wanted.");
  return { key: () => value };
}

function budgetOf(flags: ModelFlags, model: string, prices: Prices | undefined): Budget {
  const tokens = numberOf(flags, "budget-tokens", 1, 1e12);
  const most = numberOf(flags, "budget-money", 0, 1e9, false);
  const price = prices && priceOf(prices, model);
  if (most !== undefined && price === undefined)
    throw wrong(`--budget-money needs the price of "${model}".`, "Give a price table with --prices that has a row for it.");
  return { ...(tokens === undefined ? {} : { tokens }), ...(most === undefined || price === undefined ? {} : { money: { most, price } }) };
}

/** The options of the model driver from flags and environment; throws on the first that cannot be used. */
export function modelOptions(flags: ModelFlags, env: Readonly<Record<string, string | undefined>>, prices?: Prices): ModelOptions {
  const api = apiOf(flags);
  const model = required(flags, "model");
  const temperature = numberOf(flags, "model-temperature", 0, 2, false);
  return {
    api,
    url: urlOf(flags, api),
    model,
    ...keyOf(flags, env),
    ...(temperature === undefined ? {} : { temperature }),
    maxOutput: numberOf(flags, "model-max-output", 1, 1_000_000) ?? 4_096,
    retries: numberOf(flags, "model-retries", 0, 20) ?? 4,
    timeout: numberOf(flags, "model-timeout", 1, 3_600_000) ?? 120_000,
    budget: budgetOf(flags, model, prices),
  };
}
