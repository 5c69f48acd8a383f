import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { countLines } from "../../src/executor/composite-merge-request.ts";
import { answerOf, type Fields, failure, items, type Reply, runComposite, value } from "./composites-run.ts";

const person = (username: string) => ({ id: 1, username, name: username });

const request = {
  iid: 42,
  title: "Fix the tax",
  state: "opened",
  draft: false,
  source_branch: "tax",
  target_branch: "main",
  sha: "abc",
  web_url: "https://gitlab.example.com/a/b/-/merge_requests/42",
  description: "Why.",
  author: person("alice"),
  reviewers: [person("bob")],
  detailed_merge_status: "mergeable",
  has_conflicts: false,
  blocking_discussions_resolved: true,
  head_pipeline: { id: 9, status: "success", web_url: "w", user: person("alice") },
};

const thread = (id: string, resolved: boolean, body: string) => ({
  id,
  notes: [{ body, author: person("bob"), resolvable: true, resolved, position: { new_path: "a.ts", new_line: 3 } }],
});

const diff = (path: string, more: Fields = {}) => ({
  new_path: path,
  old_path: path,
  diff: "@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more\n",
  ...more,
});

const replies: Readonly<Record<string, Reply>> = {
  "merge_request.get": value(request),
  "merge_request.approval_state_get": value({
    rules: [
      { name: "All", rule_type: "any_approver", approvals_required: 0, approved_by: [person("carol")], eligible_approvers: [] },
      {
        name: "Backend",
        approvals_required: 2,
        approved_by: [person("carol")],
        eligible_approvers: [person("carol"), person("dave"), person("erin")],
      },
    ],
  }),
  "merge_request.approvals_get": value({
    approved: false,
    approvals_required: 2,
    approvals_left: 1,
    approved_by: [{ user: person("carol") }],
  }),
  "merge_request.discussion_list": items([
    thread("d1", false, "\nIs this right?\nMore words"),
    thread("d2", true, "done"),
    { id: "d3", notes: [{ body: "chat", author: person("bob"), resolvable: false }] },
  ]),
  "merge_request.diff_list": items([diff("a.ts"), diff("b.ts", { new_file: true }), diff("c.bin", { diff: "", too_large: true })]),
};

const overview = (more: Readonly<Record<string, Reply>> = {}) =>
  runComposite(
    "merge_request.overview",
    { project_id: "a/b", merge_request_iid: 42 },
    (id) => ({ ...replies, ...more })[id] ?? new Error(`not expected: ${id}`),
  );

const withRequest = (fields: Fields) => overview({ "merge_request.get": value({ ...request, ...fields }) });

describe("a merge request at a glance", () => {
  it("holds who approved and who still may, threads, files and the pipeline", async () => {
    const run = overview();
    expect(await answerOf(run.outcome)).toMatchObject({
      iid: 42,
      author: "alice",
      reviewers: ["bob"],
      description: "Why.",
      can_merge: false,
      blockers: ["one approval is missing"],
      approvals: {
        approved: false,
        approved_by: ["carol"],
        required: 2,
        left: 1,
        rules: [{ name: "Backend", required: 2, approved_by: ["carol"], left: 1, can_approve: ["dave", "erin"] }],
      },
      pipeline: { id: 9, status: "success", web_url: "w" },
      threads: { unresolved: 1, first: [{ discussion_id: "d1", author: "bob", at: "a.ts:3", text: "Is this right?" }] },
      changes: { files: 3, added: 4, removed: 2 },
      files: [
        { path: "a.ts", added: 2, removed: 1 },
        { path: "b.ts", change: "new" },
        { path: "c.bin", note: "too large to count" },
      ],
      notes: ["unresolved threads do not block merging here"],
    });
    expect(await run.outcome).toMatchObject({ project: "a/b", untrusted: true });
    expect(run.ran.every(([, params]) => params.project_id === "a/b" && params.merge_request_iid === 42 && params.full === true)).toBe(
      true,
    );
  });

  const free = {
    "merge_request.approvals_get": value({ approved: true, approved_by: [] }),
    "merge_request.approval_state_get": failure("not_found"),
  };

  it("has no blockers where nothing blocks, and goes on without the approval rules of a paid tier", async () => {
    const run = overview({ ...free, "merge_request.discussion_list": items([]) });
    expect(await answerOf(run.outcome)).toMatchObject({
      can_merge: true,
      blockers: [],
      notes: ["could not be read: approval rules: not_found"],
    });
  });

  it.each<[Fields, string]>([
    [{ draft: true, detailed_merge_status: "draft_status" }, "it is a draft"],
    [{ detailed_merge_status: "conflict", has_conflicts: true }, "it conflicts with the target branch"],
    [{ detailed_merge_status: "need_rebase" }, "it must be rebased first"],
    [
      { detailed_merge_status: "discussions_not_resolved", blocking_discussions_resolved: false },
      "threads must be resolved first (1 unresolved)",
    ],
    [{ detailed_merge_status: "ci_must_pass", head_pipeline: { id: 9, status: "failed" } }, "its pipeline must pass first (it is failed)"],
    [{ detailed_merge_status: "checking" }, "GitLab is still checking whether it can be merged; look again in a moment"],
    [{ detailed_merge_status: "a_new_one" }, "GitLab says: a_new_one"],
    [{ detailed_merge_status: "not_open", state: "merged" }, "it is merged"],
  ])("%j blocks, once", async (fields, blocker) => {
    const run = overview({ ...free, "merge_request.get": value({ ...request, ...fields }) });
    expect(await answerOf(run.outcome)).toMatchObject({ can_merge: false, blockers: [blocker] });
  });

  it("lists all that blocks, not only what GitLab names first", async () => {
    const run = withRequest({
      draft: true,
      detailed_merge_status: "draft_status",
      has_conflicts: true,
      blocking_discussions_resolved: false,
    });
    expect((await answerOf(run.outcome)).blockers).toEqual([
      "it is a draft",
      "it conflicts with the target branch",
      "one approval is missing",
      "threads must be resolved first (1 unresolved)",
    ]);
  });

  it("says of a failed pipeline and of none whether they block", async () => {
    expect((await answerOf(withRequest({ head_pipeline: { id: 9, status: "failed" } }).outcome)).notes).toContain(
      "its pipeline failed, which does not block merging here",
    );
    expect((await answerOf(withRequest({ head_pipeline: null }).outcome)).notes).toContain("it has no pipeline");
  });

  it("stays small, and says what it left out", async () => {
    const files = Array.from({ length: 100 }, (_, index) => diff(`src/some/rather/long/folder/name/file-${index}.ts`));
    const threads = Array.from({ length: 100 }, (_, index) => thread(`d${index}`, false, "what about this? ".repeat(30)));
    const run = overview({
      "merge_request.get": value({ ...request, description: "some words of why. ".repeat(1_000) }),
      "merge_request.diff_list": items(files, "more"),
      "merge_request.discussion_list": items(threads, "more"),
    });
    const answer = await answerOf(run.outcome);
    expect(countTokens(JSON.stringify(answer))).toBeLessThanOrEqual(1_500);
    expect(answer.files_left_out).toBe(100 - (answer.files as unknown[]).length);
    expect(answer.threads).toMatchObject({ unresolved: 100 });
    expect(answer.notes).toContain("more than 100 files; only the first 100 are counted");
  });

  it("fails where the merge request itself cannot be read, and when it is cancelled", async () => {
    await expect(overview({ "merge_request.get": failure("not_found") }).outcome).rejects.toMatchObject({ code: "not_found" });
    await expect(overview({ "merge_request.diff_list": failure("cancelled") }).outcome).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("lines of a diff", () => {
  it.each([
    ["@@ -1 +1 @@\n-a\n+b\n", 1, 1],
    ["--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n+c\n", 2, 1],
    ["@@ -1,2 +1,2 @@\n--- dashes\n+++ pluses\n@@ -9 +9 @@\n+z", 2, 1],
    ["", 0, 0],
    ["Binary files differ", 0, 0],
  ])("%j", (text, added, removed) => {
    expect(countLines(text)).toEqual({ added, removed });
  });
});
