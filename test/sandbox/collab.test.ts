import { beforeEach, describe, expect, test } from "vitest";
import { useSandbox } from "./http.ts";

const { call, box } = useSandbox();
const SHOP = "/projects/101";

beforeEach(() => box().reset());

const titles = (rows: { title: string }[]) => rows.map(({ title }) => title);

describe("seeds", () => {
  test("are rich enough to be lost in", () => {
    const { labels, milestones, issues, notes, users } = box().world;
    const shop = issues.filter(({ project_id }) => project_id === 101);
    const words = (text: string | null) => (text ?? "").split(/\s+/).length;
    expect(labels.filter(({ source, source_id }) => source === "project" && source_id === 101)).toHaveLength(40);
    expect(
      milestones
        .filter(({ source_id }) => source_id === 101)
        .map(({ state }) => state)
        .sort(),
    ).toEqual(["active", "active", "closed", "closed", "closed"]);
    expect(shop.length).toBeGreaterThanOrEqual(60);
    expect(shop.filter(({ description }) => words(description) >= 300 && words(description) <= 2_000).length).toBeGreaterThanOrEqual(11);
    expect(shop.some(({ description }) => description?.includes("Ignore all previous instructions"))).toBe(true);
    expect(new Set(notes.map(({ author_id }) => author_id)).size).toBeGreaterThanOrEqual(5);
    expect(users.map(({ id, username }) => [id, username]).slice(0, 5)).toEqual([
      [1, "root"],
      [2, "maria"],
      [3, "jonas"],
      [4, "aiko"],
      [5, "sven"],
    ]);
  });

  test("every label of an issue exists, and nothing lies in the future", async () => {
    const { labels, issues, notes } = box().world;
    const known = new Set(labels.map(({ name }) => name));
    expect([...new Set(issues.flatMap((issue) => issue.labels))].filter((name) => !known.has(name))).toEqual([]);
    const now = box().world.now();
    expect([...issues, ...notes].filter(({ created_at }) => created_at > now)).toEqual([]);
  });
});

describe("issues", () => {
  test("are numbered by project, and the numbers of deleted ones do not come back", async () => {
    const one = await call("POST", `${SHOP}/issues`, { title: "one" });
    expect(one.json).toMatchObject({ iid: 65, state: "opened", author: { username: "maria" }, references: { full: "acme/webshop#65" } });
    expect((await call("POST", "/projects/104/issues", { title: "other" })).json.iid).toBe(3);
    expect((await call("DELETE", `${SHOP}/issues/65`)).status).toBe(204);
    expect((await call("GET", `${SHOP}/issues/65`)).status).toBe(404);
    expect((await call("POST", `${SHOP}/issues`, { title: "two" })).json.iid).toBe(66);
  });

  test("make the labels that they name, and keep the ones that exist as they are written", async () => {
    const { json } = await call("POST", `${SHOP}/issues`, { title: "x", labels: "BUG,brand new" });
    expect(json.labels).toEqual(["brand new", "bug"]);
    expect((await call("GET", `${SHOP}/labels/brand%20new`)).json).toMatchObject({ name: "brand new", is_project_label: true });
  });

  test("need a title", async () => {
    expect((await call("POST", `${SHOP}/issues`, {})).json).toEqual({ error: "title is missing" });
    expect((await call("POST", `${SHOP}/issues`, { title: " " })).json).toEqual({ message: { title: ["can't be blank"] } });
  });

  test("close, reopen, and tell the resource events", async () => {
    const closed = await call("PUT", `${SHOP}/issues/13`, { state_event: "close" });
    expect(closed.json).toMatchObject({ state: "closed", closed_by: { username: "maria" } });
    expect(closed.json.closed_at).toBe(closed.json.updated_at);
    expect((await call("PUT", `${SHOP}/issues/13`, { state_event: "reopen" })).json).toMatchObject({ state: "opened", closed_at: null });
    expect((await call("GET", `${SHOP}/issues/13/resource_state_events`)).json.map(({ state }: { state: string }) => state)).toEqual([
      "closed",
      "reopened",
    ]);
  });

  test("take labels away and on, one by one and all at once", async () => {
    const put = async (body: object) => (await call("PUT", `${SHOP}/issues/13`, body)).json.labels;
    expect(await put({ add_labels: "ux", remove_labels: "feature" })).toEqual(["area::orders", "ux"]);
    expect(await put({ labels: ["bug"] })).toEqual(["bug"]);
    expect(await put({ labels: "" })).toEqual([]);
    const events = (await call("GET", `${SHOP}/issues/13/resource_label_events`)).json;
    expect(events[0]).toMatchObject({ action: "add", label: { name: "ux" }, resource_type: "Issue" });
  });

  test("are assigned, which others are told", async () => {
    await call("PUT", `${SHOP}/issues/13`, { assignee_ids: [3] });
    const todos = (await call("GET", "/todos?type=Issue&action=assigned", undefined, "jonas")).json;
    expect(todos[0]).toMatchObject({ action_name: "assigned", target: { iid: 13 }, author: { username: "maria" }, state: "pending" });
    const done = await call("POST", `/todos/${todos[0].id}/mark_as_done`, undefined, "jonas");
    expect(done.json.state).toBe("done");
    expect((await call("PUT", `${SHOP}/issues/13`, { assignee_ids: [0] })).json.assignees).toEqual([]);
  });

  test("without anything to change are refused", async () => {
    expect((await call("PUT", `${SHOP}/issues/13`, {})).json.error).toMatch(/at least one parameter must be provided$/);
  });

  test.each([
    ["state=closed", (row: { state: string }) => row.state === "closed"],
    ["labels=bug,frontend", (row: { labels: string[] }) => row.labels.includes("bug") && row.labels.includes("frontend")],
    [
      "milestone=1.5&state=opened",
      (row: { milestone: { title: string } | null; state: string }) => row.milestone?.title === "1.5" && row.state === "opened",
    ],
    ["milestone=None", (row: { milestone: unknown }) => row.milestone === null],
    ["assignee_username=jonas", (row: { assignees: { username: string }[] }) => row.assignees.some(({ username }) => username === "jonas")],
    ["assignee_id=None", (row: { assignees: unknown[] }) => row.assignees.length === 0],
    ["author_username=sven", (row: { author: { username: string } }) => row.author.username === "sven"],
    ["scope=assigned_to_me", (row: { assignees: { username: string }[] }) => row.assignees.some(({ username }) => username === "maria")],
    ["confidential=true", (row: { confidential: boolean }) => row.confidential],
    [
      "search=umlauts",
      (row: { title: string; description: string }) => `${row.title} ${row.description}`.toLowerCase().includes("umlauts"),
    ],
    ["created_after=2026-10-25T00:00:00Z", (row: { created_at: string }) => row.created_at >= "2026-10-25"],
    ["iids[]=12&iids[]=18", (row: { iid: number }) => [12, 18].includes(row.iid)],
  ] as const)("are listed by %s", async (query, fits) => {
    const all = (await call("GET", `${SHOP}/issues?per_page=100`)).json as never[];
    const { json } = await call("GET", `${SHOP}/issues?per_page=100&${query}`);
    expect(json.length).toBeGreaterThan(0);
    expect(json.length).toBeLessThan(all.length);
    expect(titles(json)).toEqual(titles(all.filter((row) => fits(row))));
  });

  test("are listed in the wanted order", async () => {
    const { json } = await call("GET", `${SHOP}/issues?order_by=title&sort=asc&per_page=100`);
    const names = titles(json).map((title) => title.toLowerCase());
    expect(names).toEqual([...names].sort());
    expect((await call("GET", `${SHOP}/issues?order_by=colour`)).json).toEqual({ error: "order_by does not have a valid value" });
  });

  test("of a group and of everywhere", async () => {
    const group = (await call("GET", "/groups/acme/issues?per_page=100&state=opened", undefined, "jonas")).json;
    expect(new Set(group.map(({ project_id }: { project_id: number }) => project_id))).toEqual(new Set([101, 102, 103, 104]));
    const mine = (await call("GET", "/issues?per_page=100")).json;
    expect(mine.every(({ author }: { author: { username: string } }) => author.username === "maria")).toBe(true);
    const assigned = (await call("GET", "/issues?scope=assigned_to_me&per_page=100", undefined, "jonas")).json;
    expect(assigned.length).toBeGreaterThan(5);
  });

  test("that are confidential are for planners, authors and assignees", async () => {
    const sven = (path: string) => fetch(`${box().url}/api/v4${path}`, { headers: { "private-token": "sandbox-token-sven" } });
    expect((await sven(`${SHOP}/issues/43`)).status).toBe(404);
    expect((await sven(`${SHOP}/issues/57`)).status).toBe(200);
    expect((await (await sven(`${SHOP}/issues?confidential=true`)).json()) as unknown[]).toEqual([]);
    expect((await call("GET", `${SHOP}/issues/43`, undefined, "jonas")).status).toBe(200);
  });

  test("by guests carry no plans", async () => {
    const reply = await fetch(`${box().url}/api/v4${SHOP}/issues`, {
      method: "POST",
      headers: { "private-token": "sandbox-token-sven", "content-type": "application/json" },
      body: JSON.stringify({ title: "from outside", labels: "bug", assignee_ids: [3], milestone_id: 304 }),
    });
    expect(await reply.json()).toMatchObject({ labels: [], assignees: [], milestone: null });
  });

  test("are counted by state", async () => {
    const { counts } = (await call("GET", `${SHOP}/issues_statistics?labels=bug`)).json.statistics;
    expect(counts.all).toBe(counts.opened + counts.closed);
    expect(counts.closed).toBeGreaterThan(0);
  });

  test("move, with their comments, and leave a trace", async () => {
    const moved = await call("POST", `${SHOP}/issues/21/move`, { to_project_id: 102 });
    expect(moved.json).toMatchObject({ project_id: 102, iid: 6, title: expect.stringContaining("umlauts") });
    expect((await call("GET", `${SHOP}/issues/21`)).json).toMatchObject({ state: "closed", moved_to_id: moved.json.id });
    expect((await call("GET", "/projects/102/issues/6/notes?activity_filter=only_comments")).json).toHaveLength(3);
  });

  test("link to each other, once", async () => {
    const made = await call("POST", `${SHOP}/issues/12/links`, { target_project_id: 101, target_issue_iid: 45, link_type: "blocks" });
    expect(made.json).toMatchObject({ source_issue: { iid: 12 }, target_issue: { iid: 45 }, link_type: "blocks" });
    expect((await call("GET", `${SHOP}/issues/45/links`)).json).toMatchObject([{ iid: 12, link_type: "is_blocked_by" }]);
    expect((await call("POST", `${SHOP}/issues/45/links`, { target_project_id: 101, target_issue_iid: 12 })).status).toBe(409);
    expect(
      (await call("DELETE", `${SHOP}/issues/45/links/${(await call("GET", `${SHOP}/issues/45/links`)).json[0].issue_link_id}`)).status,
    ).toBe(200);
    expect((await call("GET", `${SHOP}/issues/12/links`)).json).toEqual([]);
  });

  test("know time", async () => {
    expect((await call("POST", `${SHOP}/issues/13/time_estimate`, { duration: "1w 2h" })).json).toMatchObject({
      time_estimate: 151_200,
      human_time_estimate: "1w 2h",
    });
    expect((await call("POST", `${SHOP}/issues/13/add_spent_time`, { duration: "90m" })).json).toMatchObject({
      total_time_spent: 5_400,
      human_total_time_spent: "1h 30m",
    });
    expect((await call("POST", `${SHOP}/issues/13/time_estimate`, { duration: "soon" })).status).toBe(400);
    expect((await call("POST", `${SHOP}/issues/13/reset_spent_time`)).json).toMatchObject({
      total_time_spent: 0,
      human_total_time_spent: null,
    });
  });

  test("are followed and left alone", async () => {
    expect((await call("POST", `${SHOP}/issues/56/subscribe`, undefined, "jonas")).json.subscribed).toBe(true);
    expect((await call("POST", `${SHOP}/issues/56/subscribe`, undefined, "jonas")).status).toBe(304);
    expect((await call("POST", `${SHOP}/issues/56/unsubscribe`, undefined, "jonas")).json.subscribed).toBe(false);
  });
});

describe("comments", () => {
  test("are made, changed by their author or a maintainer, and deleted", async () => {
    const note = (await call("POST", `${SHOP}/issues/13/notes`, { body: "hello @jonas" }, "jonas")).json;
    expect(note).toMatchObject({ body: "hello @jonas", author: { username: "jonas" }, noteable_iid: 13, system: false, resolvable: false });
    expect((await call("PUT", `${SHOP}/issues/13/notes/${note.id}`, { body: "changed" })).json.body).toBe("changed");
    const theirs = (await call("GET", `${SHOP}/issues/12/notes`)).json.find(
      ({ author }: { author: { username: string } }) => author.username === "sven",
    );
    expect((await call("PUT", `${SHOP}/issues/12/notes/${theirs.id}`, { body: "mine" }, "jonas")).status).toBe(403);
    expect((await call("DELETE", `${SHOP}/issues/13/notes/${note.id}`, undefined, "jonas")).status).toBe(204);
    expect((await call("POST", `${SHOP}/issues/13/notes`, {})).json).toEqual({ error: "body is missing" });
  });

  test("form threads that are answered and resolved", async () => {
    const thread = (await call("POST", `${SHOP}/issues/13/discussions`, { body: "a question" })).json;
    expect(thread).toMatchObject({ individual_note: false, notes: [{ body: "a question", resolvable: true, resolved: false }] });
    expect(thread.id).toMatch(/^[0-9a-f]{40}$/);
    await call("POST", `${SHOP}/issues/13/discussions/${thread.id}/notes`, { body: "an answer" }, "jonas");
    const resolved = (await call("PUT", `${SHOP}/issues/13/discussions/${thread.id}`, { resolved: true })).json;
    expect(resolved.notes).toMatchObject([{ resolved: true, resolved_by: { username: "maria" } }, { resolved: true }]);
  });

  test("become a thread when they are answered", async () => {
    const [first] = (await call("GET", `${SHOP}/issues/31/discussions`)).json;
    expect(first.individual_note).toBe(true);
    await call("POST", `${SHOP}/issues/31/discussions/${first.id}/notes`, { body: "and one more" });
    const [again] = (await call("GET", `${SHOP}/issues/31/discussions`)).json;
    expect(again).toMatchObject({ id: first.id, individual_note: false, notes: [{}, { body: "and one more" }] });
  });

  test("that mention somebody leave a to-do item", async () => {
    await call("POST", `${SHOP}/issues/13/notes`, { body: "see `@aiko`, but ask @jonas" });
    const mine = (await call("GET", "/todos?action=mentioned", undefined, "jonas")).json;
    expect(mine[0]).toMatchObject({ action_name: "mentioned", target: { iid: 13 } });
    expect(box().world.todos.filter(({ user_id, action_name }) => user_id === 4 && action_name === "mentioned")).toEqual([]);
  });

  test("carry emoji, each once a person", async () => {
    const [note] = (await call("GET", `${SHOP}/issues/12/notes`)).json;
    const path = `${SHOP}/issues/12/notes/${note.id}/award_emoji`;
    const made = (await call("POST", path, { name: "tada" })).json;
    expect(made).toMatchObject({ name: "tada", user: { username: "maria" }, awardable_type: "Note", awardable_id: note.id });
    expect((await call("POST", path, { name: "tada" })).json.message).toContain("has already been taken");
    expect((await call("DELETE", `${path}/${made.id}`, undefined, "jonas")).status).toBe(401);
    expect((await call("DELETE", `${path}/${made.id}`)).status).toBe(204);
  });
});

describe("labels and milestones", () => {
  test("a label is made, renamed everywhere, and gone everywhere", async () => {
    expect((await call("POST", `${SHOP}/labels`, { name: "bug", color: "#fff000" })).json).toEqual({ message: "Label already exists" });
    expect((await call("POST", `${SHOP}/labels`, { name: "x", color: "reddish" })).json).toEqual({
      message: { color: ["must be a valid color code"] },
    });
    await call("PUT", `${SHOP}/labels/ux`, { new_name: "experience" });
    expect((await call("GET", `${SHOP}/issues/30`)).json.labels).toContain("experience");
    expect((await call("DELETE", `${SHOP}/labels/experience`)).status).toBe(204);
    expect((await call("GET", `${SHOP}/issues/30`)).json.labels).not.toContain("experience");
    expect((await call("GET", `${SHOP}/issues/30?with_labels_details=true`)).json.labels[0]).toMatchObject({
      color: expect.stringMatching(/^#/),
    });
  });

  test("a milestone opens and closes; a name is used once", async () => {
    expect((await call("GET", `${SHOP}/milestones?state=active`)).json.map(({ title }: { title: string }) => title)).toEqual([
      "2.0",
      "1.5",
    ]);
    expect((await call("POST", `${SHOP}/milestones`, { title: "1.5" })).status).toBe(400);
    expect((await call("PUT", `${SHOP}/milestones/304`, { state_event: "close" })).json.state).toBe("closed");
    const issues = (await call("GET", `${SHOP}/milestones/304/issues?per_page=100`)).json;
    expect(issues.length).toBeGreaterThan(10);
    expect((await call("POST", `${SHOP}/milestones`, { title: "new", start_date: "2027-02-01", due_date: "2027-01-01" })).status).toBe(400);
  });
});

describe("projects, groups, members", () => {
  const paths = (rows: { path_with_namespace: string }[]) => rows.map((row) => row.path_with_namespace).sort();

  test("projects are listed by what the caller has to do with them", async () => {
    expect(paths((await call("GET", "/projects?owned=true&archived=false")).json)).toContain("maria/dotfiles");
    expect(paths((await call("GET", "/projects?membership=true", undefined, "root")).json)).toEqual([]);
    expect(paths((await call("GET", "/projects?archived=true")).json)).toEqual(["acme/legacy-import"]);
    expect(paths((await call("GET", "/projects?visibility=public")).json)).toEqual(["acme/handbook"]);
    expect(paths((await call("GET", "/projects?search=web&simple=true")).json)).toEqual(["acme/webshop"]);
    expect(paths((await call("GET", "/groups/acme/projects")).json)).not.toContain("acme/platform/deploy");
    expect(paths((await call("GET", "/groups/acme/projects?include_subgroups=true")).json)).toContain("acme/platform/deploy");
  });

  test("a project is made, changed, starred, archived, deleted in two steps", async () => {
    const made = (await call("POST", "/projects", { name: "New Thing", namespace_id: 10, description: "d", initialize_with_readme: true }))
      .json;
    expect(made).toMatchObject({ path: "new-thing", path_with_namespace: "acme/new-thing", visibility: "private", empty_repo: false });
    expect((await call("POST", "/projects", { name: "New Thing", namespace_id: 10 })).json.message).toMatchObject({
      path: ["has already been taken"],
    });
    const path = `/projects/${made.id}`;
    expect((await call("PUT", path, { squash_option: "always", description: "e" })).json).toMatchObject({
      squash_option: "always",
      description: "e",
    });
    expect((await call("POST", `${path}/star`)).json.star_count).toBe(1);
    expect((await call("POST", `${path}/star`)).status).toBe(304);
    expect((await call("POST", `${path}/archive`)).json.archived).toBe(true);
    expect((await call("DELETE", path)).status).toBe(202);
    expect((await call("GET", path)).json.marked_for_deletion_on).toBe("2026-11-02");
    expect((await call("DELETE", `${path}?permanently_remove=true&full_path=acme%2Fnew-thing`)).status).toBe(202);
    expect((await call("GET", path)).status).toBe(404);
  });

  test("a project that was renamed leads reads to its new place, and refuses writes", async () => {
    await call("PUT", SHOP, { path: "shop" });
    const reply = await fetch(`${box().url}/api/v4/projects/acme%2Fwebshop/issues/12?with_labels_details=true`, {
      headers: { "private-token": box().tokens.maria },
      redirect: "manual",
    });
    expect([reply.status, reply.headers.get("location")]).toEqual([
      301,
      `${box().url}/api/v4/projects/101/issues/12?with_labels_details=true`,
    ]);
    expect((await call("POST", "/projects/acme%2Fwebshop/issues", { title: "lost" })).status).toBe(405);
    expect((await call("GET", "/projects/acme%2Fshop")).json.path).toBe("shop");
  });

  test("a fork knows where it comes from, and has its files", async () => {
    const fork = (await call("POST", `${SHOP}/fork`, {}, "jonas")).json;
    expect(fork).toMatchObject({ path_with_namespace: "jonas/webshop", forked_from_project: { id: 101 } });
    expect((await call("GET", `/projects/${fork.id}/repository/branches/main`, undefined, "jonas")).status).toBe(200);
    expect((await call("POST", `${SHOP}/fork`, {}, "jonas")).status).toBe(409);
  });

  test("members: direct and inherited, added once, never above one's own role", async () => {
    const names = async (path: string) => (await call("GET", path)).json.map(({ username }: { username: string }) => username);
    expect(await names(`${SHOP}/members`)).toEqual(["sven", "release-bot"]);
    expect(await names(`${SHOP}/members/all`)).toEqual(expect.arrayContaining(["maria", "jonas", "aiko", "sven"]));
    expect((await call("POST", `${SHOP}/members`, { user_id: 4, access_level: 30 }, "jonas")).status).toBe(403);
    expect((await call("POST", `${SHOP}/members`, { user_id: 4, access_level: 30 })).json).toMatchObject({
      username: "aiko",
      access_level: 30,
    });
    expect((await call("POST", `${SHOP}/members`, { user_id: 4, access_level: 30 })).json).toEqual({ message: "Member already exists" });
    expect((await call("GET", `${SHOP}/members/all/4`)).json.access_level).toBe(30);
    expect((await call("PUT", `${SHOP}/members/4`, { access_level: 40 })).json.access_level).toBe(40);
    const asMaintainer = await fetch(`${box().url}/api/v4${SHOP}/members`, {
      method: "POST",
      headers: { "private-token": "sandbox-token-project-deploy", "content-type": "application/json" },
      body: JSON.stringify({ user_id: 5, access_level: 50 }),
    });
    expect(asMaintainer.status).toBe(403);
    expect((await call("DELETE", `${SHOP}/members/4`)).status).toBe(204);
    expect((await call("POST", `${SHOP}/members`, { user_id: 4, access_level: 31 })).json).toEqual({
      error: "access_level does not have a valid value",
    });
  });

  test("groups nest", async () => {
    const made = (await call("POST", "/groups", { name: "Inner", path: "inner", parent_id: 11 })).json;
    expect(made).toMatchObject({ full_path: "acme/platform/inner", parent_id: 11, visibility: "private" });
    expect((await call("GET", "/groups/acme/subgroups")).json).toHaveLength(1);
    expect((await call("GET", "/groups/acme/descendant_groups")).json).toHaveLength(2);
    expect((await call("POST", "/groups", { name: "Inner", path: "inner", parent_id: 11 })).status).toBe(400);
  });
});

describe("tokens", () => {
  test("the token in use describes itself", async () => {
    expect((await call("GET", "/personal_access_tokens/self", undefined, "reader")).json).toMatchObject({
      name: "Dashboard, reads only",
      scopes: ["read_api"],
      user_id: 2,
      active: true,
      revoked: false,
    });
    expect((await call("GET", "/personal_access_tokens/self", undefined, "reader")).json).not.toHaveProperty("token");
  });

  test("a rotated token says its secret once, and the old one is dead", async () => {
    const fresh = (await call("POST", "/personal_access_tokens/self/rotate", { expires_at: "2027-01-01" })).json;
    expect(fresh).toMatchObject({ name: "Daily work", expires_at: "2027-01-01", token: expect.any(String) });
    expect((await call("GET", "/user")).json).toMatchObject({ error: "invalid_token" });
    const reply = await fetch(`${box().url}/api/v4/personal_access_tokens/self`, { headers: { "private-token": fresh.token } });
    expect(await reply.json()).toMatchObject({ id: fresh.id });
  });

  test("of a project: made, listed without secret, rotated, revoked", async () => {
    const path = `${SHOP}/access_tokens`;
    const made = (await call("POST", path, { name: "ci", scopes: ["api"], access_level: 30, expires_at: "2027-05-01" })).json;
    expect(made).toMatchObject({ token: expect.any(String), access_level: 30, active: true });
    expect((await call("GET", `${path}/${made.id}`)).json).not.toHaveProperty("token");
    const turned = (await call("POST", `${path}/${made.id}/rotate`)).json;
    expect(turned.id).not.toBe(made.id);
    expect(turned.token).not.toBe(made.token);
    expect((await call("DELETE", `${path}/${turned.id}`)).status).toBe(204);
    expect((await call("GET", path, undefined, "jonas")).status).toBe(401);
    expect((await call("POST", path, { name: "x", scopes: ["everything"] })).status).toBe(400);
    const bot = await fetch(`${box().url}/api/v4/user`, { headers: { "private-token": turned.token } });
    expect(bot.status).toBe(401);
  });
});

describe("releases, search, feed", () => {
  test("a release needs a tag, or a ref to make one", async () => {
    const path = `${SHOP}/releases`;
    expect((await call("GET", path)).json.map(({ tag_name }: { tag_name: string }) => tag_name)[0]).toBe("v1.4.0");
    expect((await call("POST", path, { tag_name: "v1.4.0" })).json).toEqual({ message: "Release already exists" });
    expect((await call("POST", path, { tag_name: "v9" })).json).toEqual({ message: "Ref is not specified" });
    const made = (
      await call("POST", path, {
        tag_name: "v1.5.0",
        ref: "main",
        description: "notes",
        milestones: ["1.5"],
        assets: { links: [{ name: "a", url: "https://acme.example/a" }] },
      })
    ).json;
    expect(made).toMatchObject({
      tag_name: "v1.5.0",
      milestones: [{ title: "1.5" }],
      assets: { links: [{ name: "a" }] },
      author: { username: "maria" },
    });
    expect((await call("GET", `${SHOP}/repository/tags/v1.5.0`)).status).toBe(200);
    expect((await call("PUT", `${path}/v1.5.0`, { name: "Five" })).json.name).toBe("Five");
    expect((await call("DELETE", `${path}/v1.5.0`)).json.tag_name).toBe("v1.5.0");
    expect((await call("GET", `${SHOP}/repository/tags/v1.5.0`)).status).toBe(200);
  });

  test("search looks only where the caller may look", async () => {
    expect(titles((await call("GET", `${SHOP}/search?scope=issues&search=heap`)).json)).toContain(
      "Memory of a replica grows until it is killed",
    );
    expect((await call("GET", "/search?scope=projects&search=dotfiles")).json).toHaveLength(1);
    expect((await call("GET", "/search?scope=projects&search=dotfiles", undefined, "jonas")).json).toEqual([]);
    expect((await call("GET", "/search?scope=issues")).json).toEqual({ error: "search is missing" });
    expect((await call("GET", "/search?scope=nonsense&search=a")).json).toEqual({ error: "scope does not have a valid value" });
    expect((await call("GET", "/groups/acme/search?scope=users&search=tanaka")).json).toMatchObject([{ username: "aiko" }]);
  });

  test("what is done stands in the feed", async () => {
    await call("POST", `${SHOP}/issues`, { title: "news" });
    const [first] = (await call("GET", "/events")).json;
    expect(first).toMatchObject({ action_name: "opened", target_type: "Issue", target_title: "news", author_username: "maria" });
    expect(
      (await call("GET", `${SHOP}/events?target_type=issue&action=closed`)).json.every(
        ({ action_name }: { action_name: string }) => action_name === "closed",
      ),
    ).toBe(true);
  });
});

describe("wikis, snippets, uploads", () => {
  test("a page has its title as address, and is there once", async () => {
    expect((await call("POST", `${SHOP}/wikis`, { title: "Night duty", content: "text" }, "jonas")).json).toMatchObject({
      slug: "Night-duty",
      format: "markdown",
    });
    expect((await call("POST", `${SHOP}/wikis`, { title: "Night duty", content: "text" })).status).toBe(422);
    expect((await call("GET", `${SHOP}/wikis`)).json.every((page: object) => !("content" in page))).toBe(true);
    expect((await call("PUT", `${SHOP}/wikis/Night-duty`, { content: "new" })).json.content).toBe("new");
    expect((await call("DELETE", `${SHOP}/wikis/Night-duty`, undefined, "jonas")).status).toBe(403);
    expect((await call("DELETE", `${SHOP}/wikis/Night-duty`)).status).toBe(204);
  });

  test("a snippet has files, which are read raw and changed one by one", async () => {
    const made = (await call("POST", `${SHOP}/snippets`, { title: "s", files: [{ file_path: "a.txt", content: "A" }] })).json;
    await call("PUT", `${SHOP}/snippets/${made.id}`, { files: [{ action: "create", file_path: "b.txt", content: "B" }] });
    expect((await call("GET", `${SHOP}/snippets/${made.id}`)).json.files).toMatchObject([{ path: "a.txt" }, { path: "b.txt" }]);
    expect((await call("GET", `${SHOP}/snippets/${made.id}/files/main/b.txt/raw`)).text).toBe("B");
    expect((await call("GET", "/snippets")).json).toEqual([]);
  });

  test("an uploaded file comes back byte for byte", async () => {
    const bytes = new Uint8Array([0, 255, 13, 10, 45, 45, 128, 10]);
    const form = new FormData();
    form.append("file", new Blob([bytes], { type: "image/png" }), "dot.png");
    const reply = await fetch(`${box().url}/api/v4${SHOP}/uploads`, {
      method: "POST",
      headers: { "private-token": box().tokens.maria },
      body: form,
    });
    const made = (await reply.json()) as { url: string; markdown: string };
    expect(made.markdown).toBe(`![dot](${made.url})`);
    const back = await fetch(`${box().url}/api/v4${SHOP}${made.url}`, { headers: { "private-token": box().tokens.maria } });
    expect(new Uint8Array(await back.arrayBuffer())).toEqual(bytes);
    expect(JSON.stringify(box().requests)).not.toContain("bytes");
  });
});

describe("rows that nobody wrote a behaviour for", () => {
  test("boards: list, make, change, delete, with their lists", async () => {
    expect((await call("GET", `${SHOP}/boards`)).json).toMatchObject([{ name: "Development" }]);
    const board = (await call("POST", `${SHOP}/boards`, { name: "Second" })).json;
    expect((await call("GET", `${SHOP}/boards/${board.id}`)).json.name).toBe("Second");
    expect((await call("PUT", `${SHOP}/boards/${board.id}`, { name: "Third" })).json.name).toBe("Third");
    expect((await call("GET", `/projects/acme%2Fwebshop/boards`)).json).toHaveLength(2);
    expect((await call("DELETE", `${SHOP}/boards/${board.id}`)).status).toBe(204);
    expect((await call("GET", `${SHOP}/boards/${board.id}`)).json).toEqual({ message: "404 Board Not Found" });
    expect((await call("GET", `${SHOP}/boards/${board.id}/lists`)).json).toEqual({ message: "404 Board Not Found" });
  });

  test("the rules of the house hold for them too", async () => {
    expect((await call("POST", `${SHOP}/badges`, {})).json).toEqual({ error: "link_url is missing, image_url is missing" });
    expect((await call("POST", "/projects/105/boards", { name: "x" }, "jonas")).json).toEqual({ message: "404 Project Not Found" });
    expect((await call("DELETE", `${SHOP}/boards/1`, undefined, "jonas")).status).toBe(403);
    expect((await call("POST", "/topics", { name: "x", title: "y" }, "jonas")).status).toBe(403);
  });
});
