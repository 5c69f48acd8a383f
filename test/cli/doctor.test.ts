import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { doctorPolicy } from "../../src/cli/doctor.ts";
import { RULE_NAMES } from "../../src/policy/rules.ts";

const folder = mkdtempSync(join(tmpdir(), "doctor-"));

async function doctor(text: string, ...argv: string[]): Promise<readonly string[]> {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, text);
  return await doctorPolicy([file, ...argv], {});
}

/** What the file (and flags) make of an action: the rule, and the setting behind it. */
const CASES: readonly (readonly [rule: string, text: string, argv: readonly string[], says: string])[] = [
  [
    "tier",
    "tier: free",
    ["merge_train.list"],
    "refused by the rule tier: it needs GitLab premium, and this server is set to free (--tier)",
  ],
  ["admin", "", ["application.settings_get"], "refused by the rule admin: it is for GitLab administrators"],
  ["admin", "admin: false", ["application.settings_get"], "(--admin)"],
  ["own_token", "", ["personal_access_token.self_rotate"], "refused by the rule own_token"],
  [
    "secrets",
    "reveal_secrets: never",
    ["access_token.create", "--confirm=flag"],
    "refused by the rule secrets: it makes a new secret, and this server gives out none (--reveal-secrets)",
  ],
  ["raw", "", ["gitlab.rest"], "refused by the rule raw: requests written by hand are off on this server (--allow-raw)"],
  ["ceiling", "allow_toolsets: [ci]", ["issue.list"], "(--allow-toolsets)"],
  ["ceiling", "allow_tools: ['job.*']", ["issue.list"], "(--allow-tools)"],
  ["ceiling", "exclude_tools: ['toolset:work_items']", ["list_issues"], "(--exclude-tools)"],
  [
    "ceiling",
    "deny_regex: ['^list_']",
    ["issue.list"],
    "refused by the rule ceiling: it is outside what this server allows (--deny-regex)",
  ],
  ["scope", "allow_projects: [a/b]", ["group.create"], "(--allow-projects)"],
  ["scope", "allow_groups: [a]", ["group.create"], "refused by the rule scope"],
  ["read_only", "read_only: true", ["issue.create"], "refused by the rule read_only: the server is read-only (--read-only)"],
  ["read_only", "read_only: [work_items]\nsafe_mode: true", ["issue.create"], "the toolset work_items is read-only here (--read-only)"],
  ["safe_mode", "safe_mode: true", ["issue.create"], "shown, not sent, by the rule safe_mode (--safe-mode)"],
  ["confirm", "confirm: human", ["branch.delete"], "permitted; the rule confirm asks first (--confirm)"],
];

describe("doctor policy", () => {
  it.each(CASES)("%s: %j %j", async (rule, text, argv, says) => {
    const [line = "", ...others] = await doctor(text, ...argv);
    expect(others).toEqual([]);
    expect(line).toContain(`rule ${rule}`);
    expect(line).toContain(says);
  });

  it("every rule has a case but the one of a token's scopes, of which a file knows nothing", () => {
    expect(RULE_NAMES.filter((rule) => !CASES.some(([name]) => name === rule))).toEqual(["scopes"]);
  });

  it("sums up every toolset, each action once", async () => {
    const { TOOLSETS } = await import("../../src/catalog/toolsets.ts");
    const { loadActions } = await import("../../src/catalog/load.ts");
    const lines = await doctor("read_only: [ci]\nsafe_mode: true\ntier: premium");
    expect(lines.map((line) => line.split(":")[0])).toEqual(TOOLSETS.map(({ name }) => name));
    const counted = lines.flatMap((line) => [...line.matchAll(/(\d+) (?:permitted|shown|refused)/g)].map(([, count]) => Number(count)));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(loadActions().length);
    expect(lines.join("\n")).toMatch(/shown only[\s\S]*refused \(tier\)|refused \(tier\)[\s\S]*shown only/);
  });

  it("a file that contradicts the flags, or itself, stops", async () => {
    await expect(doctor("confirm: human", "issue.list", "--confirm=off")).rejects.toThrow(/contradict each other/);
    await expect(doctor("allow_toolsets: [ci]\nexclude_tools: ['toolset:ci']", "issue.list")).rejects.toThrow(/rules all of it out/);
    await expect(doctor("deny_regex: ['.']", "issue.list")).rejects.toThrow(/rule out every action/);
    await expect(doctorPolicy([], {})).rejects.toThrow(/doctor policy FILE/);
  });
});
