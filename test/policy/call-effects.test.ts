import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Shape } from "../../src/catalog/types.ts";
import { effectOfCall, pathOf, WORSE_CALLS } from "../../src/policy/call-effects.ts";
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

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["commit.create", { actions: [{ action: "create" }, { action: "delete", file_path: "a" }] }, /deletes files/],
    ["commit.create", { actions: { 0: { action: "delete", file_path: "a" } } }, /deletes files/],
    ["commit.edit", { delete_files: ["a"] }, /deletes files/],
    ["snippet.update", { files: [{ action: "delete", file_path: "a" }] }, /deletes files/],
    ["protected_environment.update", { deploy_access_levels: [{ id: 1, _destroy: true }] }, /deletes a part/],
    ["protected_branch.update", { allowed_to_push: [{ id: 1, _destroy: true }] }, /deletes a part/],
    ["feature_flag.update", { strategies: [{ id: 1, scopes: [{ id: 2, _destroy: "true" }] }] }, /deletes a part/],
    ["pipeline_schedule.update", { inputs: [{ name: "a", destroy: true }] }, /deletes a part/],
    ["project.update", { container_expiration_policy_attributes: { enabled: "1" } }, /tags of images/],
    ["project.update", { ci_delete_pipelines_in_seconds: 3600 }, /pipelines are deleted/],
    ["pull_mirror.update", { mirror_overwrites_diverged_branches: true }, /overwritten/],
    ["protected_branch.update", { allow_force_push: true }, /opens what was guarded/],
    ["member.state_update", { state: "awaiting" }, /shuts the person out/],
  ])("%s with %j needs agreement", (id, params, why) => {
    expect(action(id).effect).toBe("write");
    expect(effectOfCall(action(id), params)).toMatchObject({ effect: "destructive", does: expect.stringMatching(why) });
    expect(verdict(id, params)).toMatchObject({ permitted: true, confirm: { text: expect.stringMatching(why) } });
    expect(verdict(id, params, "--read-only")).toMatchObject({ permitted: false, reason: { rule: "read_only" } });
    expect(verdict(id, params, "--safe-mode")).toMatchObject({ permitted: true, preview: { rule: "safe_mode" } });
  });

  it.each<[string, Record<string, unknown>]>([
    ["commit.create", { actions: [{ action: "update", file_path: "delete", content: "delete" }] }],
    ["commit.edit", { delete_files: [] }],
    ["commit.edit", { edits: [{ path: "a", old: "_destroy", new: "x" }] }],
    ["protected_environment.update", { deploy_access_levels: [{ id: 1, _destroy: false }] }],
    ["protected_branch.update", { allow_force_push: false }],
    ["project.update", { container_expiration_policy_attributes: { enabled: false } }],
    ["issue.update", { state_event: "close", remove_labels: ["a"], title: "delete" }],
    ["merge_request.update", { remove_source_branch: true }],
    ["member.state_update", { state: "active" }],
  ])("%s with %j does not", (id, params) => expect(effectOfCall(action(id), params)).toEqual({ effect: "write" }));

  /** Looked at and left a write, with the reason. */
  const LEFT: Readonly<Record<string, string>> = {
    "feature.set force": "skips a check of the name",
    "merge_request.create remove_source_branch": "happens with the merge, which asks",
    "merge_request.update remove_source_branch": "happens with the merge, which asks",
    "project.create remove_source_branch_after_merge": "happens with the merge, which asks",
    "project.create_for_user remove_source_branch_after_merge": "happens with the merge, which asks",
    "project.update remove_source_branch_after_merge": "happens with the merge, which asks",
    "security_attribute.project_update remove_attribute_ids": "takes off, deletes nothing",
    "group.create default_branch_protection_defaults.allow_force_push": "for projects that are made later",
    "group.update default_branch_protection_defaults.allow_force_push": "for projects that are made later",
    "protected_branch.create allow_force_push": "guards more than before",
  };

  it("every parameter of a write whose name says delete, force or overwrite was looked at", () => {
    const fieldsOf = (params: Readonly<Record<string, Shape>>, within = ""): string[] =>
      Object.entries(params).flatMap(([name, shape]) => [
        `${within}${name}`,
        ...fieldsOf(shape.properties ?? {}, `${within}${name}.`),
        ...fieldsOf(shape.items?.properties ?? {}, `${within}${name}[].`),
      ]);
    const telling =
      /(^|(?<!_for)[._])(force|overwrites?|destroy|_destroy|delete|delete_files|hard_delete|purge|remove_(?!labels?(_ids)?$)\w+|allow_force_push)$|overwrit/;
    const judged = (id: string, field: string) =>
      WORSE_CALLS.some((row) => row.action === id && row.param === field) || /\._?destroy$/.test(field) || `${id} ${field}` in LEFT;
    // What an administrator sets for the whole instance is a setting, and member roles name rights.
    const rows = loadActions().filter(({ id, effect }) => effect === "write" && !/^(application\.settings_update|member_role\.)/.test(id));
    const found = rows.flatMap(({ id, params }) =>
      fieldsOf(params)
        .filter((field) => telling.test(field))
        .map((field) => [id, field] as const),
    );
    expect(found.length).toBeGreaterThan(15);
    expect(found.filter(([id, field]) => !judged(id, field)).map((one) => one.join(" "))).toEqual([]);
    for (const left of Object.keys(LEFT)) expect(found.map((one) => one.join(" "))).toContain(left);
  });

  it("names living actions and their own parameters, and writes only", () => {
    for (const row of WORSE_CALLS) {
      const [first = ""] = pathOf(row.param);
      expect(action(row.action).params, row.action).toHaveProperty(first);
      expect(action(row.action).effect).toBe("write");
    }
  });
});
