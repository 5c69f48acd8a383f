import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

let road: SandboxRoad;
const open = async (...flags: string[]) => {
  road = await openRoad({ flags: ["--confirm=off", ...flags], token: "maria" });
  return road;
};
afterEach(async () => {
  await road?.close();
});

const run = (name: string, params: Json) => road.run(name, params);
const failure = async (name: string, params: Json): Promise<BridgeError> => {
  const outcome = await run(name, params).catch((error: unknown) => error);
  expect(outcome, `${name} ${JSON.stringify(params)}`).toBeInstanceOf(BridgeError);
  return outcome as BridgeError;
};
/** Refused by the scope, and nothing but reads of the places themselves was sent. */
async function refused(name: string, params: Json): Promise<void> {
  const before = road.sandbox.requests.length;
  const error = await failure(name, params);
  expect([name, error.code, error.detail.rule], error.message).toEqual([name, "not_permitted", "scope"]);
  const sent = road.sandbox.requests.slice(before).map((request) => `${request.method} ${request.path}`);
  for (const line of sent) expect(line).toMatch(/^GET \/api\/v4\/(projects|groups)\/[^/]+$/);
}
const items = (outcome: Outcome): Json[] => (outcome.kind === "list" ? (outcome.items as Json[]) : []);
const projects = (outcome: Outcome) => [...new Set(items(outcome).map((item) => item.project_id ?? (item.project as Json)?.id))];

describe("with --allow-projects", () => {
  it.each([
    ["by path", { project_id: "acme/webshop" }],
    ["by id", { project_id: 101 }],
    ["by encoded path", { project_id: "acme%2Fwebshop" }],
    ["in other letters", { project_id: "Acme/WebShop" }],
  ])("the project itself is open %s", async (_how, params) => {
    await open("--allow-projects=acme/webshop");
    expect(items(await run("issue.list", params)).length).toBeGreaterThan(0);
  });

  it("another project is refused, by path, id, address, encoded path, reference, alias and tool name", async () => {
    await open("--allow-projects=acme/webshop");
    for (const project_id of ["acme/mobile-app", 102, "102", "acme%2Fmobile-app", "maria/dotfiles", "no/where", 999])
      await refused("issue.list", { project_id });
    await refused("issue.list", { project_id: "acme/webshop/../mobile-app" });
    await refused("issue.get", { url: `${road.sandbox.url}/acme/mobile-app/-/issues/1` });
    await refused("issue.get", { issue_iid: "acme/mobile-app#1" });
    await refused("list_issues", { project_id: "acme/mobile-app" });
    await refused("repository.file_get", { project_id: 102, file_path: "README.md", ref: "main" });
    await refused("issue.create", { project_id: 102, title: "x", labels: ["bug"], milestone: "v1" });
    await refused("pipeline.explain_failure", { project_id: "acme/mobile-app" });
  });

  it("a second project that a call names is judged too", async () => {
    await open("--allow-projects=acme/webshop");
    await refused("issue.move", { project_id: 101, issue_iid: 1, to_project_id: 102 });
    await refused("issue.link_create", { project_id: 101, issue_iid: 1, target_project_id: "102", target_issue_iid: 1 });
    await refused("merge_request.create", { project_id: 101, source_branch: "a", target_branch: "b", title: "x", target_project_id: 102 });
    await refused("commit.create", {
      project_id: 101,
      branch: "x",
      commit_message: "x",
      start_project: "acme/mobile-app",
      actions: [{ action: "create", file_path: "a", content: "b" }],
    });
    await refused("repository.compare", { project_id: 101, from: "main", to: "x", from_project_id: 102 });
    await refused("project.fork", { project_id: 101 });
    await refused("project.fork", { project_id: 101, namespace_path: "maria" });
    await refused("project.share", { project_id: 101, shared_group_id: 11, group_access: 30 });
  });

  it("lists over everything show this project's rows only, without a total, and lead on", async () => {
    await open("--allow-projects=acme/webshop");
    for (const [name, params] of [
      ["issue.list", { scope: "all", limit: 20, full: true }],
      ["merge_request.list", { scope: "all", full: true }],
      ["event.list", { full: true }],
      ["todo.list", { full: true }],
      ["search.run", { scope: "issues", search: "a", full: true }],
      ["issue.list", { group_id: "acme", full: true }],
      ["merge_request.list", { group_id: 10, full: true }],
    ] as [string, Json][]) {
      const outcome = await run(name, params);
      expect([name, params, projects(outcome)]).toEqual([name, params, [101]]);
      expect(outcome).toMatchObject({ kind: "list", filtered: expect.stringContaining("allows") });
      expect(outcome.kind === "list" && outcome.page.total).toBeFalsy();
    }
    // Rows that tell no project are dropped where everything is listed.
    const people = await run("search.run", { scope: "users", search: "maria" });
    expect(people).toMatchObject({ items: [], filtered: expect.any(String) });
    expect(items(await run("search.run", { project_id: 101, scope: "blobs", search: "cart" })).length).toBeGreaterThan(0);
    expect(items(await run("project.list", { full: true })).map((item) => item.id)).toEqual([101]);
    expect(items(await run("project.list", { group_id: "acme", full: true })).map((item) => item.id)).toEqual([101]);
  });

  it("page by page and all at once give the same rows as GitLab has of the project", async () => {
    await open("--allow-projects=acme/webshop");
    const all = items(await run("issue.list", { scope: "all", all: true, select: ["iid"] }));
    const own = (await road.ask("/projects/101/issues?scope=all&per_page=100")) as Json[];
    expect(all.length).toBe(own.length);
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 60; page++) {
      const outcome = await run("issue.list", { scope: "all", limit: 3, select: ["iid"], ...(cursor ? { cursor } : {}) });
      seen.push(...items(outcome).map(({ iid }) => iid));
      cursor = outcome.kind === "list" ? outcome.page.next : undefined;
      if (!cursor) break;
    }
    expect(new Set(seen).size).toBe(own.length);
    expect(seen.length).toBe(own.length);
  });

  it("pages without a row to show are passed over until there is one, or the cursor leads on", async () => {
    await open("--allow-projects=acme/handbook");
    const outcome = await run("issue.list", { scope: "all", limit: 2, full: true });
    const shown = projects(outcome);
    if (shown.length > 0) expect(shown).toEqual([104]);
    else expect(outcome).toMatchObject({ page: { next: expect.any(String) } });
    expect(projects(await run("issue.list", { scope: "all", all: true, full: true }))).toEqual([104]);
  });

  it("groups themselves, and what cannot be limited, are refused with the reason", async () => {
    await open("--allow-projects=acme/webshop");
    await refused("group.get", { group_id: "acme" });
    await refused("label.list", { group_id: "acme" });
    await refused("member.list", { group_id: "acme" });
    await refused("variable.list", { group_id: 10 });
    await refused("issue.list", { group_id: "acme/platform" });
    await refused("group.create", { name: "x", path: "x" });
    await refused("project.create", { name: "x" });
    await refused("snippet.create", { title: "x", visibility: "private", files: [{ file_path: "a", content: "b" }] });
    await refused("todo.mark_all_done", {});
    await refused("personal_access_token.list", {});
    await refused("markdown.render", { text: "x" });
    // References in a text are shown with the titles of what they lead to, wherever that is.
    await refused("markdown.render", { text: "x", project: "acme/webshop" });
    expect((await failure("todo.mark_all_done", {})).message).toMatch(/cannot be limited/);
  });

  it("what touches no project goes on: the caller, people, templates, the version", async () => {
    await open("--allow-projects=acme/webshop");
    expect(await run("user.current_get", {})).toMatchObject({ value: { username: "maria" } });
    expect(items(await run("user.list", { search: "jonas" })).length).toBeGreaterThan(0);
    expect(await run("metadata.get", {})).toMatchObject({ kind: "value" });
  });

  it("a batch and composites go the same road, part by part", async () => {
    await open("--allow-projects=acme/webshop");
    const outcome = await run("batch.run", {
      calls: [
        { action: "issue.list", params: { project_id: "acme/webshop", limit: 1 } },
        { action: "issue.list", params: { project_id: "acme/mobile-app", limit: 1 } },
        { action: "issue.list", params: { scope: "all", full: true } },
        { action: "group.get", params: { group_id: "acme" } },
      ],
    });
    const [own, other, everywhere, group] = (outcome.kind === "value" ? outcome.value.results : []) as Json[];
    expect(own).toHaveProperty("items");
    expect(other).toMatchObject({ error: { code: "not_permitted" } });
    expect([...new Set(((everywhere?.items ?? []) as Json[]).map((item) => item.project_id))]).toEqual([101]);
    expect(everywhere).toHaveProperty("filtered");
    expect(group).toMatchObject({ error: { code: "not_permitted" } });
    expect(await run("merge_request.overview", { project_id: 101, merge_request_iid: 42 })).toMatchObject({ kind: "value" });
    await refused("merge_request.overview", { project_id: 102, merge_request_iid: 1 });
    await refused("merge_request.review", { project_id: 102, merge_request_iid: 1, summary: "x" });
    await refused("release.notes_draft", { project_id: 103 });
  });

  it("safe mode previews nothing of another project either", async () => {
    await open("--allow-projects=acme/webshop", "--safe-mode");
    await refused("issue.update", { project_id: 102, issue_iid: 1, title: "x" });
    expect(await run("issue.update", { project_id: 101, issue_iid: 1, title: "x" })).toMatchObject({ kind: "preview" });
  });

  it("asks for each place once, and keeps callers apart", async () => {
    await open("--allow-projects=acme/webshop");
    await run("issue.list", { project_id: 101, limit: 1 });
    await run("issue.list", { project_id: 101, limit: 1 });
    expect(road.sandbox.requests.filter(({ path }) => path === "/api/v4/projects/101")).toHaveLength(1);
  });
});

describe("with --allow-projects by id, --allow-groups, and both", () => {
  it("an id stands for its path", async () => {
    await open("--allow-projects=101");
    expect(items(await run("issue.list", { project_id: "acme/webshop", limit: 1 }))).toHaveLength(1);
    expect(projects(await run("issue.list", { group_id: "acme", full: true }))).toEqual([101]);
    await refused("issue.list", { project_id: "acme/mobile-app" });
  });

  it("a group holds everything below it, and nothing beside it", async () => {
    await open("--allow-groups=acme/platform");
    expect(items(await run("issue.list", { project_id: 103, limit: 1 }))).toHaveLength(1);
    expect(await run("group.get", { group_id: 11 })).toMatchObject({ value: { id: 11 } });
    expect(projects(await run("issue.list", { group_id: "acme/platform", full: true }))).toEqual([103]);
    expect(projects(await run("issue.list", { scope: "all", all: true, full: true }))).toEqual([103]);
    await refused("issue.list", { project_id: "acme/webshop" });
    await refused("group.get", { group_id: "acme" });
    await refused("group.transfer", { group_id: 11 });
    await refused("epic.issue_add", { group_id: 11, epic_iid: 1, issue_id: 5 });
    await refused("epic.create", { group_id: 11, title: "x", parent_id: 7 });
    await refused("merge_request.dependency_add", { project_id: 103, merge_request_iid: 1, blocking_merge_request_id: 4 });
    await refused("group.update", { group_id: 10, description: "x" });
  });

  it("a project that was moved out is outside from then on, by its id, its new path and its old one; one that was moved in is inside", async () => {
    const root = await openRoad({ token: "root" });
    for (const [project, namespace] of [
      [103, "acme"],
      [104, "acme/platform"],
    ] as const)
      await root.ask(`/projects/${project}/transfer`, "PUT", { namespace });
    road = await openRoad({ flags: ["--confirm=off", "--allow-groups=acme/platform"], token: "root", on: root.sandbox });
    for (const project_id of [103, "acme/platform/deploy", "acme/deploy"]) {
      await refused("issue.list", { project_id });
      await refused("issue.create", { project_id, title: "x" });
    }
    for (const project_id of [104, "acme/handbook", "acme/platform/handbook"]) await run("issue.list", { project_id, limit: 1 });
    expect(projects(await run("issue.list", { scope: "all", all: true, full: true }))).toEqual([104]);
    await root.close();
  });

  it("a group by id, and a project beside it", async () => {
    await open("--allow-groups=11", "--allow-projects=acme/handbook");
    expect(projects(await run("issue.list", { scope: "all", all: true, full: true })).toSorted()).toEqual([103, 104]);
    await refused("issue.list", { project_id: 105 });
  });

  it("a name that only begins like an allowed one is outside", async () => {
    await open("--allow-groups=acme/plat", "--allow-projects=acme/web");
    await refused("issue.list", { project_id: "acme/platform/deploy" });
    await refused("issue.list", { project_id: "acme/webshop" });
  });
});
