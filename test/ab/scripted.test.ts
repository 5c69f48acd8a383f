import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { armsNamed, OWN_ARMS, ownArms, parseArm } from "../../src/ab/arms.ts";
import { createCounter } from "../../src/ab/count.ts";
import { scripted } from "../../src/ab/drivers/scripted.ts";
import { hashOf, openJournal } from "../../src/ab/journal.ts";
import { runAll } from "../../src/ab/run.ts";
import type { Arm, Host, Json, ListedTool, Refresh, Run, Seen, Step, Task } from "../../src/ab/types.ts";
import { startSandbox } from "../../src/sandbox/server.ts";

const DIST = join(import.meta.dirname, "../../dist/main.js");
const OTHER = join(import.meta.dirname, "../../fixtures/ab/servers/other.mjs");
const scratch = mkdtempSync(join(tmpdir(), "ab-scripted-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const PROJECT = "acme/webshop";
const own = ownArms(process.execPath, DIST);

const base = { size: "medium", toolsets: ["work_items"], prompt: "Please." } as const;

/** The same action twice: what was found once needs no second search. */
const COMMENTS: Task = {
  ...{ ...base, id: "comments" },
  path: [
    { action: "issue.create", params: { project_id: PROJECT, title: "Two comments" }, keep: { iid: "iid" } },
    { action: "issue.note_create", params: { project_id: PROJECT, issue_iid: "{iid}", body: "One of #{iid}" } },
    { action: "issue.note_create", params: { project_id: PROJECT, issue_iid: "{iid}", body: "Two" } },
  ],
  after: [
    { get: "/projects/101/issues?search=Two+comments&in=title", count: 1 },
    { get: "/projects/101/issues?search=Two+comments&in=title", at: "0.user_notes_count", is: 2 },
  ],
};

/** Not in a default toolset, the second not among the essential ones, and destructive. */
const FLAG: Task = {
  ...{ ...base, id: "flag" },
  path: [
    { action: "feature_flag.create", params: { project_id: PROJECT, name: "spring", version: "new_version_flag" } },
    { action: "feature_flag.delete", params: { project_id: PROJECT, feature_flag_name: "dark-mode" } },
  ],
  seeds: [{ method: "POST", path: "/projects/101/feature_flags", body: { name: "dark-mode", version: "new_version_flag" } }],
  after: [
    { get: "/projects/101/feature_flags/spring", at: "name", is: "spring" },
    { get: "/projects/101/feature_flags/dark-mode", status: 404 },
  ],
};

const QUESTION: Task = {
  ...{ ...base, id: "question", size: "small" },
  path: [{ action: "project.get", params: { project_id: PROJECT }, keep: { branch: "default_branch" } }],
  answer: { all: ["\\bmain\\b"] },
  ideal: "It is {branch}.",
};

const TASKS = [COMMENTS, FLAG, QUESTION];

async function runs(arms: readonly Arm[], tasks: readonly Task[], refresh: readonly Refresh[] = ["at_once"]): Promise<readonly Run[]> {
  const folder = mkdtempSync(join(scratch, "out-"));
  const counter = createCounter("estimate", (text) => text.length);
  const setup = { version: "1", node: "", counter: counter.name, seed: 1, tasks: { count: tasks.length, hash: hashOf(tasks) }, arms };
  const ground = { openWorld: () => startSandbox(), scratch, environment: { PATH: process.env.PATH }, counter };
  const plan = { tasks, arms, drivers: [scripted], refresh, repeats: 1, seed: 1, deadline: 60_000, maxCalls: 20 };
  await runAll(plan, ground, openJournal(folder, setup), { workers: 2, signal: new AbortController().signal, onProgress: () => {} });
  const file = join(folder, "runs.jsonl");
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Run);
}

const toolsOf = (run: Run | undefined) => run?.turns.flatMap(({ tool }) => tool ?? []);
const wrong = (all: readonly Run[]) =>
  all.filter(({ success }) => !success).map(({ arm, task, error, faults }) => [arm, task, error ?? faults.join()]);

/** How each style without a search gets to three writes; the second comment needs nothing new. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  toolsets: ["list_available_toolsets", "enable_toolset", "create_issue", "create_issue_note", "create_issue_note"],
  meta: ["get_toolset_tools", "work_items", "work_items", "work_items"],
  static: ["create_issue", "create_issue_note", "create_issue_note"],
  individual: ["create_issue", "create_issue_note", "create_issue_note"],
};

describe("through the built server", () => {
  it("does every task under every arm of our own, or leaves all as it was where it may not write", { timeout: 180_000 }, async () => {
    expect(existsSync(DIST)).toBe(true);
    const all = await runs(own, TASKS);
    expect(wrong(all)).toEqual([]);
    expect(new Set(all.map(({ arm }) => arm))).toEqual(new Set(OWN_ARMS));
    expect(all).toHaveLength(OWN_ARMS.length * TASKS.length);
    const of = (arm: string, task: string) => all.find((run) => run.arm === arm && run.task === task);
    for (const [style, way] of Object.entries(WAYS)) expect([style, toolsOf(of(style, "comments"))]).toEqual([style, way]);
    // Whether the first search shows the second action too is the search's affair; the third call needs none.
    for (const style of ["bridge", "dynamic"])
      expect(toolsOf(of(style, "comments"))?.join(" ")).toMatch(
        /^gitlab_find_action gitlab_execute_action (gitlab_find_action )?gitlab_execute_action gitlab_execute_action$/,
      );
    expect(toolsOf(of("bridge-prefix", "question"))).toEqual(["gl_gitlab_find_action", "gl_gitlab_execute_action"]);
    expect(toolsOf(of("bridge-split", "question"))).toEqual(["gitlab_find_action", "gitlab_read_action"]);
    expect(of("bridge", "comments")?.discovery_calls).toBe(toolsOf(of("bridge", "comments"))?.filter((name) => /find/.test(name)).length);
    expect(of("toolsets", "flag")?.enabled).toEqual(["feature_flags"]);
    // The second is not among the essential tools: it is looked for and enabled by name.
    expect(toolsOf(of("toolsets", "flag"))).toEqual([
      ...["list_available_toolsets", "enable_toolset", "create_feature_flag", "get_toolset_tools", "enable_toolset", "delete_feature_flag"],
    ]);
    expect(of("bridge-read-only", "comments")?.turns.at(-1)?.said).toMatch(/^Not done: issue.create: /);
    expect(of("bridge-safe-mode", "comments")?.turns.at(-1)?.said).toMatch(/^Not done: /);
    expect(of("individual", "question")?.first_list).toBeGreaterThan(50 * (of("bridge", "question")?.first_list ?? 0));
  });

  it("a host that is late calls once in vain; one that never asks again gets through only where execute is listed", {
    timeout: 120_000,
  }, async () => {
    const all = await runs(armsNamed(["toolsets", "static", "bridge"], own), [FLAG], ["next_turn", "never"]);
    const told = all.map(({ arm, refresh, success, failed_calls }) => [arm, refresh, success, failed_calls]).sort();
    expect(told).toEqual([
      ["bridge", "never", true, 0],
      ["bridge", "next_turn", true, 0],
      ["static", "never", false, 1],
      ["static", "next_turn", true, 2],
      ["toolsets", "never", false, 1],
      ["toolsets", "next_turn", true, 2],
    ]);
  });
});

describe("another server", () => {
  const other = parseArm(`other=${process.execPath} ${OTHER}`, { GITLAB_API_URL: "{API}", GITLAB_PERSONAL_ACCESS_TOKEN: "{TOKEN}" });
  const step = (action: string, params: Json, keep?: Record<string, string>): Step => ({ action, params, ...(keep ? { keep } : {}) });
  const taskOf = (id: string, ...path: readonly Step[]): Task => ({ ...base, id, path, answer: { all: ["Done|found"] }, ideal: "Done." });

  it("maps steps by name, word and alias, values by type, lists by shape; looks for what is not listed", async () => {
    const { answer: _none, ...comments } = COMMENTS;
    const flag: Task = {
      ...{ ...base, id: "one-flag" },
      path: [step("feature_flag.create", { project_id: PROJECT, name: "spring" })],
      after: [{ get: "/projects/101/feature_flags/spring", at: "name", is: "spring" }],
    };
    const listed = step("issue.list", { project_id: PROJECT, state: "opened", limit: 3, select: ["iid"] }, { first: "items.0.iid" });
    const found: Task = { ...taskOf("list", listed), ideal: "found {first}", answer: { all: ["^found \\d+$"] } };
    const all = await runs([other], [comments, flag, found]);
    expect(wrong(all)).toEqual([]);
    const of = (id: string) => all.find(({ task }) => task === id);
    expect(toolsOf(of("one-flag"))).toEqual(["discover_tools", "gitlab_add_feature_flag"]);
    expect(of("list")?.turns[0]?.args).toEqual({ projectId: PROJECT, state: "opened", per_page: "3" });
    expect(of("comments")?.turns[1]?.args).toMatchObject({ projectId: PROJECT, issueIid: expect.any(String) });
  });

  it("says so where a step has no counterpart, and sends nothing for it", async () => {
    const all = await runs(
      [other],
      [
        taskOf("none", step("pipeline.explain_failure", { project_id: PROJECT })),
        taskOf("param", step("issue.create", { project_id: PROJECT, title: "x", weight: 3 })),
        taskOf("lookup", step("issue.create", { project_id: PROJECT, title: "x", assignee_ids: ["aiko"] })),
        taskOf("required", step("webhook.update", { project_id: PROJECT, hook_id: 3 })),
        taskOf("shape", step("issue.list", { project_id: PROJECT }, { total: "page.total" })),
      ],
    );
    expect(Object.fromEntries(all.map(({ task, error }) => [task, error]))).toEqual({
      none: "no tool for pipeline.explain_failure",
      param: "no tool for issue.create: create_issue has nothing for weight",
      lookup: "no tool for issue.create: create_issue takes assignee_ids only as a number",
      required: "no tool for webhook.update: update_webhook requires url",
      shape: "the result of issue.list has nothing at page.total",
    });
    expect(all.every((run) => run.no_path === true && !run.success)).toBe(true);
    expect(all.filter(({ calls }) => calls > 0).map(({ task }) => task)).toEqual(["shape"]);
  });
});

describe("searching", () => {
  const arm: Arm = { name: "dynamic", command: [], env: {}, about: "", style: "dynamic" };
  const tool = (name: string): ListedTool => ({ name, inputSchema: { type: "object" } });

  /** A host whose search finds an action only by one query. */
  async function ask(answers: (query: string) => Json, task: Task = QUESTION, under: Arm = arm) {
    const queries: string[] = [];
    let said = "";
    const host: Host = {
      tools: ["gitlab_find_action", "gitlab_execute_action"].map(tool),
      async call(name, args): Promise<Seen> {
        if (name !== "gitlab_find_action") return { isError: false, text: "", json: { default_branch: "main" } };
        queries.push(String(args.query));
        return { isError: false, text: "", json: answers(String(args.query)) };
      },
      answer: (text) => {
        said = text;
      },
    };
    const signal = new AbortController().signal;
    const error = await scripted.run(task, host, { arm: under, refresh: "never", seed: 1, signal, maxCalls: 9 }).then(
      () => undefined,
      (reason: Error) => reason.message,
    );
    return { queries, said, error };
  }
  const foundBy = (wanted: string) => (query: string) => ({ results: query === wanted ? [{ id: "project.get" }] : [{ id: "group.get" }] });

  it("asks in the words of the title, then of the id, then by the id, and not again once it is seen", async () => {
    expect((await ask(foundBy("Get project"))).queries).toEqual(["Get project"]);
    expect((await ask(foundBy("project get"))).queries).toEqual(["Get project", "project get"]);
    const last = await ask(foundBy("project.get"));
    expect(last).toEqual({ queries: ["Get project", "project get", "project.get"], said: "It is main.", error: undefined });
  });

  it("gives up where nothing finds it, and takes a refusal for the answer only where the arm is not to write", async () => {
    expect((await ask(() => ({ results: [] }))).error).toBe("project.get: no search finds it");
    const withheld = () => ({ results: [], withheld: [{ reason: "the server is read-only", actions: ["project.get"] }] });
    expect(await ask(withheld)).toMatchObject({ queries: ["Get project"], error: "project.get: the server is read-only" });
    const limited = await ask(withheld, QUESTION, { ...arm, writes: "no" });
    expect(limited).toMatchObject({ error: undefined, said: "Not done: project.get: the server is read-only" });
  });
});
