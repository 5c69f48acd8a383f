import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { currentProject, projectFromRemote } from "../../src/executor/project.ts";

const PLAIN = "https://gitlab.example.com";

describe("a git remote", () => {
  it.each([
    ["git@gitlab.example.com:group/app.git", PLAIN],
    ["ssh://git@gitlab.example.com:2222/group/app.git", PLAIN],
    ["https://gitlab.example.com/group/app.git", PLAIN],
    ["https://gitlab.example.com/group/app", `${PLAIN}/`],
    ["https://oauth2:secret@gitlab.example.com/group/app.git", PLAIN],
    ["http://gitlab.example.com/group/app.git/", PLAIN],
    ["https://GitLab.Example.com/group/app.git", `${PLAIN}/api/v4`],
    ["https://gitlab.example.com:8443/group/app.git", "https://gitlab.example.com:8443"],
    ["git@gitlab.example.com:group/app.git", "https://gitlab.example.com:8443"],
    ["https://example.com/git/group/app.git", "https://example.com/git"],
    ["git@example.com:group/app.git", "https://example.com/git/"],
  ])("%s belongs to %s", (remote, instance) => {
    expect(projectFromRemote(remote, instance)).toBe("group/app");
  });

  it.each([
    ["git@github.com:group/app.git", PLAIN],
    ["https://gitlab.example.com.evil.org/group/app.git", PLAIN],
    ["https://example.com/gitlab/group/app.git", "https://example.com/git"],
    ["https://gitlab.example.com:8443/group/app.git", PLAIN],
    ["../elsewhere.git", PLAIN],
    ["/srv/git/app.git", PLAIN],
    ["https://gitlab.example.com/", PLAIN],
    ["https://gitlab.example.com/app", PLAIN],
    ["", PLAIN],
  ])("%s does not belong to %s", (remote, instance) => {
    expect(projectFromRemote(remote, instance)).toBeUndefined();
  });

  it("keeps subgroups", () => {
    expect(projectFromRemote("git@gitlab.example.com:top/sub/deep/app.git", PLAIN)).toBe("top/sub/deep/app");
  });
});

const section = (name: string, url: string) => `[remote "${name}"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/${name}/*\n`;
const core = '[core]\n\tbare = false\n[branch "main"]\n\tremote = origin\n';
const ours = (path: string) => `git@gitlab.example.com:${path}.git`;

describe("a git configuration", () => {
  it.each([
    [section("upstream", ours("a/up")) + section("origin", ours("a/own")), "a/own"],
    [section("origin", "git@github.com:a/b.git") + section("upstream", ours("a/up")), "a/up"],
    [section("gitlab", ours("a/only")), "a/only"],
    [section("one", ours("a/one")) + section("two", ours("a/two")), undefined],
    [section("origin", "git@github.com:a/b.git"), undefined],
    [`${section("origin", ours("a/first"))}\turl = ${ours("a/second")}\n\tpushurl = ${ours("a/push")}\n`, "a/first"],
    ["", undefined],
  ])("%j", (text, expected) => {
    expect(projectFromRemote(core + text, PLAIN)).toBe(expected);
  });
});

describe("the working directory", () => {
  const root = mkdtempSync(join(tmpdir(), "bridge-project-"));
  afterAll(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  it("is read from a folder below, lazily and once", () => {
    const find = currentProject(join(root, "plain/src/deep"), PLAIN);
    write("plain/src/deep/file", "");
    write("plain/.git/config", core + section("origin", ours("a/plain")));
    expect(find()).toBe("a/plain");
    write("plain/.git/config", core + section("origin", ours("a/other")));
    expect(find()).toBe("a/plain");
  });

  it("may be a worktree or a submodule", () => {
    write("main/.git/config", core + section("origin", ours("a/main")));
    write("main/.git/worktrees/tree/commondir", "../..\n");
    write("tree/.git", `gitdir: ${join(root, "main/.git/worktrees/tree")}\n`);
    write("main/.git/modules/sub/config", core + section("origin", ours("a/sub")));
    write("main/sub/.git", "gitdir: ../.git/modules/sub\n");
    expect(currentProject(join(root, "tree"), PLAIN)()).toBe("a/main");
    expect(currentProject(join(root, "main/sub"), PLAIN)()).toBe("a/sub");
  });

  it("may be no repository at all, or a broken one", () => {
    write("broken/.git", "nonsense");
    write("broken2/.git/nothing", "");
    expect(currentProject(join(root, "broken2"), PLAIN)()).toBeUndefined();
    expect(currentProject(join(root, "missing/entirely"), PLAIN)()).toBeUndefined();
    expect(currentProject(join(root, "broken"), PLAIN)()).toBeUndefined();
  });
});
