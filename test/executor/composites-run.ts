import { loadActions } from "../../src/catalog/load.ts";
import type { Call, CallContext, Outcome, Progress } from "../../src/catalog/types.ts";
import { BridgeError, type ErrorCode } from "../../src/errors.ts";
import { COMPOSITES } from "../../src/executor/composites.ts";

export type Fields = Record<string, unknown>;
export type Reply = Outcome | Error;
export type Replies = (id: string, params: Fields) => Reply | Promise<Reply>;

export const value = (fields: Fields): Outcome => ({ kind: "value", value: fields });
export const items = (rows: readonly unknown[], next?: string): Outcome => ({ kind: "list", items: rows, page: next ? { next } : {} });
export const text = (words: string): Outcome => ({ kind: "text", text: words });
export const failure = (code: ErrorCode) => new BridgeError(code, `it is ${code}`, `hint of ${code}`);

export interface Ran {
  readonly ran: [id: string, params: Fields][];
  readonly progress: Progress[];
  readonly controller: AbortController;
  readonly outcome: Promise<Outcome>;
}

/** Runs a composite on replies that stand in for the road. */
export function runComposite(id: string, params: Fields, replies: Replies): Ran {
  const action = loadActions().find((row) => row.id === id);
  const composite = COMPOSITES[action?.composite ?? ""];
  if (!action || !composite) throw new Error(`no composite ${id}`);
  const ran: [string, Fields][] = [];
  const progress: Progress[] = [];
  const controller = new AbortController();
  const context: CallContext = {
    principal: { instance: "https://gitlab.example.com" },
    signal: controller.signal,
    progress: (step) => progress.push(step),
    canAsk: false,
    meta: {},
  };
  const call: Call = {
    action,
    params,
    wanted: {},
    run: async (name, given) => {
      ran.push([name, given]);
      const reply = await replies(name, given);
      if (reply instanceof Error) throw reply;
      return reply;
    },
  };
  return { ran, progress, controller, outcome: composite(call, context, 7_850) };
}

export async function answerOf(outcome: Promise<Outcome>): Promise<Fields> {
  const found = await outcome;
  if (found.kind !== "value") throw new Error(`not a value: ${found.kind}`);
  return found.value;
}
