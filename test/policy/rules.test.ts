import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action, Effect, Facts } from "../../src/catalog/types.ts";
import { BY_ID, BY_VALUE, digestOf } from "../../src/policy/own-token.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { RULE_NAMES, RULES } from "../../src/policy/rules.ts";
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

/** A request that is still to be written: listed where it may become a read, judged when it is known (test/policy/raw.test.ts). */
const RAW: Partial<Action> = { id: "gitlab.rest", tool: "run_rest_request", toolset: "raw", composite: "raw_rest" };

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
  { flags: ["--deny-regex=^list_"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--deny-regex=ISSUE\\.list$"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--deny-regex=^delete_"], expected: ["go", "go", "ask"] },
  { flags: ["--deny-regex=^delete_", "--deny-regex=issues?$"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--allow-tools=issue.*", "--deny-regex=list"], expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--read-only=ci"], expected: ["go", "go", "ask"] },
  { flags: ["--read-only=ci,Work_Items"], expected: ["go", "read_only", "read_only"] },
  { flags: ["--read-only=default"], expected: ["go", "read_only", "read_only"] },
  { flags: ["--read-only=work_items", "--safe-mode"], expected: ["go", "read_only", "read_only"] },
  { flags: ["--read-only=ci", "--safe-mode"], expected: ["go", "preview", "preview"] },
  { flags: ["--allow-projects=a/b"], expected: ["go", "go", "ask"] },
  { flags: ["--allow-projects=a/b"], action: { http: ["GET", "/topics"] }, expected: ["scope", "scope", "scope"] },
  { flags: ["--allow-groups=a"], action: { http: ["POST", "/groups"] }, expected: ["scope", "scope", "scope"] },
  { flags: ["--allow-projects=a/b"], action: { source: "other" }, expected: ["scope", "scope", "scope"] },
  { flags: ["--allow-projects=a/b"], action: { http: ["GET", "/user"] }, expected: ["go", "scope", "scope"] },
  {
    flags: ["--allow-projects=a/b"],
    action: { http: ["GET", "/issues"], returns: "array", entity: "APIEntitiesIssue" },
    expected: ["go", "scope", "scope"],
  },
  { flags: ["--read-only", "--allow-toolsets=work_items", "--confirm=off"], expected: ["go", "read_only", "read_only"] },
  { flags: [], action: RAW, expected: ["raw", "raw", "raw"] },
  { flags: [], action: { id: "personal_access_token.self_rotate" }, expected: ["own_token", "own_token", "own_token"] },
  { flags: ["--allow-own-token"], action: { id: "personal_access_token.self_rotate" }, expected: ["go", "go", "ask"] },
  { flags: ["--reveal-secrets=never"], action: { secret: true }, expected: ["secrets", "secrets", "secrets"] },
  { flags: ["--reveal-secrets=never"], expected: ["go", "go", "ask"] },
  { flags: ["--reveal-secrets=file"], action: { secret: true }, expected: ["go", "go", "ask"] },
  { flags: ["--reveal-secrets=result", "--safe-mode"], action: { secret: true }, expected: ["go", "preview", "preview"] },
  { flags: ["--allow-raw"], action: RAW, expected: ["go", "go", "go"] },
  { flags: ["--allow-raw", "--read-only"], action: RAW, expected: ["go", "go", "go"] },
  { flags: ["--allow-raw", "--allow-toolsets=all"], action: RAW, expected: ["ceiling", "ceiling", "ceiling"] },
  { flags: ["--allow-raw", "--allow-toolsets=raw"], action: RAW, expected: ["go", "go", "go"] },
  { flags: ["--allow-raw"], action: RAW, facts: { scopes: ["read_user"] }, expected: ["scopes", "scopes", "scopes"] },
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
    expect([...seen].sort()).toEqual([
      "admin",
      "ask",
      "ceiling",
      "go",
      "own_token",
      "preview",
      "raw",
      "read_only",
      "scope",
      "scopes",
      "secrets",
      "tier",
    ]);
  });
});

describe("the order of the rules", () => {
  /** An action that every rule has something to say about. */
  const all = action({
    id: "personal_access_token.self_rotate",
    composite: "raw_rest",
    http: ["POST", "/topics"],
    effect: "destructive",
    admin: true,
    tier: "ultimate",
    secret: true,
  });
  /** The same, not written by hand: those are judged by a scope when they are known. */
  const { composite: _raw, ...bare } = all;
  const LIFTS: readonly (readonly [rule: string, flag: string, instead?: string])[] = [
    ["tier", "--tier=free", "--tier=ultimate"],
    ["admin", "", "--admin"],
    ["scopes", ""],
    ["own_token", "", "--allow-own-token"],
    ["secrets", "--reveal-secrets=never", "--reveal-secrets=file"],
    ["raw", "", "--allow-raw"],
    ["ceiling", "--exclude-tools=*"],
    ["scope", "--allow-projects=a/b"],
    ["read_only", "--read-only"],
    ["safe_mode", "--safe-mode"],
    ["confirm", "--confirm=human"],
  ];
  const flagsFrom = (at: number) => LIFTS.flatMap(([, flag, instead], index) => (index < at ? (instead ?? "") : flag) || []);

  it("is the one that is promised, and each has its say by itself", () => {
    expect(RULE_NAMES).toEqual(LIFTS.map(([rule]) => rule));
    const settings = settingsFor(...flagsFrom(0));
    const facts = { scopes: ["read_user"] };
    expect(RULES.map((rule) => (rule(bare, settings, facts) ?? rule(all, settings, facts))?.rule)).toEqual(RULE_NAMES);
  });

  it("decides which refusal is told: lifted one by one, the next is", () => {
    const told = LIFTS.map(([rule], at) => {
      const settings = settingsFor(...flagsFrom(at));
      // The verdict takes a request that is still to be written for a read; here it is one that is known.
      const one = rule === "raw" ? all : bare;
      const found = createPolicy(settings).callVerdict(one, {}, { scopes: at <= 2 ? ["read_user"] : ["api"] }, { effect: "destructive" });
      if (!found.permitted) return found.reason.rule;
      return rule === "safe_mode" ? found.preview?.rule : found.confirm?.rule;
    });
    expect(told).toEqual(RULE_NAMES);
  });

  it("a rule never reads what it was not given: the same question has the same answer", () => {
    const settings = settingsFor("--read-only");
    expect(RULES.map((rule) => rule(all, settings, {}))).toEqual(RULES.map((rule) => rule(all, settings, {})));
  });
});

describe("facts that are not known", () => {
  it("refuse nothing that GitLab itself would judge: neither scopes nor tier, whatever the action", () => {
    const policy = createPolicy(settingsFor("--allow-own-token", "--allow-raw", "--admin"));
    const refused = loadActions().filter((row) => !policy.permits(row, {}));
    expect(refused.map(({ id }) => id)).toEqual([]);
    // What is known of the tier explains and withholds nothing either.
    expect(loadActions().filter((row) => !policy.permits(row, { tier: "free", enterprise: false }))).toEqual([]);
  });

  it("hide what is for administrators alone", () => {
    const policy = createPolicy(settingsFor("--allow-own-token", "--allow-raw"));
    for (const row of loadActions()) expect(policy.permits(row, {}), row.id).toBe(row.admin !== true);
  });
});

describe("the token in use", () => {
  const rows = loadActions();
  const row = (id: string) => rows.find((one) => one.id === id) as Action;
  const verdict = (id: string, params: Record<string, unknown>, facts: Facts, ...flags: string[]) =>
    createPolicy(settingsFor("--admin", ...flags)).callVerdict(row(id), params, facts);
  const own = { permitted: false, reason: { rule: "own_token", setting: "--allow-own-token" } };

  it.each(Object.entries(BY_ID))("is not ended by its id: %s", (id, name) => {
    expect(row(id)?.params, id).toHaveProperty(name);
    for (const named of [7, "7", "07", "7 "]) expect(verdict(id, { [name]: named }, { token: 7 })).toMatchObject(own);
    for (const named of [8, "77", 70]) expect(verdict(id, { [name]: named }, { token: 7 })).toMatchObject({ permitted: true });
    // GitLab would end it without a word: what is not known is not let through.
    expect(verdict(id, { [name]: 8 }, {})).toMatchObject(own);
    expect(verdict(id, { [name]: 8 }, { token: null })).toMatchObject({ permitted: true });
    expect(verdict(id, { [name]: 7 }, { token: 7 }, "--allow-own-token")).toMatchObject({ permitted: true });
    expect(verdict(id, { [name]: 7 }, {}, "--allow-own-token")).toMatchObject({ permitted: true });
  });

  it.each(Object.entries(BY_VALUE))("is not ended by its value: %s", (id, name) => {
    expect(row(id)?.params, id).toHaveProperty(name);
    const facts = { digest: digestOf("Bearer glpat-own") };
    expect(verdict(id, { [name]: "glpat-own" }, facts)).toMatchObject(own);
    expect(verdict(id, { [name]: "glpat-other" }, facts)).toMatchObject({ permitted: true });
    expect(verdict(id, { [name]: "glpat-own" }, facts, "--allow-own-token")).toMatchObject({ permitted: true });
  });

  it("every action that ends an access token by id or value is one of these, or ends another kind of token", () => {
    const others = /^(cluster_agent|runner|runner_controller|deploy_token|job_token_scope)\b/;
    const ends = rows.filter(({ id, effect }) => effect !== "read" && /token.*(rotate|revoke|delete|remove)/.test(id) && !others.test(id));
    const self = ["personal_access_token.self_rotate", "personal_access_token.self_revoke", "access_token.self_rotate"];
    expect(ends.map(({ id }) => id).toSorted()).toEqual([...Object.keys(BY_ID), ...Object.keys(BY_VALUE), ...self].toSorted());
  });
});

describe("refusals", () => {
  const write = action({ effect: "write", id: "issue.create" });
  const refusalFor = (...flags: string[]) => {
    const policy = createPolicy(settingsFor(...flags));
    const verdict = policy.verdict(write, {});
    if (verdict.permitted) throw new Error("must be refused");
    return policy.refusal(write, verdict.reason);
  };

  it("say that it exists, which rule stands against it, who set it, and not to change that", () => {
    for (const [flag, rule] of [
      ["--read-only", "read_only"],
      ["--read-only=work_items", "read_only"],
      ["--exclude-tools=issue.*", "ceiling"],
      ["--deny-regex=issue", "ceiling"],
      ["--allow-toolsets=ci", "ceiling"],
      ["--allow-tools=job.*", "ceiling"],
    ] as const) {
      const error = refusalFor(flag);
      expect(error.code).toBe("not_permitted");
      expect(error.message).toMatch(/^issue\.create exists, but .+\.$/);
      expect(error.hint).toMatch(/Whoever runs this server set it/);
      expect(error.hint).toMatch(/do not change its configuration/);
      expect(error.hint).toMatch(/do not work around it/);
      expect(error.hint).toMatch(/Tell the user/);
      expect(error.detail).toMatchObject({ rule, setting: flag.split("=")[0] });
    }
    expect(refusalFor("--read-only").message).toBe("issue.create exists, but the server is read-only.");
    expect(refusalFor("--read-only=work_items").message).toContain("work_items");
  });

  it("name the contact in place of the setting, where there is one", () => {
    const error = refusalFor("--read-only", "--refusal-contact", "platform@example.com");
    expect(error.hint).toContain("Ask platform@example.com.");
    expect(error.detail.setting).toBeUndefined();
    expect(JSON.stringify([error.message, error.hint, error.detail])).not.toContain("--read-only");
  });

  it("name no setting over HTTP, where the reader cannot set it", () => {
    const settings = { ...settingsFor("--read-only"), http: true };
    const policy = createPolicy(settings);
    const verdict = policy.verdict(write, {});
    if (verdict.permitted) throw new Error("must be refused");
    const error = policy.refusal(write, verdict.reason);
    expect(policy.tellsSettings).toBe(false);
    expect(JSON.stringify([error.message, error.hint, error.detail])).not.toContain("--");
  });

  it("follow limits that change, from the next question on", () => {
    let limits = settingsFor();
    const policy = createPolicy(() => limits);
    expect(policy.permits(write, {})).toBe(true);
    limits = settingsFor("--read-only");
    expect(policy.permits(write, {})).toBe(false);
    expect(policy.settings.readOnly).toBe(true);
  });
});
