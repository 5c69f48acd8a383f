import { createHash } from "node:crypto";
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { CallContext, Credential, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { readArguments } from "./arguments.ts";
import type { Asker } from "./ask.ts";
import { capResult } from "./cap.ts";
import { installCapabilities, offered } from "./capabilities.ts";
import { advertisesListChanged, type Connection, CREDENTIAL, type Link, type Seen } from "./connection.ts";
import { dispatcherNamed, dispatchersOn, hasDispatchers, toDispatcherTool } from "./dispatcher.ts";
import { ENTRY_TOOLS, entryTool, entryToolsFor } from "./entry.ts";
import type { CallKey, Own } from "./hold.ts";
import { toInstructions } from "./instructions.ts";
import { resourceLink } from "./links.ts";
import { listTools, namer } from "./list.ts";
import { readerOf, renderAnswer, renderError, renderOutcome, type ToolResult } from "./render.ts";
import type { Answer, EntryTool, ToolCall } from "./tool.ts";

export interface ServerParts {
  readonly connection: Connection;
  readonly link: Link;
  readonly asker: Asker;
  /** Who calls, with which credential of its own. */
  readonly caller: (credential: Credential | undefined) => Pick<CallContext, "principal" | "credential" | "limits">;
  readonly onBug: (error: unknown) => void;
}

const canBeAsked = (capabilities: ClientCapabilities | undefined): boolean => {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
};

/** Who the client says it is: in the modern era each request tells, in the legacy era the handshake told. */
function clientOf(server: Server, { mcpReq }: ServerContext): { capabilities: ClientCapabilities | undefined; name: string | undefined } {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] as { name?: string } | undefined;
  return { capabilities: capabilities ?? server.getClientCapabilities(), name: info?.name ?? server.getClientVersion()?.name };
}

const seenBy = (link: Link, server: Server, context: ServerContext): Seen => {
  const { name } = clientOf(server, context);
  const greeted = link.era === "modern" || server.getClientVersion() !== undefined;
  return { link, greeted, ...(name === undefined ? {} : { client: name }) };
};

/** The credential that came with this request, where the transport found one. */
const credentialIn = (context: ServerContext): Credential | undefined =>
  context.http?.authInfo?.extra?.[CREDENTIAL] as Credential | undefined;

/** A person takes a while to answer. */
const ASKING = 600_000;

/** What only calls of other MCP servers need of the request. */
function toUpstreamContext({ connection, link }: ServerParts, { mcpReq, http }: ServerContext, canAsk: boolean): Partial<CallContext> {
  if (!connection.upstreams) return {};
  const headers = http?.req?.headers;
  const elicit: CallContext["elicit"] = (params) =>
    mcpReq.elicitInput(params as Parameters<typeof mcpReq.elicitInput>[0], { timeout: ASKING, signal: mcpReq.signal });
  return {
    ...(connection.key === undefined ? {} : { session: connection.key }),
    ...(headers ? { header: (name: string) => headers.get(name) ?? undefined } : {}),
    // In the modern era a question ends the request: there the holder of the call asks.
    ...(canAsk && link.era === "legacy" ? { elicit } : {}),
  };
}

function toContext(parts: ServerParts, server: Server, context: ServerContext, own: Partial<Own> = {}): CallContext {
  const { mcpReq } = context;
  const token = mcpReq._meta?.progressToken;
  const answer = parts.asker.answerIn(context);
  const project = parts.connection.project();
  const client = clientOf(server, context);
  return {
    ...parts.caller(credentialIn(context)),
    ...toUpstreamContext(parts, context, canBeAsked(client.capabilities)),
    signal: mcpReq.signal,
    canAsk: canBeAsked(client.capabilities),
    meta: mcpReq._meta ?? {},
    ...(answer ? { answer } : {}),
    ...(project === undefined ? {} : { project }),
    ...(client.name === undefined ? {} : { client: client.name }),
    ...(token === undefined
      ? {}
      : {
          progress: (progress) => {
            // A client that went away is told nothing; the run itself is stopped by the signal.
            void mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, ...progress } }).catch(() => {});
          },
        }),
    ...own,
  };
}

const LIST_CHANGED = { method: "notifications/tools/list_changed" } as const;

const isAnswer = (value: Answer | Outcome): value is Answer => !("kind" in value);

type Called = { readonly entry: EntryTool } | { readonly action: string };

/** What a called name means. @throws ProtocolError -32602 for a name that exists nowhere. */
function lookUp(connection: Connection, name: string): Called {
  const { prefix } = connection.settings;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const entry = entryTool(bare);
  if (entry) return { entry };
  if (connection.registry.tool(bare)) return { action: bare };
  const dispatcher = dispatcherNamed(connection, bare);
  if (dispatcher) return { entry: toDispatcherTool(dispatcher) };
  try {
    return { action: connection.registry.resolve(bare).id };
  } catch {
    const dispatchers = hasDispatchers(connection) ? dispatchersOn(connection).map((one) => one.name) : [];
    const tools = connection.registry.actions().map((action) => action.tool);
    const known = [...ENTRY_TOOLS.map((tool) => tool.name), ...dispatchers, ...tools];
    const near = nearest(bare, known).map((tool) => `${prefix}${tool}`);
    const hint = near.length > 0 ? ` Nearest: ${near.join(", ")}.` : "";
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name.slice(0, 100)}".${hint}`);
  }
}

/** Other servers are waited for only where the call may mean something of theirs. */
async function settleUpstreams({ connection }: ServerParts, name: string, args: Readonly<Record<string, unknown>>, context: CallContext) {
  const { prefix } = connection.settings;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const target = entryTool(bare) && typeof args.action === "string" ? args.action.trim().toLowerCase() : bare;
  const isKnown = connection.registry.tool(target) ?? connection.registry.actions().find((action) => action.id === target);
  if (!isKnown) await connection.upstreams?.ready(context);
}

async function callTool(parts: ServerParts, server: Server, { params }: CallToolRequest, context: ServerContext, own?: Own) {
  const { connection, link } = parts;
  const { name, arguments: rawArgs = {} } = params;
  const callContext = toContext(parts, server, context, own);
  if (connection.upstreams) await settleUpstreams(parts, name, rawArgs, callContext);
  const called = lookUp(connection, name);
  if ("action" in called) {
    const runner = await connection.runner();
    return await finish(parts, server, await runner.run({ name: called.action, params: rawArgs }, callContext));
  }
  const args = readArguments(called.entry, rawArgs);
  const call: ToolCall = {
    connection,
    link,
    context: callContext,
    named: namer(connection),
    tellListChanged: () => {
      link.takeOwed?.();
      return context.mcpReq.notify(LIST_CHANGED);
    },
  };
  return await finish(parts, server, await called.entry.run(args, call));
}

/** Links came with revision 2025-06-18; clients of older ones take a result with one for broken. */
const takesLinks = (server: Server): boolean => (server.getNegotiatedProtocolVersion() ?? "2026-07-28") >= "2025-06-18";

async function finish(parts: ServerParts, server: Server, result: Answer | Outcome): Promise<ToolResult | InputRequiredResult> {
  if (isAnswer(result)) return renderAnswer(result);
  if (result.kind === "needs_input") return await parts.asker.ask(result.question);
  const rendered = renderOutcome(result);
  const link = takesLinks(server) ? resourceLink(parts.connection, result) : undefined;
  return link ? { ...rendered, content: [...rendered.content, link] } : rendered;
}

/** Other servers may ask while they run; in the modern era that ends the client's request, not the call. */
const mayBeHeld = ({ connection, link }: ServerParts, server: Server, context: ServerContext): boolean =>
  link.era === "modern" && connection.upstreams !== undefined && canBeAsked(clientOf(server, context).capabilities);

/** The same call of the same client. */
function keyOf({ connection: { key = "" } }: ServerParts, { params }: CallToolRequest): CallKey {
  const text = JSON.stringify([key, params.name, params.arguments]);
  return { client: key, binding: createHash("sha256").update(text).digest("base64url") };
}

/** By this a bridge that meets itself as an upstream knows it. */
const SELF = "com.gitlab/bridge";
const selfMark = ({ upstreams }: Connection) => (upstreams ? { experimental: { [SELF]: { upstreams: upstreams.fingerprint } } } : {});

/** Tells the one client of a change that no call of its own made. On HTTP the session's own streams do. */
function tellRefreshed(server: Server, { session }: Connection, link: Link): void {
  session.events.on("refreshed", () => {
    if (server.transport !== undefined && link.canTell()) server.sendToolListChanged().catch(() => {});
  });
}

/** An SDK server for one connection. Makes no session and sends nothing to GitLab: the SDK also calls this for probes. */
export function createServer(parts: ServerParts): Server {
  const { connection, link } = parts;
  const { settings } = connection;
  const title = settings.name ? `GitLab toolset bridge (${settings.name})` : "GitLab toolset bridge";
  const tells = advertisesListChanged(settings, link.era, link.transport);
  const server = new Server(
    { name: "gitlab-toolset-bridge", title, version: connection.version },
    {
      capabilities: {
        ...selfMark(connection),
        tools: tells ? { listChanged: true } : {},
        ...offered(settings),
      },
      instructions: toInstructions(connection, entryToolsFor(connection), parts.caller(undefined).principal.user?.username),
      requestState: { verify: parts.asker.verify },
    },
  );
  if (link.transport === "stdio" && tells) tellRefreshed(server, connection, link);
  server.setRequestHandler("tools/list", async (_request, context) => {
    if (connection.upstreams?.listed) await connection.upstreams.ready(toContext(parts, server, context));
    connection.session.listed();
    link.takeOwed?.();
    const tools = listTools(connection);
    connection.trial?.listed(connection, seenBy(link, server, context), tools);
    return { tools: tools as unknown as Tool[] };
  });
  const answerCall = async (request: CallToolRequest, context: ServerContext): Promise<CallToolResult | InputRequiredResult> => {
    try {
      const run = (own?: Own) => callTool(parts, server, request, context, own);
      const result = mayBeHeld(parts, server, context) ? await parts.asker.holder.run(keyOf(parts, request), context, run) : await run();
      if (link.takeOwed?.()) await context.mcpReq.notify(LIST_CHANGED);
      return (await capResult(result as ToolResult)) as unknown as CallToolResult | InputRequiredResult;
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (!(error instanceof BridgeError)) parts.onBug(error);
      return (await capResult(renderError(error, readerOf(connection.policy)))) as unknown as CallToolResult;
    }
  };
  server.setRequestHandler("tools/call", (request, context) => {
    const run = () => answerCall(request, context);
    return connection.trial?.call(connection, seenBy(link, server, context), request.params.name, run) ?? run();
  });
  installCapabilities(server, { connection, toContext: (context) => toContext(parts, server, context) });
  return server;
}
