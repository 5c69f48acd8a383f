import * as z from "zod";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { EntryTool } from "./tool.ts";

type Args = Readonly<Record<string, unknown>>;

const validators = new WeakMap<EntryTool, z.ZodType>();

function validatorOf(tool: EntryTool): z.ZodType {
  const known = validators.get(tool) ?? z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(tool, known);
  return known;
}

function objectIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

/** `null`, a list of tools as one text, and params as JSON text are understood: hosts and models send them. */
function tidy(args: Args): Args {
  const read = (name: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    if (name === "tools") return value.split(/[\s,]+/);
    return name === "params" ? objectIn(value) : value;
  };
  const given = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, read(name, value)]));
}

function unknownWords(name: string, properties: readonly string[]): string {
  const near = nearest(name, properties);
  if (near.length > 0) return `is not an argument; nearest: ${near.join(", ")}`;
  return properties.includes("params") ? "is not an argument here; what the action takes goes into params" : "is not an argument";
}

const wrongWords = (message: string): string =>
  /received undefined$/.test(message) ? "is missing" : message.replace(/^Invalid input: /, "").replace(/^Too (?:big|small): /, "");

function wrongFields(tool: EntryTool, args: Args, properties: readonly string[]): Record<string, string> {
  const { error } = validatorOf(tool).safeParse(args);
  const fields: Record<string, string> = {};
  for (const { path, message } of error?.issues ?? []) fields[path.join(".") || tool.name] = wrongWords(message);
  for (const name of Object.keys(args)) {
    if (!properties.includes(name) && name !== "explain") fields[name] = unknownWords(name, properties);
  }
  return fields;
}

/** The arguments of an entry tool as they are meant. @throws BridgeError invalid_params naming each wrong one. */
export function readArguments(tool: EntryTool, raw: Args): Args {
  const args = tidy(raw);
  const properties = Object.keys((tool.inputSchema.properties ?? {}) as object);
  const fields = wrongFields(tool, args, properties);
  const wrong = Object.keys(fields);
  if (wrong.length === 0) return args;
  throw new BridgeError(
    "invalid_params",
    `${tool.name}: ${wrong.join(", ")} cannot be used as given.`,
    "Correct the arguments and call again.",
    {
      fields,
      signature: `${tool.name}(${properties.join(", ")})`,
    },
  );
}
