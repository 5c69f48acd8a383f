import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { type Chain, type ChainClient, fixture, openChain } from "./chain.ts";

let chain: Chain | undefined;
afterEach(async () => {
  await chain?.close();
  chain = undefined;
});

const pidOf = async (client: ChainClient): Promise<number> => JSON.parse((await client.run("fix.who")).text).pid;

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(execFileSync("cat", [`/proc/${pid}/stat`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return false;
  }
};

describe("two clients, one upstream", () => {
  it("each has a connection and a state of its own; the one that goes takes its process with it", async () => {
    chain = openChain({ fix: fixture("legacy.mjs") }, [], { single: false });
    const [one, other] = [await chain.connect(), await chain.connect()];
    await one.call("list_available_toolsets");
    expect((await one.run("fix.count")).text).toBe("1");
    expect((await one.run("fix.count")).text).toBe("2");
    expect((await other.run("fix.peek")).text).toBe("0");
    const [mine, theirs] = [await pidOf(one), await pidOf(other)];
    expect(mine).not.toBe(theirs);
    await one.close();
    await expect.poll(() => isAlive(mine), { timeout: 10_000 }).toBe(false);
    expect(isAlive(theirs)).toBe(true);
    expect((await other.run("fix.peek")).text).toBe("0");
  });

  it("answers of calls that run at the same time never cross", async () => {
    chain = openChain({ fix: fixture("legacy.mjs", { sessionMode: "shared" }) }, [], { single: false });
    const clients = [await chain.connect(), await chain.connect()];
    await clients[0]?.call("list_available_toolsets");
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    const replies = await Promise.all(texts.map((text, index) => clients[index % 2]?.run("fix.echo", { text })));
    expect(replies.map((reply) => reply?.text)).toEqual(texts.map((text) => `legacy: ${text}`));
    expect((await clients[0]?.run("fix.count"))?.text).toBe("1");
    expect((await clients[1]?.run("fix.peek"))?.text).toBe("1");
  });

  it("a change is told to the client whose list it concerns, once, and to nobody else", async () => {
    chain = openChain({ fix: fixture("legacy.mjs", { sessionMode: "shared", toolsets: { growing: ["grown_*"] } }) }, ["--toolsets=fix"], {
      single: false,
    });
    const one = await chain.connect();
    const other = await chain.connect();
    await one.list();
    await other.call("disable_toolset", { toolset: "fix" });
    const before = other.changes();
    const toolsOf = async (client: ChainClient) => (await client.list()).map(({ name }) => name);
    expect(await toolsOf(other)).not.toContain("echo");
    await one.run("fix.grow", { times: 30 });
    await expect.poll(() => chain?.upstreams.sources[0]?.actions().some(({ id }) => id === "fix.grown_1"), { timeout: 10_000 }).toBe(true);
    // It went into a toolset that nobody has on: no list is another one.
    expect([one.changes(), other.changes() - before]).toEqual([0, 0]);
    expect((await other.run("fix.grown_1")).text).toBe("grown_1 ran");
    const found = await other.call("gitlab_find_action", { query: "grown_1" });
    expect(found.json.results).toMatchObject([{ id: "fix.grown_1" }]);
    await other.call("enable_toolset", { toolset: "growing" });
    await one.run("fix.grow", { times: 30 });
    await expect.poll(() => chain?.upstreams.sources[0]?.actions().some(({ id }) => id === "fix.grown_2"), { timeout: 10_000 }).toBe(true);
    expect(one.changes()).toBe(0);
  });

  it("a tool that comes into a toolset that is on from the start is told once and listed", async () => {
    chain = openChain({ fix: fixture("legacy.mjs", { toolsets: { growing: ["peek", "grow"] } }) }, ["--toolsets=fix"]);
    const client = await chain.connect();
    const before = await client.list();
    await client.run("fix.grow", { times: 50 });
    await expect.poll(() => client.changes(), { timeout: 10_000 }).toBe(1);
    const after = (await client.list()).map(({ name }) => name);
    expect(after.slice(0, before.length)).toEqual(before.map(({ name }) => name));
    expect(after.slice(before.length)).toEqual(["grown_1"]);
    expect(client.changes()).toBe(1);
  });
});

describe.each(["legacy", "modern"])("questions of a %s upstream", (era) => {
  it("reach the user of the call, where the client can be asked; else they are not offered upstream", async () => {
    chain = openChain({ fix: fixture(`${era}.mjs`) }, [], { single: false });
    const asked: string[] = [];
    const person = (message: string) => {
      asked.push(message);
      return "accept" as const;
    };
    const willing = await chain.connect({ person });
    const deaf = await chain.connect();
    expect(JSON.parse((await willing.run("fix.ask")).text)).toMatchObject({ action: "accept", content: { ok: true } });
    expect(asked).toEqual(["Go on?"]);
    expect((await deaf.run("fix.ask")).isError).toBe(true);
    const told = JSON.parse((await deaf.run("fix.who")).text);
    // In the modern era each request tells it anew.
    if (era === "legacy") expect(told.capabilities).toEqual({});
  });
});

describe("when an upstream is not there", () => {
  it("its toolset says so, everything else works, and it is taken up as soon as it is there", async () => {
    chain = openChain({ gone: { command: "/nonexistent/program" }, fix: fixture("legacy.mjs") });
    const client = await chain.connect();
    const reply = await client.call("list_available_toolsets");
    const row = (reply.json.toolsets as { name: string; reason?: string }[]).find(({ name }) => name === "gone");
    expect(row).toMatchObject({ actions: 0, can_enable: false, reason: expect.stringContaining("cannot be reached") });
    expect(reply.text).toMatch(/gone.*cannot be reached/);
    expect((await client.run("fix.peek")).text).toBe("0");
  });

  it("that is killed answers again within three seconds; its tools stay listed meanwhile", async () => {
    chain = openChain({ fix: fixture("legacy.mjs") }, ["--toolsets=fix"]);
    const client = await chain.connect();
    const before = await client.list();
    const pid = await pidOf(client);
    process.kill(pid, "SIGKILL");
    expect(await client.list()).toEqual(before);
    const since = Date.now();
    await expect.poll(async () => (await client.run("fix.peek")).isError, { timeout: 3_000 }).toBe(false);
    expect(Date.now() - since).toBeLessThan(3_000);
    expect(client.changes()).toBe(0);
  });

  it("its tools leave the lists after the grace period, and that is told", async () => {
    chain = openChain({ fix: fixture("legacy.mjs", { graceSeconds: 0, env: { PATH: "" } }) }, ["--toolsets=fix"]);
    const client = await chain.connect();
    await client.list();
    const source = chain.upstreams.sources[0];
    const pid = await pidOf(client);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => client.changes(), { timeout: 10_000 }).toBeGreaterThan(0);
    // It is redialled by itself: what was on is on again.
    await expect.poll(() => source?.actions().length, { timeout: 10_000 }).toBe(17);
    await expect.poll(async () => (await client.list()).length, { timeout: 10_000 }).toBeGreaterThan(15);
  });
});

describe("no process is left behind", () => {
  it("after twenty connections, and of a child that has children and ignores signals", async () => {
    const round = async () => {
      const one = openChain({ fix: fixture("stubborn.mjs") });
      const client = await one.connect();
      const told = JSON.parse((await client.run("fix.pids")).text) as number[];
      await one.close();
      return told;
    };
    const pids: number[] = [];
    for (let four = 0; four < 5; four++) pids.push(...(await Promise.all([round(), round(), round(), round()])).flat());
    expect(pids).toHaveLength(40);
    await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([]);
  }, 120_000);
});

describe("a loop", () => {
  it("is refused: an upstream with the same upstreams is this server itself", async () => {
    const entry = { inner: fixture("mirror.mjs") };
    chain = openChain(entry, [], { env: { MIRROR: "x" } });
    const fingerprint = chain.upstreams.fingerprint;
    await chain.close();
    chain = openChain({ inner: { ...entry.inner, env: { FINGERPRINT: fingerprint } } });
    const client = await chain.connect();
    const reply = await client.call("list_available_toolsets");
    expect(reply.text).toMatch(/inner.*is this server itself/);
    await chain.close();
    chain = openChain({ inner: { ...entry.inner, env: { FINGERPRINT: "another" } } });
    expect((await (await chain.connect()).run("inner.hello")).text).toBe("hello");
  });
});
