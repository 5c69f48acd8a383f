import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { armsNamed, environmentOf, OWN_ARMS, ownArms, parseArm } from "../../src/ab/arms.ts";
import { createCounter, openCounter } from "../../src/ab/count.ts";
import { type HostOptions, type OpenHost, openHost } from "../../src/ab/host.ts";

const SERVER = join(import.meta.dirname, "../../fixtures/ab/servers/growing.mjs");
const scratch = mkdtempSync(join(tmpdir(), "ab-host-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** One token a character: what a turn sends can be added up by hand. */
const counter = createCounter("estimate", (text) => text.length);

let host: OpenHost | undefined;
afterEach(async () => {
  await host?.close();
});

async function open(options: Partial<HostOptions> = {}): Promise<OpenHost> {
  host = await openHost({
    command: [process.execPath, SERVER],
    env: { PATH: process.env.PATH ?? "" },
    cwd: scratch,
    refresh: "at_once",
    prompt: "Do it.",
    counter,
    maxCalls: 40,
    signal: new AbortController().signal,
    ...options,
  });
  return host;
}

const toolText = (name: string) => JSON.stringify({ name, description: `About ${name}`, input_schema: { type: "object" } });
const sizeOf = (names: readonly string[]) => names.reduce((sum, name) => sum + toolText(name).length, 0);
const callSize = (name: string) => JSON.stringify({ name, arguments: {} }).length;
const NAMES = ["grow", "grow_late", "put_first", "ask", "heard", "environment", "pid", "die", "hang", "json_only", "wrong"];
const LIST = sizeOf(NAMES);
const FIXED = "Be kind.".length + "Do it.".length;
const isOn = (name: string) => host?.tools.some((tool) => tool.name === name);
/** One that has ended and that nobody has asked after yet does not live. */
const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(execFileSync("cat", [`/proc/${pid}/stat`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return false;
  }
};

describe("what a turn costs", () => {
  it("sends list, instructions, task and history each turn; all of the turn before was in the cache", async () => {
    const { call, answer, turns, firstList } = await open();
    await call("heard", {});
    await call("wrong", {}, "Now this.");
    answer("Done.");
    const first = LIST + FIXED;
    const second = first + callSize("heard") + "heard".length;
    const third = second + "Now this.".length + callSize("wrong") + (turns[1]?.seen ?? "").length;
    expect(firstList).toBe(LIST);
    expect(turns.map(({ prompt, cached }) => [prompt, cached])).toEqual([
      [first, 0],
      [second, first],
      [third, second],
    ]);
    expect(turns.map(({ completion }) => completion)).toEqual([callSize("heard"), "Now this.".length + callSize("wrong"), "Done.".length]);
  });

  it("a tool at the end keeps the list in the cache and nothing behind it; one in front keeps nothing", async () => {
    const { call, answer, turns } = await open();
    await call("grow", {});
    await call("put_first", {});
    answer("Done.");
    expect(turns.map(({ cached }) => cached)).toEqual([0, LIST, 0]);
    expect(turns.map(({ listed }) => listed)).toEqual([NAMES.length, NAMES.length + 1, NAMES.length + 2]);
    expect(turns[1]?.prompt).toBe(LIST + sizeOf(["grown"]) + FIXED + callSize("grow") + "told before the answer".length);
  });

  it("several calls of one reply send the prompt once; what a model's API counted stands beside", async () => {
    const usage = { prompt: 9, cached: 1, completion: 2 };
    const { call, answer, turns } = await open();
    await call("heard", {}, undefined, { usage });
    await call("heard", {}, undefined, { sameReply: true });
    answer("Done.", { usage });
    expect(turns.map(({ prompt }) => prompt > 0)).toEqual([true, false, true]);
    expect(turns[2]?.cached).toBe(turns[0]?.prompt);
    expect(turns.map((turn) => turn.usage)).toEqual([usage, undefined, usage]);
  });

  it("counts with o200k_base where it is installed, words that are special there too", async () => {
    const real = await openCounter();
    expect([real.name, real.count("hello world"), real.count("<|endoftext|>") > 1]).toEqual(["o200k_base", 2, true]);
  });

  it("counts a tool's text once", () => {
    let counted = 0;
    const once = createCounter("estimate", () => ++counted);
    expect([once.countOnce("a"), once.countOnce("a"), once.countOnce("b"), once.count("a")]).toEqual([1, 1, 2, 3]);
  });
});

describe("when the list changes", () => {
  it.each(["grow", "grow_late"])("at once: the next turn has it (%s)", async (name) => {
    const { call } = await open({ refresh: "at_once" });
    await call(name, {});
    expect(isOn("grown")).toBe(true);
    expect(await call("grown", {})).toMatchObject({ isError: false, text: "grown" });
  });

  it.each(["grow", "grow_late"])("next turn: the turn right after still has the old one (%s)", async (name) => {
    const { call } = await open({ refresh: "next_turn" });
    await call(name, {});
    expect(isOn("grown")).toBe(false);
    expect(await call("grown", {})).toMatchObject({ isError: true });
    expect(await call("grown", {})).toMatchObject({ isError: false });
  });

  it("never: it stays as it was", async () => {
    const { call, turns } = await open({ refresh: "never" });
    await call("grow", {});
    await call("heard", {});
    expect(await call("grown", {})).toMatchObject({ isError: true });
    expect(turns.map(({ listed }) => listed)).toEqual(NAMES.map(() => NAMES.length).slice(0, 3));
  });
});

describe("calls", () => {
  it("a name that is not on the list never reaches the server, and counts as a failed call", async () => {
    const { call, turns } = await open();
    const seen = await call("invented", {});
    expect(seen).toEqual({ isError: true, text: 'There is no tool named "invented".' });
    expect((await call("heard", {})).text).toBe("heard");
    expect(turns[0]).toMatchObject({ tool: "invented", isError: true });
  });

  it("an error of the protocol is a failed call that the model reads", async () => {
    const { call } = await open();
    expect(await call("wrong", {})).toMatchObject({ isError: true, text: expect.stringContaining("wrong arguments") });
  });

  it("a result without text is shown as its JSON, and toolsets that it enabled are remembered", async () => {
    const { call, enabled } = await open();
    const seen = await call("json_only", {});
    expect(JSON.parse(seen.text)).toEqual(seen.json);
    expect([...enabled]).toEqual(["ci"]);
  });

  it("the person at the host agrees", async () => {
    const { call } = await open();
    expect(JSON.parse((await call("ask", {})).text)).toEqual({ action: "accept", content: { confirm: true, how: "soft" } });
  });

  it("more calls than a run may take end it", async () => {
    const { call } = await open({ maxCalls: 1 });
    await call("heard", {});
    await expect(call("heard", {})).rejects.toThrow("more than 1 calls");
  });

  it("a server that dies ends the run", async () => {
    const { call } = await open();
    await expect(call("die", {})).rejects.toThrow();
  });

  it("the signal ends a call that hangs, and the server with it", async () => {
    const stop = new AbortController();
    const { call } = await open({ signal: stop.signal });
    const [pid = 0] = JSON.parse((await call("pid", {})).text) as number[];
    const hanging = call("hang", {});
    stop.abort(new Error("enough"));
    await expect(hanging).rejects.toThrow("enough");
    await host?.close();
    expect(isAlive(pid)).toBe(false);
  });
});

describe("the server's process", () => {
  it("says what it is, and takes what it started with it", async () => {
    const opened = await open();
    expect(opened.server).toMatchObject({ name: "growing", version: "1.2.3" });
    const pids = JSON.parse((await opened.call("pid", {})).text) as number[];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await opened.close();
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  it("is ended where it gives no list", async () => {
    const error = await open({ env: { PATH: process.env.PATH ?? "", NO_LIST: "1" } }).catch((reason: Error) => reason);
    const pid = Number(/no list from (\d+)/.exec(String(error))?.[1]);
    expect([pid > 0, isAlive(pid)]).toEqual([true, false]);
  });

  it("that cannot start is told with its own last words", async () => {
    const command = [process.execPath, "-e", 'console.error("no such wind"); process.exit(3)'];
    await expect(open({ command })).rejects.toThrow(/did not start[\s\S]*no such wind/);
  });

  it("knows nothing of the caller but where things are", async () => {
    const caller = { PATH: process.env.PATH, HOME: "/home/me", GITLAB_TOKEN: "mine", npm_config_registry: "mine", AWS_SECRET: "mine" };
    const arm = parseArm("other='a b' c", { API: "{API}", T: "{TOKEN}", U: "<{URL}>", S: "{SCRATCH}" });
    const world = { url: "http://127.0.0.1:1", tokens: { root: "r", maria: "m", jonas: "j", reader: "e" } };
    const env = environmentOf(arm, world, { who: "jonas", refresh: "never", caller, scratch });
    const { call } = await open({ env });
    const seen = JSON.parse((await call("environment", {})).text) as Record<string, string>;
    const own = { API: "http://127.0.0.1:1/api/v4", T: "j", U: "<http://127.0.0.1:1>", S: scratch };
    expect(seen).toEqual({ PATH: process.env.PATH, HOME: "/home/me", ...own });
  });
});

describe("arms", () => {
  it("our own are command lines of this program, with the sandbox's token and a home of their own", () => {
    const arms = ownArms("/node", "/main.js");
    expect(arms.map(({ name }) => name)).toEqual(OWN_ARMS);
    const prefixed = arms.find(({ name }) => name === "bridge-prefix");
    expect(prefixed?.command).toEqual(["/node", "/main.js", "serve", "--style=bridge", "--prefix=gl_"]);
    const world = { url: "http://gitlab", tokens: { root: "r", maria: "m", jonas: "j", reader: "e" } };
    for (const [refresh, settle] of [
      ["at_once", "10000"],
      ["never", "500"],
    ] as const)
      expect(prefixed && environmentOf(prefixed, world, { who: "maria", refresh, caller: { HOME: "/mine" }, scratch: "/none" })).toEqual({
        HOME: "/none",
        GITLAB_URL: "http://gitlab",
        GITLAB_TOKEN: "m",
        GITLAB_BRIDGE_SETTLE: settle,
      });
    expect(armsNamed(["meta", "meta"], arms).map(({ name }) => name)).toEqual(["meta"]);
    expect(armsNamed(["all"], arms)).toHaveLength(OWN_ARMS.length);
    expect(() => armsNamed(["brige"], arms)).toThrow('the nearest is "bridge"');
  });

  it("others are taken apart as a shell would, without one", () => {
    expect(parseArm('x=npx -y "a b" --flag=\'c d\' e"f"', {}).command).toEqual(["npx", "-y", "a b", "--flag=c d", "ef"]);
    expect(parseArm("x=/usr/bin/node /a/node_modules/@b/c/d.js /e/f.js @g/h --i=j/k", {}).about).toBe("node @b/c/d.js f.js @g/h --i=j/k");
    for (const text of ["x", "x=", "=npx", "bridge=npx"]) expect(() => parseArm(text, {})).toThrow(/--arm/);
  });
});
