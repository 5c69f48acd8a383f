import { describe, expect, it } from "vitest";
import type { Outcome } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import type { Fetch } from "../../src/executor/exchange.ts";
import { createPlaces } from "../../src/executor/places.ts";
import { HOST, roadOver } from "../support/gitlab-road.ts";
import { settingsFor } from "../support/settings.ts";

/** What GitLab calls itself, where the bridge asks it by another name. */
const PUBLIC = "https://git.example.com";
const API = `${HOST}/api/v4`;
const MARK = "ZQXFOREIGN";

type Json = Record<string, unknown>;
type Answers = Readonly<Record<string, unknown>>;

const project = (id: number, path: string, root = HOST) => ({ id, path_with_namespace: path, web_url: `${root}/${path}` });
const PLACES: Answers = {
  "/projects/101": project(101, "acme/webshop"),
  "/projects/acme%2Fwebshop": project(101, "acme/webshop"),
  "/projects/102": project(102, "other/app"),
  "/projects/other%2Fapp": project(102, "other/app"),
};

const redirect = (to: string, status = 302) => new Response(null, { status, headers: { location: to } });

/** The road over a GitLab that gives these answers by path below the API (or whole address), and 404 else. */
function open(answers: Answers, ...flags: string[]) {
  const sent: { line: string; token: boolean; body: string }[] = [];
  const url = flags.some((flag) => flag.startsWith("--url")) ? [] : [`--url=${HOST}`];
  const settings = settingsFor(...url, "--token=glpat-of-this-server-1", "--retries=0", "--confirm=off", "--allow-raw", ...flags);
  const fetch = (async (input: URL | string, init: RequestInit = {}) => {
    const url = new URL(String(input));
    const path = url.href.startsWith(`${API}/`) ? url.pathname.slice(7) : url.origin + url.pathname;
    const token = new Headers(init.headers).has("private-token");
    sent.push({ line: `${init.method ?? "GET"} ${path}`, token, body: String(init.body ?? "") });
    const answer = answers[path] ?? PLACES[path];
    if (answer instanceof Response) return answer.clone();
    return answer === undefined ? Response.json({ message: "404 Not found" }, { status: 404 }) : Response.json(answer);
  }) as Fetch;
  const { road } = roadOver(fetch, settings);
  const run = (name: string, params: Json): Promise<Outcome | BridgeError> =>
    road
      .run({ name, params }, { principal: { instance: HOST }, signal: new AbortController().signal, canAsk: false, meta: {} })
      .catch((error: unknown) => {
        if (error instanceof BridgeError) return error;
        throw error;
      });
  return { run, sent };
}

const REFUSED = { code: "not_permitted", detail: { rule: "scope" } };
const ONE = "--allow-projects=acme/webshop";

describe("redirects", () => {
  const ASSET = { project_id: 101, tag_name: "v1", direct_asset_path: "x" };
  const asset = (to: string, more: Answers = {}) => ({ "/projects/101/releases/v1/downloads/x": redirect(to), ...more });

  it.each([
    `${API}/projects/102/repository/files/secret/raw`,
    "/api/v4/projects/other%2Fapp/repository/files/secret/raw",
    `${HOST}/other/app/-/raw/main/secret`,
    `${API}/projects/101/../102/repository/files/secret/raw`,
    `${API}/groups/10/issues`,
    `${API}/snippets/1/raw`,
    `${HOST.toUpperCase()}./other/app/-/raw/main/secret`,
  ])("to %s is not followed", async (to) => {
    const { run, sent } = open(asset(to), ONE);
    expect(await run("release.asset_download", ASSET)).toMatchObject(REFUSED);
    expect(sent.at(-1)?.line).toMatch(/downloads\/x$|^GET \/(projects|groups)\/[^/]+$/);
    // Without a limit it is, with the same eyes as everything.
    const free = open(asset(to));
    await free.run("release.asset_download", ASSET);
    expect(free.sent.at(-1)?.line).not.toContain("downloads");
  });

  it("inside, and to other hosts without the credential, are", async () => {
    const inside = open(asset(`${API}/projects/101/packages/generic/a/1/x`, { "/projects/101/packages/generic/a/1/x": { ok: true } }), ONE);
    expect(await inside.run("release.asset_download", ASSET)).not.toBeInstanceOf(BridgeError);
    const away = open(asset("https://files.example.com/x", { "https://files.example.com/x": { ok: true } }), ONE);
    expect(await away.run("release.asset_download", ASSET)).not.toBeInstanceOf(BridgeError);
    expect(away.sent.at(-1)).toMatchObject({ line: "GET https://files.example.com/x", token: false });
  });

  it("to the same path of the same host, by another protocol, are", async () => {
    const secure = (answers: Answers) => open(answers, ONE, `--url=${HOST.replace("https", "http")}`);
    const { run, sent } = secure({ "http://gitlab.test/api/v4/user": redirect(`${API}/user`, 301), "/user": { id: 1, username: "maria" } });
    expect(await run("user.current_get", {})).not.toBeInstanceOf(BridgeError);
    expect(sent.at(-1)?.line).toBe("GET /user");
  });

  it("a path that a project once had leads to the project, wherever it is now", async () => {
    const moved = (path: string) => redirect(`${API}${path}`, 301);
    const answers = {
      "/projects/acme%2Fold": moved("/projects/102"),
      "/projects/acme%2Fold/issues": moved("/projects/102/issues"),
      "/projects/102/issues": [{ iid: 1, project_id: 102, title: MARK }],
    };
    for (const flag of [ONE, "--allow-groups=acme", "--allow-projects=acme/old"]) {
      const outcome = await open(answers, flag).run("issue.list", { project_id: "acme/old" });
      expect(outcome).toMatchObject(REFUSED);
    }
    // Even where GitLab would not tell at first what it is.
    const unsure = open({ ...answers, "/projects/acme%2Fold": new Response("", { status: 500 }) }, "--allow-groups=acme");
    expect(await unsure.run("issue.list", { project_id: "acme/old" })).toMatchObject(REFUSED);
    expect(unsure.sent.map(({ line }) => line)).not.toContain("GET /projects/102/issues");
  });
});

describe("where a project is", () => {
  it("is asked for again after a minute: it may have been moved out", async () => {
    let now = 0;
    let path = "acme/platform/app";
    const places = createPlaces(
      async () => ({ id: 7, path_with_namespace: path }),
      () => now,
    );
    const look = places({ principal: { instance: HOST }, signal: new AbortController().signal, canAsk: false, meta: {} });
    expect(await look.project("7")).toEqual({ id: 7, path });
    path = "other/app";
    now = 59_999;
    expect(await look.project("7")).toMatchObject({ path: "acme/platform/app" });
    now = 60_000;
    expect(await look.project("7")).toMatchObject({ path });
  });
});

describe("a GitLab that calls itself by another name than it is asked by", () => {
  const own = { "/projects/101": project(101, "acme/webshop", PUBLIC), "/projects/acme%2Fwebshop": project(101, "acme/webshop", PUBLIC) };
  const NOTE = { project_id: 101, issue_iid: 1 };

  it("knows its own addresses in texts and in fields", async () => {
    const { run, sent } = open({ ...own, "/projects/101/issues/1/notes": { id: 1 } }, ONE);
    for (const root of [HOST, PUBLIC]) {
      expect(await run("issue.note_create", { ...NOTE, body: `like ${root}/other/app/-/issues/1` })).toMatchObject(REFUSED);
      expect(await run("webhook.create", { project_id: 101, url: `${root}/api/v4/projects/102/issues` })).toMatchObject(REFUSED);
      expect(await run("issue.note_create", { ...NOTE, body: `like ${root}/acme/webshop/-/issues/1` })).not.toBeInstanceOf(BridgeError);
    }
    expect(sent.filter(({ line }) => line.startsWith("POST"))).toHaveLength(2);
  });

  it("and in rows that tell no more than their address, and in redirects", async () => {
    const rows = [
      { iid: 1, title: "ours", web_url: `${PUBLIC}/acme/webshop/-/issues/1` },
      { iid: 2, title: MARK, web_url: `${PUBLIC}/other/app/-/issues/2` },
    ];
    const { run } = open(
      { ...own, "/projects/101/issues": rows, "/projects/101/releases/v1/downloads/x": redirect(`${PUBLIC}/other/app/-/raw/x`) },
      ONE,
    );
    const listed = JSON.stringify(await run("issue.list", { project_id: 101, full: true }));
    expect(listed).toContain("ours");
    expect(listed).not.toContain(MARK);
    expect(await run("release.asset_download", { project_id: 101, tag_name: "v1", direct_asset_path: "x" })).toMatchObject(REFUSED);
  });
});

describe("what GitLab itself wrote of other places", () => {
  it("its notes on them are left out, by which it hides them from those who may not see the place", async () => {
    const note = (body: string, system = true) => ({ id: 1, system, body, project_id: 101 });
    const foreign = [
      "mentioned in issue other/app#5",
      "mentioned in merge request other/app!5",
      "mentioned in commit other/app@a1b2c3d4e5",
      "moved to other/app#7",
      "marked this issue as related to other/app#1",
      `mentioned in ${HOST}/other/app/-/issues/5`,
    ].map((body) => note(body));
    const ours = ["mentioned in issue #5", "mentioned in merge request acme/webshop!5", "changed title from **a#1** to **b**"].map((body) =>
      note(body),
    );
    const written = note("see other/app#5", false);
    const answers = {
      "/projects/101/issues/1/notes": [...foreign, ...ours, written],
      "/projects/101/issues/1/discussions": [{ id: "a", notes: [...foreign, ...ours] }],
    };
    const { run } = open(answers, ONE);
    const notes = await run("issue.note_list", { project_id: 101, issue_iid: 1, full: true });
    expect(notes).toMatchObject({ items: [...ours, written], filtered: expect.any(String) });
    const discussions = await run("issue.discussion_list", { project_id: 101, issue_iid: 1, full: true });
    expect(discussions).toMatchObject({ items: [{ notes: ours }], filtered: expect.any(String) });
  });

  it("rows that are no more than an id, a name and an address are told apart", async () => {
    const row = (id: number, name: string, path: string) => ({ id, name, web_url: `${HOST}/${path}` });
    const groups = [row(11, "ours", "groups/acme"), row(12, MARK, "groups/secret"), row(13, MARK, "groups/acme-too/deep")];
    const projects = [row(101, "ours", "acme/webshop"), row(102, MARK, "other/app"), row(103, MARK, "acme-too/deep/app")];
    const people = [row(1, "ours", "maria")];
    const answers = {
      "/projects/101/users": people,
      "/projects/101/forks": projects,
      "/projects/101/job_token_scope/groups_allowlist": groups,
    };
    const { run } = open(answers, "--allow-groups=acme");
    for (const name of ["project.user_list", "project.fork_list", "job_token_scope.group_list"]) {
      const listed = await run(name, { project_id: 101, full: true });
      expect([name, listed]).toMatchObject([name, { items: [{ name: "ours" }] }]);
      expect(JSON.stringify(listed)).not.toContain(MARK);
    }
  });

  it("rows that name their project by its path alone are told apart", async () => {
    const rows = [
      { id: 1, title: "ours", project: "acme/webshop" },
      { id: 2, title: MARK, project: "other/app" },
    ];
    const { run } = open({ "/projects/101/vulnerability_findings": rows, "/projects/101/issues": rows }, ONE);
    const listed = JSON.stringify(await run("issue.list", { project_id: 101, full: true }));
    expect(listed).toContain("ours");
    expect(listed).not.toContain(MARK);
  });
});

describe("writes to a merge request whose branch is in another project", () => {
  const of = (source_project_id: number, force_remove_source_branch?: boolean | null) => ({
    "/projects/101/merge_requests/1": { iid: 1, project_id: 101, source_project_id, force_remove_source_branch },
    "/projects/101/merge_requests/1/merge": { iid: 1, state: "merged" },
  });
  const MERGE = { project_id: 101, merge_request_iid: 1 };

  it.each<[string, Json, boolean | undefined]>([
    ["merge_request.rebase", {}, false],
    ["merge_request.merge", { should_remove_source_branch: true }, false],
    ["merge_request.merge", {}, true],
    ["merge_request.merge", {}, undefined],
    ["merge_request.update", { remove_source_branch: true }, false],
    ["merge_train.merge_request_add", {}, true],
    ["merge_request.note_create", { body: "Now.\n/rebase" }, false],
    ["merge_request.note_create", { body: "/merge" }, true],
  ])("%s %j is refused where it would change that branch (asked for before: %s)", async (name, more, forced) => {
    const there = open(of(102, forced), ONE);
    expect(await there.run(name, { ...MERGE, ...more })).toMatchObject(REFUSED);
    expect(there.sent.every(({ line }) => line.startsWith("GET"))).toBe(true);
    expect(await open(of(101, forced), ONE).run(name, { ...MERGE, ...more })).not.toMatchObject(REFUSED);
  });

  it.each<[string, Json, boolean | null]>([
    ["merge_request.merge", {}, false],
    ["merge_request.merge", {}, null],
    ["merge_request.merge", { should_remove_source_branch: false }, true],
    ["merge_request.update", { title: "x" }, true],
    ["merge_train.merge_request_add", {}, false],
    ["merge_request.note_create", { body: "/merge" }, false],
    [
      "merge_request.create",
      { merge_request_iid: undefined, source_branch: "a", target_branch: "b", title: "x", description: "/merge" },
      true,
    ],
    ["issue.note_create", { merge_request_iid: undefined, issue_iid: 1, body: "/merge" }, true],
  ])("%s %j is not, where it would not (asked for before: %s)", async (name, more, forced) => {
    const outcome = await open({ ...of(102, forced), "/projects/101/merge_requests": {}, "/projects/101/issues/1/notes": {} }, ONE).run(
      name,
      { ...MERGE, ...more },
    );
    expect(outcome).not.toMatchObject(REFUSED);
    expect(outcome).not.toMatchObject({ code: "invalid_params" });
  });
});

describe("arguments that lead elsewhere under another name", () => {
  it.each<[string, Json]>([
    ["project.update", { project_id: 101, ci_config_path: ".gitlab-ci.yml@other/app" }],
    ["project.update", { project_id: 101, ci_config_path: "ci/all.yml@other/app:main" }],
    ["project.update", { project_id: 101, ci_config_path: `${HOST}/other/app/-/raw/main/ci.yml` }],
    ["project.update", { project_id: 101, merge_commit_template: "Closes other/app#1" }],
    ["project.update", { project_id: 101, issues_template: "/move other/app" }],
    ["integration.slack_set", { project_id: 101, webhook: `${HOST}/api/v4/projects/102/issues` }],
    ["integration.slack_set", { project_id: 101, webhook: `https://GitLab.test./api/v4/projects/102/issues` }],
    ["project.update", { project_id: 101, import_url: "git@gitlab.test:other/app.git" }],
    [
      "release.create",
      { project_id: 101, tag_name: "v1", assets: { links: [{ name: "x", url: `${API}/projects/102/repository/archive` }] } },
    ],
    ["gitlab.rest", { method: "PUT", path: "/projects/101", body: { some_new_field: "other/app" } }],
    ["gitlab.rest", { method: "GET", path: "/projects/101/issues", query: { in_place_of: 102 } }],
    ["gitlab.rest", { method: "POST", path: "/projects/101/issues", body: { title: "x", "new_field[id]": 102 } }],
  ])("%s %j is refused", async (name, params) => {
    const { run, sent } = open({}, ONE, "--admin");
    expect(await run(name, params)).toMatchObject(REFUSED);
    expect(sent.every(({ line }) => /^GET \/(projects|groups)\/[^/]+$/.test(line))).toBe(true);
  });

  it.each<[string, Json]>([
    ["project.update", { project_id: 101, ci_config_path: "ci/all.yml" }],
    ["project.update", { project_id: 101, ci_config_path: ".gitlab-ci.yml@acme/webshop" }],
    ["integration.slack_set", { project_id: 101, webhook: "https://hooks.slack.com/services/x" }],
    [
      "gitlab.rest",
      { method: "GET", path: "/projects/101/issues", query: { state: "opened", page: 2, per_page: 5, sort: "asc", "not[labels]": "x" } },
    ],
    ["gitlab.rest", { method: "POST", path: "/projects/101/issues", body: { title: "x", labels: ["a"] } }],
    [
      "commit.create",
      { project_id: 101, branch: "x", commit_message: "x", actions: [{ action: "create", file_path: "a", content: `${HOST}/other/app` }] },
    ],
  ])("%s %j is not", async (name, params) => {
    expect(await open({}, ONE, "--admin").run(name, params)).not.toMatchObject(REFUSED);
  });
});
