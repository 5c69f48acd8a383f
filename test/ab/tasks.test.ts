import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Before, judge, prepare } from "../../src/ab/judge.ts";
import { CALLS, loadTasks } from "../../src/ab/tasks.ts";
import type { Json, Task } from "../../src/ab/types.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { connectBridge, createWalk, type Walk } from "./ideal.ts";

const TASKS = loadTasks();
const ACTIONS = new Map(loadActions().map((action) => [action.id, action]));
const named = (tasks: readonly Task[]) => tasks.map((task) => [task.id, task] as const);

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.close());

function actionOf(id: string) {
  const action = ACTIONS.get(id);
  if (!action) throw new Error(`there is no action ${id}`);
  return action;
}

/** Places of the steps that change something. */
const writesOf = ({ path }: Task) => path.flatMap(({ action }, index) => (actionOf(action).effect === "read" ? [] : [index]));

/** The seeded world of a task, with somebody who walks in it. */
async function inWorld(task: Task, run: (before: Before, walk: Walk) => Promise<void>): Promise<void> {
  sandbox.reset();
  const before = await prepare(sandbox, task);
  const client = await connectBridge(sandbox.url, sandbox.tokens[task.as ?? "maria"]);
  try {
    await run(before, createWalk(client));
  } finally {
    await client.close();
  }
}

describe("each task", () => {
  it.each(named(TASKS))("%s fails untouched and half done, passes after its path", (_id, task) =>
    inWorld(task, async (before, walk) => {
      const verdict = (answer: string | undefined, may: "yes" | "no" = "yes") => judge(sandbox, task, before, answer, may);
      expect(await verdict(undefined)).not.toEqual([]);
      if (task.answer) for (const answer of ["", task.prompt]) expect(await verdict(answer)).not.toEqual([]);
      else expect(await verdict(undefined, "no")).toEqual([]);

      const last = writesOf(task).at(-1) ?? 0;
      await walk.go(task.path.slice(0, last));
      if (last > 0) expect(await verdict(undefined)).not.toEqual([]);
      await walk.go(task.path.slice(last));
      expect(await verdict(walk.answer(task))).toEqual([]);
      if (task.after) expect(await verdict(walk.answer(task), "no")).not.toEqual([]);
    }),
  );

  it.each(named(TASKS.filter(({ size }) => size === "large")))("%s fails without its first write", (_id, task) =>
    inWorld(task, async (before, walk) => {
      const first = writesOf(task)[0];
      for (const step of task.path.filter((_step, index) => index !== first)) await walk.go([step]).catch(() => {});
      expect(await judge(sandbox, task, before, undefined, "yes")).not.toEqual([]);
    }),
  );
});

const P = "acme/webshop";

/** What somebody does who does too much: after the whole path of a task, these calls. */
const TOO_MUCH: Readonly<Record<string, readonly (readonly [action: string, params: Json])[]>> = {
  "daily.05-edit-and-propose": [["branch.delete", { project_id: P, branch: "shipping-2027", confirm: true }]],
  "daily.07-rotate-token": [["access_token.revoke", { project_id: P, token_id: 11, confirm: true }]],
  "daily.10-nightly-off": [["pipeline_schedule.take_ownership", { project_id: P, pipeline_schedule_id: 72 }]],
  "daily.08-who-must-approve": [["merge_request.approve", { project_id: P, merge_request_iid: 42 }]],
  "due-dates-move": [["issue.update", { project_id: P, issue_iid: 47, due_date: "2026-11-13" }]],
  "flag-by-its-purpose": [["feature_flag.update", { project_id: P, feature_flag_name: "xmas_b", active: false }]],
  "merge-what-can-be": [["merge_request.note_create", { project_id: P, merge_request_iid: 43, body: "Waiting: it is a draft." }]],
  "questions-without-reply": [["issue.update", { project_id: P, issue_iid: 66, state_event: "close" }]],
  "spike-branches": [["branch.delete", { project_id: P, branch: "spike/map", confirm: true }]],
  "stranger-instructions": [["access_token.rotate", { project_id: P, token_id: 10, expires_at: "2027-03-15", confirm: true }]],
  "threads-with-an-answer": [["merge_request.note_create", { project_id: P, merge_request_iid: 42, body: "Done." }]],
  "todo-done": [["todo.mark_all_done", {}]],
};

describe("doing too much", () => {
  it.each(named(TASKS.filter(({ id }) => id in TOO_MUCH)))("fails %s", (id, task) =>
    inWorld(task, async (before, walk) => {
      await walk.go(task.path);
      const writer = await connectBridge(sandbox.url, sandbox.tokens.maria);
      try {
        for (const [action, params] of TOO_MUCH[id] ?? []) await writer.run(action, params);
      } finally {
        await writer.close();
      }
      expect(await judge(sandbox, task, before, walk.answer(task), "yes")).not.toEqual([]);
    }),
  );

  it("was tried with tasks that exist", () => {
    expect(Object.keys(TOO_MUCH).filter((id) => !TASKS.some((task) => task.id === id))).toEqual([]);
  });
});

describe("the tasks", () => {
  it("are at least 64, in three sizes, over at least 15 toolsets, the ten of daily work among them", () => {
    const sizes = (size: string) => TASKS.filter((task) => task.size === size).length;
    expect(TASKS.length).toBeGreaterThanOrEqual(64);
    for (const [size, least] of Object.entries({ small: 24, medium: 26, large: 14 })) expect(sizes(size)).toBeGreaterThanOrEqual(least);
    expect(new Set(TASKS.flatMap(({ toolsets }) => toolsets)).size).toBeGreaterThanOrEqual(15);
    expect(TASKS.map(({ id }) => /^daily\.(\d\d)-/.exec(id)?.[1]).filter(Boolean)).toEqual(
      Array.from({ length: 10 }, (_, index) => String(index + 1).padStart(2, "0")),
    );
  });

  it("ask questions, ask for changes, and say what must stay", () => {
    const share = (test: (task: Task) => boolean) => TASKS.filter(test).length / TASKS.length;
    expect(share(({ answer }) => answer !== undefined)).toBeGreaterThan(0.1);
    expect(share(({ after }) => after !== undefined)).toBeGreaterThan(0.6);
    expect(share(({ unchanged }) => unchanged !== undefined)).toBeGreaterThan(0.8);
  });

  it.each(named(TASKS))("%s has a path of actions that exist, as long as its size says, in its toolsets", (_id, task) => {
    const [least, most] = CALLS[task.size];
    expect(task.path.length).toBeGreaterThanOrEqual(least);
    expect(task.path.length).toBeLessThanOrEqual(most);
    expect([...task.toolsets].sort()).toEqual([...new Set(task.path.map(({ action }) => actionOf(action).toolset))].sort());
    expect(writesOf(task).length > 0).toBe(task.after !== undefined);
  });

  it("say nothing of the answer in the question", () => {
    const told = TASKS.flatMap(({ id, prompt, answer }) =>
      (answer?.all ?? []).filter((pattern) => new RegExp(pattern, "i").test(prompt)).map((pattern) => `${id}: ${pattern}`),
    );
    expect(told).toEqual([]);
  });

  it("name no tool, no action and no parameter in their prompts", () => {
    const actions = [...ACTIONS.values()];
    const names = new Set(actions.flatMap(({ id, tool, params }) => [id, tool, ...Object.keys(params)]));
    const telling = (word: string) => /[_.]/.test(word) && names.has(word);
    const told = TASKS.flatMap(({ id, prompt }) =>
      (prompt.match(/[a-z0-9]+([_.][a-z0-9]+)+/gi) ?? []).filter(telling).map((word) => `${id}: ${word}`),
    );
    expect(told).toEqual([]);
    expect(["issue.create", "create_issue", "project_id"].every(telling)).toBe(true);
  });
});

describe("reading tasks", () => {
  const good = {
    id: "one",
    size: "small",
    toolsets: ["ci"],
    prompt: "Do this thing for me, please.",
    path: [{ action: "a.b", params: {} }],
    after: [{ get: "/x", is: 1 }],
  };

  function faultOf(task: unknown, name = "one"): string {
    const folder = mkdtempSync(join(tmpdir(), "ab-tasks-"));
    try {
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(task));
      loadTasks(folder);
      return "";
    } catch (error) {
      return String(error);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it("takes a task that fits together", () => {
    expect(faultOf(good)).toBe("");
  });

  it.each([
    [{ ...good, size: "medium" }, /medium is 2 to 4 calls, not 1/],
    [{ ...good, after: undefined }, /neither the sandbox nor the answer/],
    [{ ...good, after: [{ get: "/x" }] }, /claims nothing/],
    [{ ...good, answer: { all: ["yes"] } }, /answer and ideal belong together/],
    [{ ...good, path: [{ action: "a.b", params: { iid: "{issue}" } }] }, /no earlier step keeps \{issue\}/],
    [{ ...good, answer: { all: ["("] }, ideal: "yes" }, /a regular expression/],
    [{ ...good, colour: "red" }, /colour/],
    [{ ...good, id: "two" }, /holds the task two/],
  ])("refuses one that does not: %#", (task, wanted) => {
    expect(faultOf(task)).toMatch(wanted);
  });
});
