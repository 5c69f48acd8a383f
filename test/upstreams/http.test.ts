import { afterEach, describe, expect, it } from "vitest";
import { type Chain, fixture, openChain } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

let chain: Chain | undefined;
let server: HttpFixture | undefined;
afterEach(async () => {
  await chain?.close();
  await server?.kill();
  chain = undefined;
  server = undefined;
});

describe.each(["legacy", "modern", "sse"] as const)("a %s server over HTTP", (kind) => {
  it("is read, called, cancelled, asked for progress", async () => {
    server = await startHttpFixture(kind);
    chain = openChain({ far: { url: server.url, headers: { "X-Own": "yes" } } });
    const client = await chain.connect();
    await client.call("list_available_toolsets");
    expect((await client.run("far.echo", { text: "hi" })).text).toBe(`${kind}: hi`);
    expect((await client.call("sum", { a: 1, b: 2 })).json).toEqual({ total: 3 });
    const seen: unknown[] = [];
    await client.run("far.slow", { steps: 3 }, { onprogress: (one: { progress: number }) => seen.push(one.progress) });
    expect(seen).toEqual([1, 2, 3]);
    const stop = new AbortController();
    await expect(client.run("far.hang", {}, { signal: stop.signal, onprogress: () => stop.abort() })).rejects.toThrow();
    for (const headers of await server.log()) expect(headers["x-own"]).toBe("yes");
  });

  it("that is killed and started again answers within three seconds; its changes are heard again", async () => {
    server = await startHttpFixture(kind);
    const { port } = server;
    chain = openChain({ far: { url: server.url, toolsets: { growing: ["grown_*"] } } });
    const client = await chain.connect();
    await client.call("list_available_toolsets");
    await server.kill();
    server = await startHttpFixture(kind, port);
    const since = Date.now();
    const first = await client.run("far.count");
    // A write that met the end of the server is told as that and not repeated: nothing ran twice.
    const expected = first.isError ? "0" : "1";
    await expect.poll(async () => (await client.run("far.peek")).text, { timeout: 3_000 }).toBe(expected);
    expect(Date.now() - since).toBeLessThan(3_500);
    await client.run("far.grow");
    await expect.poll(async () => (await client.run("far.grown_1")).text, { timeout: 10_000 }).toBe("grown_1 ran");
  });
});

it.each(["legacy", "modern"] as const)("a %s server that was started anew is noticed though nobody calls it", async (kind) => {
  server = await startHttpFixture(kind);
  const { port } = server;
  chain = openChain({ far: { url: server.url } }, [], { pulse: 50 });
  const client = await chain.connect();
  await client.call("list_available_toolsets");
  await client.run("far.grow");
  const holds = (id: string) => chain?.upstreams.sources[0]?.actions().some((action) => action.id === id);
  await expect.poll(() => holds("far.grown_1"), { timeout: 10_000 }).toBe(true);
  await server.kill();
  server = await startHttpFixture(kind, port);
  // The new process has not grown: its list is read without a call from anybody.
  await expect.poll(() => holds("far.grown_1"), { timeout: 15_000 }).toBe(false);
});

it("a parameter that a modern server wants as a header goes there as one, and clients of ours know nothing of it", async () => {
  server = await startHttpFixture("modern");
  chain = openChain({ far: { url: server.url } }, ["--toolsets=far"]);
  const client = await chain.connect();
  const listed = (await client.list()).find(({ name }) => name === "routed");
  expect(listed).toMatchObject({ inputSchema: { properties: { region: { type: "string" } } } });
  expect(JSON.stringify(listed)).not.toContain("x-mcp-header");
  const reply = await client.run("far.routed", { region: "eu-west1", text: "hi" });
  expect(reply.json).toEqual({ tool: "routed", args: { region: "eu-west1", text: "hi" } });
  const sent = (await server.log()).filter((headers) => "mcp-param-region" in headers);
  expect(sent.map((headers) => [headers["mcp-method"], headers["mcp-param-region"]])).toEqual([["tools/call", "eu-west1"]]);
});

describe("GitLab's own MCP server", () => {
  const open = async (flags: string[] = [], headers: Record<string, string> = { "X-Gitlab-Enabled-Mcp-Server-Toolsets": "all" }) => {
    server = await startHttpFixture("gitlab");
    chain = openChain({ gitlab_mcp: { url: server.url, headers: { Authorization: "Bearer oauth-1234567890", ...headers } } }, flags);
    return chain.connect();
  };

  it("its tools stand beside ours, marked as the same, ours essential", async () => {
    const client = await open();
    const toolsets = (await client.call("list_available_toolsets")).json.toolsets as { name: string; source?: string }[];
    expect(toolsets.find(({ name }) => name === "gitlab_mcp")).toMatchObject({ source: "gitlab_mcp" });
    const same = chain?.upstreams.sources[0]?.actions().filter((action) => action.same !== undefined) ?? [];
    expect(same.length).toBeGreaterThan(20);
    const one = same.find(({ id }) => id === "gitlab_mcp.get_merge_request");
    expect(one).toMatchObject({ same: "merge_request.get", tool: "gitlab_mcp_get_merge_request" });
    expect(one?.essential).toBeUndefined();
    expect(client.connection.registry.resolve("merge_request.get").essential).toBe(true);
    expect((await client.run("gitlab_mcp.get_job", { id: "a/b" })).json).toEqual({ tool: "get_job", args: { id: "a/b" } });
  });

  it("with --prefer=upstream its tools are essential in place of ours", async () => {
    const client = await open(["--prefer=upstream"]);
    await client.call("list_available_toolsets");
    expect(client.connection.registry.resolve("merge_request.get").essential).toBe(false);
    expect(client.connection.registry.resolve("issue.list").essential).toBe(true);
  });

  it("the preset finds it below the instance, asks for everything, and groups what names no group", async () => {
    server = await startHttpFixture("gitlab");
    const instance = server.url.replace("/api/v4/mcp", "");
    chain = openChain({}, [], { gitlabMcp: { instance, token: "oauth-1234567890" } });
    const client = await chain.connect();
    const toolsets = (await client.call("list_available_toolsets")).json.toolsets as { name: string; source?: string }[];
    const joined = toolsets.filter(({ source }) => source === "gitlab_mcp").map(({ name }) => name);
    for (const name of ["merge_requests", "ci", "repository", "work_items", "wikis", "core"]) expect(joined).toContain(name);
    const effects = Object.fromEntries((chain.upstreams.sources[0]?.actions() ?? []).map(({ id, effect }) => [id.split(".")[1], effect]));
    expect(effects).toMatchObject({
      accept_merge_request: "destructive",
      get_job: "read",
      save_work_item: "write",
      semantic_code_search: "read",
    });
    expect((await server.log())[0]).toMatchObject({
      "x-gitlab-enabled-mcp-server-toolsets": "all",
      authorization: "Bearer oauth-1234567890",
    });
  });

  it("a refused toolset or token is told where the toolset is shown", async () => {
    const client = await open([], { "X-Gitlab-Enabled-Mcp-Server-Toolsets": "wikki" });
    expect((await client.call("list_available_toolsets")).text).toMatch(/gitlab_mcp.*cannot be reached.*(400|wikki)/);
    await chain?.close();
    chain = openChain({ gitlab_mcp: { url: server?.url, headers: { Authorization: "Bearer nothing-good" } } });
    const other = await chain.connect();
    expect((await other.call("list_available_toolsets")).text).toMatch(/gitlab_mcp.*(refuses the credential|another credential)/);
  });
});

describe("long calls", () => {
  it("a call that tells of itself is not cut, however long it takes", async () => {
    server = await startHttpFixture("legacy");
    chain = openChain({ far: { url: server.url, timeout: 1_000 }, near: fixture("legacy.mjs", { timeout: 1_000 }) });
    const client = await chain.connect();
    await client.call("list_available_toolsets");
    // Twelve times the patience of the entry: what counts is the time since the last progress.
    const slow = (id: string) => client.run(id, { steps: 60, ms: 200 }, { timeout: 120_000, onprogress: () => {} });
    const [far, near] = await Promise.all([slow("far.slow"), slow("near.slow")]);
    expect([far.text, near.text]).toEqual(["60 steps", "60 steps"]);
  }, 120_000);
});
