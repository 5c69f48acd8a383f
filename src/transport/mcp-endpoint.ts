import { randomBytes } from "node:crypto";
import { createMcpHandler, isLegacyRequest, type McpHttpHandler, type Server } from "@modelcontextprotocol/server";
import type { CallContext, Credential, Facts } from "../catalog/types.ts";
import type { HttpSettings } from "../config/http-check.ts";
import type { Log } from "../log.ts";
import type { Wishes } from "../policy/narrow.ts";
import type { Unrecognized } from "../registry/choice.ts";
import { type Connection, CREDENTIAL, type Link } from "../surface/connection.ts";
import type { Auth, Visitor } from "./auth.ts";
import type { Ended } from "./ended.ts";
import type { Events } from "./events.ts";
import { readChoice } from "./http-choice.ts";
import { type Counter, type Gates, LIMITS, type RateLimiter } from "./http-limits.ts";
import { type LegacySession, openSession } from "./legacy-session.ts";
import type { Metrics } from "./metrics.ts";
import { requireOwner } from "./owner.ts";
import { CODE, later, Refused } from "./reply.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { requireScopes } from "./step-up.ts";
import type { Owner, Ticket, Tickets } from "./tickets.ts";

/** The bridge, as this transport needs it. */
export interface HttpBridge {
  connect(options: {
    readonly wishes: Wishes;
    readonly instance?: string;
    readonly user?: number;
    readonly gate: <T>(context: CallContext, run: () => Promise<T>) => Promise<T>;
    readonly key?: string;
  }): Connection;
  unrecognized(wishes: Wishes): readonly Unrecognized[];
  identify(connection: Connection, credential: Credential | undefined): Promise<Facts>;
  createServer(connection: Connection, link: Link): Server;
}

/** One request to `/mcp`, after host, origin and rate were looked at. */
export interface Exchange {
  readonly request: Request;
  /** Path behind `/mcp`. */
  readonly path: string;
  /** Parsed; undefined where there is none. */
  readonly body: unknown;
  readonly visitor: Visitor;
  /** Scheme and host by which the client reached us. */
  readonly origin: string;
  readonly address: string;
}

/** The answer, and what is to be called once it was sent. */
export interface Answered {
  readonly response: Response;
  readonly done?: () => void;
}

export interface EndpointParts {
  readonly bridge: HttpBridge;
  readonly settings: HttpSettings;
  readonly log: Log;
  readonly auth: Auth;
  readonly tickets: Tickets;
  readonly ended: Ended;
  readonly events: Events;
  readonly gates: Gates;
  readonly streams: Counter;
  readonly failures: RateLimiter;
  readonly metrics: Metrics;
}

export interface Endpoint {
  serve(exchange: Exchange): Promise<Answered>;
  readonly sessions: Sessions;
  close(): Promise<void>;
}

const CONNECTION = "connection";

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const methodOf = (body: unknown): string | undefined => (isPlain(body) && typeof body.method === "string" ? body.method : undefined);

const isToolCall = (body: unknown) => (Array.isArray(body) ? body : [body]).some((one) => methodOf(one) === "tools/call");

/** @throws Refused 400 with what was not recognised, and what would be. */
function requireKnown(bridge: HttpBridge, wishes: Wishes): void {
  const [bad] = bridge.unrecognized(wishes);
  if (!bad) return;
  const near = bad.nearest.length > 0 ? ` Nearest: ${bad.nearest.join(", ")}.` : "";
  const data = { unrecognized: bad.unrecognized, valid: bad.valid.length > 0 ? bad.valid : bad.nearest };
  throw new Refused({
    status: 400,
    code: CODE.invalidParams,
    message: `Unrecognized ${bad.setting.replace(/^--/, "").replaceAll("-", " ")}: ${bad.unrecognized.join(", ").slice(0, 200)}.${near}`,
    data,
  });
}

/** @throws Refused 400 for an instance that the operator did not allow. */
function instanceIn(headers: Headers, { url, instances, auth }: HttpSettings): string | undefined {
  const asked = headers
    .get("x-gitlab-url")
    ?.trim()
    .replace(/(\/api(\/v\d+)?)?\/*$/, "");
  if (!asked) return undefined;
  const valid = auth === "server" ? [url] : [url, ...instances];
  const found = valid.find((one) => one.toLowerCase() === asked.toLowerCase());
  if (found !== undefined) return found;
  throw new Refused({
    status: 400,
    code: CODE.invalidParams,
    message: "X-GitLab-URL names an instance that this server does not serve.",
    data: { unrecognized: [asked.slice(0, 200)], valid },
  });
}

interface Opening {
  readonly wishes: Wishes;
  readonly instance?: string;
  /** Whose connection it is, where that is known. */
  readonly user?: number;
}

function openingOf({ bridge, settings }: EndpointParts, { request, path }: Exchange): Opening {
  const wishes = readChoice(path, new URL(request.url).searchParams, request.headers);
  requireKnown(bridge, wishes);
  const instance = instanceIn(request.headers, settings);
  return { wishes: settings.enablement === "strict" ? { ...wishes, enablement: "strict" } : wishes, ...(instance ? { instance } : {}) };
}

/** Who calls, as a key for limits: the user where known, else the credential's own value, which never leaves this process. */
const keyOf = ({ principal, credential }: CallContext): string =>
  `${principal.instance} ${principal.user ? principal.user.id : (credential?.value ?? "")}`;

function createConnect({ bridge, gates }: EndpointParts) {
  return ({ wishes, instance, user }: Opening, key?: string): Connection =>
    bridge.connect({
      wishes,
      ...(instance ? { instance } : {}),
      ...(user === undefined ? {} : { user }),
      ...(key === undefined ? {} : { key }),
      gate: (context, run) => gates.run(keyOf(context), context.signal, run),
    });
}

/** The result, or something else where it is late. */
async function within<T>(ms: number, result: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  try {
    return await Promise.race([result, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Refused where GitLab refuses the token, or the address has shown too many that were refused. */
async function identify(parts: EndpointParts, connection: Connection, exchange: Exchange): Promise<Facts> {
  const { credential } = exchange.visitor;
  if (!credential && parts.settings.auth !== "server") return {};
  const facts = await within(
    parts.settings.identifyTimeout,
    parts.bridge.identify(connection, credential).catch((): Facts => ({})),
    {},
  );
  try {
    parts.auth.requireAccepted(facts, exchange.origin);
  } catch (error) {
    if (parts.failures.take(exchange.address) > 0)
      throw new Refused({ status: 429, message: "Too many refused tokens from this address.", headers: later(60) });
    throw error;
  }
  return facts;
}

/** The GitLab user behind the caller's own token; behind the server's token stands nobody in particular. */
const callerIn = ({ user }: Facts, { visitor }: Exchange): number | undefined => (visitor.credential ? user?.id : undefined);

const userOf = async (parts: EndpointParts, connection: Connection, exchange: Exchange): Promise<number | undefined> =>
  callerIn(await identify(parts, connection, exchange), exchange);

/**
 * Whose style a live comparison decides; nobody's where none is made. It refuses nobody: a list is answered whether GitLab takes the
 * token or not.
 */
async function seatedUser(parts: EndpointParts, connection: Connection, exchange: Exchange): Promise<number | undefined> {
  if (!parts.settings.ab || !exchange.visitor.credential) return undefined;
  try {
    return await userOf(parts, connection, exchange);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

type Connect = (opening: Opening, key?: string) => Connection;

async function serveModern(parts: EndpointParts, handler: McpHttpHandler, connect: Connect, exchange: Exchange) {
  // Every request is a connection of its own: what other servers keep for a client is kept for whoever shows this credential.
  const opening = openingOf(parts, exchange);
  const key = `modern ${exchange.visitor.digest ?? ""}`;
  const unknown = connect(opening, key);
  const user = await seatedUser(parts, unknown, exchange);
  const connection = user === undefined ? unknown : connect({ ...opening, user }, key);
  if (parts.settings.auth === "gitlab" || isToolCall(exchange.body)) {
    const facts = await identify(parts, connection, exchange);
    const { credential } = exchange.visitor;
    await requireScopes(parts.auth, connection, { facts, body: exchange.body, origin: exchange.origin, credential });
  }
  const { credential } = exchange.visitor;
  const release = credential ? parts.log.hold(credential.value.replace(/^bearer /i, "")) : undefined;
  const extra = { [CONNECTION]: connection, ...(credential ? { [CREDENTIAL]: credential } : {}) };
  const response = await handler.fetch(exchange.request, {
    authInfo: { token: "", clientId: "", scopes: [], extra },
    ...(exchange.body === undefined ? {} : { parsedBody: exchange.body }),
  });
  return { response, ...(release ? { done: release } : {}) };
}

/** @throws Refused 400 for a batch where the client's revision has none, or one that is empty or too long. */
function checkBatch(body: unknown, protocol: string): void {
  if (!Array.isArray(body)) return;
  const message =
    protocol >= "2025-06-18"
      ? `Protocol ${protocol} has no batches: send one message in each request.`
      : body.length === 0 || body.length > LIMITS.batch
        ? `A batch holds 1 to ${LIMITS.batch} messages.`
        : undefined;
  if (message) throw new Refused({ status: 400, code: CODE.invalidRequest, message });
}

function toTicket(opening: Opening, owner: Owner, params: Record<string, unknown>): Ticket {
  const client = isPlain(params.clientInfo) ? params.clientInfo : {};
  const capabilities = isPlain(params.capabilities) ? params.capabilities : {};
  const kept = Object.entries(capabilities).filter(([name]) => ["elicitation", "sampling", "roots"].includes(name));
  return {
    nonce: randomBytes(12).toString("base64url"),
    born: Math.floor(Date.now() / 1_000),
    owner,
    ...opening,
    protocol: String(params.protocolVersion ?? "").slice(0, 40),
    capabilities: Object.fromEntries(kept),
    client: { name: String(client.name ?? "").slice(0, 60), version: String(client.version ?? "").slice(0, 20) },
  };
}

async function initialize(parts: EndpointParts, sessions: Sessions, connect: (opening: Opening) => Connection, exchange: Exchange) {
  const opening = openingOf(parts, exchange);
  const user = await userOf(parts, connect(opening), exchange);
  const { digest } = exchange.visitor;
  const owner: Owner = digest === undefined ? {} : { digest, ...(user === undefined ? {} : { user }) };
  const params = (exchange.body as Record<string, unknown>).params;
  const ticket = toTicket(opening, owner, isPlain(params) ? params : {});
  if (parts.tickets.seal(ticket).length > LIMITS.sessionId)
    throw new Refused({ status: 400, code: CODE.invalidParams, message: "The choice at connect is too long; name fewer tools." });
  const session = await sessions.create(ticket);
  const done = session.enter(false);
  try {
    const response = await session.handle(exchange.request, exchange.body, exchange.visitor);
    if (!response.ok) await sessions.end(session);
    return { response, done };
  } catch (error) {
    done();
    await sessions.end(session);
    throw error;
  }
}

/** @throws Refused 400 | 401 | 403 | 404 */
async function sessionFor(parts: EndpointParts, sessions: Sessions, exchange: Exchange): Promise<LegacySession> {
  const { request, visitor, origin, body } = exchange;
  const id = request.headers.get("mcp-session-id");
  if (!id) throw new Refused({ status: 400, message: "Mcp-Session-Id is missing: send the one that initialize answered with." });
  const session = await sessions.find(id);
  if (!session)
    throw new Refused({ status: 404, code: CODE.noSession, message: "Session not found: it ended, or it is not one of this server." });
  const elsewhere = instanceIn(request.headers, parts.settings);
  if (elsewhere !== undefined && elsewhere !== session.connection.settings.url)
    throw new Refused({ status: 403, message: "This session is one with another GitLab instance." });
  await requireOwner(session, visitor, () => userOf(parts, session.connection, exchange), parts.auth.challenge(origin));
  if (isToolCall(body)) {
    const facts = await identify(parts, session.connection, exchange);
    const user = callerIn(facts, exchange);
    const { owner } = session;
    if (user !== undefined && owner.user === undefined && owner.digest === visitor.digest) session.owner = { ...owner, user };
    await requireScopes(parts.auth, session.connection, { facts, body, origin, credential: visitor.credential });
  }
  checkBatch(body, session.ticket.protocol);
  return session;
}

async function serveSession(parts: EndpointParts, session: LegacySession, exchange: Exchange): Promise<Answered> {
  const { request, body, visitor, address } = exchange;
  const isStream = request.method === "GET";
  const { owner } = session;
  const endStream = isStream ? parts.streams.open(String(owner.user ?? owner.digest ?? address)) : () => {};
  if (!endStream) throw new Refused({ status: 429, message: "Too many notification streams are open.", headers: later(30) });
  const leave = session.enter(isStream);
  const done = () => {
    leave();
    endStream();
  };
  try {
    return { response: await session.handle(request, body, visitor), done };
  } catch (error) {
    done();
    throw error;
  }
}

/** `/mcp`: modern clients by the SDK's own handler, clients of the handshake era on sessions of ours. */
export function createEndpoint(parts: EndpointParts): Endpoint {
  const { bridge, settings, log, events, metrics } = parts;
  const connect = createConnect(parts);
  const handler = createMcpHandler(
    ({ authInfo }) =>
      bridge.createServer(authInfo?.extra?.[CONNECTION] as Connection, { era: "modern", transport: "http", canTell: () => false }),
    {
      legacy: "reject",
      keepAliveMs: LIMITS.keepAliveMs,
      maxRequestBodySize: settings.maxBody,
      onerror: (error) => log.debug(error.message),
    },
  );
  const sessions: Sessions = createSessions({
    tickets: parts.tickets,
    ended: parts.ended,
    most: settings.maxSessions,
    idleMs: settings.sessionIdle * 60_000,
    open: (id, ticket, revived) =>
      openSession(
        {
          id,
          ticket,
          connection: connect({ ...ticket, ...(ticket.owner.user === undefined ? {} : { user: ticket.owner.user }) }),
          createServer: bridge.createServer,
          shelf: events.shelf(),
          log,
          onEnd: () => void sessions.end({ id, ticket }),
        },
        revived,
      ),
  });
  return {
    sessions,
    async serve(exchange) {
      const { request, body } = exchange;
      if (!(await isLegacyRequest(request, body ?? undefined))) {
        metrics.count("mcp_requests", "modern");
        return await serveModern(parts, handler, connect, exchange);
      }
      metrics.count("mcp_requests", "legacy");
      if (methodOf(body) === "initialize" && !request.headers.has("mcp-session-id"))
        return await initialize(parts, sessions, connect, exchange);
      return await serveSession(parts, await sessionFor(parts, sessions, exchange), exchange);
    },
    async close() {
      await handler.close();
      await Promise.all([...sessions.all()].map((session) => session.close()));
    },
  };
}
