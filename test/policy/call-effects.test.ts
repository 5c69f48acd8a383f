import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { effectOfCall, WORSE_CALLS } from "../../src/policy/call-effects.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { settingsFor } from "../support/settings.ts";

const action = (id: string) => {
  const found = loadActions().find((row) => row.id === id);
  if (!found) throw new Error(`no action ${id}`);
  return found;
};
const verdict = (id: string, params: Record<string, unknown>, ...flags: string[]) =>
  createPolicy(settingsFor(...flags)).callVerdict(action(id), params, {});

describe("the effect of one call", () => {
  it("is that of its row, but for the arguments that destroy", () => {
    expect(effectOfCall(action("commit.create"), { force: true })).toMatchObject({ effect: "destructive", does: expect.any(String) });
    expect(effectOfCall(action("commit.create"), { force: false })).toEqual({ effect: "write" });
    expect(effectOfCall(action("commit.create"), {})).toEqual({ effect: "write" });
    expect(effectOfCall(action("issue.list"), { force: true })).toEqual({ effect: "read" });
    expect(effectOfCall(action("branch.delete"), {})).toEqual({ effect: "destructive" });
  });

  it("asks for agreement to a commit that overwrites, and to no other", () => {
    expect(verdict("commit.create", { force: true })).toMatchObject({
      permitted: true,
      confirm: { kind: "confirm", text: expect.stringMatching(/overwritten/) },
    });
    expect(verdict("commit.create", {})).toEqual({ permitted: true });
    expect(verdict("commit.create", { force: true }, "--confirm=off")).toEqual({ permitted: true });
    expect(verdict("job.cancel", { force: true })).toMatchObject({ confirm: { kind: "confirm" } });
  });

  it("only narrows: what is withheld or shown stays so", () => {
    expect(verdict("commit.create", { force: true }, "--read-only")).toMatchObject({ permitted: false, reason: { rule: "read_only" } });
    expect(verdict("commit.create", { force: true }, "--safe-mode")).toMatchObject({ permitted: true, preview: { rule: "safe_mode" } });
  });

  it("names living actions and their own parameters, and writes only", () => {
    for (const row of WORSE_CALLS) {
      expect(action(row.action).params, row.action).toHaveProperty(row.param);
      expect(action(row.action).effect).toBe("write");
    }
  });
});
