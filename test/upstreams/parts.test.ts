import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import type { Live } from "../../src/upstreams/client.ts";
import { createNames, shorten, toIdPart, toSnake } from "../../src/upstreams/naming.ts";
import { createPatience } from "../../src/upstreams/patience.ts";
import { Slot } from "../../src/upstreams/slot.ts";
import { fits } from "../../src/upstreams/tools.ts";

describe("names", () => {
  it("are the same on every start, short, and nobody else's", () => {
    const make = () => {
      const names = createNames((name) => name === "list_issues");
      return [
        names.give("a.list_issues", "a", "list_issues", ""),
        names.give("a.search", "a", "search", ""),
        names.give("b.search", "b", "search", ""),
        names.give("b.x", "b", "a_tool_with_a_name_that_is_far_too_long_for_anybody", ""),
        names.give("b.y", "b", "a_tool_with_a_name_that_is_far_too_long_for_anyone", ""),
      ];
    };
    expect(make()).toEqual(make());
    expect(make().slice(0, 3)).toEqual(["a_list_issues", "search", "b_search"]);
    expect(new Set(make()).size).toBe(5);
    for (const name of make()) expect(name).toMatch(/^(?!.*__)[a-z0-9_]{1,32}$/);
  });

  it("stay with their action for good", () => {
    const names = createNames(() => false);
    expect(names.give("b.search", "b", "search", "")).toBe("search");
    expect(names.give("a.search", "a", "search", "")).toBe("a_search");
    expect(names.give("b.search", "b", "search", "")).toBe("search");
  });

  it("fold", () => {
    expect([toSnake("getHTTPThing"), toSnake("__a--b__"), toSnake("Ä"), shorten("short", "x")]).toEqual([
      "get_httpthing",
      "a_b",
      "tool",
      "short",
    ]);
    expect(toIdPart("a-b", new Set(["a_b"]))).toMatch(/^a_b_[0-9a-f]{6}$/);
  });

  it.each([
    ["a*", "abc", true],
    ["*c", "abc", true],
    ["a*b*c", "a1b2c", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["abc", "abcd", false],
    ["*", "", true],
  ])("%s fits %s: %s", (entry, name, expected) => expect(fits(entry, name)).toBe(expected));
});

const fakeLive = () => {
  let end = () => {};
  let closed = false;
  const live = {
    closed: new Promise<void>((resolve) => {
      end = () => {
        closed = true;
        resolve();
      };
    }),
    isClosed: () => closed,
    close: vi.fn(async () => end()),
  };
  return live as unknown as Live & { close: ReturnType<typeof vi.fn> };
};

describe("a place for a connection", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const slotOf = (dial: () => Promise<Live>, idle = 0) => new Slot({ name: "up", dial, idle, say: (error) => (error as Error).message });

  it("is dialled by one at a time", async () => {
    const dial = vi.fn(async () => fakeLive());
    const slot = slotOf(dial);
    const lives = await Promise.all([slot.get(), slot.get(), slot.get()]);
    expect(dial).toHaveBeenCalledTimes(1);
    expect(new Set(lives).size).toBe(1);
  });

  it("waits longer after each failure, refuses at once while that is long, and starts anew after a success", async () => {
    let works = false;
    const dial = vi.fn(async () => {
      if (works) return fakeLive();
      throw new Error("down");
    });
    const slot = slotOf(dial);
    const waits: number[] = [];
    for (let n = 0; n < 10; n++) {
      await expect(slot.get()).rejects.toMatchObject({ code: "upstream_unavailable" });
      waits.push(slot.due);
      await vi.advanceTimersByTimeAsync(slot.due);
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    await expect(slot.get()).rejects.toThrow();
    const calls = dial.mock.calls.length;
    const refused = await slot.get().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BridgeError);
    expect((refused as BridgeError).detail.retry_after).toBe(30);
    expect(dial).toHaveBeenCalledTimes(calls);
    await vi.advanceTimersByTimeAsync(30_000);
    works = true;
    await slot.get();
    expect(slot.due).toBe(0);
  });

  it("a server that ends as soon as it was started is started less and less often; one that lived a while at once", async () => {
    const lives: (Live & { close: () => Promise<void> })[] = [];
    const slot = slotOf(async () => {
      const live = fakeLive();
      lives.push(live);
      return live;
    });
    const waits: number[] = [];
    for (let n = 0; n < 4; n++) {
      await slot.get();
      await lives.at(-1)?.close();
      await vi.advanceTimersByTimeAsync(0);
      waits.push(slot.due);
      await vi.advanceTimersByTimeAsync(slot.due);
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000]);
    await slot.get();
    await vi.advanceTimersByTimeAsync(10_000);
    await lives.at(-1)?.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(slot.due).toBe(250);
  });

  it("a call waits for a try that is due in a moment", async () => {
    const dial = vi.fn<() => Promise<Live>>().mockRejectedValueOnce(new Error("down")).mockResolvedValue(fakeLive());
    const slot = slotOf(dial);
    await expect(slot.get()).rejects.toThrow();
    const waiting = slot.get();
    await vi.advanceTimersByTimeAsync(250);
    await expect(waiting).resolves.toBeDefined();
  });

  it("closes what nobody uses, never what is in use", async () => {
    const live = fakeLive();
    const slot = slotOf(async () => live, 1_000);
    let finish = () => {};
    const using = slot.use(() => new Promise<void>((resolve) => (finish = resolve)));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(live.close).not.toHaveBeenCalled();
    finish();
    await using;
    await vi.advanceTimersByTimeAsync(999);
    expect(live.close).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(live.close).toHaveBeenCalledTimes(1);
  });
});

describe("the patience of a call", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("begins anew with each progress, so that a call of many minutes lives as long as it tells of itself", () => {
    const patience = createPatience(60_000, new AbortController().signal);
    for (let minute = 0; minute < 20; minute++) {
      vi.advanceTimersByTime(59_999);
      expect(patience.isOver()).toBe(false);
      patience.begin();
    }
    vi.advanceTimersByTime(60_000);
    expect(patience.isOver()).toBe(true);
    expect(patience.signal.aborted).toBe(true);
  });

  it("stands still while a person is asked", async () => {
    const patience = createPatience(1_000, new AbortController().signal);
    const asked = patience.pause(() => new Promise<string>((resolve) => setTimeout(() => resolve("yes"), 500_000)));
    await vi.advanceTimersByTimeAsync(500_000);
    await expect(asked).resolves.toBe("yes");
    expect(patience.isOver()).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(patience.isOver()).toBe(true);
  });

  it("ends with the caller's own cancel, and leaves no timer", () => {
    const caller = new AbortController();
    const patience = createPatience(1_000, caller.signal);
    caller.abort();
    expect([patience.signal.aborted, patience.isOver()]).toEqual([true, false]);
    patience.end();
    patience.begin();
    expect(vi.getTimerCount()).toBe(0);
  });
});
