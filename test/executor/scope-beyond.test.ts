import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { cleanLint } from "../../src/executor/scope-clean.ts";
import type { Judge } from "../../src/executor/scope-places.ts";
import { addressesIn, mentionsIn } from "../../src/policy/scope-text.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

const FLAGS = ["--confirm=off", "--allow-raw", "--admin", "--reveal-secrets=result", "--retries=0"];
let project: SandboxRoad;
let group: SandboxRoad;

beforeAll(async () => {
  project = await openRoad({ token: "root", flags: [...FLAGS, "--allow-projects=acme/webshop"] });
  group = await openRoad({ token: "root", flags: [...FLAGS, "--allow-groups=acme"], on: project.sandbox });
});
afterAll(async () => {
  await group.close();
  await project.close();
});

const attempt = (name: string, params: Json, road = project): Promise<Outcome | BridgeError> =>
  road.run(name, params).catch((error: unknown) => {
    if (error instanceof BridgeError) return error;
    throw error;
  });

async function refused(name: string, params: Json, says = /./): Promise<void> {
  const before = project.sandbox.requests.length;
  const outcome = await attempt(name, params);
  expect(outcome, `${name} ${JSON.stringify(params)}`).toMatchObject({ code: "not_permitted", detail: { rule: "scope" } });
  expect((outcome as BridgeError).message).toMatch(says);
  for (const { method } of project.sandbox.requests.slice(before)) expect(method).toBe("GET");
}

/** Not refused by the scope; whatever GitLab says of it. */
async function passed(name: string, params: Json, road = project): Promise<void> {
  const outcome = await attempt(name, params, road);
  if (outcome instanceof BridgeError) expect(outcome.detail.rule, outcome.message).not.toBe("scope");
}

const NOTE = { project_id: 101, issue_iid: 12 };

describe("texts that lead elsewhere", () => {
  it.each([
    "see acme/mobile-app#1",
    "Closes acme/mobile-app#1.",
    "(acme/mobile-app!3)",
    "mobile-app#1",
    "cf. acme/mobile-app@a1b2c3d4",
    "epic acme&1",
    "[issue:acme/mobile-app/1]",
    "no/such-project#1",
    "/acme/mobile-app#1",
    "-acme/mobile-app#1",
    "see/-acme/mobile-app!3",
    "x//acme/mobile-app!3",
    "ACME/Mobile-App#1",
    "acme/mobile-app^alert#1",
    "**acme/mobile-app#1**",
    "acme/webshop...acme/mobile-app#1",
    "ok\r\n/move acme/mobile-app\r\n",
    "/duplicate acme/mobile-app#1",
    "/blocked_by acme/mobile-app#1",
    "/copy_metadata acme/mobile-app!1",
    "text\n/move acme/mobile-app",
    "  /clone acme/mobile-app --with_notes",
    "/relate acme/mobile-app#2",
    "/promote",
    "/epic &1",
    "/set_parent &4",
    "```\nx\n```\n/promote",
    "```\nCloses acme/mobile-app#1\n```",
  ])("%j is not sent", async (body) => refused("issue.note_create", { ...NOTE, body }, /body leads outside/));

  it.each([
    "plain words, 50% done, C#3, issue#4, a & b, x@y.z, and/or, v1.2/3",
    "see #1, !42 and acme/webshop#1, webshop#1",
    "/close",
    "/clone",
    "-#1, /#2, a/-/b, --flag=#3",
    "/relate #3",
    "/set_parent #3",
    "path/to/file.ts:12",
    "https://example.com/acme/mobile-app/-/issues/1",
    "/parent/child\n/epic-notes\n/move/x",
    "```\n/promote\n/move acme/mobile-app\n```",
  ])("%j is", async (body) => passed("issue.note_create", { ...NOTE, body }));

  it("addresses of this GitLab are read like references, in every text of every write", async () => {
    const there = `${project.sandbox.url}/acme/mobile-app/-/issues/1`;
    await refused("issue.note_create", { ...NOTE, body: `see ${there.replace("http", "HTTP")}` });
    await refused("issue.note_create", { ...NOTE, body: `[x](${there.replace("acme/mobile-app", "acme/webshop/../mobile-app")})` });
    const here = `${project.sandbox.url}/acme/webshop/-/issues/1`;
    await refused("issue.note_create", { ...NOTE, body: `see ${there}` });
    await refused("issue.create", { project_id: 101, title: `like ${there}` });
    await refused("issue.update", { ...NOTE, description: there });
    await refused("merge_request.create", { project_id: 101, source_branch: "a", target_branch: "main", title: "x", description: there });
    await refused("merge_request.merge", { project_id: 101, merge_request_iid: 42, merge_commit_message: "Closes acme/mobile-app#1" });
    await refused("work_item.create", { project_id: "acme/webshop", title: "x", work_item_type_id: 1, description: there });
    await refused("merge_request.review", { project_id: 101, merge_request_iid: 42, summary: "see acme/mobile-app#1" });
    await passed("issue.note_create", { ...NOTE, body: `see ${here}` });
    await passed("issue.note_create", { ...NOTE, body: `hello ${project.sandbox.url}/maria` });
  });

  it("addresses of the project itself pass as people write them, old forms and this GitLab's own pages too", async () => {
    const { url } = project.sandbox;
    const here = `${url}/acme/webshop`;
    for (const body of [
      `See ${here}.`,
      `${here}, and`,
      `**${here}**!`,
      `\`${here}\``,
      `(${here})`,
      `${here}?`,
      `见${here}，谢谢。`,
      `「${here}」`,
      `“${here}”…`,
    ])
      await passed("issue.note_create", { ...NOTE, body });
    for (const end of ["pipelines", "issues", "badges/main/pipeline.svg", "uploads/1a/x.png", "wikis/home", "-/raw/main/a.txt"])
      await passed("issue.note_create", { ...NOTE, body: `${here}/${end}` });
    for (const page of ["help/user/project.md", "-/user_settings/ssh_keys", "users/sign_in", "dashboard/todos", "explore/projects"])
      await passed("issue.note_create", { ...NOTE, body: `${url}/${page}` });
    for (const there of [
      "acme/mobile-app.",
      "acme/mobile-app，",
      "acme/webshop，acme/mobile-app#1",
      "acme/mobile-app/pipelines",
      "acme/webshop-2/issues",
      "help/-/issues/1",
      "api/graphql",
    ])
      await refused("issue.note_create", { ...NOTE, body: `${url}/${there}` });
    for (const there of ["help/../acme/mobile-app", "help/%2e%2e/acme/mobile-app", "help%2F..%2Facme/mobile-app"])
      await refused("issue.note_create", { ...NOTE, body: `${url}/${there}` });
    await refused("issue.note_create", { ...NOTE, body: `${here}/../mobile-app/issues` });
    await refused("issue.note_create", { ...NOTE, body: `${here}/%2e%2e%2fmobile-app/issues` });
  });

  it("contents of files are not texts that GitLab follows, messages of commits are", async () => {
    const commit = {
      project_id: 101,
      branch: "notes",
      start_branch: "main",
      actions: [{ action: "create", file_path: "a.md", content: "acme/mobile-app#1" }],
    };
    await refused("commit.create", { ...commit, commit_message: "Fixes acme/mobile-app#1" });
    await passed("commit.create", { ...commit, commit_message: "Add notes" });
  });

  it("addresses to send to or to fetch from stay inside", async () => {
    const there = `${project.sandbox.url}/acme/mobile-app.git`;
    await refused("remote_mirror.create", { project_id: 101, url: there }, /url leads outside/);
    await refused("webhook.create", { project_id: 101, url: `${project.sandbox.url}/api/v4/projects/102/issues?title=x` });
    await passed("webhook.create", { project_id: 101, url: "https://hooks.example.com/acme/mobile-app" });
  });

  it("where the group is inside, what is above the project is too", async () => {
    await passed("issue.note_create", { ...NOTE, body: "/epic &1 and acme/mobile-app#1" }, group);
    await passed("label.promote", { project_id: 101, label_id: 201 }, group);
  });

  it("are looked up once each, and not without end", async () => {
    const before = project.sandbox.requests.length;
    await passed("issue.note_create", { ...NOTE, body: "acme/webshop#1 ".repeat(5_000) });
    expect(project.sandbox.requests.length - before).toBeLessThan(10);
    const many = Array.from({ length: 201 }, (_one, at) => `acme/webshop-${at}#1`).join(" ");
    await refused("issue.note_create", { ...NOTE, body: many }, /more places than can be judged/);
  });

  it("are read in time that grows with the text, not faster", () => {
    for (const part of ["a-", "a/", "-", "a.b/", "[x:", "@", "#1"]) expect(mentionsIn({ body: part.repeat(200_000) })).toBeDefined();
  }, 5_000);

  it("are read at any depth and told apart from words", () => {
    expect(
      mentionsIn({ title: "a/b#1", notes: [{ body: "c/d!2" }], content: "e/f#3", labels: ["g/h#4"] }).map(({ value }) => value),
    ).toEqual(["a/b", "c/d"]);
    expect(addressesIn({ url: "https://a.b", nested: { import_url: "https://c.d" }, title: "https://e.f" })).toHaveLength(2);
  });
});

describe("references that a read resolves", () => {
  it("stay inside", async () => {
    await refused(
      "work_item.reference_find",
      { project_id: "acme/webshop", references: ["#1", "acme/mobile-app#1"] },
      /references leads outside/,
    );
    await refused("work_item.reference_find", { references: [`${project.sandbox.url}/acme/mobile-app/-/issues/1`], project_id: 101 });
    await passed("work_item.reference_find", { project_id: "acme/webshop", references: ["#1", "acme/webshop#2"] });
  });
});

describe("what an id or a name of something inside would change elsewhere", () => {
  it("is refused", async () => {
    await refused("issue.update", { ...NOTE, epic_id: 5 }, /epic_id could lead to any project/);
    await refused("issue.create", { project_id: 101, title: "x", epic_id: 5 });
    await refused("runner.enable", { project_id: 101, runner_id: 3 }, /runner_id/);
    await refused("deploy_key.enable", { project_id: 101, key_id: 3 }, /key_id/);
    await refused("environment.create", { project_id: 101, name: "x", cluster_agent_id: 3 });
    await refused("label.promote", { project_id: 101, label_id: 201 }, /the group above/);
    await refused("milestone.promote", { project_id: 101, milestone_id: 304 }, /the group above/);
  });
});

describe("texts that GitLab renders", () => {
  it("would show titles of other projects", async () => {
    await refused("merge_request.get", { project_id: 101, merge_request_iid: 42, render_html: true }, /render_html/);
    await refused("wiki_page.get", { project_id: 101, slug: "home", render_html: true });
    await refused("markdown.render", { text: "acme/mobile-app#1+", project: "acme/webshop" });
    await passed("merge_request.get", { project_id: 101, merge_request_iid: 42, render_html: false });
    expect(JSON.stringify(await attempt("project.get", { project_id: 101, full: true }))).not.toMatch(/_html/);
  });

  it("a merged CI configuration shows files of other projects", async () => {
    const judge = { holds: async (_kind: string, value: string) => value === "acme/webshop" } as unknown as Judge;
    const lint = (includes: unknown) =>
      cleanLint(
        { valid: true, merged_yaml: "secret: 1", jobs: [], errors: ["jobs:secret config"], ...(includes ? { includes } : {}) },
        judge,
      );
    const local = { type: "local", location: "a.yml", extra: {}, context_project: "acme/webshop" };
    const own = { type: "file", location: "a.yml", extra: { project: "acme/webshop" }, context_project: "acme/webshop" };
    expect(await lint([local, own])).toMatchObject({ cut: false, value: { merged_yaml: "secret: 1" } });
    for (const alien of [
      { ...own, extra: { project: "acme/mobile-app" } },
      { ...own, extra: {} },
      { ...local, type: "component", extra: {} },
      { ...local, context_project: "acme/mobile-app" },
    ])
      expect(await lint([local, alien])).toEqual({ cut: true, value: { valid: true, includes: [local] } });
    // A GitLab that does not tell what was included.
    expect(await lint(undefined)).toEqual({ cut: true, value: { valid: true, errors: ["jobs:secret config"] } });
  });
});

describe("requests written by hand", () => {
  const rest = (method: string, path: string, more: Json = {}) => attempt("gitlab.rest", { method, path, ...more });

  it("are judged by the actions that stand for them, and their answers filtered alike", async () => {
    expect(await rest("GET", "/projects/101/issues", { query: { per_page: 2 } })).toMatchObject({ kind: "value" });
    expect(await rest("GET", "/projects/acme%2Fwebshop/issues/12")).toMatchObject({ kind: "value", value: { iid: 12 } });
    expect(await rest("POST", "/projects/101/issues", { body: { title: "by hand" } })).toMatchObject({ kind: "value" });
    const everywhere = await rest("GET", "/issues", { query: { scope: "all", per_page: 100 } });
    expect(everywhere).toMatchObject({ kind: "value", filtered: expect.any(String) });
    const items = everywhere instanceof BridgeError ? [] : ((everywhere as unknown as { value: { items: Json[] } }).value.items ?? []);
    expect([...new Set(items.map((item) => item.project_id))]).toEqual([101]);
  });

  it.each<[string, string, Json]>([
    ["GET", "/projects/102/issues", {}],
    ["GET", "/projects/acme%2Fmobile-app/issues", {}],
    ["GET", "/projects/101.json", {}],
    ["GET", "/projects/101/-/search", { query: { scope: "issues", search: "a" } }],
    ["GET", "/groups/10", {}],
    ["GET", "/groups/10/members", {}],
    ["GET", "/snippets/1", {}],
    ["GET", "/runners/1", {}],
    ["GET", "/novelties", {}],
    ["GET", "/projects/101/novelties", {}],
    ["GET", "/projects/101/repository/compare", { query: { from: "a", to: "b", from_project_id: 102 } }],
    ["POST", "/projects/101/issues/12/move", { body: { to_project_id: 102 } }],
    ["POST", "/projects/101/issues/12/notes", { body: { body: "acme/mobile-app#1" } }],
    ["POST", "/projects/101/fork", {}],
    ["POST", "/projects", { body: { name: "x" } }],
    ["PUT", "/projects/101/issues/12", { body: { epic_id: 4 } }],
    ["GET", "/projects/101/merge_requests/42", { query: { render_html: "true" } }],
    ["GET", "/projects/101/merge_requests/42", { query: { render_html: "1" } }],
    ["PUT", "/projects/101/approval_rules/1", { query: { "group_ids[]": 11 } }],
    ["POST", "/projects/101/protected_branches", { query: { name: "x", "allowed_to_push[][group_id]": 11 } }],
    ["POST", "/projects/101/issues/12/move", { query: { "to_project_id[]": 102 } }],
    ["POST", "/projects/101/issues/12/move", { query: { to_project_id: 102 }, body: { to_project_id: 101 } }],
    ["POST", "/projects/101/issues/12/move", { query: { to_project_id: 101 }, body: { to_project_id: 102 } }],
    ["POST", "/projects/101/issues/12/notes", { query: { body: "acme/mobile-app#1" }, body: { body: "fine" } }],
    ["POST", "/markdown", { body: { text: "acme/mobile-app#1+" } }],
  ])("%s %s is refused", async (method, path, more) => refused("gitlab.rest", { method, path, ...more }));

  it("GraphQL documents cannot be limited", async () => {
    await refused("gitlab.graphql", { document: '{ project(fullPath: "acme/webshop") { id } }' });
  });
});
