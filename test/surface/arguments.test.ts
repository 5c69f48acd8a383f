import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { readArguments } from "../../src/surface/arguments.ts";
import { enableToolset } from "../../src/surface/tools/enable-toolset.ts";
import { gitlabExecuteAction } from "../../src/surface/tools/gitlab-execute-action.ts";
import { gitlabFindAction } from "../../src/surface/tools/gitlab-find-action.ts";

const params = { project_id: "a/b", limit: 1 };

describe("arguments of the entry tools", () => {
  it.each([
    [{ action: "issue.list", params }],
    [{ action: "issue.list", params: JSON.stringify(params) }],
    [{ action: "issue.list", params, confirm: null }],
  ])("%j is a call of an action", (raw) => {
    expect(readArguments(gitlabExecuteAction, raw)).toEqual({ action: "issue.list", params });
  });

  it("take a list of tools as one text", () => {
    expect(readArguments(enableToolset, { toolset: "ci", tools: "wait_job, get_job" })).toMatchObject({ tools: ["wait_job", "get_job"] });
  });

  it.each([
    [gitlabExecuteAction, { action: "issue.list" }, { params: "is missing" }],
    [gitlabExecuteAction, { action: "issue.list", params: "soon" }, { params: "expected object, received string" }],
    [gitlabExecuteAction, { action: "issue.list", params: {}, labels: 1 }, { labels: /goes into params/ }],
    [gitlabExecuteAction, { acton: "issue.list", params: {} }, { acton: /nearest: action/, action: "is missing" }],
    [gitlabFindAction, { query: "x", limit: 100 }, { limit: "expected number to be <=50" }],
    [gitlabFindAction, { query: "x", zzz: 1 }, { zzz: "is not an argument" }],
  ])("%# are refused, each wrong one by its name", (tool, raw, fields) => {
    const refusal = (() => {
      try {
        return readArguments(tool, raw);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(BridgeError);
    const { code, detail } = refusal as BridgeError;
    expect(code).toBe("invalid_params");
    expect(Object.keys(detail.fields ?? {}).sort()).toEqual(Object.keys(fields).sort());
    for (const [name, words] of Object.entries(fields)) {
      if (words instanceof RegExp) expect(detail.fields?.[name]).toMatch(words);
      else expect(detail.fields?.[name]).toBe(words);
    }
  });
});
