import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "../../errors.ts";
import type { Driver, DriverContext, Host, ListedTool, Task, Usage } from "../types.ts";
import { anthropic } from "./model-anthropic.ts";
import { type Asked, type CallResult, checkNames, type Entry, type ModelApi, type ModelReply, type ModelRequest } from "./model-api.ts";
import { type Budget, createPurse, type Purse, plus } from "./model-budget.ts";
import { openAi } from "./model-openai.ts";
import { send } from "./model-send.ts";

export type ApiName = "openai" | "anthropic";

export interface ModelOptions {
  readonly api: ApiName;
  /** Without the path of the API: `https://api.openai.com/v1`, `https://api.anthropic.com`. */
  readonly url: string;
  readonly model: string;
  /** A function, so that options can be written down without it. */
  readonly key?: () => string;
  readonly temperature?: number;
  /** Tokens that one reply may have. */
  readonly maxOutput: number;
  readonly retries: number;
  readonly timeout: number;
  readonly budget: Budget;
  /** Waits between two tries; for tests. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * What a model is told before the task, the same for every arm. It says that there are tools and that nobody answers questions, and
 * nothing about how tools are found: a hint there would favour one arm. What the server itself says (its `instructions`) follows, as
 * hosts put it there.
 */
export const SYSTEM = [
  "You work for the user, who has an account on a GitLab server. The tools that you are given reach that server.",
  "Do what the user asks, no more, and carry it out: nobody is there to answer questions, and the user agrees to what the request says.",
  "When it is done, answer briefly with what was asked for. If it cannot be done, say why.",
].join("\n");

const APIS: Readonly<Record<ApiName, ModelApi>> = { openai: openAi, anthropic };

/** Replies in a row whose calls could not be read; more means that the model does not get out of it. */
const MOST_FAULTS = 3;

const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal });
};

/** More tokens than the text can have in the languages of the tasks: what a budget has to reckon with before the API has counted. */
const atMost = (body: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 3);

const systemFor = (host: Host): string => (host.instructions ? `${SYSTEM}\n\nThe server says:\n${host.instructions}` : SYSTEM);

type Ask = (entries: readonly Entry[], tools: readonly ListedTool[]) => Promise<ModelReply>;

/** One request, paid from the purse. */
function createAsk(options: ModelOptions, purse: Purse, host: Host, context: DriverContext): Ask {
  const { api: name, url, model, key, temperature, maxOutput, retries, timeout, pause = wait } = options;
  const api = APIS[name];
  const system = systemFor(host);
  const mask = (text: string) => (key ? text.replaceAll(key(), "***") : text);
  return async (entries, tools) => {
    checkNames(tools, context.arm.name);
    const request: ModelRequest = {
      ...{ url, model, system, tools, entries, maxOutput, seed: context.seed },
      ...(temperature === undefined ? {} : { temperature }),
    };
    const body = api.body(request);
    const most: Usage = { prompt: atMost(body), cached: 0, completion: maxOutput };
    const settle = purse.reserve(most);
    try {
      const headers = api.headers(key?.());
      const json = await send({ url: `${url}${api.path}`, headers, body, retries, timeout, signal: context.signal, pause, mask });
      const reply = api.reply(json);
      // What was not counted is taken as the most that it can have been.
      settle(reply.usage ?? most);
      return reply;
    } catch (error) {
      // A refusal costs nothing; what a request cost that was given up or cannot be read, nobody knows.
      settle(error instanceof BridgeError && error.detail.status !== undefined ? { prompt: 0, cached: 0, completion: 0 } : most);
      throw error;
    }
  };
}

interface Talk {
  readonly entries: Entry[];
  calls: number;
  /** Replies in a row that led to no call. */
  faults: number;
  /** Counted by the API and not yet handed to the host. */
  usage?: Usage;
}

const takeUsage = (talk: Talk): { usage?: Usage } => {
  const { usage } = talk;
  delete talk.usage;
  return usage ? { usage } : {};
};

/** Runs the calls of one reply in their order; a call that cannot be read goes back to the model without one. */
async function runCalls(reply: ModelReply, host: Host, talk: Talk, context: DriverContext): Promise<CallResult[]> {
  const results: CallResult[] = [];
  let first = true;
  const run = async ({ id, name, args, fault }: Asked): Promise<CallResult> => {
    if (fault !== undefined) return { id, text: fault, isError: true };
    if (talk.calls >= context.maxCalls) return { id, text: "No more calls are left.", isError: true };
    talk.calls++;
    const said = first && reply.text !== "" ? reply.text : undefined;
    const beside = { ...takeUsage(talk), ...(first ? {} : { sameReply: true }) };
    first = false;
    const { text, isError } = await host.call(name, args, said, beside);
    return { id, text, isError };
  };
  for (const asked of reply.asked) {
    context.signal.throwIfAborted();
    results.push(await run(asked));
  }
  talk.faults = first ? talk.faults + 1 : 0;
  return results;
}

async function converse(task: Task, host: Host, context: DriverContext, ask: Ask): Promise<void> {
  const talk: Talk = { entries: [{ kind: "prompt", text: task.prompt }], calls: 0, faults: 0 };
  for (;;) {
    const reply = await ask(talk.entries, host.tools);
    if (reply.usage) talk.usage = talk.usage ? plus(talk.usage, reply.usage) : reply.usage;
    if (reply.asked.length === 0 || talk.calls >= context.maxCalls) {
      host.answer(reply.text, takeUsage(talk));
      return;
    }
    const results = await runCalls(reply, host, talk, context);
    if (talk.faults >= MOST_FAULTS)
      throw new BridgeError(
        "upstream_unavailable",
        `The model sent ${MOST_FAULTS} replies in a row whose calls cannot be read.`,
        "Try another model.",
      );
    talk.entries.push({ kind: "reply", reply }, { kind: "results", results });
  }
}

/** A model in a plain loop: it sees what the host shows, and every call that it asks for is made. The budget holds for all runs together. */
export function createModel(options: ModelOptions): Driver {
  const purse = createPurse(options.budget);
  return {
    name: `model:${options.model}`,
    run: (task, host, context) => converse(task, host, context, createAsk(options, purse, host, context)),
  };
}
