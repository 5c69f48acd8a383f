import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkFault } from "../../src/ab/checks.ts";
import { fill, fillText, keepFrom } from "../../src/ab/fill.ts";
import { judge, prepare } from "../../src/ab/judge.ts";
import { valueAt } from "../../src/ab/place.ts";
import type { Check, Task } from "../../src/ab/types.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";

describe("a place", () => {
  const value = {
    items: [
      { id: 1, by: { name: "a.b" } },
      { id: 2, by: { name: "c" }, notes: [{ text: "x" }] },
    ],
  };

  it.each([
    ["items.1.id", 2],
    ["items[id=2].by.name", "c"],
    ["items[by.name=a.b].id", 1],
    ["items[notes.0.text=x].id", 2],
    ["items[*].by.name", ["a.b", "c"]],
    ["items.length", 2],
    ["items.7.id", undefined],
    ["items[id=3].id", undefined],
    ["items[*].by[*]", [undefined, undefined]],
    ["constructor", undefined],
  ])("%s", (path, wanted) => {
    expect(valueAt(value, path)).toEqual(wanted);
  });

  it("may begin with a choice", () => {
    expect(valueAt(value.items, "[id=1].by.name")).toBe("a.b");
  });
});

describe("filling", () => {
  it("puts in the value itself, or its text, at any depth", () => {
    const params = { id: "{id}", text: "see #{id} by {names}", list: ["{id}", { deep: "{names}" }], n: 1, plain: "£{x} {}" };
    expect(fill(params, { id: 7, names: ["a", "b"], x: "X" })).toEqual({
      id: 7,
      text: "see #7 by a, b",
      list: [7, { deep: ["a", "b"] }],
      n: 1,
      plain: "£X {}",
    });
  });

  it("refuses a name that nothing kept, and keeps nothing that is not there", () => {
    expect(() => fillText("{gone}", {})).toThrow("nothing was kept as gone");
    expect(() => fill({ a: "{constructor}" }, {})).toThrow("nothing was kept as constructor");
    const step = { action: "a.b", params: {}, keep: { id: "items.0.id" } };
    expect(keepFrom(step, { items: [{ id: 4 }] })).toEqual({ id: 4 });
    expect(() => keepFrom(step, { items: [] })).toThrow("a.b has nothing at items.0.id");
  });
});

describe("a check", () => {
  const body = {
    title: "Old carts",
    labels: ["bug", "bugfix"],
    by: { name: "maria" },
    rows: [{ id: 1, on: true, tags: ["x", "y"] }, { id: 2 }],
    none: null,
  };
  const holds = (claim: Omit<Check, "get">, status = 200) => checkFault({ get: "/x", ...claim }, { status, body }) === undefined;

  it.each<[Omit<Check, "get">, boolean]>([
    [{ at: "title", is: "Old carts" }, true],
    [{ at: "title", is: "Old" }, false],
    [{ at: "none", is: null }, true],
    [{ at: "gone", is: null }, false],
    [{ at: "title", has: "Old" }, true],
    [{ has: { title: "Old" } }, false],
    [{ has: { title: "Old carts", by: { name: "maria" } } }, true],
    [{ at: "labels", has: "bug" }, true],
    [{ at: "labels", has: "bu" }, false],
    [{ at: "labels", has: ["bugfix", "bug"] }, true],
    [{ at: "labels", has: ["bug", "ux"] }, false],
    [{ at: "rows", has: { id: 1, tags: ["y"] } }, true],
    [{ at: "rows", has: [{ id: 2 }, { id: 3 }] }, false],
    [{ at: "rows", has: { id: 2, on: true } }, false],
    [{ at: "labels", lacks: "ux" }, true],
    [{ at: "labels", lacks: ["ux", "bug"] }, false],
    [{ at: "rows", lacks: { id: 2 } }, false],
    [{ at: "title", lacks: "new" }, true],
    [{ at: "gone", lacks: "new" }, false],
    [{ at: "title", matches: "^Old \\w+$" }, true],
    [{ at: "title", matches: "^carts" }, false],
    [{ at: "rows.0.id", matches: "1" }, false],
    [{ at: "rows", count: 2 }, true],
    [{ at: "rows", count: 1 }, false],
    [{ at: "title", count: 9 }, false],
    [{ at: "labels", has: "bug", count: 3 }, false],
    [{ status: 404 }, false],
  ])("%j: %s", (claim, wanted) => {
    expect(holds(claim)).toBe(wanted);
  });

  it("looks at the status first", () => {
    expect(holds({ status: 404 }, 404)).toBe(true);
    expect(holds({ at: "title", is: "Old carts" }, 404)).toBe(false);
  });

  it("says what it found instead", () => {
    expect(checkFault({ get: "/x", at: "title", is: "New" }, { status: 200, body })).toBe('GET /x at title is not "New": "Old carts"');
    expect(checkFault({ get: "/x", at: "gone", has: "a" }, { status: 200, body })).toMatch(/: nothing$/);
  });
});

describe("the judge", () => {
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  beforeEach(() => sandbox.reset());
  afterAll(() => sandbox.close());

  const base = { id: "judged", size: "small", toolsets: ["work_items"], prompt: "Close issue 12, please.", path: [] } as const;
  const close: Task = {
    ...base,
    after: [{ get: "/projects/101/issues/12", at: "state", is: "closed" }],
    unchanged: ["/projects/101/issues/13"],
  };
  const ask: Task = { ...base, answer: { all: ["\\b7\\b"], none: ["eight"] }, ideal: "7", unchanged: ["/projects/101/issues/13"] };

  async function put(path: string, body: object): Promise<void> {
    const headers = { "PRIVATE-TOKEN": sandbox.tokens.root, "Content-Type": "application/json" };
    const reply = await fetch(`${sandbox.url}/api/v4${path}`, { method: "PUT", headers, body: JSON.stringify(body) });
    expect(reply.ok).toBe(true);
  }
  const closeIssue = (iid: number) => put(`/projects/101/issues/${iid}`, { state_event: "close" });

  it("wants what is asked for, and the rest as it was", async () => {
    const before = await prepare(sandbox, close);
    expect(await judge(sandbox, close, before, undefined, "yes")).toEqual([expect.stringMatching(/issues\/12 at state is not "closed"/)]);
    await closeIssue(12);
    expect(await judge(sandbox, close, before, undefined, "yes")).toEqual([]);
    await put("/projects/101/issues/13", { title: "Something else" });
    expect(await judge(sandbox, close, before, undefined, "yes")).toEqual(["GET /projects/101/issues/13 has changed"]);
  });

  it.each(["no", "preview"] as const)("wants everything as it was where writes are: %s", async (writes) => {
    const before = await prepare(sandbox, close);
    expect(await judge(sandbox, close, before, undefined, writes)).toEqual([]);
    await put("/projects/101/issues/12", { description: "not what was asked for" });
    expect(await judge(sandbox, close, before, undefined, writes)).toEqual(["GET /projects/101/issues/12 has changed"]);
  });

  it.each(["yes", "no", "preview"] as const)("judges an answer in every mode: %s", async (writes) => {
    const before = await prepare(sandbox, ask);
    const faults = (answer: string | undefined) => judge(sandbox, ask, before, answer, writes);
    expect(await faults("It is 7.")).toEqual([]);
    expect(await faults(undefined)).toEqual(["there is no answer"]);
    expect(await faults("  ")).toEqual(["there is no answer"]);
    expect(await faults("It is 17.")).toEqual(["the answer does not say \\b7\\b"]);
    expect(await faults("7, or EIGHT")).toEqual(["the answer says eight"]);
    await closeIssue(13);
    expect(await faults("It is 7.")).toEqual(["GET /projects/101/issues/13 has changed"]);
  });

  it("sows before it looks, and refuses seeds and places that are not there", async () => {
    const seeds = [{ method: "PUT", path: "/projects/101/issues/12", body: { state_event: "close" }, as: "maria" }] as const;
    const before = await prepare(sandbox, { ...close, seeds });
    expect(before.after[0]?.body).toMatchObject({ state: "closed", closed_by: { username: "maria" } });
    await expect(prepare(sandbox, { ...close, seeds: [{ method: "DELETE", path: "/projects/101/issues/999" }] })).rejects.toThrow(
      /refuses the seed DELETE \/projects\/101\/issues\/999: 404/,
    );
    await expect(prepare(sandbox, { ...close, unchanged: ["/projects/101/issues/999"] })).rejects.toThrow(
      /must stay as it is, but answers 404/,
    );
  });
});
