import { afterEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../src/catalog/types.ts";
import { openRoad, PROJECT, type RoadOptions, type SandboxRoad } from "../support/sandbox-road.ts";
import { failureOf, textIn, valueIn } from "./gitlab-fixture.ts";

let road: SandboxRoad | undefined;
afterEach(() => road?.close());
const open = async (options?: RoadOptions) => {
  road = await openRoad(options);
  return road;
};

const MR = { project_id: PROJECT, merge_request_iid: 42 };
const REVIEW = { ...MR, comments: [{ path: "src/cart/cart.ts", line: 12, text: "Why?" }], summary: "Fine.", approve: true };
const EDIT = {
  project_id: PROJECT,
  branch: "fix/readme",
  start_branch: "main",
  message: "M",
  edits: [{ path: "src/lib/money.ts", old: 'currency = "EUR"', new: "" }],
  merge_request: { title: "T" },
};

const previewIn = (outcome: Outcome) => (outcome.kind === "preview" ? (outcome.preview.would_send as Record<string, unknown>[]) : []);

/** All that a review or an edit could have changed, as GitLab has it. */
async function state({ ask }: SandboxRoad): Promise<string> {
  const paths = [
    "merge_requests/42/discussions?per_page=100",
    "merge_requests/42/draft_notes",
    "merge_requests/42/approvals",
    "repository/branches",
    "merge_requests?state=all&per_page=1",
  ];
  return JSON.stringify(await Promise.all(paths.map((path) => ask(`/projects/101/${path}`))));
}

describe("composites that write", () => {
  it("show every write in safe mode, with all reads done, and send none", async () => {
    const safe = await open({ flags: ["--safe-mode"] });
    const before = await state(safe);
    const review = previewIn(await safe.run("merge_request.review", REVIEW));
    expect(review.map(({ action, method }) => [action, method])).toEqual([
      ["merge_request.draft_note_create", "POST"],
      ["merge_request.draft_note_publish_all", "POST"],
      ["merge_request.note_create", "POST"],
      ["merge_request.approve", "POST"],
    ]);
    expect(review[0]?.body).toMatchObject({ note: "Why?", position: { new_line: 12, head_sha: expect.stringMatching(/^[0-9a-f]{40}$/) } });
    const edit = previewIn(await safe.run("commit.edit", EDIT));
    expect(edit.map(({ action }) => action)).toEqual(["commit.create", "merge_request.create"]);
    expect(edit[0]?.body).toMatchObject({
      actions: [{ action: "update", file_path: "src/lib/money.ts", last_commit_id: expect.any(String) }],
    });
    expect(await state(safe)).toBe(before);
  });

  it("refuse in safe mode what they would refuse anyway", async () => {
    const safe = await open({ flags: ["--safe-mode"] });
    expect(await failureOf(safe.run("commit.edit", { ...EDIT, edits: [{ path: "README.md", old: "not there", new: "x" }] }))).toMatchObject(
      { code: "invalid_params" },
    );
  });

  it("are refused on a read-only server, and where a part of them is not allowed nothing is done beside it", async () => {
    const only = await open({ flags: ["--read-only"] });
    const before = await state(only);
    for (const [name, params] of [
      ["merge_request.review", REVIEW],
      ["commit.edit", EDIT],
    ] as const)
      expect(await failureOf(only.run(name, params))).toMatchObject({ code: "not_permitted", detail: { rule: "read_only" } });
    expect(await state(only)).toBe(before);
  });

  it("keep their parts under the policy", async () => {
    const part = await open({ flags: ["--exclude-tools=merge_request.draft_note_create"] });
    const before = await state(part);
    expect(await failureOf(part.run("merge_request.review", REVIEW))).toMatchObject({ code: "not_permitted" });
    expect(await state(part)).toBe(before);
  });

  it("edit: an empty new text takes the old one away", async () => {
    const { run, ask } = await open();
    const done = valueIn(await run("commit.edit", EDIT));
    expect(done).toMatchObject({ branch: "fix/readme", files: [{ path: "src/lib/money.ts" }], merge_request: { title: "T" } });
    const file = (await ask("/projects/101/repository/files/src%2Flib%2Fmoney.ts?ref=fix%2Freadme")) as {
      content: string;
      last_commit_id: string;
    };
    expect(Buffer.from(file.content, "base64").toString()).toContain("amount: number, )");
    expect(file.last_commit_id).toBe(done.sha);
  });

  it("edit: a change in between is refused by GitLab, and nothing is written", async () => {
    const { run, ask } = await open();
    const edit = { project_id: PROJECT, branch: "feature/robots", message: "M", edits: [{ path: "README.md", old: "# ", new: "# The " }] };
    const readme = (await ask("/projects/101/repository/files/README.md?ref=feature%2Frobots")) as { content: string };
    const old = Buffer.from(readme.content, "base64").toString().split("\n")[0];
    const params = { ...edit, edits: [{ path: "README.md", old, new: `${old}!` }] };
    const [first, second] = await Promise.allSettled([run("commit.edit", params), run("commit.edit", { ...params, message: "N" })]);
    expect([first.status, second.status].sort()).toEqual(["fulfilled", "rejected"]);
    const now = (await ask("/projects/101/repository/files/README.md?ref=feature%2Frobots")) as { content: string };
    expect(Buffer.from(now.content, "base64").toString().split("\n")[0]).toBe(`${old}!`);
  });
});

describe("calls that destroy by an argument", () => {
  it("ask for agreement before a branch is overwritten", async () => {
    const { run, ask } = await open();
    const branch = "feature/robots";
    const params = {
      project_id: PROJECT,
      branch,
      start_branch: "main",
      commit_message: "M",
      actions: [{ action: "create", file_path: "x.txt", content: "x" }],
      force: true,
    };
    const tip = async () => ((await ask("/projects/101/repository/branches/feature%2Frobots")) as { commit: { id: string } }).commit.id;
    const before = await tip();
    expect(await failureOf(run("commit.create", params))).toMatchObject({
      code: "confirmation_required",
      message: expect.stringMatching(/overwritten/),
    });
    expect(await tip()).toBe(before);
    await run("commit.create", { ...params, confirm: true });
    expect(await tip()).not.toBe(before);
  });
});

describe("the diff of a merge request", () => {
  it("lists files first, then shows the ones asked for, without the ones left out", async () => {
    const { run } = await open();
    const files = textIn(await run("merge_request.diff_show", MR));
    expect(files.text.split("\n")).toHaveLength(7);
    expect(files).toMatchObject({ value: { files: 7, added: 73, removed: 9 }, untrusted: true });
    const some = textIn(await run("merge_request.diff_show", { ...MR, paths: ["src/**"], exclude: ["discounts.ts"] }));
    expect(some.text.match(/^\S+ \(\+/gm)).toEqual(["src/cart/cart.ts (+", "src/cart/pricing.ts (+", "src/cart/routes.ts (+"]);
    const wrong = await failureOf(run("merge_request.diff_show", { ...MR, paths: ["src/cart/carts.ts"] }));
    expect(wrong.detail.nearest).toContain("src/cart/cart.ts");
  });

  it("goes on by cursor where it does not fit, naming the file again", async () => {
    const { run } = await open({ flags: ["--result-budget=1000"] });
    const params = { ...MR, paths: ["*"] };
    const whole: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = textIn(await run("merge_request.diff_show", { ...params, ...(cursor ? { cursor } : {}) }));
      whole.push(...page.text.split("\n").filter((line) => !line.endsWith("… continued")));
      if (pages > 0) expect(page.text.split("\n")[0]).toMatch(/^\S+ \(\+\d+ -\d+/);
      cursor = page.page?.next;
      pages++;
    } while (cursor !== undefined && pages < 20);
    expect(pages).toBeGreaterThan(2);
    await road?.close();
    const { run: wide } = await open({ flags: ["--result-budget=20000"] });
    const once = textIn(await wide("merge_request.diff_show", { ...params }));
    expect(whole).toEqual(once.text.split("\n"));
  });
});
