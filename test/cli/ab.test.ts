import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadTasks } from "../../src/ab/tasks.ts";
import type { Run } from "../../src/ab/types.ts";
import { chooseTasks, readRunArguments } from "../../src/cli/ab-arguments.ts";
import { createProgress, progressLine } from "../../src/cli/ab-progress.ts";
import { type Host, run } from "../../src/cli/run.ts";

const DIST = join(import.meta.dirname, "../../dist/main.js");
const folder = mkdtempSync(join(tmpdir(), "ab-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  for (const name of ["log", "error"] as const) vi.spyOn(console, name).mockImplementation((text: string) => void said.push(text));
  vi.spyOn(process.stderr, "write").mockImplementation(() => true);
});
afterEach(() => vi.restoreAllMocks());

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

async function call(...argv: string[]): Promise<number> {
  const exit = (code: number): never => {
    throw new Exit(code);
  };
  const env = { PATH: process.env.PATH };
  const host: Host = { argv: ["ab", ...argv], env, cwd: folder, exit, home: folder, node: process.execPath, script: DIST, colour: false };
  try {
    await run(host);
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
}

const read = (...argv: string[]) => readRunArguments(["--out", "x", ...argv], { node: "/node", script: "/main.js" });

describe("what ab run is asked", () => {
  it("the six styles, all tasks and the scripted driver, where nothing is said", () => {
    const { arms, driver, refresh, numbers, retry } = read();
    expect(arms.map(({ name }) => name)).toEqual(["bridge", "toolsets", "dynamic", "meta", "static", "individual"]);
    expect({ driver, refresh, retry }).toEqual({ driver: ["scripted"], refresh: ["at_once"], retry: false });
    expect(numbers).toEqual({ repeats: 1, seed: 1, workers: 2, "max-calls": 40, timeout: 120 });
    expect(read("--driver=model").numbers.timeout).toBe(600);
  });

  it("other servers, each with the environment behind it; no style then unless it is named", () => {
    const { arms } = read("--arm", "one='a b' c", "--env", "A={API}", "--env=B=x=y", "--arm", "two=d", "--arms", "meta");
    expect(arms.map(({ name, command, env }) => [name, command.slice(0, 2), env])).toEqual([
      ["meta", ["/node", "/main.js"], expect.anything()],
      ["one", ["a b", "c"], { A: "{API}", B: "x=y" }],
      ["two", ["d"], {}],
    ]);
    expect(read("--arm", "one=x").arms).toHaveLength(1);
  });

  it.each([
    [["--arms", "brige"], /nearest is "bridge"/],
    [["--env", "A=B"], /stands behind the --arm/],
    [["--arm", "x=y", "--env", "nothing"], /NAME=VALUE/],
    [["--arm", "x=y", "--arm", "x=z"], /Two arms have the name x/],
    [["--refresh", "later"], /at_once, next_turn, never/],
    [["--repeats", "0"], /whole number from 1/],
    [["--seed", "x"], /whole number from 0/],
    [["--worker", "2"], /nearest is --workers/],
    [["--seed"], /needs a value/],
    [["loose"], /does not know "loose"/],
  ])("refuses %j", (argv, message) => expect(() => read(...argv)).toThrow(message));

  it("a folder is needed", () => expect(() => readRunArguments([], { node: "", script: "" })).toThrow(/--out/));

  it("tasks by id, pattern and size", () => {
    const tasks = loadTasks();
    const ids = (...words: string[]) => chooseTasks(tasks, words).map(({ id }) => id);
    expect(ids()).toHaveLength(tasks.length);
    expect(ids("issue-comment")).toEqual(["issue-comment"]);
    expect(ids("daily.*", "issue-comment").filter((id) => !id.startsWith("daily."))).toEqual(["issue-comment"]);
    expect(chooseTasks(tasks, ["large"]).every(({ size }) => size === "large")).toBe(true);
    expect(() => ids("isue-comment")).toThrow(/nearest is "issue-comment"/);
  });
});

describe("progress", () => {
  const last = { arm: "meta", task: "t" } as Run;
  it("says how far, how well and how long", () => {
    expect(progressLine({ done: 6, total: 12, failed: 1, last }, 90_000)).toBe(
      `[${"#".repeat(12)}${"-".repeat(12)}] 6/12, 1 failed, 90 s left: meta, t`,
    );
    expect(progressLine({ done: 0, total: 0, failed: 0 }, undefined)).toBe(`[${"#".repeat(24)}] 0/0, 0 failed`);
  });

  it("is one line on a terminal, and ten where there is none", () => {
    const lines = (isTTY: boolean) => {
      const written: string[] = [];
      const tell = createProgress({ isTTY, columns: 40, write: (text) => written.push(text) }, () => 0);
      for (let done = 0; done <= 100; done++) tell({ done, total: 100, failed: 0, last });
      return written;
    };
    expect(lines(false)).toHaveLength(11);
    expect(lines(true)).toHaveLength(101);
    expect(lines(true).slice(0, -1).join("")).not.toContain("\n");
    expect(lines(true).every((line) => line.replace("\r\u001b[K", "").trimEnd().length < 40)).toBe(true);
  });
});

describe("ab", () => {
  const tasks = join(folder, "tasks");
  const task = {
    ...{ id: "branch", size: "small", toolsets: ["projects"], prompt: "Which branch is the default one of acme/webshop?" },
    path: [{ action: "project.get", params: { project_id: "acme/webshop" }, keep: { branch: "default_branch" } }],
    ...{ answer: { all: ["main"] }, ideal: "{branch}" },
  };
  const runIt = (...more: string[]) => call("run", "--out", "runs", "--tasks-dir", tasks, "--arms", "dynamic,bridge-prefix", ...more);

  it("runs, goes on, reports, and leaves nothing behind", { timeout: 60_000 }, async () => {
    mkdirSync(tasks);
    writeFileSync(join(tasks, "branch.json"), JSON.stringify(task));
    expect(await runIt()).toBe(0);
    expect(said.at(-1)).toMatch(/^2 runs in runs; 0 of those made now did not succeed/);
    const file = join(folder, "runs/runs.jsonl");
    const first = readFileSync(file, "utf8");
    expect(first.trimEnd().split("\n")).toHaveLength(2);
    expect(await runIt("--driver", "scripted")).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(first);
    const setup = JSON.parse(readFileSync(join(folder, "runs/setup.json"), "utf8")) as { arms: { server: unknown }[] };
    expect(setup.arms.map(({ server }) => server)).toEqual(Array(2).fill(expect.objectContaining({ name: "gitlab-toolset-bridge" })));
    expect(await call("report", "runs")).toBe(0);
    for (const name of ["report.json", "report.md", "report.html"]) expect(existsSync(join(folder, "runs", name))).toBe(true);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`gitlab-ab-${process.pid}-`))).toEqual([]);
    expect(existsSync(join(folder, ".gitlab-toolset-bridge"))).toBe(false);
  });

  it("stops cleanly when it is interrupted, and says how to go on", { timeout: 120_000 }, async () => {
    const args = ["ab", "run", "--out", "cut", "--tasks-dir", tasks, "--arms", "dynamic", "--repeats", "500"];
    const child = spawn(process.execPath, [DIST, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let told = "";
    child.stderr.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    const file = join(folder, "cut/runs.jsonl");
    await expect.poll(() => existsSync(file) || child.exitCode !== null, { timeout: 60_000 }).toBe(true);
    expect([child.exitCode, told]).toEqual([null, expect.anything()]);
    child.kill("SIGINT");
    expect([(await once(child, "exit"))[0], told]).toEqual([130, expect.stringMatching(/interrupted.* of 500 runs are left/)]);
    for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ success: true });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`gitlab-ab-${child.pid}-`))).toEqual([]);
  });

  it("stops before anything is run where an arm does not start, a task is wrong, or a driver is not known", async () => {
    mkdirSync(join(folder, "bad"));
    writeFileSync(join(folder, "bad/x.json"), "{}");
    expect(await call("run", "--out", "none", "--tasks-dir", tasks, "--arm", `dead=${process.execPath} -e process.exit(1)`)).toBe(2);
    expect(said.at(-1)).toMatch(/^The arm dead does not start/);
    expect(await call("run", "--out", "none", "--tasks-dir", "bad")).toBe(2);
    expect(said.at(-1)).toMatch(/^The tasks cannot be read/);
    expect(await call("run", "--out", "none", "--driver", "heuristc")).toBe(2);
    expect(said.at(-1)).toMatch(/nearest is "heuristic"/);
    expect(existsSync(join(folder, "none"))).toBe(false);
    expect(await call("walk")).toBe(2);
    expect(await call("run")).toBe(2);
  });

  it("has help of its own", async () => {
    await call("--help");
    expect(said.join("\n")).toMatch(/--refresh[\s\S]*--model-url/);
  });
});
