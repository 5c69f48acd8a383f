import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createGitStore,
  type GitStore,
  listTree,
  putBlob,
  putCommit,
  putSnapshot,
  putTag,
  resolveRef,
  snapshotOf,
} from "../../src/sandbox/git.ts";
import { countLines, diffSnapshots, editScript, patchText, splitLines, unifiedHunks } from "../../src/sandbox/git-diff.ts";
import { blame, isAncestor, lastCommitFor, logOf, mergeBase, touches } from "../../src/sandbox/git-history.ts";
import { mergeSnapshots, mergeTexts } from "../../src/sandbox/git-merge.ts";

const ANN = { name: "Ann", email: "ann@example.com", date: "2026-01-05T10:00:00.000Z" };

function files(git: GitStore, rows: Record<string, string>, mode = "100644") {
  return new Map(Object.entries(rows).map(([path, text]) => [path, { mode, id: putBlob(git, Buffer.from(text)) }]));
}

function commitOf(git: GitStore, rows: Record<string, string>, parents: string[], minute: number, message = `step ${minute}`) {
  const author = { ...ANN, date: new Date(Date.UTC(2026, 0, 5, 10, minute)).toISOString() };
  return putCommit(git, { snapshot: files(git, rows), parents, author, message });
}

describe("ids", () => {
  test("are the ids that git gives", () => {
    const git = createGitStore();
    expect(putBlob(git, Buffer.from("hello\n"))).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
    expect(putSnapshot(git, new Map())).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    const dir = mkdtempSync(join(tmpdir(), "git-"));
    try {
      const run = (...args: string[]) => execFileSync("git", args, { cwd: dir, input: "", encoding: "utf8" }).trim();
      run("init", "-q");
      writeFileSync(join(dir, "a-b"), "1\n");
      execFileSync("mkdir", ["-p", join(dir, "a/x")]);
      writeFileSync(join(dir, "a/x/c.txt"), "2\n");
      run("add", ".");
      const tree = run("write-tree");
      expect(putSnapshot(git, files(git, { "a-b": "1\n", "a/x/c.txt": "2\n" }))).toBe(tree);
      const env = { GIT_AUTHOR_DATE: "1767607200 +0000", GIT_COMMITTER_DATE: "1767607200 +0000" };
      const id = execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit-tree", tree, "-m", "First"], {
        cwd: dir,
        encoding: "utf8",
        env: { ...process.env, ...env },
      }).trim();
      const own = putCommit(git, {
        snapshot: files(git, { "a-b": "1\n", "a/x/c.txt": "2\n" }),
        parents: [],
        author: ANN,
        message: "First\n",
      });
      expect(own.id).toBe(id);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test("resolve by branch, tag, short id and ~n", () => {
    const git = createGitStore();
    const one = commitOf(git, { a: "1\n" }, [], 0);
    const two = commitOf(git, { a: "2\n" }, [one.id], 1);
    git.branches.set("feature/x", two.id);
    const tag = putTag(git, "v1", one.id, "First", ANN);
    expect(tag.target).not.toBe(one.id);
    expect(resolveRef(git, "feature/x")?.id).toBe(two.id);
    expect(resolveRef(git, "refs/heads/feature/x~1")?.id).toBe(one.id);
    expect(resolveRef(git, "feature/x^")?.id).toBe(one.id);
    expect(resolveRef(git, "v1")?.id).toBe(one.id);
    expect(resolveRef(git, two.id.slice(0, 8))?.id).toBe(two.id);
    expect(resolveRef(git, "HEAD", "feature/x")?.id).toBe(two.id);
    expect(resolveRef(git, "nothing")).toBeUndefined();
  });
});

test("a tree lists folders first and recurses", () => {
  const git = createGitStore();
  const snapshot = files(git, { "b.txt": "1", "src/z.ts": "2", "src/lib/a.ts": "3" });
  expect(listTree(snapshot, "", false)?.map((item) => `${item.type} ${item.path}`)).toEqual(["tree src", "blob b.txt"]);
  expect(listTree(snapshot, "", true)?.map((item) => item.path)).toEqual(["src", "src/lib", "src/lib/a.ts", "src/z.ts", "b.txt"]);
  expect(listTree(snapshot, "nowhere", false)).toBeUndefined();
});

describe("diff", () => {
  const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("");

  test("agrees with diff -u on hunks", () => {
    const after = before.replace("line 3\n", "line three\n").replace("line 20\n", "line 20\nextra\n").replace("line 30\n", "");
    const dir = mkdtempSync(join(tmpdir(), "diff-"));
    try {
      writeFileSync(join(dir, "a"), before);
      writeFileSync(join(dir, "b"), after);
      let real = "";
      try {
        execFileSync("git", ["diff", "--no-index", "--no-color", "a", "b"], { cwd: dir, encoding: "utf8" });
      } catch (error) {
        real = String((error as { stdout: string }).stdout);
      }
      expect(unifiedHunks(before, after)).toBe(real.slice(real.indexOf("@@")));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test("new, deleted, renamed, binary and a missing last newline", () => {
    const git = createGitStore();
    const from = files(git, { old: before, gone: "x\n", bin: "\0a", end: "a\nb" });
    const to = files(git, { moved: before.replace("line 9\n", ""), born: "y\n", bin: "\0b", end: "a\nb\n" });
    const rows = diffSnapshots(git, from, to);
    expect(rows.map((row) => row.new_path)).toEqual(["bin", "born", "end", "gone", "moved"]);
    const [bin, born, end, gone, moved] = rows;
    expect(bin?.diff).toBe("Binary files a/bin and b/bin differ\n");
    expect(born).toMatchObject({ new_file: true, a_mode: "0", b_mode: "100644", diff: "@@ -0,0 +1 @@\n+y\n" });
    expect(end?.diff).toBe("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    expect(gone).toMatchObject({ deleted_file: true, b_mode: "0", diff: "@@ -1 +0,0 @@\n-x\n" });
    expect(moved).toMatchObject({ renamed_file: true, old_path: "old", new_file: false });
    expect(countLines(moved?.diff ?? "")).toEqual({ additions: 0, deletions: 1 });
    expect(patchText(rows)).toContain("diff --git a/old b/moved\nrename from old\nrename to moved\n--- a/old\n+++ b/moved\n@@");
  });
});

describe("history", () => {
  const git = createGitStore();
  const root = commitOf(git, { a: "1\n2\n3\n", b: "b\n" }, [], 0);
  const left = commitOf(git, { a: "one\n2\n3\n", b: "b\n" }, [root.id], 1);
  const right = commitOf(git, { a: "1\n2\nthree\n", b: "b\n" }, [root.id], 2);
  const merge = commitOf(git, { a: "one\n2\nthree\n", b: "b\n" }, [left.id, right.id], 3);

  test("log keeps children before parents", () => {
    expect(logOf(git, merge.id).map((commit) => commit.id)).toEqual([merge.id, right.id, left.id, root.id]);
    expect(isAncestor(git, root.id, merge.id)).toBe(true);
    expect(isAncestor(git, merge.id, root.id)).toBe(false);
  });

  test("merge base is the newest common commit", () => {
    expect(mergeBase(git, left.id, right.id)?.id).toBe(root.id);
    expect(mergeBase(git, left.id, merge.id)?.id).toBe(left.id);
  });

  test("log by path and blame follow both sides of a merge", () => {
    expect(touches(git, left, "a")).toBe(true);
    expect(touches(git, left, "b")).toBe(false);
    expect(lastCommitFor(git, merge, "b").id).toBe(root.id);
    expect(blame(git, merge, "a").map((range) => [range.commit.id, range.lines])).toEqual([
      [left.id, ["one"]],
      [root.id, ["2"]],
      [right.id, ["three"]],
    ]);
  });

  test("three-way merge joins far lines and reports near ones", () => {
    const [base, ours, theirs] = [root, left, right].map((commit) => snapshotOf(git, commit));
    if (!base || !ours || !theirs) throw new Error("no snapshots");
    const merged = mergeSnapshots(git, base, ours, theirs);
    expect(merged.conflicts).toEqual([]);
    expect(git.blobs.get(merged.snapshot.get("a")?.id ?? "")?.toString()).toBe("one\n2\nthree\n");
    expect(mergeTexts("1\n2\n", "x\n2\n", "y\n2\n")).toBeUndefined();
    expect(mergeTexts("1\n2\n", "x\n2\n", "x\n2\n")).toBe("x\n2\n");
  });

  test("lines that touch are a conflict, as in git", () => {
    expect(mergeTexts("1\n2\n", "x\n2\n", "1\ny\n")).toBeUndefined();
    expect(mergeTexts("1\n2\n3\n", "x\n2\n3\n", "1\n2\ny\n")).toBe("x\n2\ny\n");
    expect(mergeTexts("1\n", "1\na\n", "1\nb\n")).toBeUndefined();
  });

  test("changed here and deleted there is a conflict", () => {
    const theirs = files(git, { b: "b\n" });
    expect(mergeSnapshots(git, snapshotOf(git, root), snapshotOf(git, left), theirs).conflicts).toEqual(["a"]);
    expect([...mergeSnapshots(git, snapshotOf(git, root), snapshotOf(git, root), theirs).snapshot.keys()]).toEqual(["b"]);
  });
});

describe("for any texts", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((lines) => lines.map((line) => `${line}\n`).join(""));

  test("the edit script leads from one to the other, and is as short as can be for equal ones", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [splitLines(before), splitLines(after)];
        const edits = editScript(a, b);
        expect(edits.flatMap((edit) => (edit.kind === "remove" ? [] : [b[edit.newLine]])).join("")).toBe(after);
        expect(edits.flatMap((edit) => (edit.kind === "add" ? [] : [a[edit.oldLine]])).join("")).toBe(before);
        for (const edit of edits) if (edit.kind === "keep") expect(a[edit.oldLine]).toBe(b[edit.newLine]);
        if (before === after) expect(unifiedHunks(before, after)).toBe("");
      }),
    );
  });

  test("a side that did not change gives way, and two equal sides agree", () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(mergeTexts(base, base, other)).toBe(other);
        expect(mergeTexts(base, other, base)).toBe(other);
        expect(mergeTexts(base, other, other)).toBe(other);
      }),
    );
  });
});
