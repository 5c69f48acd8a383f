import PQueue from "p-queue";
import { BridgeError } from "../errors.ts";

/** Bounds that are not settings; each is far from what an honest client does. */
export const LIMITS = {
  headerBytes: 16_384,
  headersMs: 20_000,
  requestMs: 60_000,
  keepAliveMs: 15_000,
  idleSocketMs: 75_000,
  drainMs: 10_000,
  sweepMs: 15_000,
  /** Notification streams that one person may hold open. */
  streams: 32,
  /** Calls of one person that wait for their turn. */
  waiting: 100,
  /** Refused credentials a minute from one address. */
  failures: 30,
  batch: 50,
  /** Characters of a session id: it must fit a header beside others. */
  sessionId: 6_000,
  /** Days for which a signed id is good after a restart. */
  revivalDays: 7,
  /** Finished results that wait for a client whose connection dropped. */
  eventsPerSession: 64,
  eventBytesPerSession: 2_000_000,
  eventBytes: 64_000_000,
  eventMs: 5 * 60_000,
} as const;

interface Bucket {
  left: number;
  at: number;
}

/** So many a minute for each key; what was not used in the last minute may come at once. */
export interface RateLimiter {
  /** Seconds to wait; 0 = go on, and it counts. */
  take(key: string): number;
  /** Whether nothing is left; takes nothing. */
  isEmpty(key: string): boolean;
  /** Drops keys that are full again. */
  sweep(): void;
  size(): number;
}

export function createRateLimiter(perMinute: number, now: () => number = Date.now): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;
  const filled = (key: string): Bucket => {
    const at = now();
    const old = buckets.get(key);
    const bucket = old ? { left: Math.min(perMinute, old.left + (at - old.at) * perMs), at } : { left: perMinute, at };
    buckets.set(key, bucket);
    return bucket;
  };
  return {
    take(key) {
      const bucket = filled(key);
      if (bucket.left < 1) return (1 - bucket.left) / perMs / 1_000;
      bucket.left -= 1;
      return 0;
    },
    isEmpty: (key) => buckets.has(key) && filled(key).left < 1,
    sweep() {
      for (const key of [...buckets.keys()]) if (filled(key).left >= perMinute) buckets.delete(key);
    },
    size: () => buckets.size,
  };
}

/** Lets so many runs of one key through at once; the others wait in line, as long as the line is not too long. */
export interface Gates {
  run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  size(): number;
}

export function createGates(atOnce: number, waiting: number = LIMITS.waiting): Gates {
  const queues = new Map<string, PQueue>();
  return {
    async run(key, signal, work) {
      const queue = queues.get(key) ?? new PQueue({ concurrency: atOnce });
      if (queue.size >= waiting)
        throw new BridgeError("rate_limited", "Too many of your calls are waiting already.", "Wait for some of them to end.");
      queues.set(key, queue);
      try {
        return await queue.add(work, { signal });
      } catch (error) {
        if (signal.aborted && !(error instanceof BridgeError))
          throw new BridgeError("cancelled", "The call was cancelled while it waited.", "Call again if it is still wanted.");
        throw error;
      } finally {
        if (queue.size === 0 && queue.pending === 0) queues.delete(key);
      }
    },
    size: () => queues.size,
  };
}

/** Counts what is open for each key. */
export interface Counter {
  /** Undefined where the key has its fill; else the end of it. */
  open(key: string): (() => void) | undefined;
  total(): number;
}

export function createCounter(most: number): Counter {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    open(key) {
      const count = counts.get(key) ?? 0;
      if (count >= most) return undefined;
      counts.set(key, count + 1);
      total++;
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        total--;
        const left = (counts.get(key) ?? 1) - 1;
        if (left > 0) counts.set(key, left);
        else counts.delete(key);
      };
    },
    total: () => total,
  };
}
