import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/executor/tokens.ts";
import { type Fields, items, runComposite, value } from "./composites-run.ts";
import { textIn } from "./gitlab-fixture.ts";

const commit = (id: string, title: string, ...parent_ids: string[]) => ({
  id,
  short_id: id,
  title,
  parent_ids,
  author_name: "Ann",
  committed_date: `2026-10-0${Number(id.replace(/\D/g, "")) || 1}T10:00:00Z`,
});

const request = (iid: number, title: string, more: Fields = {}) => ({ iid, title, author: { username: "ann" }, labels: [], ...more });

interface Repository {
  readonly commits: readonly unknown[];
  readonly merged: readonly unknown[];
  readonly tags?: readonly string[];
  readonly own?: readonly unknown[];
}

function draft({ commits, merged, tags = ["v2", "v1"], own = [] }: Repository, params: Fields = {}) {
  return runComposite("release.notes_draft", { project_id: "a/b", ...params }, (id) => {
    if (id === "tag.list") return items(tags.map((name) => ({ name })));
    if (id === "project.get") return value({ default_branch: "main" });
    if (id === "commit.list") return items(commits);
    if (id === "merge_request.list") return items(merged);
    if (id === "merge_request.commit_list") return items(own);
    throw new Error(`not expected: ${id}`);
  });
}

const asked = (ran: readonly [string, Fields][], id: string) => ran.find(([name]) => name === id)?.[1];

describe("a draft of release notes", () => {
  it("groups merge requests by their first telling label, others and lone commits apart", async () => {
    const commits = [
      commit("m4", "Merge branch 'b'", "s3", "w2"),
      commit("s3", "Squashed (!2)", "d1"),
      commit("w2", "Work behind !1", "d1"),
      commit("d1", "Pushed straight", "old"),
    ];
    const merged = [
      request(1, "Add wishes", { merge_commit_sha: "m4", labels: ["team::shop", "type::feature", "bug"] }),
      request(2, "Mend totals", { squash_commit_sha: "s3", labels: ["bug"] }),
      request(3, "Elsewhere", { merge_commit_sha: "zzz", labels: ["bug"] }),
    ];
    const { ran, outcome } = draft({ commits, merged });
    const text = textIn(await outcome);
    expect(text.text).toBe(
      [
        "## Features",
        "",
        "- Add wishes (!1, @ann)",
        "",
        "## Fixes",
        "",
        "- Mend totals (!2, @ann)",
        "",
        "## Commits without a merge request",
        "",
        "- Pushed straight (d1, Ann)",
      ].join("\n"),
    );
    expect(text.value).toMatchObject({
      from: "v2",
      to: "main",
      merge_requests: 2,
      commits: 4,
      next: { action: "release.create", params: { ref: "main", tag_name: "<new tag>" } },
    });
    expect(text.untrusted).toBe(true);
    expect(asked(ran, "commit.list")).toMatchObject({ ref_name: "v2..main", all: true });
    // Whole objects of a long range would not fit: only the fields of the notes are asked for.
    for (const id of ["commit.list", "merge_request.list"]) {
      expect(asked(ran, id)?.select).toContain("title");
      expect(asked(ran, id)).not.toHaveProperty("full");
    }
    expect(asked(ran, "merge_request.list")).toMatchObject({ state: "merged", updated_after: "2026-10-01T10:00:00.000Z" });
  });

  it("asks a fast-forwarded merge request for its commits", async () => {
    const commits = [commit("f2", "Second"), commit("f1", "First")];
    const { outcome } = draft({ commits, merged: [request(5, "Forwarded", { sha: "f2" })], own: commits });
    expect(textIn(await outcome).text).toBe("## Other changes\n\n- Forwarded (!5, @ann)");
  });

  it("takes the tag before a tag, the given ends, and the whole history where there is no tag", async () => {
    const range = async (params: Fields, tags?: readonly string[]) => {
      const { ran, outcome } = draft({ commits: [commit("a1", "A")], merged: [], ...(tags ? { tags } : {}) }, params);
      const { value: about } = textIn(await outcome);
      return { ref: asked(ran, "commit.list")?.ref_name, ...about };
    };
    expect(await range({ to: "v2" })).toMatchObject({ ref: "v1..v2", next: { params: { tag_name: "v2" } } });
    expect(await range({ from: "abc", to: "dev" })).toMatchObject({
      ref: "abc..dev",
      next: { params: { tag_name: "<new tag>", ref: "dev" } },
    });
    expect((await range({}, [])).ref).toBe("main");
  });

  it("stays within its size, and says that it was cut", async () => {
    const commits = Array.from({ length: 900 }, (_, index) =>
      commit(`c${index + 1}x`, `Change number ${index} of many that have long titles`),
    );
    const text = textIn(await draft({ commits, merged: [] }).outcome);
    expect(estimateTokens(text.text)).toBeLessThanOrEqual(3_000);
    expect(text.text).toMatch(/- … and \d+ more$/);
    expect(text.truncated).toMatch(/cut/);
  });

  it("of nothing says so, and asks for no merge requests", async () => {
    const { ran, outcome } = draft({ commits: [], merged: [] });
    expect(textIn(await outcome).text).toBe("No changes.");
    expect(asked(ran, "merge_request.list")).toBeUndefined();
  });

  it("says where there was more than could be read", async () => {
    const { outcome } = runComposite("release.notes_draft", { project_id: "a/b" }, (id) => {
      if (id === "tag.list") return items([{ name: "v1" }]);
      if (id === "project.get") return value({ default_branch: "main" });
      return id === "commit.list" ? items([commit("a1", "A")]) : items([], "more");
    });
    expect(textIn(await outcome).truncated).toMatch(/more commits or merge requests/);
  });
});
