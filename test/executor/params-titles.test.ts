import { describe, expect, it } from "vitest";
import type { Milestone, Scope } from "../../src/executor/param-titles.ts";
import { normalizeParams } from "../../src/executor/params.ts";
import { action, failureOf, HOST } from "./gitlab-fixture.ts";

const MILESTONES: readonly Milestone[] = [
  { id: 31, title: "2.0", state: "active" },
  { id: 32, title: "Launch", state: "closed" },
  { id: 33, title: "Launch", state: "active" },
  { id: 34, title: "Twice", state: "active" },
  { id: 35, title: "Twice", state: "active" },
  { id: 36, title: "Backlog cleanup", state: "active" },
];

/** Normalizes as a caller would; `asked` tells what was looked up for it. */
function world(title?: string) {
  const asked: [Scope, string | undefined][] = [];
  const options = {
    instance: HOST,
    milestones: async (scope: Scope, wanted?: string) => {
      asked.push([scope, wanted]);
      return MILESTONES.filter((one) => wanted === undefined || one.title === wanted);
    },
    titleOfMergeRequest: async (project: string, iid: string) => {
      asked.push([{ project_id: project }, iid]);
      return title;
    },
  };
  const run = (id: string, params: Record<string, unknown>) => normalizeParams(action(id), params, options);
  return { asked, run };
}

const ISSUE = { project_id: "a/b", title: "T" };

describe("milestones by title", () => {
  it("take the place of ids, under either name", async () => {
    for (const name of ["milestone_id", "milestone"]) {
      const { run, asked } = world();
      expect((await run("issue.create", { ...ISSUE, [name]: "2.0" })).params.milestone_id).toBe(31);
      expect(asked).toEqual([[{ project_id: "a/b" }, "2.0"]]);
    }
    const { run } = world();
    expect((await run("issue.update", { project_id: "a/b", issue_iid: 1, milestone: "backlog CLEANUP" })).params.milestone_id).toBe(36);
    expect((await run("merge_request.update", { project_id: "a/b", merge_request_iid: 1, milestone_id: "%Launch" })).params).toMatchObject({
      milestone_id: 33,
    });
    expect((await run("milestone.get", { group_id: "g", milestone_id: "2.0" })).params.milestone_id).toBe(31);
  });

  it("leave ids alone: nothing is looked up", async () => {
    const { run, asked } = world();
    for (const id of [7, "7", "gid://gitlab/Milestone/7"])
      expect((await run("issue.create", { ...ISSUE, milestone_id: id })).params.milestone_id).toBe(7);
    expect(asked).toEqual([]);
  });

  it("are refused where none or several are meant, with the nearest", async () => {
    const { run } = world();
    const unknown = await failureOf(run("issue.create", { ...ISSUE, milestone: "Backlog" }));
    expect(unknown).toMatchObject({
      code: "invalid_params",
      detail: { fields: { milestone_id: expect.stringContaining("Backlog cleanup") } },
    });
    expect((await run("issue.update", { project_id: "a/b", issue_iid: 1, milestone: "none" })).params.milestone_id).toBe(0);
    expect((await failureOf(run("milestone.get", { project_id: "a/b", milestone_id: "none" }))).code).toBe("invalid_params");
    const two = await failureOf(run("issue.create", { ...ISSUE, milestone: "Twice" }));
    expect(two.message).toMatch(/2 milestones are called Twice; give the id: 34 \(active\), 35 \(active\)/);
  });

  it("are looked up only when everything else is right", async () => {
    const { run, asked } = world();
    await failureOf(run("issue.create", { project_id: "a/b", milestone: "2.0" }));
    await failureOf(run("issue.create", { ...ISSUE, milestone: "2.0", nonsense: 1 }));
    expect(asked).toEqual([]);
  });

  it("stay titles where the action takes titles", async () => {
    const { run, asked } = world();
    expect((await run("issue.list", { project_id: "a/b", milestone: "2.0" })).params.milestone).toBe("2.0");
    expect(asked).toEqual([]);
  });
});

describe("draft", () => {
  const create = { project_id: "a/b", source_branch: "x", target_branch: "main" };
  const update = { project_id: "a/b", merge_request_iid: 42 };

  it("becomes the mark of the title, once", async () => {
    const { run, asked } = world();
    const titles: [string, unknown, string][] = [
      ["Sort", true, "Draft: Sort"],
      ["Draft: Sort", "true", "Draft: Sort"],
      ["[Draft] Sort", true, "Draft: Sort"],
      ["draft: Draft: Sort", false, "Sort"],
      ["Sort drafts", false, "Sort drafts"],
    ];
    for (const [title, draft, expected] of titles)
      expect((await run("merge_request.create", { ...create, title, draft })).params).toEqual({ ...create, title: expected });
    expect(asked).toEqual([]);
  });

  it("of an update without a title is set on the title that stands", async () => {
    const { run, asked } = world("Draft: Sort");
    expect((await run("merge_request.update", { ...update, draft: false })).params).toEqual({ ...update, title: "Sort" });
    expect(asked).toEqual([[{ project_id: "a/b" }, "42"]]);
    const unknown = world(undefined);
    expect(await failureOf(unknown.run("merge_request.update", { ...update, draft: true }))).toMatchObject({
      code: "invalid_params",
      detail: { fields: { draft: expect.any(String) } },
    });
  });

  it("is refused where it is no yes or no, and where GitLab has nothing like it", async () => {
    const { run } = world();
    expect((await failureOf(run("merge_request.create", { ...create, title: "T", draft: "maybe" }))).detail.fields).toHaveProperty("draft");
    expect((await failureOf(run("issue.create", { ...ISSUE, draft: true }))).detail.fields).toHaveProperty("draft");
    expect((await run("merge_request.list", { project_id: "a/b", draft: true })).params.draft).toBe(true);
  });
});

describe("edits and comments in words of other tools", () => {
  it("are understood, each word once", async () => {
    const { run } = world();
    const edit = { project_id: "a/b", branch: "x", commit_message: "M", edits: [{ file_path: "a", old_string: "1", new_string: "" }] };
    expect((await run("commit.edit", edit)).params).toMatchObject({ message: "M", edits: [{ path: "a", old: "1", new: "" }] });
    const review = { project_id: "a/b", merge_request_iid: 1, comments: [{ file: "a", new_line: "3", body: "x" }] };
    expect((await run("merge_request.review", review)).params.comments).toEqual([{ path: "a", line: 3, text: "x" }]);
    const twice = { ...review, comments: [{ path: "a", file: "b", text: "x" }] };
    expect((await failureOf(run("merge_request.review", twice))).detail.fields).toHaveProperty("comments[0].file");
    const own = { project_id: "a/b", branch: "x", commit_message: "M", actions: [{ action: "delete", file_path: "a" }] };
    expect((await run("commit.create", own)).params.actions).toEqual([{ action: "delete", file_path: "a" }]);
  });
});
