import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { authenticate, authorize, type Caller } from "./auth.ts";
import { isUpload, nest, readBody } from "./body.ts";
import { ApiFailure } from "./errors.ts";
import { applyFault, createFaults, type Faults } from "./faults.ts";
import { genericBehaviours } from "./generic.ts";
import { answerGraphql } from "./graphql.ts";
import { PARTS } from "./parts.ts";
import { send } from "./response.ts";
import { createRouter, type Router } from "./router.ts";
import type { Json, Method, Part, Reply, Request, World } from "./types.ts";
import type { RecordedRequest, Sandbox, TokenName } from "./types-sandbox.ts";
import { createWorld } from "./world.ts";

export type { World } from "./types.ts";
export type { Fault, RecordedRequest, Sandbox } from "./types-sandbox.ts";

export interface SandboxOptions {
  /** A free one where absent. */
  readonly port?: number;
  readonly host?: "127.0.0.1";
  /** Seeds after the usual ones. */
  readonly world?: (world: World) => void;
  /** `/gitlab` → everything lives below it. */
  readonly relativeRoot?: string;
}

/** The secrets of the seeded tokens; plain words on purpose. */
export const TOKENS: Readonly<Record<TokenName, string>> = Object.freeze({
  root: "sandbox-token-root",
  maria: "sandbox-token-maria",
  jonas: "sandbox-token-jonas",
  reader: "sandbox-token-reader",
  expired: "sandbox-token-expired",
});

const KEPT = 1_000;
const SECRET_HEADERS = ["private-token", "authorization", "job-token", "deploy-token", "cookie"];
const SECRET_PARAMS = ["private_token", "access_token", "job_token"];
const MOST_BYTES = 64 * 1024 * 1024;

interface State {
  world: World;
  readonly router: Router;
  readonly faults: Faults;
  readonly requests: RecordedRequest[];
  readonly root: string;
  readonly closing: AbortController;
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw new ApiFailure(413, { error: "Request Entity Too Large" });
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

const dropped = (fields: Readonly<Json>, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

interface Read {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Json;
  readonly body: Json;
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

/** Runs the row that a request asks for. */
async function dispatch(state: State, read: Read): Promise<Reply> {
  const match = state.router.match(read.method, read.path);
  const caller: Caller = authenticate(state.world, read.headers, read.query);
  if (!match) {
    const methods = state.router.methods(read.path);
    if (methods.length === 0) throw new ApiFailure(404, { error: "404 Not Found" });
    throw new ApiFailure(405, { error: "405 Not Allowed" }, { allow: [...methods, "OPTIONS", "HEAD"].join(", ") });
  }
  authorize(match.behaviour, caller);
  if (read.method !== "GET" && read.method !== "HEAD") state.world.tick();
  const query = dropped(read.query, SECRET_PARAMS);
  const request: Request = {
    world: state.world,
    ...read,
    query,
    params: match.params,
    input: { ...query, ...read.body },
    ...(caller.user ? { user: caller.user } : {}),
    ...(caller.token ? { token: caller.token } : {}),
  };
  return match.behaviour.run(request);
}

async function answer(state: State, read: Read, pathname: string): Promise<Reply> {
  try {
    if (pathname === "/api/graphql")
      return await answerGraphql(state.world, authenticate(state.world, read.headers, read.query), read.body);
    return await dispatch(state, read);
  } catch (error) {
    if (error instanceof ApiFailure) return { status: error.status, json: error.body, headers: error.headers };
    throw error;
  }
}

/** The body as it is remembered: of files only what they are. */
const remembered = (body: Readonly<Json>): Json =>
  Object.fromEntries(
    Object.entries(dropped(body, SECRET_PARAMS)).map(([name, value]) => [
      name,
      isUpload(value) ? { filename: value.filename, type: value.type, size: value.bytes.length } : value,
    ]),
  );

function record(state: State, read: Read, pathname: string, status: number): void {
  state.requests.push({
    method: read.method,
    path: pathname,
    query: dropped(read.query, SECRET_PARAMS),
    headers: dropped(read.headers, SECRET_HEADERS) as Record<string, string>,
    body: remembered(read.body),
    status,
  });
  if (state.requests.length > KEPT) state.requests.splice(0, state.requests.length - KEPT);
}

async function serve(state: State, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const [whole = "/", search = ""] = (incoming.url ?? "/").split("?", 2);
  const inside = whole.startsWith(`${state.root}/`) || state.root === "";
  const pathname = inside ? whole.slice(state.root.length) : whole;
  const method = (incoming.method ?? "GET") as Method;
  const fault = state.faults.take(method, pathname);
  const headers = headersOf(incoming);
  const raw = await bytesOf(incoming);
  const read: Read = { method, path: pathname.replace(/^\/api\/v4/, ""), headers, query: nest(new URLSearchParams(search)), body: {} };
  if (fault?.kind === "hang") return record(state, read, pathname, 0);
  if (fault?.kind === "slow") await pause(fault.delayMs ?? 1_000, undefined, { signal: state.closing.signal });
  else if (fault && fault.kind !== "truncated") {
    applyFault(fault, response);
    return record(state, read, pathname, response.statusCode);
  }
  const known = inside && (/^\/api\/v4(\/|$)/.test(pathname) || pathname === "/api/graphql");
  const reply = known ? await withBody(state, read, raw, pathname) : strangerReply();
  record(state, reply.read ?? read, pathname, reply.status);
  send(incoming, response, reply, { world: state.world, truncated: fault?.kind === "truncated", count: state.requests.length });
}

async function withBody(state: State, read: Read, raw: Buffer, pathname: string): Promise<Reply & { read?: Read }> {
  try {
    const full = { ...read, body: readBody(raw, read.headers["content-type"] ?? "") };
    return { ...(await answer(state, full, pathname)), read: full };
  } catch (error) {
    if (error instanceof ApiFailure) return { status: error.status, json: error.body, headers: error.headers };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`sandbox: ${read.method} ${pathname}: ${text}\n`);
    return { status: 500, json: { message: "500 Internal Server Error" } };
  }
}

const strangerReply = (): Reply & { read?: Read } => ({
  status: 404,
  text: "<!DOCTYPE html>\n<html><head><title>The page could not be found (404)</title></head><body><h1>404: Page not found</h1></body></html>\n",
  type: "text/html; charset=utf-8",
});

const partsWith = (extra: SandboxOptions["world"]): readonly Part[] => (extra ? [...PARTS, { behaviours: [], seed: extra }] : PARTS);

function routerOf(parts: readonly Part[]): Router {
  const explicit = parts.flatMap(({ behaviours }) => behaviours);
  return createRouter([...genericBehaviours(explicit), ...explicit]);
}

/** Starts an embedded GitLab on loopback. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const root = (options.relativeRoot ?? "").replace(/\/+$/, "").replace(/^(?=[^/])/, "/");
  const parts = partsWith(options.world);
  const state: State = {
    world: createWorld([], ""),
    router: routerOf(parts),
    faults: createFaults(),
    requests: [],
    root,
    closing: new AbortController(),
  };
  const server = createServer((incoming, response) => {
    serve(state, incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${root}`;
  state.world = createWorld(parts, url);
  return {
    url,
    tokens: TOKENS,
    get world() {
      return state.world;
    },
    requests: state.requests,
    fail: (fault) => state.faults.add(fault),
    reset() {
      state.faults.clear();
      state.requests.length = 0;
      state.world = createWorld(parts, url);
    },
    async close() {
      state.closing.abort();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
