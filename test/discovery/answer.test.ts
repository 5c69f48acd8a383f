import { describe, expect, it } from "vitest";
import { gitlabFindAction } from "../../src/surface/tools/gitlab-find-action.ts";
import { connectionFor } from "../support/bridge.ts";

interface Row {
  readonly id: string;
  readonly tool?: string;
  readonly toolset: string;
  readonly effect: string;
  readonly required: readonly string[];
  readonly input_schema?: { readonly properties: Record<string, unknown> };
  readonly next?: readonly string[];
}

interface Json {
  readonly count: number;
  readonly confident: boolean;
  readonly results: readonly Row[];
  readonly withheld?: readonly { readonly reason: string; readonly count: number; readonly actions: readonly string[] }[];
  readonly suggestions?: readonly string[];
}

async function ask(args: Record<string, unknown>, ...argv: string[]): Promise<{ readonly text: string; readonly json: Json }> {
  const answer = await gitlabFindAction.run(args, {
    connection: connectionFor(...argv),
    link: { era: "legacy", transport: "stdio", canTell: () => true },
    context: { principal: { instance: "https://gitlab.example" }, canAsk: false, meta: {}, signal: new AbortController().signal },
    named: (tool) => tool,
    tellListChanged: async () => undefined,
  });
  if (!("text" in answer)) throw new Error("no answer");
  return answer as unknown as { text: string; json: Json };
}

describe("the answer", () => {
  it("each form alone is enough for the next call: signatures in the text, schemas in the JSON", async () => {
    const { text, json } = await ask({ query: "list open merge requests" });
    expect(json.results[0]?.id).toBe("merge_request.list");
    expect(json.results[0]?.input_schema?.properties).toHaveProperty("state");
    expect(text.split("\n")[0]).toMatch(/^merge_request\.list\(/);
    expect(text).toContain("gitlab_execute_action");
    expect(text).not.toContain('"properties"');
  });

  it.each(["merge_request.list", "list_merge_requests", "merge-request.list", "mr.list"])(
    "%s: that action with its full schema",
    async (query) => {
      const { json } = await ask({ query });
      expect(json.results[0]?.id).toBe("merge_request.list");
      expect(json.confident).toBe(true);
      const listed = await ask({ query: "list open merge requests" });
      const full = Object.keys(json.results[0]?.input_schema?.properties ?? {});
      expect(full.length).toBeGreaterThan(Object.keys(listed.json.results[0]?.input_schema?.properties ?? {}).length);
    },
  );

  it("a near miss finds the near id", async () => {
    expect((await ask({ query: "merge_request.lst" })).json.results[0]?.id).toBe("merge_request.list");
  });

  it("nothing found: suggestions in both forms", async () => {
    const { text, json } = await ask({ query: "qqqqxxyzzt" });
    expect(json.results).toEqual([]);
    expect(json.suggestions?.length).toBeGreaterThan(0);
    expect(text).toContain(json.suggestions?.[0] ?? "?");
  });

  it("what is not permitted is counted with its reason, and never returned", async () => {
    const { text, json } = await ask({ query: "delete the branch old" }, "--read-only");
    expect(json.results.every(({ effect }) => effect === "read")).toBe(true);
    const group = json.withheld?.find(({ actions }) => actions.includes("branch.delete"));
    expect(group?.count).toBeGreaterThan(0);
    expect(group?.reason).toMatch(/read.only/i);
    expect(text).toContain(group?.reason ?? "?");
  });

  it("keeps to the toolset and to the effect", async () => {
    const inCi = await ask({ query: "list everything", toolset: "ci" });
    expect(inCi.json.results.every(({ toolset }) => toolset === "ci")).toBe(true);
    const writes = await ask({ query: "branch", effect: "write" });
    expect(writes.json.results.length).toBeGreaterThan(0);
    expect(writes.json.results.every(({ effect }) => effect === "write")).toBe(true);
  });

  it("names at most three actions to go on with, all of them usable", async () => {
    for (const query of ["create a merge request", "why did the pipeline fail", "list issues", "create a branch"]) {
      const { json } = await ask({ query }, "--read-only");
      for (const { next = [] } of json.results) {
        expect(next.length).toBeLessThanOrEqual(3);
        for (const id of next) expect((await ask({ query: id }, "--read-only")).json.results[0]?.id).toBe(id);
      }
    }
  });

  it("names a tool only where this client has it on its list", async () => {
    expect((await ask({ query: "list open merge requests" })).json.results[0]).not.toHaveProperty("tool");
    expect((await ask({ query: "list open merge requests" }, "--toolsets=merge_requests")).json.results[0]?.tool).toBe(
      "list_merge_requests",
    );
  });

  it.each([
    ["revoke a personal access token", "personal_access_token.revoke"],
    ["revoke a project access token", "access_token.revoke"],
    ["revoke an impersonation token", "impersonation_token.revoke"],
    ["rotate the token in use", "personal_access_token.self_rotate"],
    ["list snippets of everybody", "snippet.all_list"],
    ["instance variables", "instance_variable.list"],
    ["group variables", "variable.list"],
    ["all runners of the instance", "runner.all_list"],
  ])("tells variants apart: %s → %s", async (query, id) => {
    expect((await ask({ query }, "--admin", "--allow-own-token")).json.results[0]?.id).toBe(id);
  });
});
