import { afterEach, describe, expect, it } from "vitest";
import { type Chain, type ChainClient, fixture, openChain } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

let chain: Chain | undefined;
let server: HttpFixture | undefined;
afterEach(async () => {
  await chain?.close();
  await server?.kill();
  chain = undefined;
  server = undefined;
});

const found = async (client: ChainClient, query: string) =>
  ((await client.call("gitlab_find_action", { query })).json.results as { id: string }[]).map(({ id }) => id);
const named = async (client: ChainClient) => (await client.list()).map(({ name }) => name);

describe.each(["legacy", "modern"])("two clients whose connections to a %s server show different tools", (era) => {
  it("each sees its own: listed, found, called, told", async () => {
    chain = openChain({ fix: fixture(`${era}.mjs`) }, ["--toolsets=fix"], { single: false });
    const [one, other] = [await chain.connect(), await chain.connect()];
    const before = await named(one);
    expect(await named(other)).toEqual(before);
    await one.run("fix.grow", { times: 20 });
    await expect.poll(() => one.changes(), { timeout: 10_000 }).toBe(1);
    expect(await named(one)).toEqual([...before, "grown_1"]);
    expect(await found(one, "fix.grown_1")).toEqual(["fix.grown_1"]);
    expect((await one.call("grown_1")).text).toBe("grown_1 ran");
    // The other one's server never grew.
    await other.run("fix.peek");
    expect(await named(other)).toEqual(before);
    expect(await found(other, "fix.grown_1")).not.toContain("fix.grown_1");
    expect((await other.run("fix.grown_1")).json).toMatchObject({ code: "unknown_action" });
    expect([one.changes(), other.changes()]).toEqual([1, 0]);
    // A third one begins with what everybody sees.
    const third = await chain.connect();
    expect(await named(third)).toEqual(before);
    await other.run("fix.grow");
    await expect.poll(() => other.changes(), { timeout: 10_000 }).toBe(1);
    expect((await other.call("grown_1")).text).toBe("grown_1 ran");
  });
});

describe("a server that shows each caller other tools", () => {
  it("whoever is not let in sees none of what the first one may see", async () => {
    server = await startHttpFixture("legacy");
    chain = openChain({ far: { url: server.url, forwardHeaders: ["x-extra-tool"] } }, [], { single: false });
    const [maria, jonas, nobody] = [
      await chain.connect({ headers: { "x-extra-tool": "for_maria" } }),
      await chain.connect({ headers: { "x-extra-tool": "for_jonas" } }),
      await chain.connect(),
    ];
    for (const client of [maria, jonas, nobody]) await client.call("list_available_toolsets");
    expect((await maria.run("far.for_maria")).json).toMatchObject({ tool: "for_maria" });
    expect((await jonas.run("far.for_jonas")).json).toMatchObject({ tool: "for_jonas" });
    for (const [client, foreign] of [
      [jonas, "far.for_maria"],
      [maria, "far.for_jonas"],
      [nobody, "far.for_maria"],
    ] as const) {
      expect(await found(client, foreign)).not.toContain(foreign);
      expect((await client.run(foreign)).json).toMatchObject({ code: "unknown_action" });
      expect((await client.call("get_toolset_tools", { toolset: "far" })).text).not.toContain(foreign.split(".")[1]);
    }
  });

  it("a caller whom it refuses sees nothing of it", async () => {
    server = await startHttpFixture("gitlab");
    chain = openChain({ gitlab_mcp: { url: server.url, forwardHeaders: ["authorization"] } }, [], { single: false });
    const good = await chain.connect({ headers: { authorization: "Bearer oauth-1234567890" } });
    const bad = await chain.connect({ headers: { authorization: "Bearer wrong" } });
    for (const client of [good, bad]) await client.call("list_available_toolsets");
    expect(await found(good, "gitlab_mcp.get_job")).toEqual(["gitlab_mcp.get_job"]);
    expect(await found(bad, "gitlab_mcp.get_job")).not.toContain("gitlab_mcp.get_job");
  });
});
