import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { Source } from "../../src/catalog/types.ts";
import { narrow, type Wishes } from "../../src/policy/narrow.ts";
import { requireSense } from "../../src/registry/contradictions.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { settingsFor } from "../support/settings.ts";

const source: Source = {
  name: "gitlab",
  toolsets: () => TOOLSETS,
  actions: loadActions,
  run: () => Promise.reject(new Error("not run here")),
  preview: () => Promise.reject(new Error("not run here")),
};
const registry = createRegistry([source]);
const check = (flags: readonly string[], wishes: Wishes = {}) => requireSense(registry, narrow(settingsFor(...flags), wishes));

describe("settings that contradict each other stop the start", () => {
  it.each([
    [["--allow-toolsets=ci", "--exclude-tools=toolset:ci"], /--allow-toolsets names ci, and --exclude-tools rules all of it out/],
    [["--allow-tools=issue.list", "--exclude-tools=list_issues"], /--allow-tools names issue\.list, and --exclude-tools/],
    [["--allow-tools=issue.delete", "--deny-regex=^delete_"], /--allow-tools names issue\.delete, and --deny-regex/],
    [["--tools=list_issues", "--allow-toolsets=ci"], /--tools names list_issues, and --allow-toolsets/],
    [["--toolsets=repository", "--allow-toolsets=ci"], /--toolsets names repository, and --allow-toolsets/],
    [["--default-project=a/b", "--allow-projects=c/d"], /--default-project is a\/b/],
    [["--read-only=no_such_toolset"], /--read-only: there is no no_such_toolset/],
  ] as const)("%o", (flags, says) => expect(() => check(flags)).toThrow(says));

  it("a policy file against the flags, and one that names what does not exist", () => {
    expect(() => check(["--allow-toolsets=ci"], { allowToolsets: ["repository"] })).toThrow(/rules all of it out/);
    expect(() => check(["--tools=list_issues"], { excludeTools: ["issue.list"] })).toThrow(
      /--tools names list_issues, and --exclude-tools/,
    );
    expect(() => check([], { allowToolsets: ["work_item"] })).toThrow(/--allow-toolsets: there is no work_item; nearest: work_items/);
    expect(() => check([], { readOnly: ["cy"] })).toThrow(/--read-only: there is no cy/);
  });

  it.each([
    [["--read-only", "--confirm=off"]],
    [["--read-only", "--safe-mode"]],
    [["--allow-toolsets=ci,repository", "--exclude-tools=delete_*"]],
    [["--toolsets=all", "--allow-toolsets=ci"]],
    [["--toolsets=default", "--allow-toolsets=ci"]],
    [["--read-only=agent_platform"]],
    [["--default-project=a/b", "--allow-groups=a"]],
    [["--default-project=a/b", "--allow-projects=7"]],
  ] as const)("%o do not", (flags) => expect(() => check(flags)).not.toThrow());
});
