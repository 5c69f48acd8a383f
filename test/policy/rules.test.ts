import { describe, expect, it } from "vitest";
import type { Action, Effect, Facts } from "../../src/catalog/types.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { settingsFor } from "../support/settings.ts";

function action(overrides: Partial<Action> = {}): Action {
  return {
    id: "issue.list",
    tool: "list_issues",
    title: "List issues",
    about: "Issues.",
    http: ["GET", "/projects/{project_id}/issues"],
    effect: "read",
    params: {},
    toolset: "work_items",
    source: "gitlab",
    ...overrides,
  };
}

const EFFECTS: readonly Effect[] = ["read", "write", "destructive"];

interface Row {
  readonly flags: readonly string[];
  readonly facts?: Facts;
  readonly action?: Partial<Action>;
  /** What becomes of read, write, destructive: go, preview, ask, or the rule that withholds. */
  readonly expected: readonly [string, string, string];
}

const TABLE: readonly Row[] = [
  { flags: [], expected: ["go", "go", "ask"] },
  { flags: ["--confirm=off"], expected: ["go", "go", "go"] },
  { flags: ["--read-only"], expected: ["go", "read_only", "read_only"] },
  { flags: ["--safe-mode"], expected: ["go", "preview", "preview"] },
  { flags: ["--read-only", "--safe-mode"], expected: ["go", "read_only", "read_only"] },
  { flags: ["--tier=free"], action: { tier: "premium" }, expected: ["tier", "tier", "tier"] },
  { flags: ["--tier=premium"], action: { tier: "premium" }, expected: ["go", "go", "ask"] },
  { flags: [], action: { tier: "ultimate" }, facts: { tier: "free" }, expected: ["go", "go", "ask"] },
  { flags: [], action: { admin: true }, expected: ["admin", "admin", "admin"] },
  { flags: ["--admin"], action: { admin: true }, expected: ["go", "go", "ask"] },
  { flags: [], action: { admin: true }, facts: { user: { id: 1, username: "root", admin: true } }, expected: ["go", "go", "ask"] },
  { flags: [], facts: { scopes: ["read_api"] }, expected: ["go", "scopes", "scopes"] },
  { flags: [], facts: { scopes: ["api"] }, expected: ["go", "go", "ask"] },
  { flags: [], facts: { scopes: ["granular"] }, expected: ["go", "go", "ask"] },
  { flags: [], facts: { scopes: ["read_user"] }, expected: ["scopes", "scopes", "scopes"] },
  { flags: [], facts: { scopes: ["read_repository"] }, action: { id: "repository.file_get" }, expected: ["go", "scopes", "scopes"] },
  { flags: ["--allow-toolsets=ci"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--allow-toolsets=CI,Work_Items"], expected: ["go", "go", "ask"] },
  { flags: ["--allow-toolsets=ci", "--allow-tools=issue.*"], expected: ["go", "go", "ask"] },
  { flags: ["--allow-tools=list_issues"], expected: ["go", "go", "ask"] },
  { flags: ["--allow-tools=list_branches"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--exclude-tools=toolset:work_items"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--exclude-tools=list_*"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--exclude-tools=issue.list", "--allow-toolsets=work_items"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--read-only", "--allow-toolsets=work_items", "--confirm=off"], expected: ["go", "read_only", "read_only"] },
];

function become(row: Row, effect: Effect): string {
  const verdict = createPolicy(settingsFor(...row.flags)).verdict(action({ ...row.action, effect }), row.facts ?? {});
  if (!verdict.permitted) return verdict.reason.rule;
  if (verdict.preview) return "preview";
  return verdict.confirm ? "ask" : "go";
}

describe("rules × effects", () => {
  for (const row of TABLE) {
    it(`${row.flags.join(" ") || "(none)"} ${JSON.stringify({ ...row.facts, ...row.action })}`, () => {
      expect(EFFECTS.map((effect) => become(row, effect))).toEqual(row.expected);
    });
  }

  it("every rule appears in the table", () => {
    const seen = new Set(TABLE.flatMap((row) => row.expected));
    expect([...seen].sort()).toEqual(["admin", "ask", "ceiling", "go", "preview", "read_only", "scopes", "tier"]);
  });
});

describe("refusals", () => {
  it("name the rule and its owner, and the setting only where no contact stands in for it", () => {
    const policy = createPolicy(settingsFor("--read-only"));
    const write = action({ effect: "write", id: "issue.create" });
    const verdict = policy.verdict(write, {});
    if (verdict.permitted) throw new Error("must be refused");
    const error = policy.refusal(write, verdict.reason);
    expect(error.code).toBe("not_permitted");
    expect(error.message).toBe("issue.create exists, but the server is read-only.");
    expect(error.hint).toContain("do not change it");
    expect(error.detail.setting).toBe("--read-only");
    const contact = createPolicy(settingsFor("--read-only", "--refusal-contact", "platform@example.com")).refusal(write, verdict.reason);
    expect(contact.hint).toContain("platform@example.com");
    expect(contact.detail.setting).toBeUndefined();
  });
});
