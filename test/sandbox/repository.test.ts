import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { useSandbox } from "./http.ts";

const P = "/projects/acme%2Fwebshop";
const R = `${P}/repository`;
const file = (path: string) => `${R}/files/${encodeURIComponent(path)}`;

describe("branches and tags", () => {
  const { call } = useSandbox();

  test("a branch is made, found, and deleted", async () => {
    expect((await call("POST", `${R}/branches`, { branch: "try/one" })).json).toEqual({ error: "ref is missing" });
    expect((await call("POST", `${R}/branches`, { branch: "try/one", ref: "nowhere" })).json).toEqual({
      message: "Invalid reference name: nowhere",
    });
    const made = await call("POST", `${R}/branches`, { branch: "try/one", ref: "main" }, "jonas");
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ name: "try/one", default: false, protected: false, merged: false, can_push: true });
    expect((await call("POST", `${R}/branches`, { branch: "try/one", ref: "main" })).json).toEqual({ message: "Branch already exists" });
    expect((await call("GET", `${R}/branches?search=^try`)).json.map((row: { name: string }) => row.name)).toEqual(["try/one"]);
    expect((await call("GET", `${R}/branches/try%2Fone`)).json.commit.id).toBe(made.json.commit.id);
    expect((await call("DELETE", `${R}/branches/try%2Fone`)).status).toBe(204);
    const gone = await call("GET", `${R}/branches/try%2Fone`);
    expect([gone.status, gone.json]).toEqual([404, { message: "404 Branch Not Found" }]);
  });

  test("the reader may look, not write; a stranger sees nothing", async () => {
    expect((await call("GET", `${R}/branches`, undefined, null)).status).toBe(404);
    expect((await call("POST", `${R}/branches`, { branch: "x", ref: "main" }, "reader")).status).toBe(403);
  });

  test("the default branch stays, a protected one is the maintainers'", async () => {
    expect((await call("DELETE", `${R}/branches/main`)).status).toBe(400);
    const no = await call(
      "POST",
      `${R}/commits`,
      { branch: "main", commit_message: "x", actions: [{ action: "create", file_path: "a", content: "" }] },
      "jonas",
    );
    expect([no.status, no.json.message]).toEqual([403, "403 Forbidden - You are not allowed to push into this branch"]);
    expect((await call("PUT", `${file("README.md")}`, { branch: "main", commit_message: "x", content: "" }, "jonas")).json).toEqual({
      message: "You are not allowed to push into this branch",
    });
    expect((await call("GET", `${R}/branches/release%2F1.4`)).json).toMatchObject({ protected: true, developers_can_push: false });
  });

  test("protections can be made and taken away", async () => {
    const made = await call("POST", `${P}/protected_branches`, {
      name: "hot/*",
      push_access_level: 30,
      merge_access_level: 40,
      allow_force_push: true,
    });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      name: "hot/*",
      allow_force_push: true,
      push_access_levels: [{ access_level: 30 }],
      merge_access_levels: [{ access_level: 40 }],
    });
    expect((await call("POST", `${P}/protected_branches`, { name: "hot/*" })).status).toBe(409);
    expect((await call("POST", `${P}/protected_branches`, { name: "q" }, "jonas")).status).toBe(403);
    expect((await call("PATCH", `${P}/protected_branches/hot%2F*`, { allow_force_push: false })).json.allow_force_push).toBe(false);
    expect((await call("DELETE", `${P}/protected_branches/hot%2F*`)).status).toBe(204);
    expect((await call("GET", `${P}/protected_branches/hot%2F*`)).status).toBe(404);
  });

  test("tags come newest first and know their message", async () => {
    const tags = await call("GET", `${R}/tags`);
    expect(tags.json.map((tag: { name: string }) => tag.name)).toEqual(["v1.4.0", "v1.3.0", "v1.2.0", "v1.1.0", "v1.0.0"]);
    expect(tags.json[0].target).not.toBe(tags.json[0].commit.id);
    const made = await call("POST", `${R}/tags`, { tag_name: "v2.0.0-rc1", ref: "main", message: "Candidate" });
    expect(made.json).toMatchObject({ name: "v2.0.0-rc1", message: "Candidate" });
    expect((await call("POST", `${R}/tags`, { tag_name: "v2.0.0-rc1", ref: "main" })).json).toEqual({
      message: "Tag v2.0.0-rc1 already exists",
    });
    expect((await call("POST", `${R}/tags`, { tag_name: "v9", ref: "main" }, "jonas")).status).toBe(403);
    expect((await call("DELETE", `${R}/tags/v2.0.0-rc1`)).status).toBe(204);
  });
});

describe("commits", () => {
  const { call } = useSandbox();

  test("the list can be narrowed and never counts", async () => {
    const all = await call("GET", `${R}/commits?per_page=3`);
    expect(all.json).toHaveLength(3);
    expect(all.headers.get("x-total")).toBeNull();
    expect(all.headers.get("link")).toContain('rel="next"');
    const money = await call("GET", `${R}/commits?path=src/lib/money.ts`);
    expect(money.json.map((row: { title: string }) => row.title)).toEqual(["Round half cents to even", "Start the web shop"]);
    const october = await call("GET", `${R}/commits?since=2026-10-15T00:00:00Z&until=2026-10-16T00:00:00Z`);
    expect(october.json.map((row: { title: string }) => row.title)).toEqual(["Release 1.4.0"]);
    const range = await call("GET", `${R}/commits?ref_name=v1.3.0..v1.4.0&author=Jonas`);
    expect(range.json.map((row: { title: string }) => row.title)).toEqual(["Do not sell what is not there"]);
    expect((await call("GET", `${R}/commits?ref_name=nowhere`)).status).toBe(404);
  });

  test("one has stats, trailers, diff and refs", async () => {
    const list = await call("GET", `${R}/commits?path=src/lib/money.ts`);
    const { id } = list.json[0];
    const one = await call("GET", `${R}/commits/${id}`);
    expect(one.json).toMatchObject({ trailers: { Changelog: "bug" }, stats: { additions: 15, deletions: 1, total: 16 }, project_id: 101 });
    const diff = await call("GET", `${R}/commits/${id}/diff`);
    expect(diff.json[0]).toMatchObject({ new_path: "src/lib/money.ts", new_file: false, a_mode: "100644" });
    expect(diff.json[0].diff).toMatch(/^@@ -14,8 \+14,17 @@/);
    const refs = await call("GET", `${R}/commits/${id}/refs?type=branch`);
    expect(refs.json).toContainEqual({ type: "branch", name: "main" });
    expect((await call("GET", `${R}/commits/${id}/merge_requests`)).json.map((row: { iid: number }) => row.iid)).toEqual([41]);
    expect((await call("GET", `${R}/commits/deadbeef`)).json).toEqual({ message: "404 Commit Not Found" });
  });

  test("actions make a commit on a new branch, and start a pipeline", async () => {
    const actions = [
      { action: "create", file_path: "docs/new.md", content: "# New\n" },
      { action: "update", file_path: "README.md", content: "short\n" },
      { action: "move", file_path: "docs/http.md", previous_path: "docs/api.md" },
      { action: "delete", file_path: "CONTRIBUTING.md" },
      { action: "chmod", file_path: "Dockerfile", execute_filemode: true },
      { action: "create", file_path: "bin.dat", content: Buffer.from([0, 1, 2]).toString("base64"), encoding: "base64" },
    ];
    const made = await call(
      "POST",
      `${R}/commits`,
      { branch: "many", start_branch: "main", commit_message: "Many things", actions },
      "jonas",
    );
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ title: "Many things", author_name: "Jonas Weber", author_email: "jonas@acme.example" });
    expect(made.json.last_pipeline).toMatchObject({ ref: "many", source: "push", status: "pending" });
    const [event] = (await call("GET", `${P}/events`)).json;
    expect(event).toMatchObject({
      action_name: "pushed new",
      author_username: "jonas",
      push_data: { ref: "many", commit_to: made.json.id },
    });
    const diff = await call("GET", `${R}/commits/${made.json.id}/diff`);
    const kinds = diff.json.map((row: Record<string, unknown>) => [
      row.new_path,
      row.new_file,
      row.renamed_file,
      row.deleted_file,
      row.b_mode,
    ]);
    expect(kinds).toEqual([
      ["CONTRIBUTING.md", false, false, true, "0"],
      ["Dockerfile", false, false, false, "100755"],
      ["README.md", false, false, false, "100644"],
      ["bin.dat", true, false, false, "100644"],
      ["docs/http.md", false, true, false, "100644"],
      ["docs/new.md", true, false, false, "100644"],
    ]);
    const again = await call("POST", `${R}/commits`, { branch: "many", start_branch: "main", commit_message: "x", actions: [] });
    expect([again.status, again.json.message]).toEqual([
      400,
      "A branch called 'many' already exists. Switch to that branch in order to make changes",
    ]);
  });

  test("actions that do not fit change nothing", async () => {
    const send = (action: object) => call("POST", `${R}/commits`, { branch: "feature/robots", commit_message: "x", actions: [action] });
    const before = (await call("GET", `${R}/branches/feature%2Frobots`)).json.commit.id;
    expect((await send({ action: "create", file_path: "README.md", content: "" })).json.message).toBe(
      "A file with this name already exists",
    );
    expect((await send({ action: "update", file_path: "no.md", content: "" })).json.message).toBe("A file with this name doesn't exist");
    expect((await send({ action: "update", file_path: "README.md", content: "", last_commit_id: before })).status).toBe(400);
    expect((await send({ action: "paint", file_path: "a" })).status).toBe(400);
    const none = await call("POST", `${R}/commits`, { branch: "unborn", commit_message: "x", actions: [] });
    expect(none.json.message).toBe("You can only create or edit files when you are on a branch");
    expect((await call("GET", `${R}/branches/feature%2Frobots`)).json.commit.id).toBe(before);
  });

  test("cherry-pick and revert", async () => {
    const { id } = (await call("GET", `${R}/commits?path=src/logger.ts`)).json[0];
    const picked = await call("POST", `${R}/commits/${id}/cherry_pick`, { branch: "release/1.4" });
    expect(picked.status).toBe(201);
    expect(picked.json.message).toContain(`(cherry picked from commit ${id})`);
    const twice = await call("POST", `${R}/commits/${id}/cherry_pick`, { branch: "release/1.4" });
    expect([twice.status, twice.json.error_code]).toEqual([400, "empty"]);
    const reverted = await call("POST", `${R}/commits/${picked.json.id}/revert`, { branch: "release/1.4" });
    expect(reverted.json.title).toBe('Revert "Keep cookies out of the log"');
    expect((await call("GET", `${file("src/logger.ts")}/raw?ref=release/1.4`)).text).not.toContain("cookie");
  });

  test("comments and statuses", async () => {
    const note = await call("POST", `${R}/commits/main/comments`, { note: "Nice", path: "ci/smoke.yml", line: 2 }, "jonas");
    expect(note.json).toMatchObject({ note: "Nice", path: "ci/smoke.yml", line: 2, line_type: "new", author: { username: "jonas" } });
    expect((await call("GET", `${R}/commits/main/comments`)).json).toHaveLength(1);
    const thread = await call("POST", `${R}/commits/main/discussions`, { body: "Why here?" });
    expect(thread.json.notes[0]).toMatchObject({ body: "Why here?", noteable_type: "Commit" });
    await call("POST", `${R}/commits/main/discussions/${thread.json.id}/notes`, { body: "Because." }, "jonas");
    expect((await call("GET", `${R}/commits/main/comments`)).json.map((row: { note: string }) => row.note)).toEqual([
      "Nice",
      "Why here?",
      "Because.",
    ]);
    const { id } = (await call("GET", `${R}/commits/main`)).json;
    expect((await call("POST", `${P}/statuses/${id}`, { state: "success", name: "scan" })).json).toMatchObject({
      name: "scan",
      status: "success",
      sha: id,
    });
    expect((await call("GET", `${R}/commits/${id}/statuses?name=scan`)).json).toHaveLength(1);
  });
});

describe("files and trees", () => {
  const { call } = useSandbox();

  test("a file comes as base64 with headers, raw, and by HEAD", async () => {
    const got = await call("GET", `${file("src/lib/money.ts")}?ref=main`);
    expect(Buffer.from(got.json.content, "base64").toString()).toContain("export interface Money");
    expect(got.headers.get("x-gitlab-file-path")).toBe("src/lib/money.ts");
    expect(got.headers.get("x-gitlab-blob-id")).toBe(got.json.blob_id);
    const head = await call("HEAD", `${file("src/lib/money.ts")}?ref=main`);
    expect([head.status, head.text, head.headers.get("x-gitlab-last-commit-id")]).toEqual([200, "", got.json.last_commit_id]);
    const raw = await call("GET", `${file("src/lib/money.ts")}/raw`);
    expect(raw.headers.get("content-type")).toBe("text/plain");
    expect((await call("GET", file("README.md"))).json).toEqual({ error: "ref is missing" });
    expect((await call("GET", `${file("no.md")}?ref=main`)).json).toEqual({ message: "404 File Not Found" });
    expect((await call("GET", `${file("README.md")}?ref=no`)).json).toEqual({ message: "404 Commit Not Found" });
  });

  test("a binary file keeps its bytes", async () => {
    const got = await call("GET", `${file("public/logo.png")}?ref=main`);
    expect(Buffer.from(got.json.content, "base64").subarray(1, 4).toString()).toBe("PNG");
  });

  test("files are created, changed and deleted", async () => {
    const body = { branch: "feature/robots", commit_message: "m", content: "one\n" };
    const made = await call("POST", file("notes/a.txt"), body, "jonas");
    expect([made.status, made.json]).toEqual([201, { file_path: "notes/a.txt", branch: "feature/robots" }]);
    expect((await call("POST", file("notes/a.txt"), body)).json).toEqual({ message: "A file with this name already exists" });
    expect((await call("PUT", file("notes/a.txt"), { ...body, content: "two\n" })).status).toBe(200);
    expect((await call("GET", `${file("notes/a.txt")}/raw?ref=feature/robots`)).text).toBe("two\n");
    expect((await call("DELETE", file("notes/a.txt"), { branch: "feature/robots", commit_message: "m" })).status).toBe(204);
    expect((await call("GET", `${file("notes/a.txt")}/raw?ref=feature/robots`)).status).toBe(404);
  });

  test("blame names the last author of each line", async () => {
    const ranges = (await call("GET", `${file("src/lib/money.ts")}/blame?ref=main`)).json;
    expect(ranges.map((row: { commit: { author_name: string } }) => row.commit.author_name)).toContain("Jonas Weber");
    const one = (await call("GET", `${file("src/lib/money.ts")}/blame?ref=main&range[start]=17&range[end]=17`)).json;
    expect(one).toHaveLength(1);
    expect(one[0].lines).toEqual(["const HALF = 0.5;"]);
  });

  test("a tree pages by number and by token", async () => {
    const all = (await call("GET", `${R}/tree?recursive=true&per_page=100`)).json;
    expect(all.length).toBeGreaterThan(45);
    expect(all[0].type).toBe("tree");
    const seen: string[] = [];
    let path = `${R}/tree?recursive=true&pagination=keyset&per_page=17`;
    while (path) {
      const page = await call("GET", path);
      seen.push(...page.json.map((row: { path: string }) => row.path));
      const next = /<[^>]*\/api\/v4([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "");
      path = next?.[1] ?? "";
    }
    expect(seen).toEqual(all.map((row: { path: string }) => row.path));
    expect((await call("GET", `${R}/tree?path=nowhere`)).status).toBe(404);
    expect((await call("GET", `${R}/tree?path=src/lib`)).json.map((row: { name: string }) => row.name)).toEqual([
      "errors.ts",
      "money.ts",
      "validate.ts",
    ]);
  });

  test("compare, merge base, blobs, contributors", async () => {
    const compared = (await call("GET", `${R}/compare?from=v1.4.0&to=main`)).json;
    expect(compared.commits).toHaveLength(19);
    expect(compared.commits.at(-1).id).toBe(compared.commit.id);
    const other = (await call("GET", `${R}/compare?from=main&to=feature/robots`)).json;
    expect(other.diffs.map((row: { new_path: string }) => row.new_path)).toEqual(["public/robots.txt"]);
    const straight = (await call("GET", `${R}/compare?from=main&to=feature/robots&straight=true`)).json;
    expect(straight.diffs.length).toBeGreaterThan(1);
    const base = (await call("GET", `${R}/merge_base?refs[]=main&refs[]=release/1.4`)).json;
    expect(base.title).toBe("Release 1.4.0");
    const { blob_id } = (await call("GET", `${file("README.md")}?ref=main`)).json;
    expect((await call("GET", `${R}/blobs/${blob_id}/raw`)).text).toContain("# Web shop");
    const people = (await call("GET", `${R}/contributors?order_by=commits&sort=desc`)).json;
    expect(people[0]).toMatchObject({ name: "Maria Lindqvist" });
  });

  test("an archive can be a zip", async () => {
    const zip = await call("GET", `${R}/archive.zip`);
    expect(zip.text.startsWith("PK")).toBe(true);
  });

  test("a changelog groups by trailer", async () => {
    const { notes } = (await call("GET", `${R}/changelog?version=1.5.0`)).json;
    expect(notes).toContain("## 1.5.0 (2026-11-02)");
    expect(notes).toContain("### Bug fixes (3 changes)");
    expect(notes).toContain("[Offer gift wrapping]");
  });
});

describe("new projects", () => {
  const { call, box } = useSandbox();

  test("the archive unpacks to tar", async () => {
    const reply = await fetch(`${box().url}/api/v4${R}/archive`, { headers: { "PRIVATE-TOKEN": box().tokens.maria } });
    const tar = gunzipSync(Buffer.from(await reply.arrayBuffer()));
    expect(tar.subarray(257, 262).toString()).toBe("ustar");
    expect(tar.includes("# Web shop")).toBe(true);
  });

  test("an empty repository takes its first commit", async () => {
    const { id } = (await call("POST", "/projects", { name: "Fresh" })).json;
    expect((await call("GET", `/projects/${id}/repository/tree`)).json).toEqual({ message: "404 Tree Not Found" });
    const first = await call("POST", `/projects/${id}/repository/commits`, {
      branch: "main",
      commit_message: "First",
      actions: [{ action: "create", file_path: "a.txt", content: "a" }],
    });
    expect(first.status).toBe(201);
    expect(first.json.parent_ids).toEqual([]);
    expect((await call("GET", `/projects/${id}`)).json.default_branch).toBe("main");
  });
});
