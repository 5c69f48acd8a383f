import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  type FetchLike,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Log } from "../log.ts";
import { ChildTransport } from "./child.ts";
import type { UpstreamConfig } from "./config.ts";
import { type Gate, gate } from "./gate.ts";
import { SignInNeeded } from "./oauth.ts";

/** Asks the person behind a call. */
export type Elicit = (params: ElicitRequest["params"]) => Promise<ElicitResult>;

/** Where a bridge tells which upstreams it has, so that it is known when met again. */
export const SELF = "com.gitlab/bridge";

/** One live connection to an upstream. */
export interface Live {
  readonly client: Client;
  readonly gate: Gate;
  /** Calls in flight whose user can be asked, oldest first. */
  readonly asking: Set<Elicit>;
  readonly closed: Promise<void>;
  readonly isClosed: () => boolean;
  close(): Promise<void>;
}

export interface DialOptions {
  readonly config: UpstreamConfig;
  readonly version: string;
  readonly log: Log;
  /** The caller's own headers that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  /** Users behind this connection can be asked while a call runs. */
  readonly elicits: boolean;
  /** What our own upstreams are known by. */
  readonly fingerprint: string;
  readonly onListChanged: () => void;
  /** How servers over the network are reached, where that is not plainly. */
  readonly reach?: FetchLike;
}

/** Ways to open a connection, newest first. */
type Way = "auto" | "legacy" | "sse";

/** The way that worked last, and when: an upstream may be renewed. */
export type Verdicts = Map<string, { readonly way: Way; readonly at: number }>;

const HORIZON = 24 * 3_600_000;
const LONGEST_CONNECT = 30_000;
/** A server that does not know the question is given this long to say so. */
const PROBE = 5_000;

/** The address of an upstream that is this very bridge. */
export class LoopError extends Error {
  override readonly name = "LoopError";
}

function toTransport({ config, headers, log, reach }: DialOptions, way: Way): Transport {
  const { link } = config;
  if (link.kind === "stdio") return new ChildTransport({ ...link, onLine: (line) => log.debug(`${config.name}: ${line}`) });
  const init = {
    requestInit: { headers: { ...link.headers, ...headers } },
    ...(reach ? { fetch: reach } : {}),
    ...config.auth?.connection(),
  };
  return way === "sse" ? new SSEClientTransport(new URL(link.url), init) : new StreamableHTTPClientTransport(new URL(link.url), init);
}

function toClient(options: DialOptions, asking: ReadonlySet<Elicit>, way: Way): Client {
  const timeoutMs = Math.min(PROBE, options.config.timeout);
  const client = new Client(
    { name: "gitlab-toolset-bridge", version: options.version },
    {
      capabilities: options.elicits ? { elicitation: { form: {} } } : {},
      versionNegotiation: way === "auto" ? { mode: "auto", probe: { timeoutMs } } : { mode: "legacy" },
    },
  );
  if (options.elicits) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const ask = [...asking].at(-1);
      return ask ? await ask(params) : { action: "cancel" };
    });
  }
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onListChanged());
  client.onerror = (error) => options.log.debug(`${options.config.name}: ${error.message}`);
  return client;
}

/** @throws LoopError */
function refuseOurselves(client: Client, { config, fingerprint }: DialOptions): void {
  const told = client.getServerCapabilities()?.experimental?.[SELF] as { upstreams?: unknown } | undefined;
  if (told?.upstreams === fingerprint) throw new LoopError(`${config.name} is this server itself`);
}

async function open(options: DialOptions, way: Way): Promise<Live> {
  const { config, log } = options;
  const asking = new Set<Elicit>();
  const transport = toTransport(options, way);
  const seen = gate(transport);
  const client = toClient(options, asking, way);
  let closed = false;
  const ended = new Promise<void>((resolve) => {
    client.onclose = () => {
      closed = true;
      resolve();
    };
  });
  try {
    await client.connect(transport, { timeout: Math.min(config.timeout, LONGEST_CONNECT) });
    refuseOurselves(client, options);
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
  log.debug(`${config.name}: connected, MCP ${client.getNegotiatedProtocolVersion() ?? "?"}`);
  const close = async () => {
    if (transport instanceof StreamableHTTPClientTransport)
      await Promise.race([transport.terminateSession().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500).unref())]);
    await client.close().catch(() => {});
  };
  return { client, gate: seen, asking, closed: ended, isClosed: () => closed, close };
}

/** Statuses of a server that does not know Streamable HTTP. */
const isOlder = (error: unknown): boolean => error instanceof SdkHttpError && [400, 404, 405, 406, 415, 501].includes(error.status ?? 0);

/** Whether the next older way may work where this one did not. */
function goesOn(error: unknown, way: Way, kind: UpstreamConfig["link"]["kind"]): boolean {
  if (error instanceof LoopError || error instanceof SignInNeeded) return false;
  if (kind === "stdio") return way === "auto";
  if (way === "auto") return isOlder(error) || (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed);
  return way === "legacy" && isOlder(error);
}

function waysFor({ config }: DialOptions, verdicts: Verdicts, now: number): readonly Way[] {
  if (config.link.kind === "sse") return ["sse"];
  const all: readonly Way[] = config.link.kind === "stdio" ? ["auto", "legacy"] : ["auto", "legacy", "sse"];
  const known = verdicts.get(config.name);
  if (!known || now - known.at > HORIZON) return all;
  return [known.way, ...all.filter((way) => way !== known.way)];
}

/** Connects to an upstream of either era; the way that works is remembered for a day. @throws SignInNeeded before anything is sent */
export async function dial(options: DialOptions, verdicts: Verdicts): Promise<Live> {
  await options.config.auth?.ready();
  let last: unknown;
  for (const way of waysFor(options, verdicts, Date.now())) {
    try {
      const live = await open(options, way);
      const legacy = way === "auto" && live.client.getProtocolEra() === "legacy";
      verdicts.set(options.config.name, { way: legacy ? "legacy" : way, at: Date.now() });
      return live;
    } catch (error) {
      last ??= error;
      if (!goesOn(error, way, options.config.link.kind)) throw error;
    }
  }
  throw last;
}
