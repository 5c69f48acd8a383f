import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { narrow } from "../../src/policy/narrow.ts";
import { type Chain, type ChainClient, fixture, openChain, unframed } from "./chain.ts";

describe.each(["legacy", "modern"])("calls through to a %s server", (era) => {
  let chain: Chain;
  let client: ChainClient;
  beforeAll(async () => {
    chain = openChain({ fix: fixture(`${era}.mjs`, { env: { FIXTURE_TOKEN: "$" + "{SECRET}" } }) }, [], {
      env: { SECRET: "sesame-open-1234", GITLAB_TOKEN: "glpat-mine" },
    });
    client = await chain.connect();
    await client.call("list_available_toolsets");
  });
  afterAll(() => chain.close());

  it("images, resource links and _meta come whole", async () => {
    const picture = await client.run("fix.picture");
    expect(picture.content).toEqual([{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }]);
    expect(picture.meta).toMatchObject({ "example.com/seen": true });
    const link = await client.run("fix.link");
    // In a frame, like everything that others wrote.
    expect(await client.client.readResource({ uri: "fixture://one" })).toMatchObject({
      contents: [{ text: expect.stringMatching(/^<<<.*\ncontent of fixture:\/\/one\n.*>>>$/) }],
    });
    await expect(client.client.readResource({ uri: "fixture://two" })).rejects.toThrow();
    expect(link.content).toEqual([{ type: "resource_link", uri: "fixture://one", name: "one", mimeType: "text/plain" }]);
  });

  it("_meta of the caller reaches the server, our own environment does not", async () => {
    const { text } = await client.call("who", {}, {});
    const told = JSON.parse(text);
    expect(told).toMatchObject({ env: "sesame-open-1234" });
    expect(told).not.toHaveProperty("secret");
    const result = await client.client.callTool({ name: "who", arguments: {}, _meta: { "example.com/trace": "t1" } });
    expect(JSON.parse(unframed((result.content[0] as { text: string }).text)).meta).toMatchObject({ "example.com/trace": "t1" });
  });

  it("progress comes with the caller's own token, in order", async () => {
    const seen: unknown[] = [];
    const reply = await client.run("fix.slow", { steps: 4 }, { onprogress: (one: unknown) => seen.push(one) });
    expect(reply.text).toBe("4 steps");
    expect(seen).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })));
  });

  it("a cancelled call is cancelled at the server", async () => {
    const log = join(mkdtempSync(join(tmpdir(), "bridge-")), "log");
    const stop = new AbortController();
    const call = client.run("fix.hang", { log }, { signal: stop.signal, onprogress: () => stop.abort() });
    await expect(call).rejects.toThrow();
    await expect.poll(() => readFileSync(log, { encoding: "utf8", flag: "a+" }), { timeout: 10_000 }).toBe("cancelled\n");
  });

  it("an error of the protocol keeps code and data, and tells no secret", async () => {
    const reply = await client.run("fix.refuse");
    expect(reply.isError).toBe(true);
    expect(reply.json).toMatchObject({ code: "unprocessable", upstream: { code: -32050, data: { why: "because" } } });
    expect(JSON.stringify(reply)).not.toMatch(/glpat-abcdefghij|sesame/);
  });

  it("a failure of a tool is the tool's own", async () => {
    expect(await client.run("fix.fails")).toMatchObject({ isError: true, text: "it did not work" });
  });

  it("a name that exists nowhere stays the protocol's error", async () => {
    await expect(client.call("no_such_tool_at_all")).rejects.toMatchObject({ code: -32602 });
    expect((await client.run("fix.nothing")).json).toMatchObject({ code: "unknown_action" });
  });

  it("a server that ended answers the next read again; a write in flight is not repeated", async () => {
    const log = join(mkdtempSync(join(tmpdir(), "bridge-")), "log");
    const reply = await client.run("fix.crash_write", { log });
    expect(reply.json).toMatchObject({ code: "outcome_unknown" });
    expect(readFileSync(log, "utf8")).toBe("ran\n");
    expect((await client.run("fix.echo", { text: "back" })).text).toBe(`${era}: back`);
    const read = await client.run("fix.crash");
    expect(read.isError).toBe(true);
    expect((await client.run("fix.peek")).text).toBe("0");
  });
});

describe("policy over a server's tools", () => {
  const open = async (flags: string[], extra: Record<string, unknown> = {}) => {
    const chain = openChain({ fix: fixture("legacy.mjs", extra) }, flags);
    const client = await chain.connect();
    await client.call("list_available_toolsets");
    return { chain, client };
  };

  it("read-only: only what says that it reads", async () => {
    const { chain, client } = await open(["--read-only"]);
    for (const id of ["fix.count", "fix.wipe", "fix.no_hint"])
      expect((await client.run(id)).json).toMatchObject({ code: "not_permitted", rule: "read_only" });
    expect((await client.run("fix.peek")).text).toBe("0");
    expect((await client.call("gitlab_find_action", { query: "fix.wipe" })).json.results).toEqual([]);
    await chain.close();
  });

  it("a link can be read only while the tool that gave it may be used", async () => {
    const { chain, client } = await open([]);
    await client.run("fix.link");
    const read = () => client.client.readResource({ uri: "fixture://one" });
    expect(await read()).toMatchObject({ contents: [{ uri: "fixture://one" }] });
    chain.bridge.limit(narrow(client.connection.settings, { excludeTools: ["fix.link"] }));
    await expect(read()).rejects.toThrow(/not_permitted.*fix\.link/);
    await chain.close();
  });

  it("read-only holds where annotations are not trusted", async () => {
    const { chain, client } = await open(["--read-only"], { trust: false, effect: { peek: "read" } });
    expect((await client.run("fix.echo", { text: "x" })).json).toMatchObject({ code: "not_permitted" });
    expect((await client.run("fix.peek")).text).toBe("0");
    await chain.close();
  });

  it("safe mode shows the call, without secrets, and sends nothing", async () => {
    const { chain, client } = await open(["--safe-mode"]);
    const reply = await client.run("fix.count", { note: "glpat-abcdefghij1234567890" });
    expect(reply.json).toMatchObject({ preview: true, sent: false, server: "fix", tool: "count" });
    expect(JSON.stringify(reply)).not.toContain("glpat-abcdefghij");
    expect((await client.run("fix.peek")).text).toBe("0");
    await chain.close();
  });

  it("destructive tools are confirmed; ceilings and project scope hold", async () => {
    const { chain, client } = await open(["--exclude-tools=fix.sum"]);
    expect((await client.run("fix.wipe")).json).toMatchObject({ code: "confirmation_required" });
    expect((await client.call("wipe", { confirm: true })).text).toBe("wiped");
    expect((await client.run("fix.sum", { a: 1, b: 2 })).json).toMatchObject({ code: "not_permitted", rule: "ceiling" });
    await chain.close();
    const scoped = await open(["--allow-projects=a/b"]);
    expect((await scoped.client.run("fix.peek")).json).toMatchObject({ code: "not_permitted", rule: "scope" });
    await scoped.chain.close();
  });

  it("include, exclude, effect, prefix and toolsets of the entry hold", async () => {
    const { chain, client } = await open([], {
      include: ["e*", "sum", "peek"],
      exclude: ["peek"],
      effect: { echo: "destructive" },
      prefix: "my_",
      toolsets: { sayings: ["ec*"] },
    });
    const rows = (await client.call("get_toolset_tools", { toolset: "sayings" })).json.tools;
    expect(rows).toMatchObject([{ name: "my_echo", action: "fix.echo", effect: "destructive" }]);
    expect(chain.upstreams.sources[0]?.actions().map(({ tool }) => tool)).toEqual(["my_echo", "my_sum"]);
    await chain.close();
  });
});
