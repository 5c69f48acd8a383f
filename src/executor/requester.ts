import type { Projects } from "@gitbeaker/rest";
import type PQueue from "p-queue";
import type { CallContext, Credential, Effect } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Door } from "../policy/door.ts";
import { toQuery } from "./address.ts";
import { type Credentials, type Held, isNone, type Owner } from "./credentials.ts";
import { isHtml } from "./error-words.ts";
import { exchange, type Fetch, type Incoming, Lost, type Outgoing } from "./exchange.ts";
import { toCancelled } from "./failures.ts";
import { notGitLab, titleOf, toGitLabError, unauthenticated } from "./gitlab-errors.ts";
import type { Intake, Kept } from "./intake.ts";
import type { Network } from "./network.ts";
import { isRetried, pauseOf, wait, waitFor } from "./retry.ts";
import { hostOf, nameOf, type Target } from "./target.ts";

/** gitbeaker's own contract of a requester. */
type RequesterType = Projects["requester"];

/** What gitbeaker tells a requester about the resource that it is made for. */
interface Resource {
  readonly url: string;
}

/** What our rows know beyond gitbeaker's own request options. */
export interface Sending {
  readonly template: string;
  readonly effect: Effect;
  readonly target: Target;
  /** The run that it is made for; its scope judges the request before anything else. */
  readonly context?: CallContext;
  readonly toolset?: string;
  readonly credential?: Credential;
  readonly client?: string;
  /** The answer's bytes as a Blob, whatever its type. */
  readonly raw?: boolean;
  /** Takes the body of a success, where it is not to be kept whole. */
  readonly intake?: Intake;
  /** Text of a GraphQL document; the request then goes to `/api/graphql`. */
  readonly graphql?: string;
}

export interface RequestOptions {
  readonly searchParams?: Record<string, unknown>;
  readonly body?: FormData | Blob | Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly asStream?: boolean;
  readonly sending?: Sending;
}

/** An answer, with whose credential got it. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly owner: Owner;
  /** GitLab accepted a write, but what it answered cannot be read. */
  readonly unreadable?: boolean;
  /** The body was longer: this part of it was kept. */
  readonly kept?: Kept;
}

export interface RequesterParts {
  readonly settings: Pick<Settings, "timeout" | "retries" | "concurrency">;
  readonly door: Door;
  readonly log: Log;
  readonly version: string;
  readonly fetch: Fetch;
  readonly network: Network;
  readonly credentials: Credentials;
  /** Milliseconds before the first repeat; doubled each time. */
  readonly firstWait?: number;
  readonly wait?: typeof wait;
}

const FIRST_WAIT_MS = 300;

/** The road of one host: a queue, and the moment before which nothing more is sent. */
interface Lane {
  readonly queue: PQueue;
  notBefore: number;
}

const userAgent = (version: string, client: string | undefined) => {
  const name = client?.replace(/[^\x20-\x27\x2a-\x7e]/g, "").slice(0, 60);
  return `gitlab-toolset-bridge/${version}${name ? ` (${name})` : ""}`;
};

function toBody(incoming: Incoming, raw: boolean): unknown {
  const type = incoming.headers["content-type"] ?? "";
  if (incoming.bytes.byteLength === 0) return raw ? new Blob([]) : null;
  if (raw) return new Blob([new Uint8Array(incoming.bytes)], { type });
  const text = new TextDecoder().decode(incoming.bytes);
  return type === "" || /[/+]json/i.test(type) ? JSON.parse(text) : text;
}

const startOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 2_000));

function brokenRead(target: Target, cause: unknown): BridgeError {
  const hint = "The answer was cut on its way (a proxy, a time limit). Ask for less at once and try again.";
  return new BridgeError("gitlab_unavailable", `${nameOf(target)}: the answer of ${hostOf(target)} broke off.`, hint, {}, cause);
}

/** A write that GitLab accepted is a success, whatever its answer looks like. */
function toReply(incoming: Incoming, sending: Sending, owner: Owner): Reply {
  const { status, headers } = incoming;
  const { target } = sending;
  const start = startOf(incoming.bytes);
  if (!sending.raw && isHtml(start, headers["content-type"])) throw notGitLab(target, status, titleOf(start));
  try {
    const body = toBody(incoming, sending.raw ?? false);
    const { kept } = incoming;
    return { status, headers, body, owner, ...(incoming.broken ? { unreadable: true } : {}), ...(kept ? { kept } : {}) };
  } catch (error) {
    if (target.effect === "read") throw brokenRead(target, error);
    return { status, headers, body: null, owner, unreadable: true };
  }
}

function errorBody(incoming: Incoming): unknown {
  try {
    return toBody(incoming, false);
  } catch {
    return startOf(incoming.bytes);
  }
}

interface Prepared {
  readonly method: string;
  readonly url: URL;
  readonly body?: string | FormData | Blob;
  readonly headers: Readonly<Record<string, string>>;
  readonly sending: Sending;
  readonly signal: AbortSignal;
}

function prepare(parts: RequesterParts, method: string, resource: Resource, endpoint: string, options: RequestOptions): Prepared {
  const path = `/${endpoint.replace(/^\/+/, "")}`;
  const own = resource.url.replace(/\/+$/, "");
  const effect = method === "GET" ? "read" : "write";
  const instance = own.replace(/\/api\/v4$/, "");
  const sending = options.sending ?? { template: path, effect, target: { action: `${method} ${path}`, effect, instance } };
  const base = new URL(sending.graphql === undefined ? own : own.replace(/\/v4$/, ""));
  const query = toQuery(options.searchParams ?? {});
  const url = new URL(`${base.href}${path}${query === "" ? "" : `?${query}`}`);
  const graphql = sending.graphql === undefined ? {} : { graphql: sending.graphql };
  const toolset = sending.toolset === undefined ? {} : { toolset: sending.toolset };
  parts.door({ method, url, base, template: sending.template, effect: sending.effect, body: options.body, ...toolset, ...graphql });
  const bytes = options.body instanceof FormData || options.body instanceof Blob ? options.body : undefined;
  return {
    method,
    url,
    sending,
    signal: options.signal ?? new AbortController().signal,
    headers: {
      accept: sending.raw ? "*/*" : "application/json",
      "user-agent": userAgent(parts.version, sending.client),
      ...(options.body && !bytes ? { "content-type": "application/json" } : {}),
    },
    ...(options.body ? { body: bytes ?? JSON.stringify(options.body) } : {}),
  };
}

/** A signal that follows the caller's only until the request is on its way: from then on the exchange itself judges a cancel. */
function whileWaiting(caller: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const cancel = () => controller.abort(caller.reason);
  if (caller.aborted) cancel();
  else caller.addEventListener("abort", cancel, { once: true });
  return { signal: controller.signal, release: () => caller.removeEventListener("abort", cancel) };
}

async function inLane(lane: Lane, parts: RequesterParts, outgoing: Outgoing, caller: AbortSignal): Promise<Incoming> {
  const waiting = whileWaiting(caller);
  const pause = parts.wait ?? wait;
  const { fetch, network, log, settings } = parts;
  const job = async () => {
    const ms = lane.notBefore - Date.now();
    if (ms > 0) await pause(ms, waiting.signal);
    waiting.release();
    if (caller.aborted) throw toCancelled(outgoing.target, false);
    const incoming = await exchange(outgoing, { fetch, network, log, timeout: settings.timeout }, caller);
    lane.notBefore = Date.now() + pauseOf(incoming.headers);
    return incoming;
  };
  try {
    return await lane.queue.add(job, { signal: waiting.signal });
  } catch (error) {
    throw waiting.signal.aborted ? toCancelled(outgoing.target, false) : error;
  } finally {
    waiting.release();
  }
}

function createLanes(concurrency: number): (url: URL) => Promise<Lane> {
  const lanes = new Map<string, Promise<Lane>>();
  const make = async (): Promise<Lane> => {
    const { default: Queue } = await import("p-queue");
    return { queue: new Queue({ concurrency }), notBefore: 0 };
  };
  return (url) => {
    const lane = lanes.get(url.host) ?? make();
    lanes.set(url.host, lane);
    return lane;
  };
}

function toOutgoing({ method, url, body, headers, sending }: Prepared, held: Held): Outgoing {
  const scope = sending.context?.scope;
  return {
    method,
    url,
    headers: { ...headers, ...held.headers },
    secretHeaders: Object.keys(held.headers),
    ...(body === undefined ? {} : { body }),
    ...(sending.intake ? { intake: sending.intake } : {}),
    ...(scope ? { lead: (to, from) => scope.lead(to, from) } : {}),
    target: sending.target,
  };
}

/** Repeats a read while that can help; undefined where it cannot. */
function repeatAfter(parts: RequesterParts, sending: Sending, attempt: number, result: Incoming | Lost): number | undefined {
  if (sending.effect !== "read" || attempt >= parts.settings.retries) return undefined;
  const first = parts.firstWait ?? FIRST_WAIT_MS;
  if (result instanceof Lost) return waitFor(attempt, {}, first);
  return isRetried(result.status) ? waitFor(attempt, result.headers, first) : undefined;
}

function lostOrThrow(error: unknown): Lost {
  if (error instanceof Lost) return error;
  throw error;
}

async function send(parts: RequesterParts, lane: Lane, prepared: Prepared): Promise<Reply> {
  const { sending, signal } = prepared;
  const { target } = sending;
  let held = await parts.credentials.get(sending.credential);
  if (isNone(held.owner) && sending.effect !== "read") throw unauthenticated(target, held.owner);
  let renewed = false;
  for (let attempt = 0; ; attempt++) {
    if (signal.aborted) throw toCancelled(target, false);
    const result = await inLane(lane, parts, toOutgoing(prepared, held), signal).catch(lostOrThrow);
    if (!(result instanceof Lost) && result.status >= 200 && result.status < 300) return toReply(result, sending, held.owner);
    if (!(result instanceof Lost) && result.status === 401 && !renewed) {
      renewed = true;
      const fresh = await parts.credentials.renew(sending.credential, held);
      if (fresh) {
        held = fresh;
        attempt--;
        continue;
      }
    }
    const ms = repeatAfter(parts, sending, attempt, result);
    if (ms === undefined)
      throw result instanceof Lost ? result.told : toGitLabError({ ...result, body: errorBody(result) }, target, held.owner);
    parts.log.info(`${nameOf(target)}: trying again in ${Math.round(ms)} ms`);
    await (parts.wait ?? wait)(ms, signal).catch(() => {
      throw toCancelled(target, false);
    });
  }
}

/** A requester for gitbeaker: every byte to GitLab goes through here. */
export function createRequesterFn(parts: RequesterParts): (resource: Resource) => RequesterType {
  const laneOf = createLanes(parts.settings.concurrency);
  return (resource) => {
    const on =
      (method: string) =>
      async (endpoint: string, options: RequestOptions = {}) => {
        const prepared = prepare(parts, method, resource, endpoint, options);
        const reply = await send(parts, await laneOf(prepared.url), prepared);
        const asked = options.asStream && reply.body instanceof Blob ? { ...reply, body: reply.body.stream() } : reply;
        return asked as unknown as { body: never; headers: Record<string, string>; status: number };
      };
    return { get: on("GET"), post: on("POST"), put: on("PUT"), patch: on("PATCH"), delete: on("DELETE") };
  };
}
