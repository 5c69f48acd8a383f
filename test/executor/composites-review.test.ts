import { describe, expect, it } from "vitest";
import { answerOf, type Fields, failure, items, type Replies, runComposite, value } from "./composites-run.ts";
import { failureOf } from "./gitlab-fixture.ts";

const DIFF = ["@@ -1,3 +1,4 @@", " one", "-two", "+TWO", "+two and a half", " three", "", ""].join("\n");
const FILES = [
  { new_path: "src/a.ts", old_path: "src/a.ts", diff: DIFF },
  { new_path: "src/new-name.ts", old_path: "src/old-name.ts", diff: "@@ -7 +7 @@\n-x\n+y\n", renamed_file: true },
  { new_path: "logo.png", old_path: "logo.png", diff: "" },
];
const WHERE = { project_id: "a/b", merge_request_iid: 42 };

/** GitLab with one version of the merge request; `own` replaces single answers. */
const gitlab =
  (own: Record<string, (params: Fields) => ReturnType<Replies>> = {}): Replies =>
  (id, params) => {
    const mine = own[id];
    if (mine) return mine(params);
    if (id === "merge_request.version_list") return items([{ id: 9, base_commit_sha: "b", start_commit_sha: "s", head_commit_sha: "h" }]);
    if (id === "merge_request.version_get")
      return value({ base_commit_sha: "b", start_commit_sha: "s", head_commit_sha: "h", diffs: FILES });
    if (id === "merge_request.draft_note_list") return items([]);
    return value({ id: 1 });
  };

const review = (params: Fields, own = {}) => runComposite("merge_request.review", { ...WHERE, ...params }, gitlab(own));

const WRITES = ["draft_note_create", "draft_note_publish_all", "draft_note_publish", "note_create", "approve"].map(
  (name) => `merge_request.${name}`,
);
const writesOf = (ran: readonly [string, Fields][]) => ran.filter(([id]) => WRITES.includes(id));

describe("a review", () => {
  it("puts each comment on its line: an unchanged one with both numbers, an added or removed one with its own", async () => {
    const { ran, outcome } = review({
      comments: [
        { path: "src/a.ts", line: 4, text: "kept" },
        { path: "src/a.ts", line: 2, text: "added" },
        { path: "src/a.ts", old_line: 2, text: "removed" },
        { path: "src/old-name.ts", line: 7, text: "renamed" },
        { path: "logo.png", text: "whole file" },
      ],
    });
    expect(await answerOf(outcome)).toMatchObject({
      published: 5,
      at: ["src/a.ts:4", "src/a.ts:2", "src/a.ts:2 (old)", "src/old-name.ts:7", "logo.png"],
    });
    const shas = { base_sha: "b", start_sha: "s", head_sha: "h" };
    const a = { ...shas, old_path: "src/a.ts", new_path: "src/a.ts", position_type: "text" };
    expect(writesOf(ran).map(([id, params]) => params.position ?? id)).toEqual([
      { ...a, old_line: 3, new_line: 4 },
      { ...a, new_line: 2 },
      { ...a, old_line: 2 },
      { ...shas, old_path: "src/old-name.ts", new_path: "src/new-name.ts", position_type: "text", new_line: 7 },
      { ...shas, old_path: "logo.png", new_path: "logo.png", position_type: "file" },
      "merge_request.draft_note_publish_all",
    ]);
  });

  it("publishes once, then writes the summary, then approves the commit that was looked at", async () => {
    const { ran, outcome } = review({ comments: [{ path: "src/a.ts", line: 1, text: "x" }], summary: "Fine.", approve: true });
    expect(await answerOf(outcome)).toMatchObject({ published: 1, summary: true, approved: true, sha: "h" });
    expect(writesOf(ran).map(([id]) => id.replace("merge_request.", ""))).toEqual([
      "draft_note_create",
      "draft_note_publish_all",
      "note_create",
      "approve",
    ]);
    expect(writesOf(ran).at(-1)?.[1]).toEqual({ ...WHERE, sha: "h" });
  });

  it("carries suggestions in a fence longer than any inside", async () => {
    const { ran, outcome } = review({ comments: [{ path: "src/a.ts", line: 2, text: "Say", suggestion: "```js\nx\n```\n" }] });
    await outcome;
    expect(writesOf(ran)[0]?.[1].note).toBe("Say\n\n````suggestion:-0+0\n```js\nx\n```\n````");
  });

  it("finds every problem before anything is sent", async () => {
    const comments = [
      { path: "src/a.ts", line: 1, text: "right" },
      { path: "src/b.ts", line: 1, text: "x" },
      { path: "src/a.ts", line: 40, text: "x" },
      { path: "src/a.ts", old_line: 99, text: "x" },
      { path: "src/a.ts", line: 2, old_line: 2, text: "x" },
      { path: "src/a.ts", old_line: 2, text: "x", suggestion: "y" },
      { path: "src/a.ts", text: "x", suggestion: "y" },
      { path: "logo.png", line: 1, text: "x" },
    ];
    const { ran, outcome } = review({ comments, approve: true });
    const error = await failureOf(outcome);
    expect(error).toMatchObject({ code: "invalid_params" });
    expect(Object.keys(error.detail.fields ?? {})).toEqual([1, 2, 3, 4, 5, 6, 7].map((index) => `comments[${index}]`));
    expect(error.detail.fields).toMatchObject({
      "comments[1]": expect.stringContaining("nearest: src/a.ts"),
      "comments[2]": "line 40 is not in the diff; nearest that can be commented: 1–4",
      "comments[3]": "old_line 99 is not in the diff; nearest that can be commented: 1–3",
      "comments[4]": expect.stringContaining("not the same line"),
      "comments[7]": expect.stringContaining("whole file"),
    });
    expect(writesOf(ran)).toEqual([]);
    expect((await failureOf(review({ comments: [] }).outcome)).message).toMatch(/no comments, no summary/);
  });

  it("says exactly what was done where a step fails, and does nothing after it", async () => {
    let made = 0;
    const second = review(
      { comments: [1, 2, 4].map((line) => ({ path: "src/a.ts", line, text: "x" })), approve: true },
      { "merge_request.draft_note_create": () => (++made === 2 ? failure("rate_limited") : value({ id: made })) },
    );
    const error = await failureOf(second.outcome);
    expect(error.code).toBe("rate_limited");
    expect(error.message).toMatch(
      /Done: draft 1 on src\/a\.ts:1\. Failed: draft 2 on src\/a\.ts:2 .*Not begun: draft 3 on src\/a\.ts:4; comments published; approval\./,
    );
    expect(error.hint).toMatch(/seen by you alone/);
    expect(writesOf(second.ran)).toHaveLength(2);
    const last = review(
      { comments: [{ path: "src/a.ts", line: 1, text: "x" }], approve: true },
      { "merge_request.approve": () => failure("conflict") },
    );
    const refused = await failureOf(last.outcome);
    expect(refused.message).toMatch(/Done: draft 1 on src\/a\.ts:1; comments published\. Failed: approval/);
    expect(refused.hint).toMatch(/Do not repeat/);
    const first = await failureOf(review({ approve: true }, { "merge_request.approve": () => failure("forbidden") }).outcome);
    expect(first.message).toBe("it is forbidden");
  });

  it("leaves older drafts of the same person alone", async () => {
    let id = 20;
    const { ran, outcome } = review(
      { comments: [1, 2].map((line) => ({ path: "src/a.ts", line, text: "x" })) },
      { "merge_request.draft_note_list": () => items([{ id: 5 }]), "merge_request.draft_note_create": () => value({ id: ++id }) },
    );
    expect(await answerOf(outcome)).toMatchObject({ published: 2, drafts_kept: 1 });
    expect(writesOf(ran).flatMap(([name, params]) => (name.endsWith("publish") ? params.draft_note_id : []))).toEqual([21, 22]);
    expect(writesOf(ran).map(([name]) => name)).not.toContain("merge_request.draft_note_publish_all");
  });

  it("of a merge request without a diff is refused", async () => {
    expect(await failureOf(review({ approve: true }, { "merge_request.version_list": () => items([]) }).outcome)).toMatchObject({
      code: "conflict",
    });
  });

  it("of a very large merge request reads the files page by page", async () => {
    const { ran, outcome } = review(
      { comments: [{ path: "src/a.ts", line: 1, text: "x" }] },
      {
        "merge_request.version_get": () => ({ kind: "value", value: { head_commit_sha: "h", diffs: [] }, truncated: "diffs: the first 0" }),
        "merge_request.diff_list": ({ cursor }: Fields) => (cursor ? items(FILES) : items([], "more")),
      },
    );
    expect(await answerOf(outcome)).toMatchObject({ published: 1 });
    expect(ran.filter(([id]) => id === "merge_request.diff_list")).toHaveLength(2);
  });
});
