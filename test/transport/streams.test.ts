import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import type { Connection } from "../../src/surface/connection.ts";
import { createEvents } from "../../src/transport/events.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { ACCEPT, type Crowd, call, handshake, httpSettings, markOf, parseMessages, post, startCrowd, tokenOf } from "../support/http.ts";

const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };
const CHANGED = "notifications/tools/list_changed";
const ISSUES = { action: "issue.list", params: { project_id: "a/b" } };

let crowd: Crowd;
let server: HttpServer;
let connections: Connection[];
beforeEach(async () => {
  crowd = await startCrowd();
  connections = [];
  const settings = httpSettings(["--settle=0", "--timeout=60000", "--retries=0"], { GITLAB_URL: crowd.url });
  const log = createLog({ level: "silent" });
  const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/" });
  const createServer = (connection: Connection, link: Parameters<typeof bridge.createServer>[1]) => {
    connections.push(connection);
    return bridge.createServer(connection, link);
  };
  server = await serveOverHttp({ settings, bridge: { ...bridge, createServer }, log });
});
afterEach(async () => {
  await server.stop();
  await crowd.close();
});

const token = { "private-token": tokenOf(1) };

/** A stream that is read as it comes. */
async function open(init: RequestInit & { headers: Record<string, string> }) {
  const controller = new AbortController();
  const response = await fetch(server.url, { ...init, signal: controller.signal });
  let text = "";
  const ended = (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(part, { stream: true });
      return true;
    } catch {
      return false;
    }
  })();
  return {
    status: response.status,
    text: () => text,
    messages: () => parseMessages(text, "text/event-stream"),
    /** Resolves true when the server ended it, false when it was cut off. */
    ended,
    drop: () => controller.abort(),
  };
}
const listen = (session: Record<string, string>) => open({ headers: { ...session, ...token, accept: "text/event-stream" } });
const postOpen = (body: unknown, session: Record<string, string>) =>
  open({ method: "POST", headers: { ...ACCEPT, ...session, ...token }, body: JSON.stringify(body) });

describe("a changed list", () => {
  it("is told once, on the stream of the enabling call, before its result; an open stream hears nothing", async () => {
    const { session } = await handshake(server.url, token);
    const stream = await listen(session);
    const enabled = await post(server.url, call("enable_toolset", { toolset: "ci,repository" }), { ...session, ...token });
    expect(enabled.messages.map(({ method, id }) => method ?? id)).toEqual([CHANGED, 1]);
    await post(server.url, LIST, { ...session, ...token });
    expect(stream.messages()).toEqual([]);
    stream.drop();
  });

  it("by nobody's call goes to the open stream; without one it waits for the next call's own, and is told once", async () => {
    const { session } = await handshake(server.url, token);
    const own = connections.at(-1);
    const change = (id: string) => own?.session.enable([own.registry.resolve(id)]);
    const stream = await listen(session);
    change("issue.list");
    await expect.poll(() => stream.messages().map(({ method }) => method)).toEqual([CHANGED]);
    stream.drop();
    await stream.ended;
    await expect.poll(() => server.held().streams).toBe(0);
    change("issue.get");
    const next = await post(server.url, call("list_available_toolsets"), { ...session, ...token });
    expect(next.messages.map(({ method, id }) => method ?? id)).toEqual([CHANGED, 1]);
    const after = await post(server.url, call("list_available_toolsets"), { ...session, ...token });
    expect(after.messages.map(({ method, id }) => method ?? id)).toEqual([1]);
  });

  it("kept news and an enabling call together are one notification; a fresh list makes the news old", async () => {
    const { session } = await handshake(server.url, token);
    const own = connections.at(-1);
    const change = (id: string) => own?.session.enable([own.registry.resolve(id)]);
    change("issue.list");
    const enabled = await post(server.url, call("enable_toolset", { toolset: "ci" }), { ...session, ...token });
    expect(enabled.messages.map(({ method, id }) => method ?? id)).toEqual([CHANGED, 1]);
    change("issue.get");
    await post(server.url, LIST, { ...session, ...token });
    const after = await post(server.url, call("list_available_toolsets"), { ...session, ...token });
    expect(after.messages.map(({ method, id }) => method ?? id)).toEqual([1]);
  });

  it("reaches only the session that changed", async () => {
    const one = await handshake(server.url, token);
    const two = await handshake(server.url, token);
    const stream = await listen(two.session);
    await post(server.url, call("enable_toolset", { toolset: "ci" }), { ...one.session, ...token });
    const other = await post(server.url, call("list_available_toolsets"), { ...two.session, ...token });
    expect(other.messages.map(({ method, id }) => method ?? id)).toEqual([1]);
    expect(stream.messages()).toEqual([]);
    stream.drop();
  });
});

describe("calls that do not come to their end", () => {
  it("a cancelled call's stream is closed without an answer, and GitLab is let go", async () => {
    const { session } = await handshake(server.url, token);
    crowd.hang(true);
    const pending = await postOpen(call("gitlab_execute_action", ISSUES, 5), session);
    const before = crowd.seen.length;
    await expect.poll(() => crowd.seen.length).toBeGreaterThanOrEqual(before);
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } };
    expect((await post(server.url, cancel, { ...session, ...token })).status).toBe(202);
    expect(await pending.ended).toBe(true);
    expect(pending.messages()).toEqual([]);
    await expect.poll(() => server.held().callers).toBe(0);
    crowd.hang(false);
    const answer = await post(server.url, call("gitlab_execute_action", ISSUES, 6), { ...session, ...token });
    expect(answer.text).toContain(markOf(1));
  });

  it("of a batch, what was not cancelled is answered, and then the stream ends", async () => {
    const { session } = await handshake(server.url, token, "2025-03-26");
    crowd.hang(true);
    const body = [call("gitlab_execute_action", ISSUES, "slow"), { ...LIST, id: "quick" }];
    const pending = await postOpen(body, session);
    await expect.poll(() => pending.messages().map(({ id }) => id)).toEqual(["quick"]);
    await post(server.url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } }, { ...session, ...token });
    expect(await pending.ended).toBe(true);
    crowd.hang(false);
  });

  it("a dropped connection does not stop a call: its result waits for the client to fetch it, once more and no longer", async () => {
    const { session } = await handshake(server.url, token, "2025-11-25");
    crowd.hang(true);
    const pending = await postOpen(
      call("gitlab_execute_action", { action: "issue.create", params: { project_id: "a/b", title: "t" } }, 9),
      session,
    );
    await expect.poll(() => pending.text()).toMatch(/^id: /);
    const last = /^id: (\S+)/.exec(pending.text())?.[1] ?? "";
    pending.drop();
    await pending.ended;
    // GitLab answers only now; nobody listens.
    await crowd.close();
    const fetched = await open({ headers: { ...session, ...token, accept: "text/event-stream", "last-event-id": last } });
    await expect.poll(() => fetched.messages().map(({ id }) => id)).toEqual([9]);
    expect(fetched.messages()[0]?.result).toMatchObject({ structuredContent: { code: "outcome_unknown" } });
    fetched.drop();
  });

  it("an event of another session is nobody's to fetch", async () => {
    const one = await handshake(server.url, token, "2025-11-25");
    const answered = await post(server.url, LIST, { ...one.session, ...token });
    const event = /^id: (\S+)/m.exec(answered.text)?.[1] ?? "";
    expect(event).not.toBe("");
    const two = await handshake(server.url, { "private-token": tokenOf(2) }, "2025-11-25");
    const stream = await open({
      headers: { ...two.session, "private-token": tokenOf(2), accept: "text/event-stream", "last-event-id": event },
    });
    expect(stream.status).toBe(200);
    await post(server.url, LIST, { ...two.session, "private-token": tokenOf(2) });
    expect(stream.text()).toBe("");
    stream.drop();
  });

  it("a stop waits for a call that runs, takes nothing new, and says so", async () => {
    const { session } = await handshake(server.url, token);
    crowd.hang(true);
    const pending = await postOpen(call("gitlab_execute_action", ISSUES, 5), session);
    await expect.poll(() => server.held().callers).toBe(1);
    const stopping = server.stop();
    const refused = await fetch(new URL("/readyz", server.url)).catch((error: unknown) => error);
    if (refused instanceof Response) expect(refused.status).toBe(503);
    await crowd.close();
    expect(await pending.ended).toBe(true);
    expect(pending.messages().at(-1)).toMatchObject({ id: 5, result: { isError: true } });
    await stopping;
  });
});

describe("the end of a session", () => {
  it("closes what was opened for its client, once, and nothing of another's", async () => {
    const one = await handshake(server.url, token);
    const two = await handshake(server.url, token);
    const closed: string[] = [];
    for (const [index, connection] of connections.slice(-2).entries())
      Object.assign(connection, { close: () => closed.push(`session ${index + 1}`) });
    await fetch(server.url, { method: "DELETE", headers: { ...one.session, ...token } });
    expect(closed).toEqual(["session 1"]);
    expect((await post(server.url, LIST, { ...two.session, ...token })).status).toBe(200);
    expect(server.held().sessions).toBe(1);
  });
});

describe("what is kept of finished results", () => {
  const message = (text: string) => ({ jsonrpc: "2.0" as const, method: text });
  const bounds = { eventsPerSession: 3, eventBytesPerSession: 200, eventBytes: 300, eventMs: 1_000 };

  it("is bounded in number, bytes and time, and gone with the session", async () => {
    let now = 0;
    const events = createEvents(bounds, () => now);
    const shelf = events.shelf();
    const replayed = async (from: string) => {
      const got: string[] = [];
      await shelf.replayEventsAfter(from, { send: async (_id, sent) => void got.push("method" in sent ? sent.method : "") });
      return got;
    };
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) ids.push(await shelf.storeEvent("s", message(name)));
    expect(await shelf.getStreamIdForEventId?.(ids[0] ?? "")).toBeUndefined();
    expect(await replayed(ids[1] ?? "")).toEqual(["c", "d"]);
    now = 1_001;
    events.sweep();
    expect(events.bytes()).toBe(0);
    await shelf.storeEvent("s", message("x".repeat(150)));
    const other = events.shelf();
    await other.storeEvent("s", message("y".repeat(150)));
    expect(events.bytes()).toBeLessThanOrEqual(300);
    shelf.clear();
    other.clear();
    expect(events.bytes()).toBe(0);
  });

  it("belongs to one stream: another stream's events are not replayed on it", async () => {
    const shelf = createEvents().shelf();
    const first = await shelf.storeEvent("one", message("a"));
    await shelf.storeEvent("two", message("b"));
    await shelf.storeEvent("one", message("c"));
    const got: unknown[] = [];
    await shelf.replayEventsAfter(first, { send: async (_id, sent) => void got.push(sent) });
    expect(got).toEqual([message("c")]);
  });
});
