import { randomBytes } from "node:crypto";
import { type InputRequiredResult, inputRequired, inputResponse, type ServerContext } from "@modelcontextprotocol/server";
import type { CallContext } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";

/** What the client brings back with an answer. */
export interface HeldState {
  /** Digest of what the call is: its answer is good for this call and no other. */
  readonly binding: string;
  /** The question that was asked. */
  readonly nonce: string;
  readonly held: string;
}

/** Of a request, what a call that outlives it has in its place. */
export type Own = Pick<CallContext, "signal" | "progress" | "elicit">;

type Elicited = Awaited<ReturnType<NonNullable<CallContext["elicit"]>>>;

interface Question {
  readonly nonce: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: (result: Elicited) => void;
}

/** Calls that wait for their client to come back: of one client, and of all. Beyond these the oldest is ended. */
const MOST_OF_ONE = 10;
const MOST = 1_000;

const ended = () =>
  new BridgeError(
    "cancelled",
    "The question of this call is no longer open: it was answered too late, or the server was started anew.",
    "What the call had done until then stays done. Look, then call again if it is still wanted.",
  );

/** One call that goes on while its client is away, between a question and the answer. */
class Held<T> {
  readonly id = randomBytes(9).toString("base64url");
  readonly binding: string;
  readonly #control = new AbortController();
  readonly #questions: Question[] = [];
  #request: ServerContext | undefined;
  #stopListening: () => void = () => {};
  #told: () => void = () => {};
  readonly #done: Promise<T>;

  constructor(binding: string, request: ServerContext, work: (own: Own) => Promise<T>) {
    this.binding = binding;
    this.attach(request);
    const progress: NonNullable<Own["progress"]> = (told) => this.#tell(told);
    this.#done = work({ signal: this.#control.signal, progress, elicit: (params) => this.#ask(params) });
    this.#done.catch(() => {});
  }

  /** From now on this request is the one that is told of progress, and may cancel. */
  attach(request: ServerContext): void {
    this.#request = request;
    const { signal } = request.mcpReq;
    const stop = () => this.end();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", stop);
  }

  #detach(): void {
    this.#stopListening();
    this.#request = undefined;
  }

  #tell(progress: Parameters<NonNullable<Own["progress"]>>[0]): void {
    const token = this.#request?.mcpReq._meta?.progressToken;
    if (token === undefined) return;
    void this.#request?.mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, ...progress } }).catch(() => {});
  }

  #ask(params: Readonly<Record<string, unknown>>): Promise<Elicited> {
    if (this.#control.signal.aborted) return Promise.resolve({ action: "cancel" });
    return new Promise((resolve) => {
      this.#questions.push({ nonce: randomBytes(9).toString("base64url"), params, answer: resolve });
      this.#told();
    });
  }

  get question(): Question | undefined {
    return this.#questions[0];
  }

  /** Gives the answer to the question it belongs to; any other is let lie, and the question that is open is asked again. */
  answer(nonce: string, result: Elicited | undefined): void {
    const { question } = this;
    if (question?.nonce !== nonce || !result) return;
    this.#questions.shift();
    question.answer(result);
  }

  end(): void {
    for (const { answer } of this.#questions.splice(0)) answer({ action: "cancel" });
    this.#control.abort();
  }

  /** The end of the call, or undefined where a question is open. */
  async next(): Promise<{ readonly result: T } | undefined> {
    const asked = new Promise<undefined>((resolve) => {
      this.#told = () => resolve(undefined);
      if (this.question) resolve(undefined);
    });
    try {
      return await Promise.race([this.#done.then((result) => ({ result })), asked]);
    } finally {
      this.#detach();
    }
  }
}

/** Which call of which client it is. */
export interface CallKey {
  readonly client: string;
  readonly binding: string;
}

/** Keeps calls open over the requests of a client of the modern era, in which a question ends the request it belongs to. */
export interface Holder {
  /** Runs a call until its end or its next question; a request that brings an answer goes on with the call it belongs to. */
  run<T extends object>(key: CallKey, request: ServerContext, work: (own: Own) => Promise<T>): Promise<T | InputRequiredResult>;
}

function answerIn({ mcpReq }: ServerContext): Elicited | undefined {
  const view = inputResponse(mcpReq.inputResponses, "ask");
  if (view.kind !== "elicit") return undefined;
  return { action: view.action, ...(view.content ? { content: view.content } : {}) };
}

/** @param patience how long a call waits for its answer (ms) */
export function createHolder(mint: (state: HeldState) => Promise<string>, patience: number): Holder {
  const calls = new Map<string, { readonly call: Held<object>; readonly client: string; readonly timer: NodeJS.Timeout }>();
  const take = (id: string): Held<object> | undefined => {
    const found = calls.get(id);
    calls.delete(id);
    clearTimeout(found?.timer);
    return found?.call;
  };
  const drop = (id: string | undefined) => id !== undefined && take(id)?.end();
  const keep = (call: Held<object>, client: string) => {
    const timer = setTimeout(() => drop(call.id), patience);
    timer.unref();
    calls.set(call.id, { call, client, timer });
    const own = [...calls].filter(([, one]) => one.client === client);
    if (own.length > MOST_OF_ONE) drop(own[0]?.[0]);
    if (calls.size > MOST) drop(calls.keys().next().value);
  };
  const resume = (binding: string, request: ServerContext): Held<object> | undefined => {
    const state = request.mcpReq.requestState<Partial<HeldState>>();
    if (state?.held === undefined) return undefined;
    const call = calls.get(state.held)?.call;
    if (call?.binding !== binding) throw ended();
    take(call.id);
    call.attach(request);
    call.answer(state.nonce ?? "", answerIn(request));
    return call;
  };
  return {
    async run<T extends object>({ client, binding }: CallKey, request: ServerContext, work: (own: Own) => Promise<T>) {
      const call = (resume(binding, request) ?? new Held(binding, request, work)) as Held<T>;
      const next = await call.next();
      if (next) return next.result;
      const { nonce = "", params = {} } = call.question ?? {};
      keep(call, client);
      const ask = { method: "elicitation/create", params: { ...params, mode: "form" } } as unknown as ReturnType<
        typeof inputRequired.elicit
      >;
      return inputRequired({ inputRequests: { ask }, requestState: await mint({ binding, nonce, held: call.id }) });
    },
  };
}
