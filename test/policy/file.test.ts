import { describe, expect, it } from "vitest";
import { SettingsError } from "../../src/config/fault.ts";
import { loadSettings } from "../../src/config/load.ts";
import { parsePolicy, policySchema } from "../../src/config/policy-file.ts";
import { underPolicy } from "../../src/policy/file.ts";

const under = (text: string, ...argv: string[]) =>
  underPolicy(loadSettings({ argv, env: {}, transport: "stdio" }), parsePolicy(text, "policy.yaml"), "policy.yaml");

function fault(text: string, ...argv: string[]): string {
  try {
    under(text, ...argv);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as Error).message).not.toContain("\n");
    return (error as Error).message;
  }
  throw new Error(`nothing stopped ${text}`);
}

describe("a policy file", () => {
  it("is YAML or JSON, and an empty one limits nothing", () => {
    for (const text of ["read_only: [ci]\nallow_projects:\n  - 42\n  - a/b\n", '{"read_only": ["ci"], "allow_projects": [42, "a/b"]}'])
      expect(under(text)).toMatchObject({ readOnly: ["ci"], further: [{ allowProjects: ["42", "a/b"] }] });
    expect(under("")).toMatchObject({ readOnly: false });
    expect(under("# nothing\n").further).toBeUndefined();
  });

  it("every key narrows the setting of its name", () => {
    const text = `
read_only: true
safe_mode: true
allow_toolsets: [ci]
allow_tools: ["issue.*"]
exclude_tools: [delete_*]
deny_regex: ["^erase_"]
allow_projects: [a/b]
allow_groups: [g]
admin: false
tier: free
confirm: human
reveal_secrets: never
max_writes_per_minute: 5
`;
    expect(under(text)).toMatchObject({
      readOnly: true,
      safeMode: true,
      excludeTools: ["delete_*"],
      denyRegex: ["^erase_"],
      admin: false,
      tier: "free",
      confirm: "human",
      revealSecrets: "never",
      maxWrites: 5,
      further: [{ allowToolsets: ["ci"], allowTools: ["issue.*"], allowProjects: ["a/b"], allowGroups: ["g"] }],
    });
    for (const key of Object.keys((policySchema().properties ?? {}) as object)) expect(text).toContain(`${key}:`);
  });

  it.each([
    ["confirm: off", /confirm/],
    ["reveal_secrets: result", /reveal_secrets/],
    ["admin: true", /admin/],
    ["read_only: false", /read_only/],
    ["safe_mode: false", /safe_mode/],
    ["max_writes_per_minute: 0", /max_writes_per_minute/],
    ["readonly: true", /readonly is not a key; the nearest is read_only/],
    ["deny_regex: ['(?=x)']", /deny_regex: looks ahead/],
    ["- a\n- b", /policy\.yaml/],
    ["just words", /policy\.yaml/],
    ["a: [b", /neither JSON nor YAML/],
    ['{"a":', /neither JSON nor YAML/],
  ])("%s stops the start in one line that names the file", (text, says) => {
    expect(fault(text)).toMatch(says);
    expect(fault(text)).toContain("policy.yaml");
  });

  it("adds to lists of the flags, and is under both ceilings", () => {
    const limits = under("exclude_tools: [b]\nallow_toolsets: [ci]", "--exclude-tools=a", "--allow-toolsets=repository,ci");
    expect(limits.excludeTools).toEqual(["a", "b"]);
    expect(limits.allowToolsets).toEqual(["repository", "ci"]);
    expect(limits.further).toMatchObject([{ allowToolsets: ["ci"] }]);
  });

  it("that says one thing where a flag says another stops the start; the same thing twice does not", () => {
    for (const [text, flag, names] of [
      ["confirm: human", "--confirm=off", /confirm: human and --confirm \(off/],
      ["read_only: true", "--read-only=false", /read_only: true/],
      ["read_only: [ci]", "--read-only=repository", /read_only: ci/],
      ["admin: false", "--admin", /admin: false/],
      ["tier: free", "--tier=ultimate", /tier: free/],
      ["reveal_secrets: file", "--reveal-secrets=result", /reveal_secrets: file/],
      ["max_writes_per_minute: 5", "--max-writes-per-minute=50", /max_writes_per_minute: 5/],
    ] as const)
      expect(fault(text, flag)).toMatch(names);
    expect(under("confirm: human", "--confirm=human").confirm).toBe("human");
    expect(under("read_only: true", "--read-only").readOnly).toBe(true);
  });
});
