import type { InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { describe, expect, it, vi } from "vitest";
import { createAsker } from "../../src/surface/ask.ts";

/** The request with which a client brings the person's answer. */
async function answering(
  asker: ReturnType<typeof createAsker>,
  asked: InputRequiredResult,
  action: string,
  confirm?: unknown,
  state = asked.requestState,
) {
  const bare = { mcpReq: {} } as ServerContext;
  const decoded = await asker.verify(String(state), bare);
  const inputResponses = { confirm: { action, ...(confirm === undefined ? {} : { content: { confirm } }) } };
  return { mcpReq: { inputResponses, requestState: () => decoded } } as unknown as ServerContext;
}

describe("questions to the person", () => {
  it("an answer counts once, for what was asked, and only a clear yes is one", async () => {
    const asker = createAsker();
    const asked = await asker.ask({ message: "Delete?", binding: "b1" });
    const context = await answering(asker, asked, "accept", true);
    expect(asker.answerIn(context)).toEqual({ accepted: true, binding: "b1" });
    expect(asker.answerIn(context)).toBeUndefined();

    for (const [action, confirm] of [
      ["accept", false],
      ["accept", "true"],
      ["accept", undefined],
      ["decline", true],
      ["cancel", true],
    ] as const) {
      const again = await asker.ask({ message: "Delete?", binding: "b2" });
      expect(asker.answerIn(await answering(asker, again, action, confirm))).toEqual({ accepted: false, binding: "b2" });
    }
  });

  it("a forged, changed or foreign state is refused", async () => {
    const asker = createAsker();
    const asked = await asker.ask({ message: "Delete?", binding: "b1" });
    const state = String(asked.requestState);
    await expect(answering(asker, asked, "accept", true, `${state}x`)).rejects.toThrow();
    await expect(answering(asker, asked, "accept", true, "nonsense")).rejects.toThrow();
    await expect(answering(createAsker(), asked, "accept", true)).rejects.toThrow();
  });

  it("an answer that comes too late is none", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const asker = createAsker();
      const asked = await asker.ask({ message: "Delete?", binding: "b1" });
      vi.setSystemTime(Date.now() + 599_000);
      expect(asker.answerIn(await answering(asker, asked, "accept", true))).toEqual({ accepted: true, binding: "b1" });
      const again = await asker.ask({ message: "Delete?", binding: "b1" });
      vi.setSystemTime(Date.now() + 601_000);
      await expect(answering(asker, again, "accept", true)).rejects.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });

  it("an answer without a state of ours is no answer", () => {
    const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };
    const context = { mcpReq: { inputResponses, requestState: () => undefined } } as unknown as ServerContext;
    expect(createAsker().answerIn(context)).toBeUndefined();
  });
});
