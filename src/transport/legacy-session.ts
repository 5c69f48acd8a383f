import {
  type JSONRPCMessage,
  type RequestId,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Log } from "../log.ts";
import { advertisesListChanged, type Connection, CREDENTIAL, type Link } from "../surface/connection.ts";
import type { Visitor } from "./auth.ts";
import type { Shelf } from "./events.ts";
import { LIMITS } from "./http-limits.ts";
import type { Owner, Ticket } from "./tickets.ts";

/** Requests that came in one body and are answered on one stream. */
interface Group {
  readonly open: Set<RequestId>;
  cancelled: boolean;
}

/** A client of the handshake era: its switches, its streams, and whose it is. */
export interface LegacySession {
  readonly id: string;
  readonly ticket: Ticket;
  readonly connection: Connection;
  owner: Owner;
  /** When it was last used (ms). */
  used: number;
  /** Something is on its way, or the client holds a stream open. */
  isBusy(): boolean;
  handle(request: Request, body: unknown, visitor: Visitor): Promise<Response>;
  /** An exchange begins; the answer ends it. */
  enter(isStream: boolean): () => void;
  /** Ends the notification stream, so that a server that stops is not waited for. */
  hangUp(): void;
  close(): Promise<void>;
}

export interface SessionParts {
  readonly id: string;
  readonly ticket: Ticket;
  readonly connection: Connection;
  readonly createServer: (connection: Connection, link: Link) => Server;
  readonly shelf: Shelf;
  readonly log: Log;
  /** The client ended the session itself. */
  readonly onEnd: () => void;
}

const isRequest = (message: unknown): message is { id: RequestId; method: string } =>
  typeof message === "object" && message !== null && "method" in message && "id" in message;

const firstIdIn = (body: unknown): RequestId | undefined => (Array.isArray(body) ? body : [body]).find(isRequest)?.id;

/** Follows requests to their end: a cancelled one is never answered, so nobody else would end its stream. */
class Exchanges {
  readonly #groups = new Map<RequestId, Group>();
  readonly #transport: WebStandardStreamableHTTPServerTransport;

  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport;
  }

  get size(): number {
    return this.#groups.size;
  }

  begin(body: unknown): void {
    const ids = (Array.isArray(body) ? body : [body]).filter(isRequest).map(({ id }) => id);
    const group: Group = { open: new Set(ids), cancelled: false };
    for (const id of ids) this.#groups.set(id, group);
  }

  /** The body was refused: nothing of it will be answered. */
  drop(body: unknown): void {
    for (const message of Array.isArray(body) ? body : [body]) if (isRequest(message)) this.#groups.delete(message.id);
  }

  received(message: JSONRPCMessage): void {
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    const id = (message.params as { requestId?: RequestId } | undefined)?.requestId;
    if (id !== undefined) this.#end(id, true);
  }

  sent(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#end(message.id, false);
  }

  #end(id: RequestId, cancelled: boolean): void {
    const group = this.#groups.get(id);
    if (!group) return;
    this.#groups.delete(id);
    group.open.delete(id);
    group.cancelled ||= cancelled;
    if (group.cancelled && group.open.size === 0) this.#transport.closeSSEStream(id);
  }
}

function tap(transport: WebStandardStreamableHTTPServerTransport, exchanges: Exchanges): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    receive?.(message, extra);
    exchanges.received(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    try {
      await send(message, options);
    } finally {
      exchanges.sent(message);
    }
  };
}

/** News of a changed list that no call brings: sent on the notification stream, or kept for the next call's own. */
function createDebt(connection: Connection, transport: WebStandardStreamableHTTPServerTransport, isListening: () => boolean) {
  let owed = false;
  connection.session.events.on("changed", () => {
    if (!advertisesListChanged(connection.settings, "legacy", "http")) return;
    owed = true;
    setImmediate(() => {
      if (!owed || !isListening()) return;
      owed = false;
      transport.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }).catch(() => {});
    });
  });
  return {
    owe() {
      owed = true;
    },
    take() {
      const was = owed;
      owed = false;
      return was;
    },
  };
}

/**
 * A client that comes again has lost its old connection, whether that is known here yet or not: the newer one takes the stream over.
 * An event that nobody has any more cannot be resumed from: the client gets a fresh stream instead of an error.
 */
function takeOver(request: Request, shelf: Shelf, transport: WebStandardStreamableHTTPServerTransport): Request {
  if (request.method !== "GET") return request;
  const last = request.headers.get("last-event-id");
  const of = last === null ? undefined : shelf.requestOf(last);
  if (of === undefined) transport.closeStandaloneSSEStream();
  else transport.closeSSEStream(of);
  if (last === null || shelf.has(last)) return request;
  const headers = new Headers(request.headers);
  headers.delete("last-event-id");
  return new Request(request.url, { method: "GET", headers, signal: request.signal });
}

/** A request that names no revision is of the one that its session agreed on. */
function nameRevision(request: Request, { protocol }: Ticket): void {
  if (!request.headers.has("mcp-session-id") || request.headers.has("mcp-protocol-version")) return;
  if (SUPPORTED_PROTOCOL_VERSIONS.includes(protocol)) request.headers.set("mcp-protocol-version", protocol);
}

/** What the handshake of a revived session said, said again: the client itself will not. */
async function reviveHandshake(
  transport: WebStandardStreamableHTTPServerTransport,
  { protocol, capabilities, client }: Ticket,
): Promise<void> {
  const request = new Request("http://localhost/", {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
  });
  const params = { protocolVersion: protocol, capabilities, clientInfo: client };
  const response = await transport.handleRequest(request, { parsedBody: { jsonrpc: "2.0", id: "revived", method: "initialize", params } });
  await response.text();
}

/** Keeps the token that was shown last out of the log, for as long as the session lives. */
function createHold(log: Log) {
  let shown: string | undefined;
  let release = () => {};
  return {
    take({ credential }: Visitor) {
      if (!credential || credential.value === shown) return;
      release();
      shown = credential.value;
      release = log.hold(credential.value.replace(/^bearer /i, ""));
    },
    end() {
      release();
      shown = undefined;
    },
  };
}

/** Who is there: exchanges that are open, and streams among them. */
function createPresence() {
  let exchanges = 0;
  let streams = 0;
  return {
    isHere: () => exchanges > 0,
    isListening: () => streams > 0,
    enter(isStream: boolean) {
      exchanges++;
      if (isStream) streams++;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        exchanges--;
        if (isStream) streams--;
      };
    },
  };
}

async function connectTransport({ id, connection, shelf, createServer, onEnd }: SessionParts) {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: shelf,
    keepAliveMs: LIMITS.keepAliveMs,
    retryInterval: 1_000,
    onsessionclosed: onEnd,
  });
  const presence = createPresence();
  const debt = createDebt(connection, transport, presence.isListening);
  const server = createServer(connection, { era: "legacy", transport: "http", canTell: () => true, takeOwed: debt.take });
  await server.connect(transport);
  const exchanges = new Exchanges(transport);
  tap(transport, exchanges);
  return { transport, server, exchanges, presence, debt };
}

/** @param revived the session was opened by an earlier process: what was enabled since is lost, and told. */
export async function openSession(parts: SessionParts, revived: boolean): Promise<LegacySession> {
  const { id, connection, shelf, log, ticket } = parts;
  const { transport, server, exchanges, presence, debt } = await connectTransport(parts);
  if (revived) {
    await reviveHandshake(transport, ticket);
    shelf.clear();
    debt.owe();
  }
  const hold = createHold(log);
  const session: LegacySession = {
    id,
    ticket,
    connection,
    owner: ticket.owner,
    used: Date.now(),
    isBusy: () => presence.isHere() || exchanges.size > 0,
    async handle(request, body, visitor) {
      hold.take(visitor);
      exchanges.begin(body);
      nameRevision(request, ticket);
      const extra = visitor.credential ? { [CREDENTIAL]: visitor.credential } : {};
      const taken = takeOver(request, shelf, transport);
      const authInfo = { token: "", clientId: "", scopes: [], extra };
      const handle = () => transport.handleRequest(taken, { authInfo, ...(body === undefined ? {} : { parsedBody: body }) });
      const response = await shelf.during(firstIdIn(body), handle);
      if (!response.ok) exchanges.drop(body);
      return response;
    },
    enter(isStream) {
      const leave = presence.enter(isStream);
      return () => {
        leave();
        session.used = Date.now();
      };
    },
    hangUp: () => transport.closeStandaloneSSEStream(),
    async close() {
      hold.end();
      await server.close().catch(() => {});
      shelf.clear();
      connection.session.events.removeAllListeners();
      connection.close?.();
    },
  };
  return session;
}
