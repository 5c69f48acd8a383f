import { BridgeError } from "../../errors.ts";

export interface SendOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly retries: number;
  /** Milliseconds that one try may take. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Takes secrets out of what an error says. */
  readonly mask: (text: string) => string;
}

/** No longer than this between two tries, whatever the server asks for. */
const LONGEST = 60_000;
const SHOWN = 300;

/** Overload and trouble of the moment; everything else is answered the same way the next time. */
const again = (status: number): boolean => status === 429 || status === 408 || status >= 500;

/** `Retry-After` in milliseconds, given as seconds or as a date. */
export function toWait(header: string | null, tries: number, now: number): number {
  const own = 1_000 * 2 ** tries;
  if (header === null || header.trim() === "") return Math.min(own, LONGEST);
  const seconds = Number(header);
  const wanted = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - now;
  return Math.min(Math.max(Number.isFinite(wanted) ? wanted : own, 0), LONGEST);
}

type Try = { readonly json: unknown } | { readonly failure: BridgeError; readonly wait?: string | null };

function failed(status: number, text: string, mask: SendOptions["mask"]): BridgeError {
  const code = status === 429 ? "rate_limited" : status === 401 ? "unauthenticated" : status === 403 ? "forbidden" : "upstream_unavailable";
  const said = mask(text.replace(/\s+/g, " ").trim()).slice(0, SHOWN);
  const hint =
    code === "unauthenticated" || code === "forbidden"
      ? "Check the key, and the name of the variable that holds it."
      : "Check address, API and model.";
  return new BridgeError(code, `The model's API answered ${status}${said === "" ? "." : `: ${said}`}`, hint, { status });
}

async function attempt({ url, headers, body, timeout, signal, mask }: SendOptions): Promise<Try> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  let text: string;
  let response: Response;
  try {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: either,
    };
    response = await fetch(url, init);
    text = await response.text();
  } catch (error) {
    if (signal.aborted) throw error;
    if (either.aborted)
      return { failure: new BridgeError("timeout", `The model's API did not answer in ${timeout} ms.`, "Raise --model-timeout.") };
    const why = mask(String((error as { cause?: { message?: string } }).cause?.message ?? (error as Error).message));
    const failure = new BridgeError("upstream_unavailable", `The model's API cannot be reached: ${why}`, "Check the address.");
    return { failure, wait: null };
  }
  if (!response.ok) {
    const failure = failed(response.status, text, mask);
    return again(response.status) ? { failure, wait: response.headers.get("retry-after") } : { failure };
  }
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    const start = mask(text).slice(0, 80);
    return { failure: new BridgeError("upstream_unavailable", `The model's API sent no JSON: ${start}`, "Check the address.") };
  }
}

/** Posts JSON and reads JSON; tries again on overload, waiting as long as the server asks, and gives up after `retries`. */
export async function send(options: SendOptions): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    const outcome = await attempt(options);
    if ("json" in outcome) return outcome.json;
    if (outcome.wait === undefined || tries >= options.retries) throw outcome.failure;
    await options.pause(toWait(outcome.wait, tries, Date.now()), options.signal);
  }
}
