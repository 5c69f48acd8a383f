import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createBridge } from "../../src/app.ts";
import { toHttpSettings } from "../../src/config/http-check.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { DIST } from "./clients.ts";

/** Nobody is taken for a stranger because this machine is slow. */
const PATIENT = "--identify-timeout=60000";

/** Settings as `serve --http` with these flags and variables would have them, on a free port. */
export function httpSettings(argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { settings } = loadSettings({
    argv: ["--http", ...["--port=0", PATIENT].filter((own) => !argv.some((flag) => flag.split("=")[0] === own.split("=")[0])), ...argv],
    env,
    transport: "http",
  });
  return toHttpSettings(settings).settings;
}

export interface Started extends HttpServer {
  /** Everything that was logged. */
  readonly logged: readonly string[];
}

/** The whole bridge over HTTP, in this process. */
export async function startHttp(
  argv: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  more: { readonly endedFile?: string } = {},
): Promise<Started> {
  const logged: string[] = [];
  const settings = httpSettings(argv, env);
  const log = createLog({ level: "debug", write: (line) => logged.push(line) });
  const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/" });
  return { ...(await serveOverHttp({ settings, bridge, log, ...more })), logged };
}

/** A GitLab with any number of users: the token `token-N…` is user N's, and everything it answers is marked with that user. */
export interface Crowd {
  readonly url: string;
  /** Tokens that were shown, in order. */
  readonly seen: readonly string[];
  /** Tokens that are no longer taken. */
  readonly revoked: Set<string>;
  /** What every token may do. */
  readonly scopes: string[];
  /** While set, nothing is answered. */
  hang(on: boolean): void;
  close(): Promise<void>;
}

export const tokenOf = (user: number, version = 1) => `token-${user}-v${version}-${"x".repeat(12)}`;
export const markOf = (user: number) => `marked-for-user-${user}.`;

const shown = ({ headers }: IncomingMessage): string =>
  String(headers["private-token"] ?? headers["job-token"] ?? headers.authorization ?? "").replace(/^Bearer /, "");

export async function startCrowd(): Promise<Crowd> {
  const seen: string[] = [];
  const revoked = new Set<string>();
  const scopes = ["api"];
  let hanging = false;
  const server = createServer((request, response) => {
    const token = shown(request);
    seen.push(token);
    if (hanging) return;
    const user = Number(/^token-(\d+)-/.exec(token)?.[1] ?? 0);
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (user === 0 || revoked.has(token)) return answer(401, { message: "401 Unauthorized" });
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.endsWith("/user")) return answer(200, { id: user, username: `user-${user}`, name: markOf(user) });
    if (pathname.endsWith("/personal_access_tokens/self")) return answer(200, { scopes, expires_at: null });
    if (pathname.endsWith("/metadata")) return answer(200, { version: "18.6.0", enterprise: true });
    if (pathname.endsWith("/issues"))
      return answer(200, [{ id: user, iid: user, title: markOf(user), state: "opened", web_url: `${markOf(user)}` }]);
    return answer(200, { id: user, name: markOf(user), path_with_namespace: `users/${user}` });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    revoked,
    scopes,
    hang(on) {
      hanging = on;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Rpc {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** JSON-RPC messages of the answer, whether a body or a stream. */
  readonly messages: readonly {
    id?: unknown;
    method?: string;
    result?: Record<string, unknown>;
    error?: { code: number; message: string; data?: Record<string, unknown> };
  }[];
}

/** The messages in an answer's text. */
export function parseMessages(text: string, type: string | null): Rpc["messages"] {
  if (type?.includes("text/event-stream")) {
    const data = text.split("\n").filter((line) => line.startsWith("data: ") && line.length > 6);
    return data.map((line) => JSON.parse(line.slice(6)) as Rpc["messages"][number]);
  }
  if (text === "" || !type?.includes("json")) return [];
  const parsed = JSON.parse(text) as Rpc["messages"][number] | Rpc["messages"];
  return Array.isArray(parsed) ? parsed : [parsed as Rpc["messages"][number]];
}

export const ACCEPT = { accept: "application/json, text/event-stream", "content-type": "application/json" };

export async function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Rpc> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...ACCEPT, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, messages: parseMessages(text, response.headers.get("content-type")) };
}

export const INITIALIZE = (protocolVersion = "2025-06-18", capabilities: Record<string, unknown> = {}) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "bare", version: "1" } },
});

/** The handshake of a legacy client; resolves with the headers that later requests carry. */
export async function handshake(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  protocolVersion = "2025-06-18",
): Promise<{ readonly answer: Rpc; readonly session: Readonly<Record<string, string>>; readonly id: string }> {
  const answer = await post(url, INITIALIZE(protocolVersion), headers);
  const id = answer.headers.get("mcp-session-id") ?? "";
  return { answer, id, session: { "mcp-session-id": id, "mcp-protocol-version": protocolVersion } };
}

export const call = (name: string, args: Record<string, unknown> = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** A request of the modern era, with the headers that belong to it. */
export function modern(method: string, params: Record<string, unknown> = {}, id: number | string = 1) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bare", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = typeof params.name === "string" ? { "mcp-name": params.name } : {};
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...name },
  };
}

/** Names of the tools in the answer to `tools/list`. */
export function namesOf({ messages }: Rpc): readonly string[] {
  const tools = messages.at(-1)?.result?.tools as { readonly name: string }[] | undefined;
  return (tools ?? []).map(({ name }) => name);
}

/** The built server as a process of its own. */
export interface Spawned {
  readonly url: string;
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** Resolves once it listens; rejects with what it wrote when it ends before. */
export async function spawnHttp(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Spawned> {
  const port = args.some((flag) => flag.startsWith("--port=")) ? [] : ["--port=0"];
  const child = spawn(process.execPath, [DIST, "serve", "--http", PATIENT, ...port, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  let stderr = "";
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
      const found = /listens at (\S+)/.exec(stderr)?.[1];
      if (found) resolve(found);
    });
    exited.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  return {
    url,
    child,
    stderr: () => stderr,
    exited,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}
