import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import type { OptionName } from "../../src/config/options.ts";
import { createRoad } from "../../src/executor/dispatch.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { API, answers, contextOf, HOST, json, sent, settingsOf, sourceOf, useNetwork, valueIn } from "./gitlab-fixture.ts";

useNetwork();

/** The whole road on a fake network: policy, params, GitLab, shaping. */
function roadOf(own: Partial<Record<OptionName, unknown>> = {}) {
  const source = sourceOf(own);
  const road = createRoad({
    registry: createRegistry([source]),
    policy: createPolicy(settingsOf(own)),
    facts: () => ({}),
    normalize: (context) => ({ instance: HOST, ...source.people(context) }),
  });
  return (name: string, params: unknown) => road.run({ name, params }, contextOf());
}

const PROJECT = `${API}/projects/a%2Fb`;

describe("composites on the road", () => {
  it("read the whole of a log, however small the budget of an answer is", async () => {
    const noise = Array.from({ length: 5_000 }, (_, index) => `after the failure, step ${index} cleans a file up`);
    answers("get", `${PROJECT}`, () => json({ id: 1, path_with_namespace: "a/b", default_branch: "trunk" }));
    answers("get", `${PROJECT}/pipelines`, () => json([{ id: 10, status: "failed", ref: "trunk" }]));
    answers("get", `${PROJECT}/pipelines/10`, () => json({ id: 10, status: "failed", ref: "trunk", yaml_errors: null }));
    answers("get", `${PROJECT}/pipelines/10/jobs`, () =>
      json([{ id: 7, name: "rspec", status: "failed", allow_failure: false, failure_reason: "script_failure" }]),
    );
    answers("get", `${PROJECT}/pipelines/10/bridges`, () => json([]));
    answers("get", `${PROJECT}/jobs/7/trace`, () =>
      HttpResponse.text(["AssertionError: 1 is not 2", ...noise, "ERROR: Job failed: exit code 1"].join("\n")),
    );
    const answer = valueIn(await roadOf({ budget: 1_000 })("explain_failed_pipeline", { project: `${HOST}/a/b` }));
    expect(answer).toMatchObject({
      jobs: [{ id: 7, log: expect.arrayContaining(["AssertionError: 1 is not 2", "ERROR: Job failed: exit code 1"]) }],
    });
    expect(sent.find(({ url }) => url.pathname.endsWith("/pipelines"))?.url.searchParams.get("ref")).toBe("trunk");
    expect(sent.filter(({ url }) => url.pathname.endsWith("/trace"))).toHaveLength(1);
  });

  it("count every changed file, though their diffs are larger than an answer", async () => {
    const diff = `@@ -1,200 +1,200 @@\n${"-old line of code that goes\n+new line of code that comes\n".repeat(200)}`;
    const files = Array.from({ length: 60 }, (_, index) => ({ new_path: `src/${index}.ts`, old_path: `src/${index}.ts`, diff }));
    const request = `${PROJECT}/merge_requests/42`;
    answers("get", request, () => json({ iid: 42, title: "T", state: "opened", detailed_merge_status: "mergeable" }));
    answers("get", `${request}/approval_state`, () => json({ message: "403 Forbidden" }, { status: 403 }));
    answers("get", `${request}/approvals`, () => json({ approved: true, approved_by: [{ user: { username: "bob" } }] }));
    answers("get", `${request}/discussions`, () => json([]));
    answers("get", `${request}/diffs`, () => json(files));
    const answer = valueIn(await roadOf()("merge_request.overview", { url: `${HOST}/a/b/-/merge_requests/42` }));
    expect(answer).toMatchObject({
      can_merge: true,
      approvals: { approved_by: ["bob"] },
      changes: { files: 60, added: 12_000, removed: 12_000 },
    });
    expect(answer.notes).toContain("could not be read: approval rules: forbidden");
  });

  it("run reads only, and each of them under the policy", async () => {
    answers("get", `${PROJECT}/issues/1`, () => json({ iid: 1, title: "T" }));
    const calls = [
      { action: "issue.get", params: { project: "a/b", id: "#1" } },
      { action: "create_issue", params: { project_id: "a/b", title: "x" } },
      { action: "issue.note_list", params: { project_id: "a/b", issue_iid: 1 } },
      { action: "issue.gett", params: {} },
      { action: "issue.get", params: { project_id: "a/b" } },
    ];
    const answer = valueIn(await roadOf({ excludeTools: ["issue.note_list"] })("batch.run", { calls }));
    expect(answer).toMatchObject({
      failed: 4,
      results: [
        { result: { iid: 1 } },
        { error: { code: "invalid_params" } },
        { error: { code: "not_permitted" } },
        { error: { code: "unknown_action" } },
        { error: { code: "invalid_params", message: expect.stringContaining("issue_iid: is missing") } },
      ],
    });
    expect(sent.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("that are only shown send nothing, even where the policy would let their parts through", async () => {
    answers("get", `${PROJECT}/repository/branches/dev`, () => json({ name: "dev", can_push: true }));
    answers("get", `${PROJECT}/repository/files/a.txt`, () => json({ encoding: "base64", content: btoa("one\n"), last_commit_id: "c1" }));
    const source = sourceOf();
    const policy = createPolicy(settingsOf());
    const preview = { rule: "safe_mode", kind: "preview", text: "shown" } as const;
    const road = createRoad({
      registry: createRegistry([source]),
      policy: {
        ...policy,
        callVerdict: (action, ...rest) => (action.composite ? { permitted: true, preview } : policy.callVerdict(action, ...rest)),
      },
      facts: () => ({}),
      normalize: () => ({ instance: HOST }),
    });
    const params = { project_id: "a/b", branch: "dev", message: "M", edits: [{ path: "a.txt", old: "one", new: "1" }] };
    expect(await road.run({ name: "commit.edit", params }, contextOf())).toMatchObject({
      kind: "preview",
      preview: { action: "commit.edit", would_send: [{ action: "commit.create", method: "POST", body: { branch: "dev" } }] },
    });
    expect(sent.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });
});
