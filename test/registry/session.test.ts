import { describe, expect, it, vi } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { createSession } from "../../src/registry/session.ts";

const [a, b, c] = loadActions();
if (!a || !b || !c) throw new Error("the catalog is empty");

describe("session switches", () => {
  it("appends in the order of enabling and fires once per change, never without one", () => {
    const session = createSession(() => [b], 1);
    const changed = vi.fn();
    session.events.on("changed", changed);
    expect(session.enable([c, b, a])).toEqual([c, a]);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(session.on()).toEqual([b, c, a]);
    expect(session.enable([a, b, c])).toEqual([]);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(session.disable([c])).toEqual([c]);
    expect(session.on()).toEqual([b, a]);
    expect(session.disable([c])).toEqual([]);
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it("is its own: another session sees nothing of it", () => {
    const one = createSession(() => [], 1);
    const other = createSession(() => [], 1);
    one.enable([a]);
    expect(other.isOn(a)).toBe(false);
    expect(other.switched()).toBe(false);
  });

  it("settles with true when the client asks for its list after being told", async () => {
    const session = createSession(() => [], 60_000);
    const told: string[] = [];
    const came = await session.settle(async () => {
      told.push("told");
      session.listed();
    });
    expect([came, told]).toEqual([true, ["told"]]);
  });

  it("waits once for a client that does not come, and not again", async () => {
    const session = createSession(() => [], 1);
    expect(await session.settle(async () => {})).toBe(false);
    const patient = vi.fn(async () => session.listed());
    expect(await session.settle(patient)).toBe(false);
    expect(patient).toHaveBeenCalledTimes(1);
    expect(session.events.listenerCount("listed")).toBe(0);
  });
});
