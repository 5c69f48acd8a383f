import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpSettings } from "../config/http-check.ts";
import type { Log } from "../log.ts";
import type { Auth } from "./auth.ts";
import type { Guard } from "./http-guard.ts";
import type { RateLimiter } from "./http-limits.ts";
import type { Answered, Endpoint } from "./mcp-endpoint.ts";
import type { Metrics } from "./metrics.ts";
import { CODE, later, Refused, refuse } from "./reply.ts";
import { readBody, sendResponse, toRequest } from "./web.ts";

export interface RouteParts {
  readonly settings: HttpSettings;
  readonly log: Log;
  readonly auth: Auth;
  readonly guard: Guard;
  readonly rates: RateLimiter;
  readonly failures: RateLimiter;
  readonly metrics: Metrics;
  readonly endpoint: Endpoint;
  readonly held: () => Readonly<Record<string, number>>;
}

export interface Routes {
  serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  metrics(): Response;
  /** From now on nothing new is taken. */
  drain(): void;
  /** When nothing runs any more. */
  idle(): Promise<void>;
}

const METHODS = ["GET", "POST", "DELETE"];
const WELL_KNOWN = "/.well-known/oauth-protected-resource";

const sum = (text: string) => createHash("sha256").update(text).digest();

function requireBearer(headers: Headers, token: string): void {
  const shown = /^bearer\s+(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  if (!timingSafeEqual(sum(shown), sum(token)))
    throw new Refused({ status: 401, message: "Metrics need their own bearer token.", headers: { "WWW-Authenticate": "Bearer" } });
}

/** @throws Refused where the name or page by which we are called is not one of ours. */
function requireGuard({ guard, metrics }: RouteParts, incoming: IncomingMessage): void {
  const { host, origin } = incoming.headers;
  if (!guard.allowsHost(host)) {
    metrics.count("refused", "host");
    throw new Refused({ status: 403, message: "This Host is not served here; whoever runs the server can add it with --allowed-hosts." });
  }
  if (guard.allowsOrigin(origin)) return;
  metrics.count("refused", "origin");
  throw new Refused({ status: 403, message: "This Origin may not call; whoever runs the server can add it with --allowed-origins." });
}

const isJson = (type: string | null) => /^application\/json\s*(;|$)/i.test(type?.trim() ?? "");

/** @throws Refused 400 | 413 | 415 */
async function bodyOf(incoming: IncomingMessage, request: Request, limit: number): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  if (!isJson(request.headers.get("content-type"))) throw new Refused({ status: 415, message: "Content-Type must be application/json." });
  const text = await readBody(incoming, limit);
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body;
  } catch {
    throw new Refused({ status: 400, code: CODE.parse, message: "The body is not JSON." });
  }
  throw new Refused({ status: 400, code: CODE.invalidRequest, message: "The body is not a JSON-RPC message." });
}

/** What was shown is looked at first: it tells whose request it is, and who shows wrong things is slowed down. */
function visit(parts: RouteParts, request: Request, origin: string, address: string) {
  try {
    return parts.auth.visitor(request.headers, origin);
  } catch (error) {
    if (error instanceof Refused && error.refusal.status === 401) {
      const wait = parts.failures.take(address);
      if (wait > 0) throw new Refused({ status: 429, message: "Too many refused tokens from this address.", headers: later(wait) });
    }
    throw error;
  }
}

async function serveMcp(parts: RouteParts, incoming: IncomingMessage, request: Request, path: string): Promise<Answered> {
  const { guard, rates, endpoint, settings } = parts;
  if (!METHODS.includes(request.method))
    throw new Refused({ status: 405, message: "Method not allowed.", headers: { Allow: METHODS.join(", ") } });
  const origin = guard.originOf(incoming);
  const address = guard.addressOf(incoming);
  const visitor = visit(parts, request, origin, address);
  const wait = rates.take(visitor.digest ?? address);
  if (wait > 0) throw new Refused({ status: 429, message: "Too many requests.", headers: later(wait) });
  const body = await bodyOf(incoming, request, settings.maxBody);
  return await endpoint.serve({ request, path, body, visitor, origin, address });
}

const json = (value: unknown, status = 200): Response => Response.json(value, { status, headers: { "Cache-Control": "no-store" } });

const nothingHere = () => refuse({ status: 404, message: "Nothing is served here; the endpoint is /mcp." });

function createPlain(parts: RouteParts, isDraining: () => boolean, metrics: () => Response) {
  return (path: string, request: Request, incoming: IncomingMessage): Response => {
    if (request.method !== "GET" && request.method !== "HEAD") return nothingHere();
    if (path === "/healthz") return json({ status: "ok" });
    if (path === "/readyz") return isDraining() ? json({ status: "draining" }, 503) : json({ status: "ready" });
    if (path === "/metrics" && parts.settings.metricsToken !== undefined) {
      requireBearer(request.headers, parts.settings.metricsToken);
      return metrics();
    }
    if (path.startsWith(WELL_KNOWN)) {
      const metadata = parts.auth.metadata(parts.guard.originOf(incoming));
      if (metadata) return json(metadata);
    }
    return nothingHere();
  };
}

function toRefusal(error: unknown, { metrics, log }: RouteParts): Response {
  if (error instanceof Refused) {
    metrics.count("refused", String(error.refusal.status));
    return refuse(error.refusal);
  }
  log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return refuse({ status: 500, code: -32_603, message: "The server made a mistake." });
}

/** An answer's headers cannot be changed where they came from the SDK: the answer is made anew around its body. */
function withHeaders(response: Response, more: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

/** Counts what runs, so that a stop can wait for it. */
function createRunning() {
  let running = 0;
  let waiting: (() => void)[] = [];
  return {
    begin() {
      running++;
      return () => {
        running--;
        if (running > 0) return;
        for (const go of waiting) go();
        waiting = [];
      };
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
  };
}

export function createRoutes(parts: RouteParts): Routes {
  const { settings, guard, endpoint, held } = parts;
  const running = createRunning();
  let draining = false;
  const metrics = () => {
    const { open, revived, ended } = endpoint.sessions.counts();
    const text = parts.metrics.render({ ...held(), sessions_open: open, sessions_revived: revived, sessions_ended: ended });
    return new Response(text, { headers: { "Content-Type": "text/plain; version=0.0.4" } });
  };
  const plain = createPlain(parts, () => draining, metrics);
  const route = async (incoming: IncomingMessage, signal: AbortSignal): Promise<Answered> => {
    const request = toRequest(incoming, signal);
    const { pathname } = new URL(request.url);
    const path = pathname.startsWith(settings.basePath) ? pathname.slice(settings.basePath.length) : undefined;
    if (path === "/healthz" || path === "/readyz") return { response: plain(path, request, incoming) };
    requireGuard(parts, incoming);
    if (request.method === "OPTIONS") return { response: new Response(null, { status: 204 }) };
    if (pathname.startsWith(WELL_KNOWN)) return { response: plain(pathname, request, incoming) };
    if (path === undefined) return { response: nothingHere() };
    if (path !== "/mcp" && !path.startsWith("/mcp/")) return { response: plain(path, request, incoming) };
    if (draining) throw new Refused({ status: 503, message: "The server is stopping.", headers: { ...later(5), Connection: "close" } });
    return await serveMcp(parts, incoming, request, path.slice("/mcp".length));
  };
  return {
    metrics,
    drain() {
      draining = true;
    },
    idle: running.idle,
    async serve(incoming, outgoing) {
      const end = running.begin();
      const gone = new AbortController();
      outgoing.once("close", () => gone.abort());
      let answered: Answered | undefined;
      try {
        answered = await route(incoming, gone.signal).catch((error: unknown) => ({ response: toRefusal(error, parts) }));
        parts.metrics.count("http_requests", String(answered.response.status));
        await sendResponse(withHeaders(answered.response, guard.cors(incoming.headers.origin)), outgoing);
      } finally {
        answered?.done?.();
        end();
      }
    },
  };
}
