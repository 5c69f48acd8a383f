import { describe, expect, it } from "vitest";
import { answerOf, type Fields, failure, type Replies, runComposite, value } from "./composites-run.ts";
import { failureOf } from "./gitlab-fixture.ts";

const FILES: Readonly<Record<string, string | Buffer>> = {
  "src/a.ts": "one\ntwo\nthree\ntwo\nfour\n",
  "dos.txt": "\uFEFFone\r\ntwo\r\nthree\r\n",
  "logo.png": Buffer.from([0x89, 0x50, 0xff, 0x00]),
};

const BRANCHES: Readonly<Record<string, Fields>> = { main: { name: "main", can_push: true }, locked: { name: "locked", can_push: false } };

/** A repository with these files on every branch; `own` replaces single answers. */
const gitlab =
  (own: Record<string, (params: Fields) => ReturnType<Replies>> = {}): Replies =>
  (id, params) => {
    const mine = own[id];
    if (mine) return mine(params);
    if (id === "branch.get") return BRANCHES[String(params.branch)] ? value(BRANCHES[String(params.branch)] ?? {}) : failure("not_found");
    if (id === "project.get") return value({ default_branch: "main" });
    if (id === "commit.create") return value({ id: "c0ffee", web_url: "https://x/c0ffee" });
    if (id === "merge_request.create") return value({ iid: 7, title: params.title, web_url: "https://x/7" });
    const file = FILES[String(params.file_path)];
    return file === undefined
      ? failure("not_found")
      : value({ content: Buffer.from(file).toString("base64"), last_commit_id: `last-${params.file_path}` });
  };

const edit = (params: Fields, own = {}) =>
  runComposite("commit.edit", { project_id: "a/b", branch: "main", message: "M", ...params }, gitlab(own));

const a = (old: string, fresh: string) => ({ path: "src/a.ts", old, new: fresh });
const commits = (ran: readonly [string, Fields][]) => ran.filter(([id]) => /create$/.test(id));
const refusal = async (params: Fields) => {
  const { ran, outcome } = edit(params);
  const error = await failureOf(outcome);
  expect(commits(ran)).toEqual([]);
  return error;
};

describe("an edit", () => {
  it("commits old text → new text, guarded by the commit that the file was read from", async () => {
    const { ran, outcome } = edit({
      edits: [a("one\n", "ONE\n"), a("three\ntwo", "three\nTWO\nmore"), a("ONE", "first")],
      new_files: [{ path: "b.ts", content: "x\ny\n" }],
      delete_files: ["logo.png"],
    });
    expect(await answerOf(outcome)).toEqual({
      sha: "c0ffee",
      branch: "main",
      files: [
        { path: "src/a.ts", added: 4, removed: 3 },
        { path: "logo.png", deleted: true },
        { path: "b.ts", added: 2, new: true },
      ],
      web_url: "https://x/c0ffee",
    });
    expect(commits(ran)).toEqual([
      [
        "commit.create",
        {
          project_id: "a/b",
          branch: "main",
          commit_message: "M",
          actions: [
            { action: "update", file_path: "src/a.ts", content: "first\ntwo\nthree\nTWO\nmore\nfour\n", last_commit_id: "last-src/a.ts" },
            { action: "delete", file_path: "logo.png", last_commit_id: "last-logo.png" },
            { action: "create", file_path: "b.ts", content: "x\ny\n" },
          ],
          full: true,
        },
      ],
    ]);
  });

  it("is refused as a whole where one old text is not there exactly once", async () => {
    const twice = await refusal({ edits: [a("one", "1"), a("two", "2")] });
    expect(twice.detail.fields).toEqual({ "edits[1]": "old occurs 2 times in src/a.ts (lines 2, 4); give more of the text around it" });
    const none = await refusal({ edits: [a("  three", "3"), a("fuor", "4")] });
    expect(none.detail.fields).toEqual({
      "edits[0]": "old does not occur in src/a.ts; nearest: line 3: three",
      "edits[1]": expect.stringContaining("line 5: four"),
    });
    expect(none.hint).toMatch(/^Nothing was sent/);
    const overlap = await failureOf(
      edit(
        { edits: [{ path: "x", old: "aa", new: "b" }] },
        { "repository.file_get": () => value({ content: Buffer.from("aaa").toString("base64") }) },
      ).outcome,
    );
    expect(overlap.message).toMatch(/occurs 2 times/);
  });

  it("is refused where it says nothing, or of files that are not there, not text, or named twice", async () => {
    expect((await refusal({})).detail.fields).toHaveProperty("edits");
    expect((await refusal({ edits: [a("", "x"), a("one", "one")] })).detail.fields).toMatchObject({
      "edits[0]": expect.stringMatching(/empty/),
      "edits[1]": expect.stringMatching(/same/),
    });
    const files = await refusal({
      edits: [
        { path: "no.ts", old: "x", new: "y" },
        { path: "logo.png", old: "x", new: "y" },
      ],
      delete_files: ["gone.ts"],
    });
    expect(files.detail.fields).toMatchObject({
      "edits[0]": "no.ts is not there on main",
      "edits[1]": "logo.png is not a text in UTF-8",
      "delete_files[0]": "gone.ts is not there on main",
    });
    expect((await refusal({ edits: [a("one", "1")], delete_files: ["src/a.ts"] })).message).toMatch(/more than one of/);
  });

  it("keeps Windows line ends and a byte order mark", async () => {
    const { ran, outcome } = edit({ edits: [{ path: "dos.txt", old: "one\ntwo", new: "one\n2\n2b" }] });
    await outcome;
    expect(commits(ran)[0]?.[1].actions).toMatchObject([{ content: "\uFEFFone\r\n2\r\n2b\r\nthree\r\n" }]);
  });

  it("on a protected branch says what works instead, before anything is sent", async () => {
    const error = await refusal({ branch: "locked", edits: [a("one", "1")] });
    expect(error).toMatchObject({ code: "forbidden", hint: expect.stringMatching(/start_branch.*merge_request/) });
    expect(await refusal({ branch: "nowhere", edits: [a("one", "1")] })).toMatchObject({
      code: "not_found",
      hint: expect.stringMatching(/start_branch/),
    });
    expect(await refusal({ branch: "main", start_branch: "locked", edits: [a("one", "1")] })).toMatchObject({ code: "conflict" });
  });

  it("starts a branch and opens the merge request on it", async () => {
    const { ran, outcome } = edit({
      branch: "fix",
      start_branch: "main",
      edits: [a("one", "1")],
      merge_request: { title: "T", description: "D" },
    });
    expect(await answerOf(outcome)).toMatchObject({ branch: "fix", merge_request: { iid: 7, title: "T" } });
    expect(ran.filter(([id]) => id === "repository.file_get").map(([, { ref }]) => ref)).toEqual(["main"]);
    expect(commits(ran)).toMatchObject([
      ["commit.create", { branch: "fix", start_branch: "main" }],
      ["merge_request.create", { source_branch: "fix", target_branch: "main", title: "T", description: "D" }],
    ]);
    expect((await refusal({ edits: [a("one", "1")], merge_request: { title: "T" } })).message).toMatch(/target_branch/);
  });

  it("tells that the commit stands where the merge request fails, and nothing where the commit does", async () => {
    const params = { branch: "fix", start_branch: "main", edits: [a("one", "1")], merge_request: { title: "T" } };
    const late = await failureOf(edit(params, { "merge_request.create": () => failure("conflict") }).outcome);
    expect(late).toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/Done: the commit\. Failed: the merge request/),
      hint: expect.stringMatching(/commit stands/),
    });
    const early = edit(params, { "commit.create": () => failure("conflict") });
    expect((await failureOf(early.outcome)).message).toBe("it is conflict");
    expect(commits(early.ran)).toHaveLength(1);
  });
});
