import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCounter } from "../../src/ab/count.ts";
import { hashOf, type Journal, openJournal, type Setup } from "../../src/ab/journal.ts";
import type { Plan } from "../../src/ab/plan.ts";
import { type Finished, type Ground, type Progress, runAll } from "../../src/ab/run.ts";
import type { Arm, Driver, Run, Task, World } from "../../src/ab/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { startSandbox } from "../../src/sandbox/server.ts";

const SERVER = join(import.meta.dirname, "../../fixtures/ab/servers/growing.mjs");
const scratch = mkdtempSync(join(tmpdir(), "ab-run-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  size: "small",
  toolsets: ["core"],
  prompt: `Please do ${id}.`,
  path: [{ action: "issue.list", params: {} }],
  answer: { all: ["well done"] },
  ...more,
});
const arm = (name: string, more: Partial<Arm> = {}): Arm => ({ name, command: [process.execPath, SERVER], env: {}, about: name, ...more });

const setupOf = (tasks: readonly Task[], arms: readonly Arm[], more: Partial<Setup> = {}): Setup => ({
  ...{ version: "1", node: "v20", counter: "estimate", seed: 1, arms },
  tasks: { count: tasks.length, hash: hashOf(tasks) },
  ...more,
});

let folder = "";
let worlds: World[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(scratch, "out-"));
  worlds = [];
});
const open: Set<World> = new Set();
afterEach(() => expect(open.size).toBe(0));

/** The real sandbox, with a note of who is still open. */
async function openWorld(): Promise<World> {
  const sandbox = await startSandbox();
  const world: World = {
    ...{ url: sandbox.url, tokens: sandbox.tokens, reset: () => sandbox.reset() },
    async close() {
      open.delete(world);
      await sandbox.close();
    },
  };
  open.add(world);
  worlds.push(world);
  return world;
}

const ground: Ground = {
  openWorld,
  scratch,
  environment: { PATH: process.env.PATH },
  counter: createCounter("estimate", (text) => text.length),
};

/** Says what the tasks above ask for. */
const good: Driver = {
  name: "good",
  async run(_task, host) {
    await host.call("heard", {});
    host.answer("Well done!");
  },
};

interface Wanted extends Partial<Plan> {
  readonly workers?: number;
  readonly signal?: AbortSignal;
  readonly journal?: Journal;
  readonly onProgress?: (progress: Progress) => void;
}

function run(wanted: Wanted): Promise<Finished> {
  const { workers = 2, signal = new AbortController().signal, journal, onProgress = () => {}, ...more } = wanted;
  const plan: Plan = {
    ...{
      tasks: [task("a")],
      arms: [arm("one")],
      drivers: [good],
      refresh: ["at_once"],
      repeats: 1,
      seed: 7,
      deadline: 60_000,
      maxCalls: 9,
    },
    ...more,
  };
  return runAll(plan, ground, journal ?? openJournal(folder, setupOf(plan.tasks, plan.arms)), { workers, signal, onProgress });
}

const lines = () =>
  readFileSync(join(folder, "runs.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Run);

const driver = (make: Driver["run"]): Driver => ({ name: "odd", run: make });

describe("runs", () => {
  it("every task under every arm with every driver, host and repeat; the seed goes up with the repeats", async () => {
    const other = { ...good, name: "other" };
    const finished = await run({
      ...{ tasks: [task("a"), task("b")], arms: [arm("one"), arm("two")], drivers: [good, other], refresh: ["at_once", "never"] },
      repeats: 2,
      deadline: 1,
    });
    expect(finished).toMatchObject({ done: 32, total: 32 });
    const runs = lines();
    expect(new Set(runs.map((one) => [one.task, one.arm, one.driver, one.refresh, one.repeat].join())).size).toBe(32);
    expect(new Set(runs.map(({ repeat, seed }) => `${repeat} ${seed}`))).toEqual(new Set(["0 7", "1 8"]));
    expect(worlds).toHaveLength(2);
  });

  it("a run adds up its turns and says what was found wrong", async () => {
    const odd = driver(async (_task, host) => {
      await host.call("json_only", {});
      await host.call("gl_enable_toolset", {});
      await host.call("gl_gitlab_find_action", {});
      host.answer("Sorry.");
    });
    await run({ drivers: [odd], arms: [arm("one", { prefix: "gl_" })] });
    const [one] = lines();
    expect(one).toMatchObject({ success: false, faults: ["the answer does not say well done"], enabled: ["ci"] });
    expect(one).toMatchObject({ calls: 3, failed_calls: 2, discovery_calls: 2, counter: "estimate", first_list: expect.any(Number) });
    expect(one?.error).toBeUndefined();
    for (const name of ["prompt", "cached", "completion"] as const)
      expect(one?.[name]).toBe(one?.turns.reduce((sum, turn) => sum + turn[name], 0));
  });

  it("each begins in the sandbox's own world, with the task's seeds sent, and is judged by what is left of it", async () => {
    const seeds = [{ method: "POST", path: "/projects/101/labels", body: { name: "planted", color: "#ff0000" } }] as const;
    const after = [{ get: "/projects/101/labels/planted", at: "name", is: "planted" }];
    const counted = { get: "/projects/101/labels?search=planted", count: 1 };
    const { answer: _none, ...bare } = task("planted", { seeds, after: [...after, counted], unchanged: ["/projects/102"] });
    await run({ tasks: [bare], repeats: 3, workers: 1 });
    expect(lines().map(({ success, faults }) => [success, faults])).toEqual([1, 2, 3].map(() => [true, []]));
  });

  it("an arm that is not to write succeeds where nothing was changed", async () => {
    const { answer: _none, ...bare } = task("never", { after: [{ get: "/projects/101", at: "archived", is: true }] });
    await run({ tasks: [bare], arms: [arm("one"), arm("two", { writes: "no" })] });
    expect(Object.fromEntries(lines().map((one) => [one.arm, one.success]))).toEqual({ one: false, two: true });
  });
});

describe("what goes wrong", () => {
  it("a run that hangs is broken off at its deadline and told as an error", async () => {
    const hang = driver(() => new Promise(() => {}));
    const stuck = driver(async (_task, host) => void (await host.call("hang", {})));
    await run({ drivers: [hang, { ...stuck, name: "stuck" }], deadline: 1_500 });
    expect(lines().map(({ error, success }) => [error, success])).toEqual([
      ["took longer than 1.5 s", false],
      ["took longer than 1.5 s", false],
    ]);
    expect(lines().map(({ turns }) => turns.length)).toEqual([0, 0]);
  });

  it("a driver that gives up, a server that does not start and a seed that is refused are told, and the others go on", async () => {
    const lost = driver(async () => {
      throw new Error("no tool for issue.list");
    });
    const broken = arm("broken", { command: [process.execPath, "-e", "process.exit(1)"] });
    const refused = task("refused", { seeds: [{ method: "POST", path: "/projects/9999/labels" }] });
    await run({ drivers: [lost, good], arms: [broken, arm("one")], tasks: [task("a"), refused] });
    const errors = Object.fromEntries(lines().map((one) => [`${one.task} ${one.arm} ${one.driver}`, one.error]));
    expect(errors["a one odd"]).toBe("no tool for issue.list");
    expect(errors["a broken good"]).toMatch(/did not start/);
    expect(errors["refused one good"]).toMatch(/the sandbox refuses the seed/);
    expect(errors["a one good"]).toBeUndefined();
    expect(lines()).toHaveLength(8);
  });

  it("a budget that is used up ends everything, and no run is written for it", async () => {
    const poor = driver(async () => {
      throw new BridgeError("too_large", "over", "raise", { rule: "budget" });
    });
    const finished = await run({ drivers: [good, poor], tasks: [task("a"), task("b")], workers: 1 });
    expect(finished).toMatchObject({ stopped: "over", done: 1, total: 4 });
    expect(lines()).toHaveLength(1);
  });

  it("an interruption ends it cleanly: what was under way is run again, what is done is not", async () => {
    const stop = new AbortController();
    const tasks = [task("a"), task("b"), task("c")];
    let started = 0;
    const slow = driver(async (one, host, context) => {
      if (++started === 2) {
        stop.abort(new Error("interrupted"));
        await host.call("hang", {});
      }
      await good.run(one, host, context);
    });
    const finished = await run({ tasks, drivers: [slow], workers: 1, signal: stop.signal });
    expect(finished).toMatchObject({ stopped: "interrupted", done: 1 });
    expect(lines().map((one) => one.task)).toEqual(["a"]);
    const seen: number[] = [];
    expect(await run({ tasks, drivers: [slow], onProgress: ({ done }) => seen.push(done) })).toMatchObject({ done: 3, failed: 0 });
    expect(seen).toEqual([1, 2, 3]);
    expect(
      lines()
        .map((one) => one.task)
        .sort(),
    ).toEqual(["a", "b", "c"]);
  });
});

describe("the folder", () => {
  it("drops a last line that was torn, and refuses one in the middle that is broken", async () => {
    await run({});
    const whole = readFileSync(join(folder, "runs.jsonl"), "utf8");
    appendFileSync(join(folder, "runs.jsonl"), '{"task":"b","ar');
    const tasks = [task("a")];
    expect(openJournal(folder, setupOf(tasks, [arm("one")])).done.size).toBe(1);
    expect(readFileSync(join(folder, "runs.jsonl"), "utf8")).toBe(whole);
    writeFileSync(join(folder, "runs.jsonl"), `{"task"\n${whole}`);
    expect(() => openJournal(folder, setupOf(tasks, [arm("one")]))).toThrow(/line 1: is not JSON/);
  });

  it("goes on with other arms, but not with other tasks, another seed, version, counter or command", () => {
    const [tasks, arms] = [[task("a")], [arm("one")]];
    openJournal(folder, setupOf(tasks, arms));
    const again = (setup: Setup) => () => openJournal(folder, setup);
    expect(again(setupOf([task("a", { prompt: "Another." })], arms))).toThrow(/the tasks are not the same \(1 then, 1 now\).*--out/);
    expect(again(setupOf(tasks, arms, { seed: 2 }))).toThrow(/seed was 1 and is 2/);
    expect(again(setupOf(tasks, arms, { version: "2" }))).toThrow(/version was 1 and is 2/);
    expect(again(setupOf(tasks, arms, { counter: "o200k_base" }))).toThrow(/counter was estimate/);
    expect(again(setupOf(tasks, [arm("one", { command: ["x"] })]))).toThrow(/the arm one was/);
    again(setupOf(tasks, [arm("two")]))();
    const setup = JSON.parse(readFileSync(join(folder, "setup.json"), "utf8")) as Setup;
    expect(setup.arms.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  it("runs again what broke off, where that is asked for", async () => {
    const lost = driver(async () => {
      throw new Error("lost");
    });
    await run({ drivers: [lost, good] });
    const setup = setupOf([task("a")], [arm("one")]);
    expect(openJournal(folder, setup).done.size).toBe(2);
    const journal = openJournal(folder, setup, true);
    expect(journal.done.size).toBe(1);
    expect(await run({ drivers: [{ ...good, name: "odd" }, good], journal })).toMatchObject({ done: 2, failed: 0 });
    expect(lines().map(({ driver: name, error }) => [name, error])).toEqual([
      ["good", undefined],
      ["odd", undefined],
    ]);
  });
});
