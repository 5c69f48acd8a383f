import { BridgeError } from "../../errors.ts";
import type { Json, ListedTool, Usage } from "../types.ts";

/** One call that the model asked for; `fault` says why its arguments cannot be used. */
export interface Asked {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Json>;
  readonly fault?: string;
}

export interface ModelReply {
  readonly text: string;
  readonly asked: readonly Asked[];
  readonly usage?: Usage;
  /** As the API wants it back in the next request. */
  readonly raw: unknown;
}

export interface CallResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** What was said so far, in no API's form. */
export type Entry =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "reply"; readonly reply: ModelReply }
  | { readonly kind: "results"; readonly results: readonly CallResult[] };

export interface ModelRequest {
  /** Base address. */
  readonly url: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ListedTool[];
  readonly entries: readonly Entry[];
  readonly maxOutput: number;
  readonly temperature?: number;
  /** Sent where the API has seeds. */
  readonly seed: number;
}

/** One message API: where it is, how it is asked and how its replies are read. Data in, data out: nothing is sent here. */
export interface ModelApi {
  readonly path: string;
  headers(key: string | undefined): Record<string, string>;
  body(request: ModelRequest): Json;
  /** Throws where the reply is not what the API promises. */
  reply(json: unknown): ModelReply;
}

export const malformed = (why: string) =>
  new BridgeError(
    "upstream_unavailable",
    `The model's API sent a reply that cannot be read: ${why}`,
    "Is this the right --model-api for this address?",
  );

/** Both APIs refuse other names, some only after the whole list was paid for. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Refuses a list that the API would refuse: a shortened or changed name would be another arm. */
export function checkNames(tools: readonly ListedTool[], arm: string): void {
  const bad = tools.filter(({ name }) => !NAME.test(name)).map(({ name }) => `"${name}"`);
  if (bad.length === 0) return;
  const shown = bad.slice(0, 5).join(", ") + (bad.length > 5 ? ` and ${bad.length - 5} more` : "");
  throw new BridgeError(
    "invalid_params",
    `The arm "${arm}" lists tool names that model APIs refuse: ${shown}.`,
    "Names have 1 to 64 letters, digits, _ and -. They are sent as they are, so this arm cannot be compared with a model.",
  );
}

/** The text that a model reads for a tool: what hosts pass on is the description, so the title only stands in for it. */
export const textOf = ({ description, title }: ListedTool): string => description ?? title ?? "";
