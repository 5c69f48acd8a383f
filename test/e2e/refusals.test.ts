import { InMemoryTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { RULE_NAMES } from "../../src/policy/rules.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import type { TokenName } from "../../src/sandbox/types-sandbox.ts";
import { handshake, modern, post, type Rpc, type Started, startHttp } from "../support/http.ts";
import { settingsFor } from "../support/settings.ts";

type Json = Record<string, unknown>;
type Message = Rpc["messages"][number];

interface Server {
  request(method: string, params: Json): Promise<Message>;
  close(): Promise<void>;
}

let sandbox: Sandbox;
let server: Server | undefined;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** The bridge on a line of its own, as over stdio. */
async function overStdio(flags: readonly string[], token: TokenName): Promise<Server> {
  const settings = settingsFor(`--url=${sandbox.url}`, `--token=${sandbox.tokens[token]}`, ...flags);
  const bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0", cwd: "/" });
  const connection = bridge.connect();
  const [near, far] = InMemoryTransport.createLinkedPair();
  await bridge.createServer(connection, { era: "legacy", transport: "stdio", canTell: () => true }).connect(far as never);
  const waiting = new Map<unknown, (message: Message) => void>();
  near.onmessage = (message) => waiting.get((message as Message).id)?.(message as Message);
  await near.start();
  let id = 0;
  const request = (method: string, params: Json) => {
    id++;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    void near.send({ jsonrpc: "2.0", id, method, params } as never);
    return answer;
  };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } });
  // What the token may do is learned when something is enabled.
  await request("tools/call", { name: "enable_toolset", arguments: { toolset: "ci" } });
  return { request, close: () => near.close() };
}

async function overHttp(era: "legacy" | "modern", flags: readonly string[], token: TokenName): Promise<Server> {
  const started: Started = await startHttp(["--auth=caller", ...flags], { GITLAB_URL: sandbox.url });
  const who = { "private-token": sandbox.tokens[token] };
  const { session } = era === "legacy" ? await handshake(started.url, who) : { session: {} };
  let id = 100;
  return {
    async request(method, params) {
      id++;
      const one = modern(method, params, id);
      const named = typeof params.uri === "string" ? { "mcp-name": params.uri } : {};
      const reply =
        era === "modern"
          ? await post(started.url, one.body, { ...one.headers, ...named, ...who })
          : await post(started.url, { jsonrpc: "2.0", id, method, params }, { ...session, ...who });
      const found = reply.messages.find((message) => message.id === id);
      if (!found) throw new Error(`${reply.status} ${reply.text.slice(0, 200)}`);
      return found;
    },
    close: () => started.stop(),
  };
}

interface Case {
  readonly rule: string;
  readonly flags?: readonly string[];
  readonly token?: TokenName;
  readonly action: string;
  readonly params: Json;
  readonly code?: string;
  /** Nobody set it: there is no setting to name. */
  readonly unset?: true;
  /** Called twice; the second is refused. */
  readonly twice?: true;
}

const P = { project_id: "acme/webshop" };
const NOTE = { ...P, issue_iid: 1, body: "x" };

const CASES: readonly Case[] = [
  { rule: "tier", flags: ["--tier=free"], action: "merge_train.list", params: P },
  { rule: "admin", action: "application.settings_get", params: {} },
  { rule: "scopes", token: "reader", action: "issue.create", params: { ...P, title: "x" }, unset: true },
  { rule: "own_token", action: "personal_access_token.self_rotate", params: {} },
  { rule: "secrets", flags: ["--reveal-secrets=never"], action: "access_token.create", params: { ...P, name: "x", scopes: ["api"] } },
  // There is no directory here to write it to.
  {
    rule: "secrets",
    flags: ["--reveal-secrets=file", "--confirm=off"],
    action: "access_token.create",
    params: { ...P, name: "x", scopes: ["api"], access_level: 30 },
  },
  { rule: "secrets", flags: ["--reveal-secrets=file"], action: "secure_file.download", params: { ...P, secure_file_id: 1 } },
  {
    rule: "secrets",
    flags: ["--reveal-secrets=file", "--allow-raw"],
    action: "gitlab.graphql",
    params: { document: "{ currentUser { feedToken } }" },
  },
  { rule: "raw", action: "gitlab.rest", params: { method: "GET", path: "/user" } },
  {
    rule: "raw",
    flags: ["--allow-raw", "--exclude-tools=issue.create"],
    action: "gitlab.rest",
    params: { method: "GET", path: "/novelties" },
    unset: true,
  },
  { rule: "ceiling", flags: ["--exclude-tools=issue.list"], action: "issue.list", params: P },
  { rule: "ceiling", flags: ["--deny-regex=^delete_"], action: "delete_branch", params: { ...P, branch: "x" } },
  { rule: "ceiling", flags: ["--allow-toolsets=ci,meta"], action: "issue.list", params: P },
  { rule: "ceiling", flags: ["--allow-tools=issue.get"], action: "issue.list", params: P },
  { rule: "scope", flags: ["--allow-projects=acme/webshop"], action: "group.create", params: { name: "x", path: "x" } },
  { rule: "scope", flags: ["--allow-projects=acme/webshop"], action: "issue.list", params: { project_id: "acme/other" } },
  { rule: "scope", flags: ["--allow-groups=acme/none"], action: "issue.list", params: P },
  { rule: "read_only", flags: ["--read-only"], action: "issue.create", params: { ...P, title: "x" } },
  { rule: "read_only", flags: ["--read-only=work_items"], action: "issue.create", params: { ...P, title: "x" } },
  {
    rule: "confirm",
    flags: ["--confirm=human"],
    action: "branch.delete",
    params: { ...P, branch: "x" },
    code: "confirmation_required",
    unset: true,
  },
  {
    rule: "write_rate",
    flags: ["--max-writes-per-minute=1"],
    action: "issue.note_create",
    params: NOTE,
    code: "rate_limited",
    unset: true,
    twice: true,
  },
  { rule: "files", action: "job.artifacts_download", params: { ...P, job_id: 1, save_as: "a.zip" } },
];

const CONTACT = "the platform team (chat: #gitlab)";

/** Everything that the client is shown of a refusal, in all forms. */
async function refused(asked: Server, { action, params, twice }: Case) {
  const call = () => asked.request("tools/call", { name: "gitlab_execute_action", arguments: { action, params } });
  if (twice) await call();
  const { result } = await call();
  const { content, structuredContent, isError } = result as unknown as {
    content: { text: string }[];
    structuredContent: Json;
    isError: boolean;
  };
  return { text: content.map(({ text }) => text).join("\n"), json: structuredContent, isError };
}

const SAYS =
  /whoever runs this server set it|set it so|set it: do not|tell the user|do not work around|server asks a person|stop and tell|only whoever runs/i;
const FLAG = /--[a-z][a-z-]+/;

describe.each(["stdio", "legacy", "modern"] as const)("refusals over %s", (way) => {
  const open = (flags: readonly string[], token: TokenName) => (way === "stdio" ? overStdio(flags, token) : overHttp(way, flags, token));

  it.each(CASES)("$rule: $action $flags", async (one) => {
    for (const contact of [undefined, CONTACT]) {
      const flags = [...(one.flags ?? []), ...(contact ? [`--refusal-contact=${contact}`] : [])];
      server = await open(flags, one.token ?? "maria");
      const { text, json, isError } = await refused(server, one);
      await server.close();
      server = undefined;
      const where = `${contact ?? "nobody to ask"}: ${text}`;
      expect(isError, where).toBe(true);
      expect(json, where).toMatchObject({ code: one.code ?? "not_permitted", rule: one.rule });
      expect(text, where).toMatch(SAYS);
      expect(String(json.hint), where).toMatch(SAYS);
      if (contact && json.code === "not_permitted") for (const form of [text, String(json.hint)]) expect(form, where).toContain(contact);
      const told = way === "stdio" && contact === undefined && !one.unset;
      expect(json.setting !== undefined, where).toBe(told);
      // No name of a setting reaches those who cannot set it.
      if (!(way === "stdio" && contact === undefined))
        for (const form of [text, JSON.stringify(json)]) expect(form, where).not.toMatch(FLAG);
      if (told) expect(text, where).toContain(`setting: ${String(json.setting)}`);
    }
  });

  it("of resources and prompts say the same in the protocol's own error", async () => {
    for (const contact of [undefined, CONTACT]) {
      const more = contact ? [`--refusal-contact=${contact}`] : [];
      server = await open(["--capabilities=full", "--exclude-tools=issue.get,issue.list", ...more], "maria");
      for (const [method, params] of [
        ["resources/read", { uri: "gitlab://projects/101/issues/1" }],
        ["resources/read", { uri: "gitlab://tools/issue.get" }],
        ["prompts/get", { name: "triage_issues", arguments: { project: "acme/webshop" } }],
      ] as const) {
        const { error } = await server.request(method, params);
        expect(error?.data).toMatchObject({ code: "not_permitted", rule: "ceiling" });
        expect(error?.message).toMatch(SAYS);
        if (contact) expect(error?.message).toContain(contact);
        const told = way === "stdio" && contact === undefined;
        expect(error?.data?.setting).toBe(told ? "--exclude-tools" : undefined);
        if (!told) expect(JSON.stringify(error)).not.toMatch(FLAG);
      }
      await server.close();
      server = undefined;
    }
  });
});

it("every rule that refuses has a case", () => {
  // Safe mode shows, it does not refuse.
  expect(RULE_NAMES.filter((rule) => rule !== "safe_mode" && !CASES.some((one) => one.rule === rule))).toEqual([]);
});
