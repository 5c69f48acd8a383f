import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";

/**
 * An action that is made of other actions. It reaches GitLab through `call.run` only, so that policy holds for each part. Its
 * answer takes at most `room` tokens.
 */
export type Composite = (call: Call, context: CallContext, room: number) => Promise<Outcome>;

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

const fields = (value: unknown): Fields => (isFields(value) ? value : {});

/** The object that a run gave; an empty one where it gave none. */
export const toValue = (outcome: Outcome | undefined): Fields => (outcome?.kind === "value" ? outcome.value : {});

export const toItems = (outcome: Outcome | undefined): readonly Fields[] =>
  outcome?.kind === "list" ? outcome.items.filter(isFields) : [];

export const toText = (outcome: Outcome | undefined): string => (outcome?.kind === "text" ? outcome.text : "");

/** A nested value by its path (`author.username`). */
export function pick(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (Object.hasOwn(fields(inner), name) ? fields(inner)[name] : undefined), value);
}

export function text(value: unknown, path: string): string | undefined {
  const found = pick(value, path);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function number(value: unknown, path: string): number | undefined {
  const found = pick(value, path);
  return typeof found === "number" ? found : undefined;
}

export function list(value: unknown, path: string): readonly Fields[] {
  const found = pick(value, path);
  return Array.isArray(found) ? found.filter(isFields) : [];
}

/** The named fields that are there, under their own names. */
export function only(value: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names
      .map((name): [string, unknown] => [name, pick(value, name)])
      .filter(([, found]) => found !== undefined && found !== null && found !== ""),
  );
}

/** Drops what is undefined. */
export const compact = (value: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));

export const clip = (line: string, length: number): string => (line.length > length ? `${line.slice(0, length - 1)}…` : line);

const FATAL = new Set(["cancelled", "unauthenticated", "rate_limited"]);

/**
 * A part that the whole can do without: its failure is noted under its name and the rest goes on. Cancellation and a refused
 * token end the whole.
 */
export async function attempt(name: string, part: () => Promise<Outcome>, missing: string[]): Promise<Outcome | undefined> {
  try {
    return await part();
  } catch (error) {
    if (!(error instanceof BridgeError) || FATAL.has(error.code)) throw error;
    missing.push(`${name}: ${error.code}`);
    return undefined;
  }
}

export function stopIfCancelled(context: CallContext): void {
  if (context.signal.aborted) {
    throw new BridgeError(
      "cancelled",
      "The call was cancelled on its way; it only reads, so nothing was changed.",
      "Call again if it is still wanted.",
    );
  }
}
