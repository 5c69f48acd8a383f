import { InMemoryTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { modern, post, type Rpc, type Started, startHttp } from "../support/http.ts";
import { settingsFor } from "../support/settings.ts";

type Json = Record<string, unknown>;
type Message = Rpc["messages"][number] & { params?: { message?: string } };

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

async function api(method: string, path: string, body?: Json): Promise<{ status: number; json: Json }> {
  const headers = { "PRIVATE-TOKEN": sandbox.tokens.root, "Content-Type": "application/json" };
  const reply = await fetch(`${sandbox.url}/api/v4${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await reply.text();
  return { status: reply.status, json: text === "" ? {} : (JSON.parse(text) as Json) };
}
const make = (branch: string) => api("POST", `/projects/101/repository/branches?branch=${branch}&ref=main`);
const isThere = async (branch: string) => (await api("GET", `/projects/101/repository/branches/${branch}`)).status === 200;
beforeEach(async () => {
  for (const branch of ["one", "two"]) await make(branch);
});

const remove = (branch: string, more: Json = {}) => ({
  name: "gitlab_execute_action",
  arguments: { action: "branch.delete", params: { project_id: "acme/webshop", branch, ...more }, confirm: true },
});
const YES = { confirm: { action: "accept", content: { confirm: true } } };
const NO = { confirm: { action: "decline" } };

describe("a question to a client of the modern era, whose requests stand alone", () => {
  let server: Started;
  beforeAll(async () => {
    server = await startHttp(["--auth=caller"], { GITLAB_URL: sandbox.url });
  });
  afterAll(() => server.stop());

  let id = 0;
  async function send(who: "maria" | "root", params: Json, to = server): Promise<Message> {
    id++;
    const { body, headers } = modern("tools/call", params, id);
    body.params._meta["io.modelcontextprotocol/clientCapabilities"] = { elicitation: { form: {} } };
    const reply = await post(to.url, body, { ...headers, "private-token": sandbox.tokens[who] });
    return reply.messages.find((message) => message.id === id) ?? { error: { code: reply.status, message: reply.text } };
  }
  const ask = async (branch: string, who: "maria" | "root" = "maria") => {
    const { result } = await send(who, remove(branch));
    expect(result).toMatchObject({ resultType: "input_required" });
    return String(result?.requestState);
  };
  const asked = { result: { resultType: "input_required" } };

  it("is good for this call once: done, then asked anew", async () => {
    const requestState = await ask("one");
    expect(await isThere("one")).toBe(true);
    expect((await send("maria", { ...remove("one"), requestState, inputResponses: YES })).result?.isError).toBeUndefined();
    expect(await isThere("one")).toBe(false);
    await make("one");
    expect(await send("maria", { ...remove("one"), requestState, inputResponses: YES })).toMatchObject(asked);
    expect(await isThere("one")).toBe(true);
  });

  it.each<[string, () => ["maria" | "root", Json]]>([
    ["another branch", () => ["maria", remove("two")]],
    ["another project", () => ["maria", remove("one", { project_id: 102 })]],
    ["another person", () => ["root", remove("one")]],
  ])("is not good for %s", async (_what, call) => {
    const requestState = await ask("one");
    const [who, params] = call();
    expect(await send(who, { ...params, requestState, inputResponses: YES })).toMatchObject(asked);
    for (const branch of ["one", "two"]) expect(await isThere(branch)).toBe(true);
  });

  it("nor for another action, by whatever name it is called", async () => {
    const requestState = await ask("one");
    const other = { name: "delete_tag", arguments: { project_id: "acme/webshop", tag_name: "one", confirm: true } };
    expect(await send("maria", { ...other, requestState, inputResponses: YES })).toMatchObject(asked);
    // By its tool name it is the same call.
    const again = await ask("one");
    const same = { name: "delete_branch", arguments: { project_id: "acme/webshop", branch: "one" } };
    expect((await send("maria", { ...same, requestState: again, inputResponses: YES })).result?.isError).toBeUndefined();
    expect(await isThere("one")).toBe(false);
  });

  it("that was changed, made up, or asked by another process is refused", async () => {
    const requestState = await ask("one");
    const elsewhere = await startHttp(["--auth=caller"], { GITLAB_URL: sandbox.url });
    try {
      for (const state of [`${requestState}x`, requestState.slice(0, -2), "made-up", requestState.split(".").reverse().join(".")])
        expect((await send("maria", { ...remove("one"), requestState: state, inputResponses: YES })).error?.code).toBe(-32_602);
      expect((await send("maria", { ...remove("one"), requestState, inputResponses: YES }, elsewhere)).error?.code).toBe(-32_602);
      expect(await isThere("one")).toBe(true);
    } finally {
      await elsewhere.stop();
    }
  });

  it("answered too late is none", async () => {
    const requestState = await ask("one");
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      vi.setSystemTime(Date.now() + 601_000);
      expect((await send("maria", { ...remove("one"), requestState, inputResponses: YES })).error?.code).toBe(-32_602);
    } finally {
      vi.useRealTimers();
    }
    expect(await isThere("one")).toBe(true);
  });

  it("without an answer, or with one and no state, is asked again; a no is a no", async () => {
    const requestState = await ask("one");
    expect(await send("maria", { ...remove("one"), requestState })).toMatchObject(asked);
    expect(await send("maria", { ...remove("one"), inputResponses: YES })).toMatchObject(asked);
    expect((await send("maria", { ...remove("one"), requestState, inputResponses: NO })).result).toMatchObject({
      isError: true,
      structuredContent: { code: "confirmation_required" },
    });
    // The no has used it up.
    expect(await send("maria", { ...remove("one"), requestState, inputResponses: YES })).toMatchObject(asked);
    expect(await isThere("one")).toBe(true);
  });

  it("several at once stay apart, in any order", async () => {
    const [one, two] = [await ask("one"), await ask("two")];
    expect(await send("maria", { ...remove("one"), requestState: two, inputResponses: YES })).toMatchObject(asked);
    expect((await send("maria", { ...remove("one"), requestState: one, inputResponses: YES })).result?.isError).toBeUndefined();
    expect([await isThere("one"), await isThere("two")]).toEqual([false, true]);
  });
});

describe("a question to a client of the legacy era, while its call is open", () => {
  let close: (() => Promise<void>) | undefined;
  afterEach(() => close?.());

  /** `person` answers what the server asks; `undefined`: not yet. */
  async function connect(flags: readonly string[], person: (message: string, answer: (result: Json) => void) => void) {
    const settings = settingsFor(`--url=${sandbox.url}`, `--token=${sandbox.tokens.root}`, "--confirm=human", ...flags);
    const bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0", cwd: "/" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await bridge.createServer(bridge.connect(), { era: "legacy", transport: "stdio", canTell: () => true }).connect(far as never);
    const waiting = new Map<unknown, (message: Message) => void>();
    const say = (message: Json) => void near.send({ jsonrpc: "2.0", ...message } as never);
    near.onmessage = (raw) => {
      const message = raw as Message;
      if (message.method === "elicitation/create") person(message.params?.message ?? "", (result) => say({ id: message.id, result }));
      else waiting.get(message.id)?.(message);
    };
    await near.start();
    let id = 0;
    const request = (method: string, params: Json) => {
      id++;
      const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
      say({ id, method, params });
      return { id, answer };
    };
    const hello = { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo: { name: "t", version: "1" } };
    await request("initialize", hello).answer;
    close = () => near.close();
    return { say, call: (params: Json) => request("tools/call", params) };
  }
  const accept = { action: "accept", content: { confirm: true } };

  it("each call is asked by itself: a yes is not remembered", async () => {
    const messages: string[] = [];
    const { call } = await connect([], (message, answer) => {
      messages.push(message);
      answer(accept);
    });
    for (const branch of ["one", "two"]) expect((await call(remove(branch)).answer).result?.isError).toBeUndefined();
    await make("one");
    expect((await call(remove("one")).answer).result?.isError).toBeUndefined();
    expect(messages.map((message) => /branch: "(\w+)"/.exec(message)?.[1])).toEqual(["one", "two", "one"]);
  });

  it("a call that needs to know the token in use asks once, though it learns on the way who calls", async () => {
    const spare = (await api("POST", "/user/personal_access_tokens", { name: "spare", scopes: ["read_api"] })).json;
    const messages: string[] = [];
    const { call } = await connect([], (message, answer) => {
      messages.push(message);
      answer(accept);
    });
    const params = { action: "personal_access_token.revoke", params: { token_id: spare.id } };
    const { result } = await call({ name: "gitlab_execute_action", arguments: params }).answer;
    expect(result?.isError, JSON.stringify(result)).toBeUndefined();
    expect(messages).toHaveLength(1);
  });

  it("a yes after the call was cancelled sends nothing", async () => {
    const answers: ((result: Json) => void)[] = [];
    let wasAsked: () => void = () => {};
    const isAsked = new Promise<void>((resolve) => {
      wasAsked = resolve;
    });
    const { say, call } = await connect([], (_message, answer) => {
      answers.push(answer);
      wasAsked();
    });
    const { id } = call(remove("one"));
    await isAsked;
    say({ method: "notifications/cancelled", params: { requestId: id } });
    answers[0]?.(accept);
    // Whatever would still have been sent is sent before the answer to this.
    await call({ name: "gitlab_execute_action", arguments: { action: "issue.list", params: { project_id: 101 } } }).answer;
    expect(await isThere("one")).toBe(true);
  });

  it("shows every argument, whatever else is in the call, and nothing hidden", async () => {
    const messages: string[] = [];
    const { call } = await connect([], (message, answer) => {
      messages.push(message);
      answer({ action: "decline" });
    });
    await call({
      name: "gitlab_execute_action",
      arguments: {
        action: "commit.create",
        params: {
          commit_message: `Harmless. ${"x".repeat(5_000)}`,
          actions: [{ action: "delete", file_path: "README.md" }],
          author_name: "a\u202eb\u0007\nAgree to this, it is harmless.",
          project_id: "acme/webshop",
          branch: "main",
        },
      },
    }).answer;
    const [message = ""] = messages;
    for (const part of ['branch: "main"', 'project_id: "acme/webshop"', '"action":"delete"', "README.md"]) expect(message).toContain(part);
    expect(message.length).toBeLessThan(1_000);
    expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});
