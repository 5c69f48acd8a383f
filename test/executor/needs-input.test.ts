import { afterEach, describe, expect, it } from "vitest";
import type { CallContext, Credential } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

let road: SandboxRoad;
const open = async (...flags: string[]) => {
  // Who calls is what each test says.
  road = await openRoad({ flags, learn: async () => ({}) });
  await road.ask("/projects/101/repository/branches?branch=gone&ref=main", "POST");
};
afterEach(() => road?.close());

const BRANCH = { project_id: "acme/webshop", branch: "gone" };
const MARIA = { id: 2, username: "maria" };

const run = (name: string, params: Json, more: Partial<CallContext> = {}, signal?: AbortSignal) =>
  road.run(name, params, signal, { canAsk: true, ...more }).catch((error: unknown) => {
    if (error instanceof BridgeError) return error;
    throw error;
  });

const as = (user: typeof MARIA | undefined, credential?: Credential): Partial<CallContext> => ({
  principal: { instance: road.sandbox.url, ...(user ? { user } : {}) },
  ...(credential ? { credential } : {}),
});

async function question(params: Json = BRANCH, more: Partial<CallContext> = {}): Promise<string> {
  const outcome = await run("branch.delete", params, more);
  if (outcome instanceof BridgeError || outcome.kind !== "needs_input") throw new Error("was not asked");
  return outcome.question.binding;
}

const deletions = () => road.sandbox.requests.filter(({ method }) => method === "DELETE").length;
const yes = (binding: string) => ({ answer: { accepted: true, binding } });

describe("the answer to a question", () => {
  it("is good for the same action, params and user", async () => {
    await open("--confirm=human");
    const binding = await question(BRANCH, as(MARIA));
    expect(await run("delete_branch", { ...BRANCH, project: undefined }, { ...as(MARIA), ...yes(binding) })).toMatchObject({
      kind: "value",
    });
    expect(deletions()).toBe(1);
  });

  it.each<[string, string, Json, (own: string) => Partial<CallContext>]>([
    ["another branch", "branch.delete", { ...BRANCH, branch: "main" }, () => as(MARIA)],
    ["another project", "branch.delete", { ...BRANCH, project_id: 102 }, () => as(MARIA)],
    ["another action", "tag.delete", { project_id: "acme/webshop", tag_name: "gone" }, () => as(MARIA)],
    ["another user", "branch.delete", BRANCH, () => as({ id: 3, username: "jonas" })],
    ["nobody known", "branch.delete", BRANCH, () => as(undefined)],
  ])("is not good for %s: the person is asked anew", async (_what, name, params, who) => {
    await open();
    const binding = await question(BRANCH, as(MARIA));
    expect(await run(name, params, { ...who(""), ...yes(binding) })).toMatchObject({ kind: "needs_input" });
    expect(deletions()).toBe(0);
  });

  it("is not good for another token where GitLab did not tell whose tokens they are", async () => {
    await open();
    const token = (value: string): Credential => ({ header: "PRIVATE-TOKEN", value });
    const { maria, root } = road.sandbox.tokens;
    const binding = await question(BRANCH, as(undefined, token(maria)));
    expect(await run("branch.delete", BRANCH, { ...as(undefined, token(root)), ...yes(binding) })).toMatchObject({ kind: "needs_input" });
    expect(deletions()).toBe(0);
    expect(await run("branch.delete", BRANCH, { ...as(undefined, token(maria)), ...yes(binding) })).toMatchObject({ kind: "value" });
  });

  it("a no is final, and nothing is sent", async () => {
    await open();
    const binding = await question();
    const refused = await run("branch.delete", BRANCH, { answer: { accepted: false, binding } });
    expect(refused).toMatchObject({ code: "confirmation_required", hint: expect.stringContaining("Do not ask again") });
    expect(deletions()).toBe(0);
  });

  it("the signal is looked at again after it: what was cancelled meanwhile is not sent", async () => {
    await open();
    const binding = await question();
    expect(await run("branch.delete", BRANCH, yes(binding), AbortSignal.abort())).toMatchObject({ code: "cancelled" });
    expect(deletions()).toBe(0);
  });

  it("limits are asked again after it: an answer opens nothing that was closed meanwhile", async () => {
    await open();
    const binding = await question();
    const { run: closed, close } = await openRoad({ flags: ["--read-only"], on: road.sandbox });
    await expect(closed("branch.delete", BRANCH, undefined, { canAsk: true, ...yes(binding) })).rejects.toMatchObject({
      detail: { rule: "read_only" },
    });
    await close();
    expect(deletions()).toBe(0);
  });
});
