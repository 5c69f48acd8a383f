import { describe, expect, test } from "vitest";
import { finishPipeline } from "../../src/sandbox/ci-run.ts";
import { useSandbox } from "./http.ts";

const P = "/projects/acme%2Fwebshop";
const M = `${P}/merge_requests`;
type Row = Record<string, unknown>;
const iids = (rows: Row[]) => rows.map((row) => row.iid);

describe("reading", () => {
  const { call } = useSandbox();

  test("lists by scope, state, people, labels, branches, draft", async () => {
    const mine = await call("GET", "/merge_requests?state=opened");
    expect([mine.json.length, mine.headers.get("x-total")]).toEqual([20, "24"]);
    expect(new Set(mine.json.map((row: { author: { username: string } }) => row.author.username))).toEqual(new Set(["maria"]));
    const find = async (query: string, as: "maria" | "jonas" = "maria") =>
      iids((await call("GET", `${M}?per_page=100&${query}`, undefined, as)).json);
    expect(await find("state=opened")).toEqual([48, 47, 46, 45, 43, 42, 44]);
    expect(await find("state=closed")).toEqual([34]);
    expect(await find("state=merged&labels=security")).toEqual([40]);
    expect(await find("state=opened&author_username=jonas")).toEqual([42]);
    expect(await find("state=opened&reviewer_username=maria")).toEqual([46, 42]);
    expect(await find("state=opened&scope=reviews_for_me", "jonas")).toEqual([48, 44]);
    expect(await find("state=opened&draft=true")).toEqual([43]);
    expect(await find("state=opened&wip=yes")).toEqual([43]);
    expect(await find("source_branch=feature/cart-discounts")).toEqual([42]);
    expect(await find("iids[]=42&iids[]=30&order_by=title&sort=asc")).toEqual([42, 30]);
    expect(await find("search=discount+codes")).toEqual([42]);
    expect(await find("not[author_username]=maria&state=opened")).toEqual([46, 42]);
    expect(await find("merged_after=2026-10-29T00:00:00Z&state=merged")).toEqual([41, 40]);
    expect((await call("GET", `${M}?state=open`)).json).toEqual({ error: "state does not have a valid value" });
    expect((await call("GET", "/merge_requests", undefined, null)).status).toBe(401);
    const group = await call("GET", "/groups/acme/merge_requests?state=opened&author_username=maria&per_page=100");
    expect(group.json).toHaveLength(24);
  });

  test("one tells how it stands", async () => {
    const one = (await call("GET", `${M}/42`)).json;
    expect(one).toMatchObject({
      state: "opened",
      detailed_merge_status: "discussions_not_resolved",
      has_conflicts: false,
      changes_count: "7",
      user: { can_merge: true },
      blocking_discussions_resolved: false,
      task_completion_status: { count: 4, completed_count: 2 },
      references: { full: "acme/webshop!42" },
      head_pipeline: { status: "running", ref: "feature/cart-discounts" },
    });
    expect(one.diff_refs.head_sha).toBe(one.sha);
    const status = async (iid: number) => (await call("GET", `${M}/${iid}`)).json.detailed_merge_status;
    expect([await status(43), await status(44), await status(45), await status(48), await status(41)]).toEqual([
      "draft_status",
      "conflict",
      "ci_must_pass",
      "mergeable",
      "not_open",
    ]);
    expect((await call("GET", `${M}/999`)).status).toBe(404);
  });

  test("diffs, raw diffs, changes, commits, versions", async () => {
    const diffs = (await call("GET", `${M}/42/diffs`)).json;
    const hunks = diffs.map((file: { new_path: string; diff: string }) => [file.new_path, file.diff.match(/^@@/gm)?.length]);
    expect(hunks).toHaveLength(7);
    expect(hunks.filter(([, count]: [string, number]) => count > 1)).toEqual([
      ["src/cart/cart.ts", 2],
      ["src/cart/pricing.ts", 3],
      ["src/cart/routes.ts", 2],
    ]);
    const second = await call("GET", `${M}/42/diffs?per_page=3&page=3`);
    expect([second.json.length, second.headers.get("x-total")]).toEqual([1, "7"]);
    const raw = await call("GET", `${M}/42/raw_diffs`);
    expect(raw.headers.get("content-type")).toContain("text/plain");
    expect(raw.text.startsWith("diff --git a/docs/api.md b/docs/api.md\n")).toBe(true);
    expect((await call("GET", `${M}/42/changes`)).json.changes).toHaveLength(7);
    expect((await call("GET", `${M}/42/commits`)).json.map((row: Row) => row.title)[0]).toBe("Test discounts and the empty cart");
    const [version] = (await call("GET", `${M}/42/versions`)).json;
    expect((await call("GET", `${M}/42/versions/${version.id}`)).json.diffs).toHaveLength(7);
    expect((await call("GET", `${M}/42/pipelines`)).json.map((row: Row) => row.status)).toEqual(["running", "success", "failed"]);
    expect((await call("GET", `${M}/30/diffs`)).json).toHaveLength(1);
  });

  test("approvals name rules and people", async () => {
    const { rules } = (await call("GET", `${M}/42/approval_state`)).json;
    const names = (users: { username: string }[]) => users.map(({ username }) => username);
    expect(
      rules.map((rule: Row) => [rule.name, rule.approvals_required, rule.approved, names(rule.approved_by as { username: string }[])]),
    ).toEqual([
      ["All members", 2, false, ["aiko"]],
      ["Backend", 1, false, []],
    ]);
    expect(names(rules[1].eligible_approvers)).toEqual(["maria"]);
    expect(
      (await call("GET", `${M}/42/reviewers`)).json.map((row: { user: { username: string }; state: string }) => [
        row.user.username,
        row.state,
      ]),
    ).toEqual([
      ["maria", "unreviewed"],
      ["aiko", "approved"],
    ]);
  });
});

describe("writing", () => {
  const { call } = useSandbox();

  test("create: what is missing, what is there already, what does not exist", async () => {
    await call("POST", `${P}/repository/branches`, { branch: "feature/new", ref: "main" });
    const body = { source_branch: "feature/new", target_branch: "main", title: "Draft: New" };
    expect((await call("POST", M, { title: "x" })).json).toEqual({ error: "source_branch is missing, target_branch is missing" });
    expect((await call("POST", M, { ...body, source_branch: "none" })).status).toBe(400);
    expect((await call("POST", M, { ...body, source_branch: "main" })).status).toBe(422);
    expect((await call("POST", M, body, "reader")).status).toBe(403);
    const made = await call(
      "POST",
      M,
      { ...body, labels: "bug,brand new", assignee_ids: [3], reviewer_ids: [2, 4], remove_source_branch: true },
      "jonas",
    );
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      iid: 49,
      draft: true,
      labels: ["brand new", "bug"],
      force_remove_source_branch: true,
      detailed_merge_status: "draft_status",
    });
    const twin = await call("POST", M, body);
    expect([twin.status, twin.json]).toEqual([409, { message: ["Another open merge request already exists for this source branch: !49"] }]);
    expect(
      (await call("GET", "/todos?type=MergeRequest&action=review_requested")).json.some(
        (row: { target: { iid: number } }) => row.target.iid === 49,
      ),
    ).toBe(true);
  });

  test("update: title, labels, people, state", async () => {
    expect((await call("PUT", `${M}/46`, {})).status).toBe(400);
    const changed = await call("PUT", `${M}/46`, {
      title: "Draft: Robots",
      add_labels: "performance",
      remove_labels: "feature",
      reviewer_ids: [3],
    });
    expect(changed.json).toMatchObject({ draft: true, labels: ["performance"], reviewers: [{ username: "jonas" }] });
    expect((await call("PUT", `${M}/46`, { state_event: "close" })).json).toMatchObject({
      state: "closed",
      detailed_merge_status: "not_open",
    });
    expect((await call("PUT", `${M}/46`, { state_event: "reopen", title: "Robots" })).json).toMatchObject({
      state: "opened",
      draft: false,
    });
  });

  test("approve once, not one's own, only the sha that stands", async () => {
    expect((await call("POST", `${M}/42/approve`, {}, "jonas")).status).toBe(401);
    expect((await call("POST", `${M}/42/approve`, { sha: "0".repeat(40) })).status).toBe(409);
    const { sha } = (await call("GET", `${M}/42`)).json;
    expect((await call("POST", `${M}/42/approve`, { sha })).json).toMatchObject({
      approved: true,
      approvals_left: 0,
      user_has_approved: true,
    });
    expect((await call("POST", `${M}/42/approve`)).status).toBe(401);
    expect((await call("POST", `${M}/42/unapprove`)).json).toMatchObject({ approved: false, approvals_left: 1 });
    expect((await call("POST", `${M}/42/unapprove`)).status).toBe(404);
  });

  test("threads stand on lines of the diff, and nowhere else", async () => {
    const { diff_refs } = (await call("GET", `${M}/42`)).json;
    const position = { ...diff_refs, position_type: "text", new_path: "src/cart/pricing.ts", old_path: "src/cart/pricing.ts" };
    const post = (place: object) => call("POST", `${M}/42/discussions`, { body: "Here?", position: { ...position, ...place } });
    const added = await post({ new_line: 35 });
    expect(added.status).toBe(201);
    expect(added.json.notes[0]).toMatchObject({
      type: "DiffNote",
      resolvable: true,
      resolved: false,
      position: { new_line: 35, old_line: null },
    });
    expect((await post({ new_line: 1 })).status).toBe(400);
    expect((await post({ new_line: 1, old_line: 1 })).status).toBe(201);
    expect((await post({ new_line: 4000 })).status).toBe(400);
    expect((await post({ new_path: "no.ts", old_path: "no.ts", new_line: 1 })).status).toBe(400);
    const done = await call("PUT", `${M}/42/discussions/${added.json.id}`, { resolved: true });
    expect(done.json.notes[0]).toMatchObject({ resolved: true, resolved_by: { username: "maria" } });
  });

  test("draft notes are one's own until they are published", async () => {
    const { diff_refs } = (await call("GET", `${M}/42`)).json;
    const position = {
      ...diff_refs,
      position_type: "text",
      new_path: "src/cart/discounts.ts",
      old_path: "src/cart/discounts.ts",
      new_line: 10,
    };
    const [old] = (await call("GET", `${M}/42/discussions`)).json;
    expect((await call("POST", `${M}/42/draft_notes`, {})).json).toEqual({ error: "note is missing" });
    const made = await call("POST", `${M}/42/draft_notes`, { note: "Name it", position });
    expect(made.json).toMatchObject({ note: "Name it", position: { new_line: 10 }, discussion_id: null });
    await call("POST", `${M}/42/draft_notes`, { note: "Agreed", in_reply_to_discussion_id: old.id, resolve_discussion: true });
    expect((await call("GET", `${M}/42/draft_notes`)).json).toHaveLength(2);
    expect((await call("GET", `${M}/42/draft_notes`, undefined, "jonas")).json).toEqual([]);
    const count = (await call("GET", `${M}/42/discussions?per_page=100`)).json.length;
    expect((await call("POST", `${M}/42/draft_notes/bulk_publish`)).status).toBe(204);
    expect((await call("GET", `${M}/42/draft_notes`)).json).toEqual([]);
    const now = (await call("GET", `${M}/42/discussions?per_page=100`)).json;
    expect(now).toHaveLength(count + 1);
    expect(now[0].notes.at(-1)).toMatchObject({ body: "Agreed", resolved: true });
  });

  test("a suggestion can be applied once", async () => {
    const url = `${M}/47`;
    const { diff_refs } = (await call("GET", url)).json;
    const position = {
      ...diff_refs,
      position_type: "text",
      new_path: "src/catalog/routes.ts",
      old_path: "src/catalog/routes.ts",
      new_line: 10,
    };
    const body = 'Longer?\n```suggestion:-0+0\n    void reply.header("cache-control", "public, max-age=300");\n```\n';
    const [note] = (await call("POST", `${url}/discussions`, { body, position }, "jonas")).json.notes;
    const [suggestion] = note.suggestions;
    expect(suggestion).toMatchObject({ from_line: 10, to_line: 10, appliable: true, applied: false });
    expect(suggestion.from_content).toContain("max-age=60");
    const applied = await call("PUT", `/suggestions/${suggestion.id}/apply`);
    expect([applied.status, applied.json.applied, applied.json.appliable]).toEqual([200, true, false]);
    expect((await call("PUT", `/suggestions/${suggestion.id}/apply`)).status).toBe(400);
    expect((await call("PUT", "/suggestions/9999/apply")).status).toBe(404);
    const raw = await call("GET", `${P}/repository/files/src%2Fcatalog%2Froutes.ts/raw?ref=perf/cache-products`);
    expect(raw.text).toContain("max-age=300");
  });

  test("a push makes a new version", async () => {
    const before = (await call("GET", `${M}/47/versions`)).json.length;
    const body = { branch: "perf/cache-products", commit_message: "More", content: "x\n" };
    await call("POST", `${P}/repository/files/x.txt`, body);
    expect((await call("GET", `${M}/47/versions`)).json).toHaveLength(before + 1);
    expect((await call("GET", `${M}/47`)).json).toMatchObject({ changes_count: "2", head_pipeline: { status: "pending" } });
  });
});

describe("merging", () => {
  const { call, box } = useSandbox();

  test("refusals: draft, conflict, pipeline, sha, role", async () => {
    const merge = async (iid: number, body: object = {}, as: "maria" | "reader" = "maria") => {
      const { status, json } = await call("PUT", `${M}/${iid}/merge`, body, as);
      return [status, json.message];
    };
    expect(await merge(43)).toEqual([405, "405 Method Not Allowed"]);
    expect(await merge(45)).toEqual([405, "405 Method Not Allowed"]);
    expect(await merge(45, { auto_merge: true })).toEqual([405, "405 Method Not Allowed"]);
    expect(await merge(42)).toEqual([405, "405 Method Not Allowed"]);
    expect((await merge(44))[1]).toBe("Branch cannot be merged");
    expect((await merge(48, { sha: "0".repeat(40) }))[0]).toBe(409);
    expect((await merge(48, {}, "reader"))[0]).toBe(403);
    expect((await call("GET", `${M}/48`)).json.state).toBe("opened");
  });

  test("auto-merge waits for pipeline, approvals and threads, then merges and closes the issue", async () => {
    const { sha, head_pipeline } = (await call("GET", `${M}/42`)).json;
    const set = await call("PUT", `${M}/42/merge`, { merge_when_pipeline_succeeds: true, sha, should_remove_source_branch: true });
    expect(set.json).toMatchObject({ state: "opened", merge_when_pipeline_succeeds: true, merge_user: { username: "maria" } });
    expect((await call("POST", `${M}/42/cancel_merge_when_pipeline_succeeds`)).status).toBe(201);
    expect((await call("GET", `${M}/42`)).json.merge_when_pipeline_succeeds).toBe(false);
    await call("PUT", `${M}/42/merge`, { auto_merge: true, sha, should_remove_source_branch: true });
    expect((await call("GET", `${M}/42/closes_issues`)).json.map((row: Row) => row.iid)).toEqual([12]);
    finishPipeline(box().world, head_pipeline.id);
    expect((await call("GET", `${M}/42`)).json).toMatchObject({ state: "opened", merge_when_pipeline_succeeds: true });
    await call("POST", `${M}/42/approve`);
    expect((await call("GET", `${M}/42`)).json.state).toBe("opened");
    for (const thread of (await call("GET", `${M}/42/discussions?per_page=100`)).json) {
      if (thread.notes[0].resolvable) await call("PUT", `${M}/42/discussions/${thread.id}`, { resolved: true });
    }
    const merged = (await call("GET", `${M}/42`)).json;
    expect(merged).toMatchObject({ state: "merged", merge_when_pipeline_succeeds: false, merged_by: { username: "maria" } });
    const main = (await call("GET", `${P}/repository/branches/main`)).json;
    expect(main.commit.id).toBe(merged.merge_commit_sha);
    expect(main.commit.parent_ids).toHaveLength(2);
    expect((await call("GET", `${P}/repository/branches/feature%2Fcart-discounts`)).status).toBe(404);
    expect((await call("GET", `${P}/issues/12`)).json.state).toBe("closed");
    expect((await call("GET", `${P}/pipelines?ref=main`)).json[0]).toMatchObject({ sha: merged.merge_commit_sha, source: "push" });
  });

  test("a failed pipeline ends the waiting", async () => {
    const body = { branch: "fix/payment-limit", commit_message: "More", content: "x\n" };
    await call("POST", `${P}/repository/files/y.txt`, body);
    const { head_pipeline } = (await call("GET", `${M}/48`)).json;
    expect((await call("PUT", `${M}/48/merge`, { auto_merge: true })).json.merge_when_pipeline_succeeds).toBe(true);
    finishPipeline(box().world, head_pipeline.id, "failed");
    expect((await call("GET", `${M}/48`)).json).toMatchObject({
      state: "opened",
      merge_when_pipeline_succeeds: false,
      detailed_merge_status: "ci_must_pass",
    });
  });

  test("squash makes one commit", async () => {
    const url = "/projects/acme%2Fmobile-app/merge_requests/46";
    const { json } = await call("PUT", `${url}/merge`, { squash: true, squash_commit_message: "One" });
    expect(json).toMatchObject({ state: "merged", squash: false });
    const commit = await call("GET", `/projects/acme%2Fmobile-app/repository/commits/${json.squash_commit_sha}`);
    expect(commit.json).toMatchObject({ title: "One" });
    expect(commit.json.parent_ids).toHaveLength(1);
  });

  test("rebase puts the commits on top, or says why not", async () => {
    expect((await call("PUT", `${M}/47/rebase`)).status).toBe(202);
    expect((await call("GET", `${M}/47?include_diverged_commits_count=true`)).json.diverged_commits_count).toBe(0);
    await call("PUT", `${M}/44/rebase`);
    expect((await call("GET", `${M}/44`)).json.merge_error).toContain("Rebase");
  });
});
