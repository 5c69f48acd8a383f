import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bridge, createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { narrow, type Wishes } from "../../src/policy/narrow.ts";
import type { Link } from "../../src/surface/connection.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { ACCEPT, type Crowd, handshake, httpSettings, parseMessages, post, startCrowd, tokenOf } from "../support/http.ts";
import { settingsFor } from "../support/settings.ts";

const CHANGED = "notifications/tools/list_changed";
const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };

describe("limits that become others while clients are connected", () => {
  const bridgeFor = (...flags: string[]) => {
    const settings = settingsFor(...flags);
    const bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0.0.0", cwd: "/" });
    return { bridge, limit: (wishes: Wishes) => bridge.limit(narrow(settings, wishes)) };
  };
  /** How often each client was told. */
  const serve = (bridge: Bridge, link: Partial<Link> = {}, wishes: Wishes = {}) => {
    const connection = bridge.connect({ wishes });
    let told = 0;
    connection.session.events.on("refreshed", () => {
      told += 1;
    });
    bridge.createServer(connection, { era: "legacy", transport: "stdio", canTell: () => true, ...link });
    return { connection, told: () => told, names: () => connection.session.on().map(({ tool }) => tool) };
  };

  it("are told once to each client whose own list is another one, and to no other", () => {
    const { bridge, limit } = bridgeFor();
    const issues = serve(bridge, {}, { toolsets: ["work_items"] });
    const ci = serve(bridge, {}, { toolsets: ["ci"] });
    const bare = serve(bridge);
    limit({ excludeTools: ["toolset:work_items"] });
    expect([issues.told(), ci.told(), bare.told()]).toEqual([1, 0, 0]);
    expect(issues.names()).not.toContain("create_issue");
    limit({ excludeTools: ["toolset:work_items", "branch.delete"] });
    expect([issues.told(), ci.told(), bare.told()]).toEqual([1, 0, 0]);
    limit({});
    expect([issues.told(), ci.told(), bare.told()]).toEqual([2, 0, 0]);
    expect(issues.names()).toContain("create_issue");
  });

  it("are told where the same tools look another way: what runs every action only reads now", () => {
    const { bridge, limit } = bridgeFor();
    const bare = serve(bridge);
    limit({ readOnly: true });
    expect(bare.told()).toBe(1);
    limit({ readOnly: true, safeMode: true });
    expect(bare.told()).toBe(1);
  });

  it("what was enabled and is forbidden goes, and comes back with the limits", () => {
    const { bridge, limit } = bridgeFor();
    const one = serve(bridge);
    const action = one.connection.registry.resolve("issue.create");
    one.connection.session.enable([action]);
    limit({ readOnly: ["work_items"] });
    expect([one.told(), one.names()]).toEqual([1, []]);
    limit({});
    expect([one.told(), one.names()]).toEqual([2, ["create_issue"]]);
  });

  it("that become wider put on what the client chose at connect and could not have then", () => {
    const { bridge, limit } = bridgeFor();
    limit({ readOnly: ["work_items"] });
    const one = serve(bridge, {}, { toolsets: ["work_items"] });
    expect(one.names()).not.toContain("create_issue");
    limit({});
    expect(one.told()).toBe(1);
    expect(one.names()).toContain("create_issue");
  });

  it("are told to nobody who has gone, and bad ones change nothing", () => {
    const { bridge, limit } = bridgeFor();
    const gone = serve(bridge, {}, { toolsets: ["work_items"] });
    const here = serve(bridge, {}, { toolsets: ["work_items"] });
    gone.connection.close?.();
    expect(() => limit({ excludeTools: ["no_such_tool"] })).toThrowError(/no_such_tool/);
    expect([gone.told(), here.told()]).toEqual([0, 0]);
    limit({ readOnly: true });
    expect([gone.told(), here.told()]).toEqual([0, 1]);
  });
});

describe("over HTTP", () => {
  let crowd: Crowd;
  let server: HttpServer;
  let limit: (wishes: Wishes) => void;
  const token = { "private-token": tokenOf(1) };

  beforeEach(async () => {
    crowd = await startCrowd();
    const settings = httpSettings(["--settle=0", "--retries=0"], { GITLAB_URL: crowd.url });
    const log = createLog({ level: "silent" });
    const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/" });
    limit = (wishes) => bridge.limit(narrow(settings, wishes));
    server = await serveOverHttp({ settings, bridge, log });
  });
  afterEach(async () => {
    await server.stop();
    await crowd.close();
  });

  const changesIn = (text: string) => parseMessages(text, "text/event-stream").filter(({ method }) => method === CHANGED).length;

  it("a session that listens is told on its stream, another on the stream of its next call, one that is not concerned not at all", async () => {
    const [listening, waiting, other] = [
      (await handshake(`${server.url}?toolsets=work_items`, token)).session,
      (await handshake(`${server.url}?toolsets=work_items`, token)).session,
      (await handshake(`${server.url}?toolsets=ci`, token)).session,
    ];
    for (const session of [listening, waiting, other]) await post(server.url, LIST, { ...session, ...token });
    const controller = new AbortController();
    const stream = await fetch(server.url, { headers: { ...listening, ...token, accept: "text/event-stream" }, signal: controller.signal });
    let text = "";
    void (async () => {
      const decoder = new TextDecoder();
      for await (const part of stream.body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(part, { stream: true });
    })().catch(() => {});
    limit({ excludeTools: ["issue.create"] });
    await expect.poll(() => changesIn(text)).toBe(1);
    const call = { jsonrpc: "2.0", id: 8, method: "tools/call", params: { name: "list_available_toolsets", arguments: {} } };
    const told = async (session: Record<string, string>) =>
      (await post(server.url, call, { ...ACCEPT, ...session, ...token })).messages.filter(({ method }) => method === CHANGED).length;
    expect([await told(waiting), await told(waiting), await told(other), await told(listening)]).toEqual([1, 0, 0, 0]);
    expect(changesIn(text)).toBe(1);
    controller.abort();
  });
});
