import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Attachments, attachments } from "./attach.ts";

export const DIST = new URL("../../dist/main.js", import.meta.url).pathname;

/** The kinds of clients that every end-to-end test meets. */
export const CLIENT_KINDS = ["sdk1", "sdk2-legacy", "sdk2-modern", "sdk2-modern-deaf"] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export type Say = "accept" | "decline" | "cancel";

export interface ToolText {
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** All blocks, of whatever type. */
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly isError: boolean;
}

/** One MCP client, whatever the SDK behind it. */
export interface TestClient extends Attachments {
  readonly kind: ClientKind;
  /** How often it was told that the tool list changed. */
  readonly changes: () => number;
  readonly questions: readonly string[];
  instructions(): string | undefined;
  list(): Promise<{ name: string; inputSchema: Record<string, unknown>; annotations?: Record<string, unknown> }[]>;
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (p: unknown) => void },
  ): Promise<ToolText>;
  pid(): number | undefined;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Asks for its list again as soon as it is told, as the SDK's own handler does. */
  readonly refreshes?: boolean;
  /** What the person at the client says when asked; absent = the client cannot be asked. */
  readonly person?: Say;
}

interface RawResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

function toToolText(result: RawResult): ToolText {
  const blocks = (result.content ?? []) as { type: string; text?: string }[];
  return {
    content: blocks,
    text: blocks.map((block) => block.text ?? "").join("\n"),
    json: (result.structuredContent ?? {}) as Record<string, unknown>,
    isError: result.isError === true,
  };
}

const answerOf = (say: Say) => (say === "accept" ? { action: "accept" as const, content: { confirm: true } } : { action: say });

function spawnOf(options: ClientOptions) {
  return {
    command: process.execPath,
    // A client that refreshes is waited for as long as it takes, one that does not only for a moment: no test hangs on the clock.
    args: [DIST, `--settle=${options.refreshes ? 10_000 : 1}`, ...(options.args ?? [])],
    env: { PATH: process.env.PATH ?? "", ...options.env },
    stderr: "pipe" as const,
  };
}

async function connectV1(options: ClientOptions, transport: StdioV1 | HttpV1): Promise<TestClient> {
  let changes = 0;
  const questions: string[] = [];
  const client = new ClientV1({ name: "test-v1", version: "1.0.0" }, { capabilities: options.person ? { elicitation: {} } : {} });
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
    changes++;
    if (options.refreshes) await client.listTools();
  });
  if (options.person) {
    const say = options.person;
    client.setRequestHandler(ElicitRequestSchema, (request) => {
      questions.push(request.params.message);
      return answerOf(say);
    });
  }
  await client.connect(transport as never);
  return {
    kind: "sdk1",
    changes: () => changes,
    questions,
    ...attachments(client),
    instructions: () => client.getInstructions(),
    list: async () => (await client.listTools()).tools as never,
    call: async (name, args = {}, extra = {}) =>
      toToolText((await client.callTool({ name, arguments: args }, undefined, extra as never)) as RawResult),
    pid: () => ("pid" in transport ? (transport.pid ?? undefined) : undefined),
    close: () => client.close(),
  };
}

async function connectV2(kind: ClientKind, options: ClientOptions, transport: StdioV2 | HttpV2): Promise<TestClient> {
  let changes = 0;
  const questions: string[] = [];
  const modern = kind !== "sdk2-legacy";
  const client = new ClientV2(
    { name: "test-v2", version: "1.0.0" },
    {
      capabilities: options.person ? { elicitation: { form: {} } } : {},
      ...(modern ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {}),
    },
  );
  client.setNotificationHandler("notifications/tools/list_changed", async () => {
    changes++;
    if (options.refreshes) await client.listTools();
  });
  if (options.person) {
    const say = options.person;
    client.setRequestHandler("elicitation/create", (request) => {
      questions.push(request.params.message);
      return answerOf(say);
    });
  }
  await client.connect(transport);
  if (kind === "sdk2-modern" && transport instanceof StdioV2) await client.listen({ toolsListChanged: true });
  return {
    kind,
    changes: () => changes,
    questions,
    ...attachments(client),
    instructions: () => client.getInstructions(),
    list: async () => (await client.listTools()).tools as never,
    call: async (name, args = {}, extra = {}) =>
      toToolText((await client.callTool({ name, arguments: args }, extra as never)) as RawResult),
    pid: () => (transport instanceof StdioV2 ? (transport.pid ?? undefined) : undefined),
    close: () => client.close(),
  };
}

/** Spawns the built server and connects a client of the kind to it over stdio. */
export function connectStdio(kind: ClientKind, options: ClientOptions = {}): Promise<TestClient> {
  return kind === "sdk1" ? connectV1(options, new StdioV1(spawnOf(options))) : connectV2(kind, options, new StdioV2(spawnOf(options)));
}

/** What a client over HTTP brings: headers may change between requests, as tokens do. */
export interface HttpClientOptions extends Pick<ClientOptions, "refreshes" | "person"> {
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Connects a client of the kind to a server that listens. */
export async function connectHttp(
  kind: ClientKind,
  url: string,
  options: HttpClientOptions = {},
): Promise<TestClient & { sessionId(): string | undefined }> {
  const withHeaders: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(options.headers?.() ?? {})) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
  if (kind === "sdk1") {
    const transport = new HttpV1(new URL(url), { fetch: withHeaders as never });
    return Object.assign(await connectV1(options, transport), { sessionId: () => transport.sessionId });
  }
  const transport = new HttpV2(new URL(url), { fetch: withHeaders as never });
  return Object.assign(await connectV2(kind, options, transport), { sessionId: () => transport.sessionId });
}
