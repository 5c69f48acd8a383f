import { request as rawRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ACCEPT, call, handshake, INITIALIZE, modern, post, type Rpc, type Started, startHttp } from "../support/http.ts";

const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };

let server: Started;
beforeAll(async () => {
  server = await startHttp(["--max-body=20000", "--rate-limit=100000"], { GITLAB_URL: "http://127.0.0.1:9" });
});
afterAll(() => server.stop());

const send = async (init: RequestInit & { headers?: Record<string, string> }): Promise<[status: number, code: number | undefined]> => {
  const response = await fetch(server.url, { method: "POST", ...init });
  const text = await response.text();
  const error = response.headers.get("content-type")?.includes("json") ? (JSON.parse(text) as Rpc["messages"][number]).error : undefined;
  expect(text).not.toMatch(/<html|at .*\.ts:|node_modules/);
  return [response.status, error?.code];
};

describe("requests that are wrong", () => {
  const initialize = JSON.stringify(INITIALIZE());
  const rows: readonly (readonly [string, RequestInit & { headers?: Record<string, string> }, number, number | undefined])[] = [
    ["no body", { headers: ACCEPT }, 400, -32_700],
    ["not JSON", { headers: ACCEPT, body: "{" }, 400, -32_700],
    ["a string", { headers: ACCEPT, body: '"hello"' }, 400, -32_600],
    ["null", { headers: ACCEPT, body: "null" }, 400, -32_600],
    ["an object that is no message", { headers: ACCEPT, body: '{"a":1}' }, 400, -32_600],
    ["another content type", { headers: { ...ACCEPT, "content-type": "text/plain" }, body: initialize }, 415, -32_000],
    ["no content type", { headers: { accept: ACCEPT.accept, "content-type": "" }, body: initialize }, 415, -32_000],
    ["nothing is accepted that we answer", { headers: { ...ACCEPT, accept: "text/html" }, body: initialize }, 406, -32_000],
    ["more than the limit", { headers: ACCEPT, body: JSON.stringify({ ...INITIALIZE(), pad: "x".repeat(20_000) }) }, 413, -32_000],
    ["a request without a session", { headers: ACCEPT, body: JSON.stringify(LIST) }, 400, -32_000],
    ["an unknown session", { headers: { ...ACCEPT, "mcp-session-id": "none" }, body: JSON.stringify(LIST) }, 404, -32_001],
    ["a stream without a session", { method: "GET", headers: { accept: "text/event-stream" } }, 400, -32_000],
    ["an end without a session", { method: "DELETE" }, 400, -32_000],
    ["another method", { method: "PUT", headers: ACCEPT, body: "{}" }, 405, -32_000],
    ["a modern request of an unknown revision", { headers: ACCEPT, body: JSON.stringify(futureRequest()) }, 400, -32_022],
    ["a batch in place of the handshake", { headers: ACCEPT, body: JSON.stringify([INITIALIZE(), LIST]) }, 400, -32_000],
    ["two credentials", { headers: { ...ACCEPT, authorization: "Bearer a", "private-token": "b" }, body: initialize }, 400, -32_600],
    ["a credential that is none", { headers: { ...ACCEPT, authorization: "Basic YTpi" }, body: initialize }, 400, -32_600],
    [
      "an instance that is not allowed",
      { headers: { ...ACCEPT, "x-gitlab-url": "http://169.254.169.254" }, body: initialize },
      400,
      -32_602,
    ],
  ];
  for (const [what, init, status, code] of rows) {
    it(`${what}: ${status}, ${code}`, async () => {
      expect(await send(init)).toEqual([status, code]);
      expect(server.held().sessions).toBe(0);
    });
  }

  it("headers over the limit are 431, half a request is dropped, and the server goes on", async () => {
    const status = await new Promise<number>((resolve) => {
      const request = rawRequest(server.url, { method: "POST", headers: { ...ACCEPT, "x-long": "x".repeat(20_000) } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on("error", () => resolve(0));
      request.end("{}");
    });
    expect([400, 431]).toContain(status);
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
    expect((await handshake(server.url)).answer.status).toBe(200);
  });
});

function futureRequest() {
  const { body } = modern("tools/list");
  return { ...body, params: { _meta: { ...body.params._meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" } } };
}

describe("protocol revisions", () => {
  it("each legacy revision is spoken as asked; an unknown one is answered with one we speak", async () => {
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const { answer } = await handshake(server.url, {}, version);
      expect(answer.messages.at(-1)?.result?.protocolVersion).toBe(version);
    }
    const { answer } = await handshake(server.url, {}, "1999-01-01");
    expect(answer.messages.at(-1)?.result?.protocolVersion).toBe("2025-11-25");
  });

  it("a wrong MCP-Protocol-Version is 400", async () => {
    const { session } = await handshake(server.url);
    expect((await post(server.url, LIST, { ...session, "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
  });

  it("batches: answered for 2025-03-26, 400 from 2025-06-18 on, 400 where empty or too long", async () => {
    const old = await handshake(server.url, {}, "2025-03-26");
    const two = [LIST, { ...LIST, id: 8 }, { jsonrpc: "2.0", method: "notifications/initialized" }];
    const answered = await post(server.url, two, old.session);
    expect([answered.status, answered.messages.map(({ id }) => id).sort()]).toEqual([200, [7, 8]]);
    expect((await post(server.url, [], old.session)).status).toBe(400);
    expect((await post(server.url, Array(51).fill(LIST), old.session)).status).toBe(400);
    for (const version of ["2025-06-18", "2025-11-25"]) {
      const { session } = await handshake(server.url, {}, version);
      const { status, messages } = await post(server.url, two, session);
      expect([version, status, messages[0]?.error?.code]).toEqual([version, 400, -32_600]);
      // What a client cannot say in its header is judged by its handshake.
      expect((await post(server.url, two, { "mcp-session-id": session["mcp-session-id"] ?? "" })).status).toBe(400);
    }
  });

  it("an unknown tool is -32602, an unknown method -32601, in both eras", async () => {
    const { session } = await handshake(server.url);
    const tool = await post(server.url, call("list_isues"), session);
    expect(tool.messages.at(-1)?.error).toMatchObject({ code: -32_602, message: expect.stringContaining("list_issues") });
    const method = await post(server.url, { jsonrpc: "2.0", id: 1, method: "no/such" }, session);
    expect(method.messages.at(-1)?.error?.code).toBe(-32_601);
    const { body, headers } = modern("tools/call", { name: "list_isues", arguments: {} });
    expect((await post(server.url, body, headers)).messages.at(-1)?.error?.code).toBe(-32_602);
    const unknown = modern("no/such");
    expect((await post(server.url, unknown.body, unknown.headers)).messages.at(-1)?.error?.code).toBe(-32_601);
  });

  it("modern: headers that disagree with the body are refused", async () => {
    const { body, headers } = modern("tools/list");
    expect((await post(server.url, body, { ...headers, "mcp-method": "tools/call" })).status).toBe(400);
    expect((await post(server.url, body, { "mcp-protocol-version": "2026-07-28" })).status).toBe(400);
  });

  it("a second handshake in a session is refused; a second stream takes over from the first, whose client may be gone", async () => {
    const { session } = await handshake(server.url);
    expect((await post(server.url, INITIALIZE(), session)).status).toBe(400);
    const first = await fetch(server.url, { headers: { ...session, accept: "text/event-stream" } });
    const second = await fetch(server.url, { headers: { ...session, accept: "text/event-stream" } });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await first.text()).toBe("");
    await second.body?.cancel();
  });
});
