import { afterEach, describe, expect, it } from "vitest";
import type { CallContext } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { openRoad, PROJECT, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

let road: SandboxRoad;
const open = async (...flags: string[]) => {
  road = await openRoad({ flags });
};
afterEach(() => road?.close());

const run = (name: string, params: Json, more?: Partial<CallContext>) =>
  road.run(name, params, undefined, more).catch((error: unknown) => {
    if (error instanceof BridgeError) return error;
    throw error;
  });
const writes = () => road.sandbox.requests.filter(({ method }) => method !== "GET").length;

const edit = { project_id: PROJECT, branch: "tidy", start_branch: "main", message: "Tidy", delete_files: ["README.md"] };
const commit = {
  project_id: PROJECT,
  branch: "tidy",
  start_branch: "main",
  commit_message: "Tidy",
  actions: [{ action: "delete", file_path: "README.md" }],
};

describe("a commit that deletes files", () => {
  it.each([
    ["commit.edit", edit],
    ["commit.create", commit],
  ] as const)("%s needs agreement, once for the whole", async (name, params) => {
    await open();
    expect(await run(name, params)).toMatchObject({ code: "confirmation_required", message: expect.stringContaining("it deletes files") });
    expect(writes()).toBe(0);
    expect(await run(name, { ...params, confirm: true })).toMatchObject({ kind: "value" });
    expect(writes()).toBe(1);
  });

  it.each([
    ["commit.edit", edit],
    ["commit.create", commit],
  ] as const)("%s: a person is asked where the server wants that, and the answer holds for its parts", async (name, params) => {
    await open("--confirm=human");
    expect(await run(name, { ...params, confirm: true })).toMatchObject({ code: "confirmation_required" });
    const asked = await run(name, params, { canAsk: true });
    if (asked instanceof BridgeError || asked.kind !== "needs_input") throw new Error("was not asked");
    const answer = { accepted: true, binding: asked.question.binding };
    expect(await run(name, params, { canAsk: true, answer: { ...answer, accepted: false } })).toMatchObject({
      code: "confirmation_required",
    });
    expect(writes()).toBe(0);
    // Of another call it is not good.
    expect(await run(name, { ...params, branch: "other" }, { canAsk: true, answer })).toMatchObject({ kind: "needs_input" });
    expect(await run(name, params, { canAsk: true, answer })).toMatchObject({ kind: "value" });
    expect(writes()).toBe(1);
  });

  it("without a deletion nothing is asked", async () => {
    await open("--confirm=human");
    expect(await run("commit.create", { ...commit, actions: [{ action: "create", file_path: "new.md", content: "x" }] })).toMatchObject({
      kind: "value",
    });
  });

  it("safe mode shows it as what it is", async () => {
    await open("--safe-mode");
    expect(await run("commit.create", commit)).toMatchObject({ kind: "preview", preview: { effect: "destructive" } });
    expect(await run("commit.edit", edit)).toMatchObject({
      kind: "preview",
      preview: { effect: "destructive", would_send: [{ action: "commit.create", effect: "destructive" }] },
    });
    expect(writes()).toBe(0);
  });
});
