import { encode } from "gpt-tokenizer/encoding/o200k_base";

/** Tokens of o200k_base: a text as it is, anything else as the JSON that goes over the wire. */
export const tokens = (value: unknown): number => encode(typeof value === "string" ? value : JSON.stringify(value)).length;
