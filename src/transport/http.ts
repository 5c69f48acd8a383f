import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpSettings, isLoopback } from "../config/http-check.ts";
import type { Log } from "../log.ts";
import { createAuth } from "./auth.ts";
import { createEnded } from "./ended.ts";
import { createEvents } from "./events.ts";
import { createGuard } from "./http-guard.ts";
import { createCounter, createGates, createRateLimiter, LIMITS } from "./http-limits.ts";
import { createRoutes, type Routes } from "./http-routes.ts";
import { createEndpoint, type HttpBridge } from "./mcp-endpoint.ts";
import { createMetrics } from "./metrics.ts";
import { createTickets } from "./tickets.ts";
import { sendResponse } from "./web.ts";

export interface HttpOptions {
  readonly settings: HttpSettings;
  readonly bridge: HttpBridge;
  readonly log: Log;
  /** Remembers ended sessions over a restart; of use only where their ids live on. */
  readonly endedFile?: string;
}

/** A server that listens. */
export interface HttpServer {
  /** Address of the endpoint, as this machine reaches it. */
  readonly url: string;
  readonly port: number;
  readonly metricsPort?: number;
  /** Sizes of everything that is held: all of it goes back to zero when nobody is there. */
  held(): Readonly<Record<string, number>>;
  /** Takes nothing new, lets what runs end (for a while), then closes. */
  stop(): Promise<void>;
}

function build({ settings, bridge, log, endedFile }: HttpOptions) {
  const key = createHash("sha256")
    .update(settings.sessionKey ?? randomBytes(32))
    .digest();
  const auth = createAuth(settings, key);
  const events = createEvents();
  const gates = createGates(settings.maxCalls);
  const streams = createCounter(LIMITS.streams);
  const failures = createRateLimiter(LIMITS.failures);
  const rates = createRateLimiter(settings.rateLimit);
  const metrics = createMetrics();
  const ended = createEnded({ file: settings.sessionKey === undefined ? undefined : endedFile, log });
  const tickets = createTickets(key);
  const endpoint = createEndpoint({ bridge, settings, log, auth, tickets, ended, events, gates, streams, failures, metrics });
  const held = () => ({
    sessions: endpoint.sessions.counts().open,
    streams: streams.total(),
    event_bytes: events.bytes(),
    callers: gates.size(),
    rated: rates.size() + failures.size(),
  });
  const routes = createRoutes({ settings, log, auth, guard: createGuard(settings), rates, failures, metrics, endpoint, held });
  const sweep = () => {
    events.sweep();
    rates.sweep();
    failures.sweep();
    endpoint.sessions.sweep().catch((error: unknown) => log.error(String(error)));
  };
  return { endpoint, routes, held, sweep };
}

function answerWith(serve: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>, log: Log) {
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end();
    });
  };
}

function createNodeServer(routes: Routes, log: Log): Server {
  const server = createServer(
    {
      maxHeaderSize: LIMITS.headerBytes,
      headersTimeout: LIMITS.headersMs,
      requestTimeout: LIMITS.requestMs,
      keepAliveTimeout: LIMITS.idleSocketMs,
      connectionsCheckingInterval: 5_000,
    },
    answerWith(routes.serve, log),
  );
  server.on("connection", (socket) => socket.setKeepAlive(true, LIMITS.keepAliveMs));
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    else socket.destroy();
  });
  return server;
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

const closed = (server: Server | undefined) =>
  new Promise<void>((resolve) => {
    if (server?.listening) server.close(() => resolve());
    else resolve();
    server?.closeIdleConnections();
  });

function createMetricsServer(routes: Routes, log: Log): Server {
  return createServer(answerWith(async (_incoming, outgoing) => sendResponse(routes.metrics(), outgoing), log));
}

const waitFor = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Serves MCP over Streamable HTTP, both eras at one address. */
export async function serveOverHttp(options: HttpOptions): Promise<HttpServer> {
  const { settings, log } = options;
  const { endpoint, routes, held, sweep } = build(options);
  const server = createNodeServer(routes, log);
  // What the first call needs is loaded before the first client comes: nobody waits for it.
  await options.bridge.connect({ wishes: {}, gate: (_context, run) => run() }).runner();
  const port = await listen(server, settings.port, settings.host);
  const metrics = settings.metricsPort === undefined ? undefined : createMetricsServer(routes, log);
  const metricsPort = metrics ? await listen(metrics, settings.metricsPort ?? 0, settings.host) : undefined;
  const timer = setInterval(sweep, LIMITS.sweepMs);
  const host = isLoopback(settings.host) && !settings.host.includes(":") ? settings.host : "127.0.0.1";
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    routes.drain();
    const gone = Promise.all([closed(server), closed(metrics)]);
    for (const session of endpoint.sessions.all()) session.hangUp();
    await Promise.race([routes.idle(), waitFor(LIMITS.drainMs)]);
    await endpoint.close();
    server.closeAllConnections();
    metrics?.closeAllConnections();
    await gone;
    clearInterval(timer);
  };
  return {
    url: `http://${host}:${port}${settings.basePath}/mcp`,
    port,
    ...(metricsPort === undefined ? {} : { metricsPort }),
    held,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
