import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { Overdue, toCancelled, toFailure, toNetworkError, toOutcomeUnknown, toTimeout } from "./failures.ts";
import { notGitLab } from "./gitlab-errors.ts";
import { type Intake, type Kept, MOST_BYTES } from "./intake.ts";
import type { Network } from "./network.ts";
import { hostOf, nameOf, type Target } from "./target.ts";

export type Fetch = typeof globalThis.fetch;

/** One request, with every header, as it leaves. */
export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Names in `headers` that must not reach another origin. */
  readonly secretHeaders: readonly string[];
  readonly body?: string | FormData | Blob;
  /** Takes the body of a success, where it is not to be kept whole. */
  readonly intake?: Intake;
  /** Asked before a redirect is followed. @throws BridgeError where it must not be. */
  readonly lead?: (url: URL, from: URL) => Promise<void>;
  readonly target: Target;
}

/** One answer, read to its end. */
export interface Incoming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** A write was accepted, but its answer broke off. */
  readonly broken?: boolean;
  /** The body was longer: this part of it was kept. */
  readonly kept?: Kept;
}

export interface ExchangeParts {
  readonly fetch: Fetch;
  readonly network: Network;
  readonly timeout: number;
  readonly log: Log;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 5;

function moved(target: Target, status: number, location: URL): BridgeError {
  const id = /\/projects\/([^/]+)/.exec(location.pathname)?.[1];
  const where = id ? `project_id: ${decodeURIComponent(id)}` : `the new place, ${location.origin}${location.pathname}`;
  return new BridgeError(
    "not_found",
    `${nameOf(target)}: it has moved to ${location.origin}${location.pathname}; the request was not sent on.`,
    `Nothing was changed. Repeat the call with ${where}.`,
    { status },
  );
}

function step(response: Response, from: URL, target: Target): URL | undefined {
  const location = response.headers.get("location");
  if (!REDIRECTS.has(response.status) || location === null) return undefined;
  if (!URL.canParse(location, from.href)) throw notGitLab(target, response.status);
  const to = new URL(location, from);
  if (!/^https?:$/.test(to.protocol) || (from.protocol === "https:" && to.protocol === "http:")) throw notGitLab(target, response.status);
  return to;
}

const without = (headers: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

/** Follows redirects of GET by hand, without the credential once another origin is reached; others are not followed. */
async function follow(request: Outgoing, parts: ExchangeParts, { signal, onSend }: Clock): Promise<Response> {
  let { url, headers } = request;
  for (let hop = 0; ; hop++) {
    const dispatcher = await parts.network.dispatcher(url);
    signal.throwIfAborted();
    onSend();
    const init = { method: request.method, headers, body: request.body, redirect: "manual", signal, dispatcher };
    const response = await parts.fetch(url, init as unknown as RequestInit);
    const to = step(response, url, request.target);
    if (!to) return response;
    await response.body?.cancel();
    if (request.target.effect !== "read" || request.method !== "GET") throw moved(request.target, response.status, to);
    if (hop >= MOST_REDIRECTS) throw notGitLab(request.target, response.status);
    await request.lead?.(to, url);
    if (to.origin !== url.origin) headers = without(headers, request.secretHeaders);
    parts.log.debug(`${nameOf(request.target)}: followed to ${to.origin}${to.pathname}`);
    url = to;
  }
}

function tooLarge(target: Target): BridgeError {
  const hint = "Ask for less: a smaller limit, a filter, a part of the file; or fetch it outside of this server.";
  return new BridgeError(
    "too_large",
    `${nameOf(target)}: the answer of ${hostOf(target)} is larger than ${MOST_BYTES / 1_048_576} MB.`,
    hint,
  );
}

/** The whole body, up to what memory is given to it. */
function takeWhole(target: Target): Intake {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    begin: async () => undefined,
    async take(chunk) {
      size += chunk.byteLength;
      if (size > MOST_BYTES) throw tooLarge(target);
      chunks.push(chunk);
      return true;
    },
    end: () => ({ bytes: Buffer.concat(chunks, size) }),
  };
}

async function readBody(
  response: Response,
  { target, intake: own }: Outgoing,
  { signal, touch }: Clock,
): Promise<Pick<Incoming, "bytes" | "kept">> {
  const intake = (response.ok ? own : undefined) ?? takeWhole(target);
  const reader = response.body?.getReader();
  const stop = () => void reader?.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await intake.begin(response);
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      if (intake.patient) touch();
      if (await intake.take(part.value)) continue;
      stop();
      break;
    }
    signal.throwIfAborted();
    return intake.end();
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface Clock {
  readonly signal: AbortSignal;
  /** The request leaves now: from here on a write may have been done. */
  onSend(): void;
  readonly sent: () => boolean;
  /** Something came: the limit begins anew. */
  touch(): void;
  stop(): void;
}

/** The caller's signal and the time limit in one; the limit covers headers and body. */
function startClock(ms: number, caller: AbortSignal): Clock {
  const controller = new AbortController();
  let sent = false;
  const cancel = () => controller.abort(caller.reason);
  const start = () => setTimeout(() => controller.abort(new Overdue()), ms);
  let timer = start();
  if (caller.aborted) cancel();
  else caller.addEventListener("abort", cancel, { once: true });
  return {
    signal: controller.signal,
    onSend() {
      sent = true;
    },
    sent: () => sent,
    touch() {
      clearTimeout(timer);
      timer = start();
    },
    stop() {
      clearTimeout(timer);
      caller.removeEventListener("abort", cancel);
    },
  };
}

export class Lost extends Error {
  override readonly name = "Lost";
  readonly told: BridgeError;

  constructor(told: BridgeError) {
    super(told.message, { cause: told });
    this.told = told;
  }
}

function explain(error: unknown, { signal, sent }: Clock, target: Target, timeout: number): unknown {
  if (error instanceof BridgeError) return error;
  if (signal.aborted) return signal.reason instanceof Overdue ? toTimeout(target, timeout, sent()) : toCancelled(target, sent());
  const failure = toFailure(error);
  const told = toNetworkError(failure, target, error);
  return failure.kind === "lost" && told.code !== "outcome_unknown" ? new Lost(told) : told;
}

/**
 * Sends once and reads the answer to its end.
 * @throws Lost where a read may be tried again, BridgeError for everything else.
 */
export async function exchange(request: Outgoing, parts: ExchangeParts, caller: AbortSignal): Promise<Incoming> {
  const { target } = request;
  const clock = startClock(parts.timeout, caller);
  try {
    const response = await follow(request, parts, clock);
    const head = { status: response.status, headers: Object.fromEntries(response.headers) };
    try {
      return { ...head, ...(await readBody(response, request, clock)) };
    } catch (error) {
      if (target.effect === "read") throw error;
      if (response.ok) return { ...head, bytes: new Uint8Array(), broken: true };
      if (response.status < 500) return { ...head, bytes: new Uint8Array() };
      throw toOutcomeUnknown(`the answer (HTTP ${response.status}) broke off`, target, response.status, error);
    }
  } catch (error) {
    throw explain(error, clock, target, parts.timeout);
  } finally {
    clock.stop();
  }
}
