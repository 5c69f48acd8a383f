import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { openUpstreams, type Upstreams } from "../../src/upstreams/open.ts";
import { httpSettings } from "../support/http.ts";
import { fixture, unframed } from "./chain.ts";

const TOKENS = { maria: "token-maria-123456", jonas: "token-jonas-123456" };

let upstreams: Upstreams;
let server: HttpServer;
const clients: Client[] = [];

beforeAll(async () => {
  const log = createLog({ level: "silent" });
  const settings = httpSettings(["--settle=1", "--url=http://127.0.0.1:9", "--confirm=off"]);
  upstreams = openUpstreams({
    file: { mcpServers: { old: fixture("legacy.mjs"), new: fixture("modern.mjs") } },
    env: { PATH: process.env.PATH ?? "" },
    ...{ version: "0.0.0", log, prefer: "rest", single: false },
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
});

type Elicited = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> };

async function connect(token: string, person?: (message: string) => Elicited | Promise<Elicited>, autoFulfill = true) {
  const client = new Client(
    { name: "far", version: "1" },
    {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      inputRequired: { autoFulfill },
      ...(person ? { capabilities: { elicitation: { form: {} } } } : {}),
    },
  );
  if (person) client.setRequestHandler("elicitation/create", async ({ params }) => await person(params.message));
  const address = server.url.endsWith("/mcp") ? server.url : `${server.url}/mcp`;
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { "PRIVATE-TOKEN": token } } }));
  clients.push(client);
  return client;
}

const textOf = (result: unknown) => unframed((result as { content: { text: string }[] }).content[0]?.text);
const call = (action: string, params: Record<string, unknown> = {}) => ({ name: "gitlab_execute_action", arguments: { action, params } });

/** One request, answered by hand. */
async function once(client: Client, params: Record<string, unknown>) {
  return (await client.request(
    { method: "tools/call", params } as Parameters<Client["request"]>[0],
    {
      allowInputRequired: true,
    } as never,
  )) as Record<string, unknown> & { requestState?: string };
}

describe.each(["old", "new"])("a client of the modern era, a server of the %s one that asks", (name) => {
  it("is asked, and its answer reaches the server that waits", async () => {
    const asked: string[] = [];
    const client = await connect(TOKENS.maria, (message) => {
      asked.push(message);
      return { action: "accept", content: { ok: true } };
    });
    const result = await client.callTool(call(`${name}.ask`));
    expect(JSON.parse(textOf(result))).toEqual({ action: "accept", content: { ok: true } });
    expect(asked).toEqual(["Go on?"]);
  });

  it("what the person declines is declined there", async () => {
    const client = await connect(TOKENS.maria, () => ({ action: "decline" }));
    expect(JSON.parse(textOf(await client.callTool(call(`${name}.ask`))))).toMatchObject({ action: "decline" });
  });

  it("a client that cannot be asked: the server is told that nobody can be", async () => {
    const client = await connect(TOKENS.jonas);
    expect((await client.callTool(call(`${name}.ask`))).isError).toBe(true);
  });

  it("answers of calls at the same time stay apart", async () => {
    const asking = async (word: string) => {
      const client = await connect(TOKENS.maria, () => ({ action: "accept", content: { who: word } }));
      return async () => JSON.parse(textOf(await client.callTool(call(`${name}.ask`)))).content.who;
    };
    const one = await asking("one");
    const other = await asking("other");
    // One after the other: they are one person, whose calls share a connection.
    expect([await one(), await other(), await one()]).toEqual(["one", "other", "one"]);
  });
});

describe("a call that is held", () => {
  const ask = call("old.ask");
  const answer = { ask: { action: "accept", content: { ok: true } } };
  const open = (token: string) => connect(token, () => ({ action: "cancel" }), false);

  it("goes on with the request that brings the answer, once", async () => {
    const client = await open(TOKENS.maria);
    const first = await once(client, ask);
    expect(first).toMatchObject({ resultType: "input_required", inputRequests: { ask: { params: { message: "Go on?" } } } });
    const { requestState } = first;
    // Without an answer the same question is asked again.
    const again = await once(client, { ...ask, requestState });
    expect(again).toMatchObject({ resultType: "input_required", inputRequests: { ask: { params: { message: "Go on?" } } } });
    const last = await once(client, { ...ask, requestState: again.requestState, inputResponses: answer });
    expect(JSON.parse(textOf(last))).toMatchObject({ action: "accept" });
    const replay = await once(client, { ...ask, requestState: again.requestState, inputResponses: answer });
    expect(replay).toMatchObject({ isError: true, structuredContent: { code: "cancelled" } });
  });

  it("is nobody else's, and no other call's", async () => {
    const [mine, theirs] = [await open(TOKENS.maria), await open(TOKENS.jonas)];
    const { requestState } = await once(mine, ask);
    const stolen = await once(theirs, { ...ask, requestState, inputResponses: answer });
    expect(stolen).toMatchObject({ isError: true, structuredContent: { code: "cancelled" } });
    const other = await once(mine, { ...call("old.ask", { more: 1 }), requestState, inputResponses: answer });
    expect(other).toMatchObject({ isError: true, structuredContent: { code: "cancelled" } });
    expect(JSON.parse(textOf(await once(mine, { ...ask, requestState, inputResponses: answer })))).toMatchObject({ action: "accept" });
  });

  it("a state that was made up is refused", async () => {
    const client = await open(TOKENS.maria);
    await expect(once(client, { ...ask, requestState: "made-up", inputResponses: answer })).rejects.toMatchObject({ code: -32602 });
  });

  it("of one client at most ten wait; the oldest is ended", async () => {
    const client = await open(TOKENS.maria);
    const states: (string | undefined)[] = [];
    for (let n = 0; n < 11; n++) states.push((await once(client, call("old.ask", { n }))).requestState);
    const resume = (n: number) => once(client, { ...call("old.ask", { n }), requestState: states[n], inputResponses: answer });
    expect(await resume(0)).toMatchObject({ isError: true });
    expect(JSON.parse(textOf(await resume(10)))).toMatchObject({ action: "accept" });
  });
});
