import { isInputRequiredResult, type ServerContext } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createHolder, type HeldState, type Own } from "../../src/surface/hold.ts";

const KEY = { client: "c", binding: "b" };
const mint = async (state: HeldState) => JSON.stringify(state);

interface Request {
  readonly context: ServerContext;
  readonly stop: AbortController;
  readonly told: unknown[];
}

function request(state?: string, answer?: unknown): Request {
  const stop = new AbortController();
  const told: unknown[] = [];
  const mcpReq = {
    signal: stop.signal,
    _meta: { progressToken: "p" },
    notify: async (one: { params: unknown }) => void told.push(one.params),
    inputResponses: answer === undefined ? undefined : { ask: answer },
    requestState: () => (state === undefined ? undefined : JSON.parse(state)),
  };
  return { context: { mcpReq } as unknown as ServerContext, stop, told };
}

const accept = { action: "accept", content: { ok: true } };
const stateIn = (result: object): string => {
  expect(isInputRequiredResult(result)).toBe(true);
  return (result as { requestState: string }).requestState;
};

/** A call that asks once and tells how it was answered. */
const asking = async (own: Own) => {
  own.progress?.({ progress: 1 });
  const answer = await own.elicit?.({ message: "Go on?" });
  own.progress?.({ progress: 2 });
  return { answer, aborted: own.signal.aborted };
};

describe("a call that is held", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("tells its progress to the request that it belongs to at the moment", async () => {
    const holder = createHolder(mint, 1_000);
    const first = request();
    const state = stateIn(await holder.run(KEY, first.context, asking));
    const second = request(state, accept);
    const result = await holder.run(KEY, second.context, asking);
    expect(result).toEqual({ answer: accept, aborted: false });
    expect([first.told, second.told]).toEqual([[{ progressToken: "p", progress: 1 }], [{ progressToken: "p", progress: 2 }]]);
    // The first request has long ended: its end is no cancel.
    first.stop.abort();
  });

  it("is ended where nobody comes back in time", async () => {
    const holder = createHolder(mint, 1_000);
    let ended: unknown;
    const run = async (own: Own) => {
      ended = await asking(own);
      return { ended };
    };
    const state = stateIn(await holder.run(KEY, request().context, run));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual({ answer: { action: "cancel" }, aborted: true });
    await expect(holder.run(KEY, request(state, accept).context, run)).rejects.toMatchObject({ code: "cancelled" });
  });

  it("is not ended by the end of a request that is over, but by a cancel of the one it belongs to", async () => {
    const holder = createHolder(mint, 1_000);
    const first = request();
    const hanging = async (own: Own) => {
      await own.elicit?.({ message: "Go on?" });
      await new Promise((_resolve, reject) => own.signal.addEventListener("abort", () => reject(new Error("stopped"))));
      return {};
    };
    const state = stateIn(await holder.run(KEY, first.context, hanging));
    first.stop.abort();
    const second = request(state, accept);
    const going = holder.run(KEY, second.context, hanging);
    await vi.advanceTimersByTimeAsync(0);
    second.stop.abort();
    await expect(going).rejects.toThrow("stopped");
  });

  it("asks nothing more once it has ended", async () => {
    const holder = createHolder(mint, 1_000);
    const gone = request();
    gone.stop.abort();
    expect(await holder.run(KEY, gone.context, asking)).toEqual({ answer: { action: "cancel" }, aborted: true });
  });

  it("two questions in one call are asked one after the other, each answered by its own", async () => {
    const holder = createHolder(mint, 1_000);
    const both = async (own: Own) => {
      const answers = await Promise.all([own.elicit?.({ message: "A?" }), own.elicit?.({ message: "B?" })]);
      return { answers: answers.map((one) => one?.content) };
    };
    const one = stateIn(await holder.run(KEY, request().context, both));
    const other = stateIn(await holder.run(KEY, request(one, { action: "accept", content: { n: 1 } }).context, both));
    // An answer that comes twice does not answer the next question.
    const again = stateIn(
      await holder.run(KEY, request(JSON.stringify({ ...JSON.parse(other), nonce: JSON.parse(one).nonce }), accept).context, both),
    );
    expect(await holder.run(KEY, request(again, { action: "accept", content: { n: 2 } }).context, both)).toEqual({
      answers: [{ n: 1 }, { n: 2 }],
    });
  });
});
