import { PassThrough } from "node:stream";
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bridge, createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { narrow, type Wishes } from "../../src/policy/narrow.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { serveOverStdio } from "../../src/transport/stdio.ts";
import { settingsFor } from "../support/settings.ts";

/** The client's end of two streams: a line is a message. */
function overStreams(from: PassThrough, to: PassThrough): Transport {
  let rest = "";
  const transport: Transport = {
    async start() {
      from.on("data", (chunk: Buffer) => {
        const lines = `${rest}${chunk.toString("utf8")}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
    },
    async send(message) {
      to.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      to.end();
      transport.onclose?.();
    },
  };
  return transport;
}

/** Resolves when so many came; how many came so far. */
function createCounter() {
  let count = 0;
  let waiting: { readonly most: number; readonly done: () => void } | undefined;
  return {
    count: () => count,
    add() {
      count += 1;
      if (waiting && count >= waiting.most) waiting.done();
    },
    until: (most: number) => (count >= most ? Promise.resolve() : new Promise<void>((done) => (waiting = { most, done }))),
  };
}

let sandbox: Sandbox;
const open: (() => Promise<void>)[] = [];
beforeEach(async () => {
  sandbox = await startSandbox();
  open.push(() => sandbox.close());
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A bridge over stdio with one client of revision 2026-07-28, and what SIGHUP does to it. */
async function serve(...flags: string[]) {
  const settings = settingsFor(`--url=${sandbox.url}`, `--token=${sandbox.tokens.maria}`, "--settle=1", "--confirm=off", ...flags);
  const bridge: Bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0.0.0", cwd: "/" });
  const connection = bridge.connect();
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const errors: unknown[] = [];
  serveOverStdio({
    input: toServer,
    output: toClient,
    createServer: (link) => bridge.createServer(connection, link),
    onError: (error) => errors.push(error),
    onEnd: () => connection.close?.(),
  });
  const client = new Client({ name: "modern", version: "1" }, { capabilities: {}, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const told = createCounter();
  client.setNotificationHandler("notifications/tools/list_changed", () => told.add());
  await client.connect(overStreams(toClient, toServer));
  open.push(() => client.close());
  const names = async () => (await client.listTools(undefined, { cacheMode: "bypass" })).tools.map(({ name }) => name);
  const execute = async (action: string, params: Record<string, unknown>) =>
    (await client.callTool({ name: "gitlab_execute_action", arguments: { action, params } })) as {
      isError?: boolean;
      structuredContent: Record<string, unknown>;
    };
  return { client, told, names, execute, errors, limit: (wishes: Wishes) => bridge.limit(narrow(settings, wishes)) };
}

const NOTE = { project_id: "acme/webshop", issue_iid: 1, body: "Seen." };

describe("limits that are read again while a modern client over stdio is connected", () => {
  it("are told on the stream of its subscription: once for each change of its own list, and for no other", async () => {
    const { client, told, names, execute, errors, limit } = await serve("--toolsets=work_items");
    await client.listen({ toolsListChanged: true });
    expect(await names()).toContain("create_issue");
    limit({ readOnly: ["work_items"] });
    await told.until(1);
    const now = await names();
    expect(now).not.toContain("create_issue");
    expect(now).toContain("list_issues");
    expect((await execute("issue.note_create", NOTE)).structuredContent).toMatchObject({ code: "not_permitted", rule: "read_only" });
    // Another limit that changes nothing on its list; all that was sent before an answer has come with it.
    limit({ readOnly: ["work_items"], excludeTools: ["branch.delete"] });
    await names();
    expect(told.count()).toBe(1);
    limit({});
    await told.until(2);
    expect(await names()).toContain("create_issue");
    expect((await execute("issue.note_create", NOTE)).isError).toBeUndefined();
    await names();
    expect([told.count(), errors]).toEqual([2, []]);
  });

  it("are not told to one that does not listen, or listens no more; they hold for it all the same", async () => {
    const { client, told, names, execute, limit } = await serve("--toolsets=work_items");
    limit({ readOnly: ["work_items"] });
    expect(await names()).not.toContain("create_issue");
    expect((await execute("issue.note_create", NOTE)).structuredContent).toMatchObject({ rule: "read_only" });
    const subscription = await client.listen({ toolsListChanged: true });
    limit({});
    await told.until(1);
    await subscription.close();
    limit({ readOnly: true });
    expect(await names()).not.toContain("create_issue");
    expect(told.count()).toBe(1);
  });

  it("of projects hold for the next call; where no list changes, nothing is told", async () => {
    const { client, told, names, execute, limit } = await serve("--tools=list_issues,create_issue");
    await client.listen({ toolsListChanged: true });
    const before = await names();
    const list = { project_id: "acme/webshop", limit: 1 };
    limit({ allowProjects: ["acme/webshop"] });
    expect((await execute("issue.list", list)).isError).toBeUndefined();
    expect((await execute("issue.list", { project_id: 102 })).structuredContent).toMatchObject({ rule: "scope" });
    limit({ allowProjects: ["acme/handbook"] });
    expect((await execute("issue.list", list)).structuredContent).toMatchObject({ code: "not_permitted", rule: "scope" });
    limit({});
    expect((await execute("issue.list", list)).isError).toBeUndefined();
    expect(await names()).toEqual(before);
    expect(told.count()).toBe(0);
  });
});
