import { randomBytes } from "node:crypto";
import {
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Answer, Question } from "../catalog/types.ts";
import { createHolder, type Holder } from "./hold.ts";

interface State {
  /** Digest of action, params and principal: the answer is good for this call and no other. */
  readonly binding: string;
  readonly nonce: string;
  /** A call that goes on meanwhile. */
  readonly held?: string;
}

/** How long an answer to a question is good for (seconds). */
const TTL = 600;

/** Asks the person at the client, in both eras, with a state that cannot be forged, changed, or used twice. */
export interface Asker {
  readonly verify: RequestStateCodec<State>["verify"];
  ask(question: Question): Promise<InputRequiredResult>;
  /** The answer that this request brings, if it brings one. */
  answerIn(context: ServerContext): Answer | undefined;
  /** Calls of other servers that ask while they run. */
  readonly holder: Holder;
}

export function createAsker(): Asker {
  const codec = createRequestStateCodec<State>({ key: randomBytes(32), ttlSeconds: TTL });
  /** Nonces of answered questions, oldest first, for as long as their state is good. */
  const spent = new Map<string, number>();
  const forget = (now: number) => {
    for (const [nonce, at] of spent) {
      if (now - at <= TTL * 1000) return;
      spent.delete(nonce);
    }
  };
  return {
    verify: codec.verify,
    holder: createHolder(codec.mint, TTL * 1_000),
    async ask(question) {
      return inputRequired({
        inputRequests: {
          confirm: inputRequired.elicit({
            message: question.message,
            requestedSchema: {
              type: "object",
              properties: { confirm: { type: "boolean", title: "Yes, do it" } },
              required: ["confirm"],
            },
          }),
        },
        requestState: await codec.mint({ binding: question.binding, nonce: randomBytes(9).toString("base64url") }),
      });
    },
    answerIn(context) {
      const view = inputResponse(context.mcpReq.inputResponses, "confirm");
      const state = context.mcpReq.requestState<State>();
      if (view.kind !== "elicit" || !state || typeof state !== "object" || spent.has(state.nonce)) return undefined;
      forget(Date.now());
      spent.set(state.nonce, Date.now());
      return { accepted: view.action === "accept" && view.content?.confirm === true, binding: state.binding };
    },
  };
}
