import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judge, prepare } from "../../src/ab/judge.ts";
import { loadTasks } from "../../src/ab/tasks.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { connectBridge, walk } from "./ideal.ts";

const TASKS = loadTasks();
const ACTIONS = new Map(loadActions().map((action) => [action.id, action]));

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.close());

const actionOf = (id: string) => {
  const action = ACTIONS.get(id);
  if (!action) throw new Error(`there is no action ${id}`);
  return action;
};

describe.each(TASKS.map((task) => [task.id, task] as const))("%s", (_id, task) => {
  const token = () => sandbox.tokens[task.as ?? "maria"];

  it("names the toolsets of its path, and no others", () => {
    const used = new Set(task.path.map(({ action }) => actionOf(action).toolset));
    expect([...task.toolsets].sort()).toEqual([...used].sort());
  });

  it("fails on an untouched world, with no answer and with its own prompt as the answer", async () => {
    sandbox.reset();
    const before = await prepare(sandbox, task);
    expect(await judge(sandbox, task, before, undefined, "yes")).not.toEqual([]);
    expect(await judge(sandbox, task, before, task.prompt, "yes")).not.toEqual([]);
  });

  it("passes after its path", async () => {
    sandbox.reset();
    const before = await prepare(sandbox, task);
    const client = await connectBridge(sandbox.url, token());
    try {
      expect(await judge(sandbox, task, before, await walk(client, task), "yes")).toEqual([]);
    } finally {
      await client.close();
    }
  });
});
