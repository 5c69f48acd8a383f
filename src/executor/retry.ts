const GATES = new Set([429, 502, 503, 504]);

export const isRetried = (status: number): boolean => GATES.has(status);

/** Longest wait inside one call; beyond it the caller is told when to come back. */
export const LONGEST_WAIT_S = 20;

/** Seconds until GitLab wants to hear from us again: `Retry-After` (seconds or a date), else the reset time of the limit. */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now = Date.now()): number | undefined {
  const after = headers["retry-after"]?.trim();
  if (after !== undefined && /^\d+$/.test(after)) return Number(after);
  const date = after === undefined ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  const reset = Number(headers["ratelimit-reset"]);
  if (headers["ratelimit-remaining"] !== "0" || !Number.isFinite(reset) || reset <= 0) return undefined;
  return Math.max(0, Math.ceil(reset - now / 1000));
}

/** Milliseconds before try number `attempt` (from 0), doubling; undefined where waiting inside the call would be too long. */
export function waitFor(attempt: number, headers: Readonly<Record<string, string>>, first: number): number | undefined {
  const asked = retryAfterOf(headers);
  if (asked === undefined) return first * 2 ** attempt;
  return asked > LONGEST_WAIT_S ? undefined : asked * 1000;
}

/** Requests left below which the rest is spread over the time until the limit is reset. */
const LOW = 10;
const LONGEST_PAUSE_MS = 2_000;

/** Milliseconds to hold back the next request so that the limit is not hit. */
export function pauseOf(headers: Readonly<Record<string, string>>, now = Date.now()): number {
  const remaining = Number(headers["ratelimit-remaining"] ?? Number.NaN);
  const reset = Number(headers["ratelimit-reset"]) * 1000 - now;
  if (!(remaining < LOW) || !(reset > 0)) return 0;
  return Math.min(LONGEST_PAUSE_MS, reset / (remaining + 1));
}

/** Resolves after the time or rejects with the signal's reason. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
