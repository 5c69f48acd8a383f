import { describe, expect, it, vi } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { type NormalizeOptions, normalizeParams } from "../../src/executor/params.ts";

const INSTANCE = "https://gitlab.example.com/git";
const NOW = new Date("2026-11-30T12:00:00.000Z");
const users: Readonly<Record<string, number>> = { bob: 12, alice: 7 };
const base: NormalizeOptions = {
  instance: INSTANCE,
  now: () => NOW,
  self: { id: 7, username: "alice" },
  resolveUser: async (name) => users[name],
};

function action(id: string): Action {
  const found = loadActions().find((row) => row.id === id);
  if (!found) throw new Error(`no row ${id}`);
  return found;
}

const normal = (id: string, raw: unknown, options: Partial<NormalizeOptions> = {}) =>
  normalizeParams(action(id), raw, { ...base, ...options });
const params = async (id: string, raw: unknown, options: Partial<NormalizeOptions> = {}) => (await normal(id, raw, options)).params;

async function refused(id: string, raw: unknown, options: Partial<NormalizeOptions> = {}): Promise<BridgeError> {
  const error = await normal(id, raw, options).then(
    (value) => expect.fail(`not refused: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BridgeError);
  expect((error as BridgeError).code).toBe("invalid_params");
  return error as BridgeError;
}

const MR = { project_id: "group/app", merge_request_iid: 42 };

describe("names", () => {
  it.each([
    [{ project_id: "group/app", merge_request_iid: 42 }],
    [{ projectId: "group/app", mergeRequestIid: 42 }],
    [{ project: "group/app", mr_iid: 42 }],
    [{ project_path: "group/app", iid: 42 }],
    [{ project_id: "group/app", id: 42 }],
    [{ id: "group/app", iid: "42" }],
    [{ id: "group/app", merge_request_iid: 42 }],
    [{ repo: "group/app", pull_number: 42 }],
    [{ repository: "group/app", mr: "!42" }],
    [{ project: "group/app", merge_request_id: 42 }],
    [{ project: "group/app", number: 42 }],
    [{ project: "group/app", merge_request: 42, id: null }],
    [JSON.stringify(MR)],
    [{ params: MR }],
    [{ arguments: JSON.stringify(MR) }],
  ])("%j is merge request 42 of group/app", async (raw) => {
    expect(await params("merge_request.get", raw)).toEqual(MR);
  });

  it("gives a bare id to the last id that is free, and to the scope where nothing else is", async () => {
    expect(await params("issue.note_get", { project_id: "a/b", id: 7, note_id: 3 })).toEqual({
      project_id: "a/b",
      issue_iid: 7,
      note_id: 3,
    });
    expect(await params("project.get", { id: 12 })).toEqual({ project_id: "12" });
    expect(await params("job.get", { project_id: "a/b", job: 8 })).toEqual({ project_id: "a/b", job_id: 8 });
  });

  it("keeps an iid that the action has itself", async () => {
    expect(await params("issue.create", { project_id: "a/b", title: "t", iid: 9 })).toEqual({ project_id: "a/b", title: "t", iid: 9 });
  });

  it("takes words from other forges", async () => {
    const raw = { repo: "a/b", head: "fix", base: "main", title: "t", body: "why", assignees: "bob" };
    const expected = { project_id: "a/b", source_branch: "fix", target_branch: "main", title: "t", description: "why", assignee_ids: [12] };
    expect(await params("merge_request.create", raw)).toEqual(expected);
  });

  it("refuses an unknown name with the nearest ones and the signature", async () => {
    const error = await refused("merge_request.list", { project_id: "a/b", stat: "opened", frobnicate: 1 });
    expect(error.detail.fields?.stat).toContain("nearest: state");
    expect(error.detail.fields?.frobnicate).toBe("is not a parameter");
    expect(error.detail.nearest).toContain("state");
    expect(error.detail.signature).toMatch(/^merge_request\.list\(/);
    expect(error.hint).toContain("merge_request.list(");
  });

  it("refuses two values for one parameter", async () => {
    const error = await refused("merge_request.get", { project_id: "a/b", merge_request_iid: 1, mr_iid: 2 });
    expect(error.detail.fields).toEqual({ mr_iid: "means merge_request_iid, which is given too, with another value" });
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("knows nothing of %s", async (name) => {
    const error = await refused("version.get", JSON.parse(`{"${name}": 1}`));
    expect(Object.keys(error.detail.fields ?? {})).toEqual([name]);
  });
});

describe("reserved arguments", () => {
  it("are taken out of the parameters", async () => {
    const raw = { project_id: "a/b", per_page: "50", page: "3", fields: "iid,title", full: "true", all: false };
    expect(await normal("merge_request.list", raw)).toEqual({
      params: { project_id: "a/b" },
      wanted: { limit: 50, page: 3, select: ["iid", "title"], full: true, all: false },
      project: "a/b",
    });
  });

  it("never ask for more than GitLab gives, nor for less than one row", async () => {
    expect((await normal("merge_request.list", { limit: 1000 })).wanted).toEqual({ limit: 100 });
    expect((await refused("merge_request.list", { limit: 0 })).detail.fields).toEqual({ limit: "expected 1 or more, got 0" });
  });

  it("hand confirm on", async () => {
    expect((await normal("merge_request.delete", { ...MR, confirm: true })).confirm).toBe(true);
    expect((await normal("merge_request.delete", { ...MR })).confirm).toBeUndefined();
  });

  it("leave a row's own parameter of such a name alone", async () => {
    const row: Action = { ...action("branch.list"), params: { ...action("branch.list").params, all: { in: "query", type: "boolean" } } };
    const result = await normalizeParams(row, { project_id: "a/b", all: "true" }, base);
    expect(result).toEqual({ params: { project_id: "a/b", all: true }, wanted: {}, project: "a/b" });
  });

  it("hold the cursor of a long text", async () => {
    expect(await normal("job.log_get", { project_id: "a/b", job_id: 8, cursor: "c" })).toMatchObject({ wanted: { cursor: "c" } });
    expect((await refused("issue.create", { project_id: "a/b", title: "t", cursor: "c" })).detail.fields?.cursor).toContain(
      "not a parameter",
    );
  });

  it("refuse a page number where there are none, but for the first", async () => {
    expect((await normal("work_item.list", { project_id: "a/b", page: 1 })).wanted.page).toBe(1);
    expect((await refused("work_item.list", { project_id: "a/b", page: 2 })).detail.fields?.page).toContain("cursor");
    expect((await refused("milestone.burndown_event_list", { project_id: "a/b", milestone_id: 1, page: 2 })).detail.fields?.page).toContain(
      "cursor",
    );
  });

  it("know an order by its direction and by its field", async () => {
    expect(await params("issue.list", { order: "desc" })).toEqual({ sort: "desc" });
    expect(await params("issue.list", { order: "created_at" })).toEqual({ order_by: "created_at" });
    expect((await refused("issue.list", { order: "sideways" })).detail.fields?.sort).toContain("asc, desc");
  });

  it("understand a page number on every paged list of REST, by keys or not", async () => {
    for (const id of ["issue.list", "project.list", "branch.list", "job.list"])
      expect((await normal(id, { page: 2 }, { project: "a/b" })).wanted.page, id).toBe(2);
  });

  it("are not parameters where there is no list", async () => {
    expect((await refused("merge_request.get", { ...MR, limit: 5 })).detail.fields?.limit).toContain("not a parameter");
  });
});

describe("addresses and references", () => {
  it.each([
    [{ url: `${INSTANCE}/group/app/-/merge_requests/42` }],
    [{ url: `${INSTANCE}/group/app/-/merge_requests/42/diffs?tab=1#note_5` }],
    [{ project_id: `${INSTANCE}/group/app/-/merge_requests/42` }],
    [{ merge_request_iid: `${INSTANCE}/group/app/-/merge_requests/42` }],
    [{ id: `${INSTANCE}/group/app/-/merge_requests/42` }],
    [{ merge_request_iid: "gitlab.example.com/git/group/app/-/merge_requests/42" }],
    [{ url: `${INSTANCE}/group/app/merge_requests/42` }],
    [{ url: `${INSTANCE}/api/v4/projects/group%2Fapp/merge_requests/42` }],
    [{ merge_request_iid: "group/app!42" }],
    [{ reference: "group/app!42" }],
    [{ project_id: "group/app!42" }],
    [{ project_id: "group/app", merge_request_iid: "!42" }],
    [{ project_id: "group%2Fapp", merge_request_iid: "42" }],
    [{ project_id: "group%252Fapp", merge_request_iid: "42" }],
    [{ project_id: "git@gitlab.example.com:group/app.git", merge_request_iid: 42 }],
    [{ project_id: "ssh://git@gitlab.example.com:2222/group/app.git", merge_request_iid: 42 }],
    [{ project_id: `${INSTANCE}/group/app.git`, merge_request_iid: 42 }],
    [{ project_id: 5, merge_request_iid: `${INSTANCE}/group/app/-/merge_requests/42` }],
    [{ project_id: "Group/App", url: `${INSTANCE}/group/app/-/merge_requests/42` }],
  ])("%j is merge request 42 of group/app", async (raw) => {
    expect(await params("merge_request.get", raw)).toEqual(MR);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ["issue.get", "group/app/-/issues/17", { issue_iid: 17 }],
    ["issue.get", "group/app/-/work_items/17", { issue_iid: 17 }],
    ["issue.note_get", "group/app/-/issues/17#note_123", { issue_iid: 17, note_id: 123 }],
    ["pipeline.get", "group/app/-/pipelines/9", { pipeline_id: 9 }],
    ["job.get", "group/app/-/jobs/8", { job_id: 8 }],
    ["commit.get", "group/app/-/commit/0123abc", { sha: "0123abc" }],
    ["repository.file_get", "group/app/-/blob/main/src/a%20b.ts#L3", { ref: "main", file_path: "src/a b.ts" }],
    ["repository.tree_list", "group/app/-/tree/main/src", { ref: "main", path: "src" }],
    ["tag.get", "group/app/-/tags/v1.0", { tag_name: "v1.0" }],
  ])("%s understands %s", async (id, path, expected) => {
    expect(await params(id, { url: `${INSTANCE}/${path}` })).toEqual({ project_id: "group/app", ...expected });
  });

  it("reads the other end of a link", async () => {
    const link = { project_id: "a/b", issue_iid: 1 };
    for (const other of [`${INSTANCE}/c/d/-/issues/3`, "c/d#3"]) {
      expect(await params("issue.link_create", { ...link, target_issue_iid: other })).toEqual({
        ...link,
        target_project_id: "c/d",
        target_issue_iid: "3",
      });
    }
  });

  it("takes no file or tag for a remote", async () => {
    const raw = { project_id: "a/b", file_path: "mail@example.org:25", ref: "main" };
    expect(await params("repository.file_get", raw)).toEqual(raw);
  });

  it("reads groups", async () => {
    expect(await params("epic.get", { url: `${INSTANCE}/groups/top/sub/-/epics/3` })).toEqual({ group_id: "top/sub", epic_iid: 3 });
    expect(await params("epic.list", { group: `${INSTANCE}/top/sub` })).toEqual({ group_id: "top/sub" });
  });

  it.each([
    ["https://gitlab.com/group/app/-/merge_requests/42"],
    ["https://gitlab.example.com/other/group/app/-/merge_requests/42"],
    ["https://gitlab.example.com:8443/git/group/app/-/merge_requests/42"],
    ["https://gitlab.example.com.evil.org/git/group/app/-/merge_requests/42"],
    ["https://gitlab.example.com@evil.org/git/group/app/-/merge_requests/42"],
  ])("refuses %s, which is elsewhere", async (url) => {
    for (const name of ["url", "project_id", "merge_request_iid"]) {
      const error = await refused("merge_request.get", { ...MR, [name]: url });
      expect(error.detail.fields?.[name]).toContain("outside https://gitlab.example.com/git");
    }
  });

  it("refuses the address of another kind of thing, and one of another project than is named", async () => {
    const issue = `${INSTANCE}/group/app/-/issues/17`;
    expect((await refused("merge_request.get", { merge_request_iid: issue })).detail.fields?.merge_request_iid).toBe(
      "is the address of an issue",
    );
    expect((await refused("merge_request.get", { url: issue })).detail.fields?.url).toContain("does not take");
    const error = await refused("merge_request.get", { project_id: "other/app", url: `${INSTANCE}/group/app/-/merge_requests/42` });
    expect(error.detail.fields).toMatchObject({ url: "names group/app, but project_id is other/app" });
  });

  it("leaves addresses in texts alone", async () => {
    const raw = { ...MR, description: "see https://example.org/a/b!1", title: "!42" };
    expect(await params("merge_request.update", raw)).toEqual(raw);
  });
});

describe("values", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      "issue.create",
      { project_id: 5, title: 101, labels: "bug, ui", confidential: "true", weight: "3" },
      { project_id: "5", title: "101", labels: ["bug", "ui"], confidential: true, weight: 3 },
    ],
    ["issue.create", { project_id: "a", title: "t", labels: '["a","b"]' }, { project_id: "a", title: "t", labels: ["a", "b"] }],
    [
      "issue.create",
      { project_id: "a", title: "t", labels: "bug", milestone_id: "gid://gitlab/Milestone/12" },
      { project_id: "a", title: "t", labels: ["bug"], milestone_id: 12 },
    ],
    ["issue.get", { project_id: "a", issue_iid: "#17" }, { project_id: "a", issue_iid: 17 }],
    ["merge_request.list", { project_id: "a", state: "OPEN", sort: "Descending" }, { project_id: "a", state: "opened", sort: "desc" }],
    ["merge_request.list", { project_id: "a", wip: true, labels: [1] }, { project_id: "a", wip: "yes", labels: ["1"] }],
    ["issue.update", { project_id: "a", issue_iid: 1, state: "closed" }, { project_id: "a", issue_iid: 1, state_event: "close" }],
    ["pipeline.list", { project_id: "a", status: "cancelled" }, { project_id: "a", status: "canceled" }],
    [
      "pipeline.create",
      { project_id: "a", ref: "main", variables: { A: "1" } },
      { project_id: "a", ref: "main", variables: [{ key: "A", value: "1" }] },
    ],
    [
      "project.share",
      { project_id: "a", group_id: "9", group_access: "Developer" },
      { project_id: "a", shared_group_id: 9, group_access: 30 },
    ],
    ["pipeline.job_list", { project_id: "a", pipeline_id: 3, scope: "FAILED" }, { project_id: "a", pipeline_id: 3, scope: ["failed"] }],
  ])("%s: %j", async (id, raw, expected) => {
    expect(await params(id, raw)).toEqual(expected);
  });

  it("drops null and what is empty, but keeps empty text where it clears or is a file", async () => {
    expect(await params("merge_request.list", { project_id: "a", state: "", search: null, labels: [], not: {} })).toEqual({
      project_id: "a",
    });
    expect(await params("issue.create", { project_id: "a", title: "t", description: "", weight: "" })).toEqual({
      project_id: "a",
      title: "t",
    });
    const cleared = { project_id: "a", issue_iid: 1, description: "", labels: "", state_event: "", weight: "" };
    expect(await params("issue.update", cleared)).toEqual({ project_id: "a", issue_iid: 1, description: "", labels: [] });
    const file = { project_id: "a", file_path: "empty", branch: "main", content: "", commit_message: "m" };
    expect(await params("repository.file_create", file)).toEqual(file);
  });

  it("reports all problems of a call together, in plain words", async () => {
    const error = await refused("issue.create", {
      project_id: "a",
      weight: "heavy",
      confidential: "perhaps",
      issue_type: "bug",
      labels: [{}],
      due_date: {},
    });
    expect(error.detail.fields).toEqual({
      title: "is missing",
      weight: 'expected a whole number, got the text "heavy"',
      confidential: 'expected true or false, got the text "perhaps"',
      issue_type: expect.stringMatching(/^expected one of issue, incident, .*got the text "bug"/),
      "labels[0]": "expected text, got an object",
      due_date: "expected text, got an object",
    });
    for (const field of Object.keys(error.detail.fields ?? {})) expect(error.message).toContain(field);
  });

  it("looks into objects", async () => {
    const position = { base_sha: "a", start_sha: "b", head_sha: "c", position_type: "text", new_path: "f", new_line: "3" };
    expect(await params("merge_request.discussion_create", { ...MR, body: "x", position: JSON.stringify(position) })).toEqual({
      ...MR,
      body: "x",
      position: { ...position, new_line: 3 },
    });
    const error = await refused("merge_request.discussion_create", {
      ...MR,
      body: "x",
      position: { ...position, head_sha: null, newline: 3 },
    });
    expect(error.detail.fields).toEqual({ "position.newline": "is not known here; nearest: new_line", "position.head_sha": "is missing" });
  });

  it.each([
    [{ assignee_id: "1", assignee_username: "bob" }, "assignee_username"],
    [{ author_id: 1, author_username: "bob" }, "author_username"],
  ])("refuses %j together", async (raw, field) => {
    expect((await refused("merge_request.list", raw)).detail.fields?.[field]).toContain("cannot be given together");
  });

  it("refuses a parameter that the chosen route does not know", async () => {
    const error = await refused("merge_request.list", { group_id: "g", iids: [1] });
    expect(error.detail.fields).toEqual({ iids: "works only with project_id" });
    expect((await refused("merge_request.list", { group_id: "g", project_id: "p" })).message).toContain("together");
  });

  it.each([[[]], ["text"], [3], [true], ["{broken"]])("refuses %j as params", async (raw) => {
    expect((await refused("merge_request.get", raw)).message).toContain("params must be an object");
  });
});

describe("dates", () => {
  it.each([
    ["7d", "2026-11-23T12:00:00.000Z"],
    ["2 weeks ago", "2026-11-16T12:00:00.000Z"],
    ["-3h", "2026-11-30T09:00:00.000Z"],
    ["yesterday", "2026-11-29T00:00:00.000Z"],
    ["Today", "2026-11-30T00:00:00.000Z"],
    ["2026-01-02", "2026-01-02"],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
  ])("%s is a moment", async (given, expected) => {
    expect(await params("merge_request.list", { updated_after: given })).toEqual({ updated_after: expected });
    expect(await params("commit.list", { project_id: "a", since: given })).toEqual({ project_id: "a", since: expected });
  });

  it("are days where a day is asked for, and lie ahead where they are set", async () => {
    expect(await params("event.list", { after: "7d" })).toEqual({ after: "2026-11-23" });
    const issue = { project_id: "a", issue_iid: 1 };
    expect(await params("issue.update", { ...issue, due_date: "2w" })).toEqual({ ...issue, due_date: "2026-12-14" });
    expect(await params("issue.update", { ...issue, due_date: "tomorrow" })).toEqual({ ...issue, due_date: "2026-12-01" });
  });

  it.each(["soon", "2026-13-45", "17"])("%s is none", async (given) => {
    expect((await refused("merge_request.list", { updated_after: given })).detail.fields?.updated_after).toContain("expected a date");
  });
});

describe("people", () => {
  const issue = { project_id: "a/b", title: "t" };

  it.each([
    [{ assignee_ids: "me" }, [7]],
    [{ assignee_ids: ["@me", "@bob", 3] }, [7, 12, 3]],
    [{ assignee_ids: "bob, alice" }, [12, 7]],
    [{ assignee: "me" }, [7]],
    [{ assignee_username: "bob" }, [12]],
  ])("%j become ids", async (raw, ids) => {
    expect(await params("issue.create", { ...issue, ...raw })).toEqual({ ...issue, assignee_ids: ids });
  });

  it("keep the words that GitLab itself knows", async () => {
    expect(await params("merge_request.list", { assignee_id: "None" })).toEqual({ assignee_id: "None" });
    expect(await params("merge_request.list", { assignee_id: "me" })).toEqual({ assignee_id: "7" });
  });

  it.each([
    ["member.add", { project_id: "a/b", user_id: "bob", access_level: 30 }, { user_id: "12" }],
    ["member.add", { project_id: "a/b", user_id: "bob, @alice,3", access_level: 30 }, { user_id: "12,7,3" }],
    ["invitation.create", { project_id: "a/b", user_id: ["bob"], access_level: 30 }, { user_id: ["12"] }],
    ["merge_request.list", { assignee_id: "bob", reviewer_id: "any" }, { assignee_id: "12", reviewer_id: "any" }],
    ["merge_request.list", { not: { author_id: "me", assignee_id: "@bob" } }, { not: { author_id: 7, assignee_id: "12" } }],
    ["issue.list", { not: '{"author_id":"bob"}' }, { not: { author_id: 12 } }],
    [
      "protected_branch.create",
      { project_id: "a/b", name: "x", allowed_to_push: [{ user_id: "bob" }, { access_level: 40 }] },
      { allowed_to_push: [{ user_id: 12 }, { access_level: 40 }] },
    ],
  ])("%s %j: ids also as texts, in objects and in lists of them", async (id, raw, meant) => {
    expect(await params(id, raw)).toMatchObject(meant);
  });

  it("that nobody knows are named where they stand", async () => {
    const raw = { project_id: "a/b", name: "x", allowed_to_push: [{ access_level: 40 }, { user_id: "carol" }] };
    expect((await refused("protected_branch.create", raw)).detail.fields).toEqual({
      "allowed_to_push[1].user_id": "no user is called carol; expected a user id",
    });
  });

  it("are usernames where usernames are asked for", async () => {
    expect(await params("merge_request.list", { author_username: "me" })).toEqual({ author_username: "alice" });
    expect(await params("merge_request.list", { author: "@bob" })).toEqual({ author_username: "bob" });
    expect(await params("merge_request.list", { reviewer: "bob" })).toEqual({ reviewer_username: "bob" });
  });

  it("are looked up only when needed, and only for a call that is right otherwise", async () => {
    const resolveUser = vi.fn(async () => 12);
    const self = vi.fn(async () => ({ id: 7, username: "alice" }));
    await params("issue.create", { ...issue, assignee_ids: [1, "2"] }, { resolveUser, self });
    await refused("issue.create", { project_id: "a/b", assignee_ids: ["bob", "me"] }, { resolveUser, self });
    expect(resolveUser).not.toHaveBeenCalled();
    expect(self).not.toHaveBeenCalled();
    await params("issue.create", { ...issue, assignee_ids: ["bob", "me"] }, { resolveUser, self });
    expect(resolveUser).toHaveBeenCalledExactlyOnceWith("bob");
    expect(self).toHaveBeenCalledOnce();
  });

  it("that nobody knows are refused", async () => {
    expect((await refused("issue.create", { ...issue, assignee_ids: "carol" })).detail.fields?.assignee_ids).toContain(
      "no user is called carol",
    );
    const options = { instance: INSTANCE };
    const error = await normalizeParams(action("issue.create"), { ...issue, assignee_ids: "me" }, options).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as BridgeError).detail.fields?.assignee_ids).toContain("not known here");
  });
});

describe("the current project", () => {
  const here = { project: "here/now" };

  it("stands in where the action cannot do without one", async () => {
    expect(await normal("merge_request.get", { mr: 42 }, here)).toMatchObject({
      params: { project_id: "here/now", merge_request_iid: 42 },
      project: "here/now",
    });
    expect(await params("label.list", {}, here)).toEqual({ project_id: "here/now" });
    expect(await params("merge_request.get", { id: 42 }, { project: () => "here/now" })).toEqual({
      project_id: "here/now",
      merge_request_iid: 42,
    });
  });

  it("gives way to what the call names, and to a route that needs none", async () => {
    expect(await params("merge_request.get", MR, here)).toEqual(MR);
    expect(await params("label.list", { group_id: "g" }, here)).toEqual({ group_id: "g" });
    expect(await params("merge_request.list", {}, here)).toEqual({});
    expect(await params("todo.list", {}, here)).toEqual({});
  });

  it("is not looked for in vain", async () => {
    const project = vi.fn(() => "here/now");
    await params("merge_request.get", MR, { project });
    await params("version.get", {}, { project });
    expect(project).not.toHaveBeenCalled();
  });

  it("is said to be missing where it is", async () => {
    expect((await refused("merge_request.get", { mr: 42 })).detail.fields?.project_id).toContain("no current project");
  });
});

describe("an upstream's tool", () => {
  const relayed: Action = { ...action("version.get"), schema: { type: "object", properties: { select: {}, id: {} } } };

  it("gets its params as they are, without our reserved arguments", async () => {
    const raw = { id: null, select: "theirs", project: "x", confirm: true, full: "true" };
    expect(await normalizeParams(relayed, raw, base)).toEqual({
      params: { id: null, select: "theirs", project: "x" },
      wanted: { full: true },
      confirm: true,
    });
  });
});
