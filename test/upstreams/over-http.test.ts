import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { openUpstreams, type Upstreams } from "../../src/upstreams/open.ts";
import { httpSettings } from "../support/http.ts";
import { fixture, unframed } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

const TOKENS = { maria: "token-maria-123456", jonas: "token-jonas-123456" };

let far: HttpFixture;
let upstreams: Upstreams;
let server: HttpServer;
const clients: Client[] = [];

beforeAll(async () => {
  far = await startHttpFixture("legacy");
  const log = createLog({ level: "silent" });
  const settings = httpSettings(["--settle=1", "--url=http://127.0.0.1:9", "--confirm=off"]);
  upstreams = openUpstreams({
    file: { mcpServers: { fix: fixture("legacy.mjs"), far: { url: far.url, forwardHeaders: ["private-token", "x-trace"] } } },
    env: { PATH: process.env.PATH ?? "" },
    version: "0.0.0",
    log,
    prefer: "rest",
    single: false,
    isTaken: () => false,
    isAction: () => false,
  });
  const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/", upstreams });
  server = await serveOverHttp({ settings, bridge, log });
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await server.stop();
  await upstreams.close();
  await far.kill();
});

async function connect(token: string, era: "legacy" | "modern", headers: Record<string, string> = {}) {
  const client = new Client({ name: "far", version: "1" }, era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {});
  const address = new URL(server.url.endsWith("/mcp") ? server.url : `${server.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers: { "PRIVATE-TOKEN": token, ...headers } } }));
  clients.push(client);
  return async (action: string, params: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name: "gitlab_execute_action", arguments: { action, params } });
    return unframed((result.content[0] as { text: string }).text);
  };
}

describe("many clients over HTTP, upstreams behind", () => {
  it("two sessions of one user have connections of their own", async () => {
    const [one, other] = [await connect(TOKENS.maria, "legacy"), await connect(TOKENS.maria, "legacy")];
    expect([await one("fix.count"), await one("fix.count"), await other("fix.peek")]).toEqual(["1", "2", "0"]);
  });

  it("in the modern era, where every request is new, a user's calls meet the same connection, another user's do not", async () => {
    const [mine, theirs] = [await connect(TOKENS.maria, "modern"), await connect(TOKENS.jonas, "modern")];
    expect([await mine("fix.count"), await mine("fix.count"), await theirs("fix.count"), await mine("fix.peek")]).toEqual([
      "1",
      "2",
      "1",
      "2",
    ]);
  });

  it("headers that are to be passed on are the caller's own, and no others go", async () => {
    const call = await connect(TOKENS.jonas, "legacy", { "X-Trace": "t-7", "X-Other": "no" });
    expect(await call("far.echo", { text: "hi" })).toBe("legacy: hi");
    const seen = await far.log();
    const mine = seen.filter((headers) => headers["private-token"] === TOKENS.jonas);
    expect(mine.length).toBeGreaterThan(0);
    expect(mine.at(-1)).toMatchObject({ "x-trace": "t-7" });
    expect(mine.some((headers) => "x-other" in headers)).toBe(false);
  });
});

it("our own address as an upstream is refused", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const log = createLog({ level: "silent" });
  const settings = httpSettings([`--port=${port}`, "--settle=1", "--url=http://127.0.0.1:9"]);
  const own = openUpstreams({
    file: { mcpServers: { self: { url: `http://127.0.0.1:${port}/mcp`, headers: { "PRIVATE-TOKEN": TOKENS.maria } } } },
    env: {},
    version: "0.0.0",
    log,
    prefer: "rest",
    single: false,
    isTaken: () => false,
    isAction: () => false,
  });
  const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/", upstreams: own });
  const looped = await serveOverHttp({ settings, bridge, log });
  await own.ready();
  expect(own.sources[0]?.toolsets()[0]?.note).toMatch(/self is this server itself/);
  expect(own.sources[0]?.actions()).toEqual([]);
  await looped.stop();
  await own.close();
});
