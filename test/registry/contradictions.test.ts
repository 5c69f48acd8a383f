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
    [["--tools=create_issue", "--read-only"], /--tools names create_issue, and --read-only rules all of it out/],
    [["--tools=issue.*_create", "--read-only=work_items"], /--tools names issue\.\*_create, and --read-only/],
    [["--allow-tools=delete_*", "--read-only"], /--allow-tools and --read-only together rule out every action/],
    [["--tools=merge_train.list", "--tier=free"], /--tools names merge_train\.list, and --tier/],
    [["--allow-toolsets=audit", "--tier=free"], /--tier.* together rule out every action/],
    [["--tools=access_token.create", "--reveal-secrets=never"], /--tools names access_token\.create, and --reveal-secrets/],
    [["--tools=project.template_list", "--allow-tools=list_issues"], /--tools names project\.template_list, and --allow-tools/],
    [["--toolsets=registry", "--exclude-tools=toolset:registry"], /--toolsets names registry, and --exclude-tools/],
    [["--toolsets=users", "--deny-regex=."], /--toolsets names users, and --deny-regex/],
    [["--tools=topic.create", "--allow-projects=a/b"], /--tools names topic\.create, and --allow-projects/],
    [["--tools=topic.create", "--allow-groups=a"], /--tools names topic\.create, and --allow-groups/],
    [["--toolsets=raw"], /--toolsets names raw, which needs --allow-raw beside it/],
    [["--allow-tools=gitlab.rest,issue.list"], /--allow-tools names gitlab\.rest, which needs --allow-raw beside it/],
    [["--tools=personal_access_token.self_rotate"], /which needs --allow-own-token beside it/],
    [["--allow-raw", "--allow-toolsets=ci"], /--allow-raw opens requests written by hand, and --allow-toolsets rules them out/],
    [["--allow-raw", "--exclude-tools=toolset:raw"], /--allow-raw .* and --exclude-tools rules them out/],
    [["--allow-raw", "--deny-regex=^gitlab\\."], /--allow-raw .* and --deny-regex rules them out/],
    [["--deny-regex=."], /--deny-regex together rule out every action/],
    [["--exclude-tools=*"], /--exclude-tools together rule out every action/],
    [["--exclude-tools=*.list,*_list,*.get,*_get", "--read-only", "--deny-regex=."], /rule out every action/],
  ] as const)("%o", (flags, says) => expect(() => check(flags)).toThrow(says));

  it("a policy file against the flags, and one that names what does not exist", () => {
    expect(() => check(["--allow-toolsets=ci"], { allowToolsets: ["repository"] })).toThrow(/rules all of it out/);
    expect(() => check(["--tools=list_issues"], { excludeTools: ["issue.list"] })).toThrow(
      /--tools names list_issues, and --exclude-tools/,
    );
    expect(() => check([], { allowToolsets: ["work_item"] })).toThrow(/--allow-toolsets: there is no work_item; nearest: work_items/);
    expect(() => check([], { readOnly: ["cy"] })).toThrow(/--read-only: there is no cy/);
    expect(() => check(["--tools=create_issue"], { readOnly: true })).toThrow(/--tools names create_issue, and --read-only/);
  });

  it("limits that are read again hold at once where they are only tighter; what names nothing or shuts a list still does not", () => {
    const again = (flags: readonly string[], wishes: Wishes) => requireSense(registry, narrow(settingsFor(...flags), wishes), true);
    expect(() => again(["--tools=create_issue"], { readOnly: true })).not.toThrow();
    expect(() => again(["--tools=access_token.create"], { revealSecrets: "never" })).not.toThrow();
    expect(() => again([], { denyRegex: ["."] })).not.toThrow();
    expect(() => again(["--tools=list_issues"], { allowToolsets: ["ci"] })).toThrow(/--tools names list_issues/);
    expect(() => again([], { readOnly: ["cy"] })).toThrow(/there is no cy/);
  });

  it.each([
    [["--toolsets=admin"]],
    [["--allow-toolsets=audit,ci", "--tier=free"]],
    [["--allow-toolsets=ci,duo_agent_platform", "--allow-projects=a/b"]],
    [["--allow-tools=delete_*,list_*", "--read-only"]],
    [["--toolsets=raw", "--allow-raw"]],
    [["--tools=create_issue,list_issues", "--read-only=ci"]],
    [["--toolsets=ci", "--read-only=ci"]],
    [["--allow-raw", "--allow-toolsets=raw,ci"]],
    [["--allow-raw", "--read-only"]],
    [["--toolsets=tokens", "--reveal-secrets=never"]],
    [["--safe-mode", "--tools=create_issue", "--confirm=off"]],
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
