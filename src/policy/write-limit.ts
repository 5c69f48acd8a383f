import { BridgeError } from "../errors.ts";

const WINDOW_MS = 60_000;
const MOST_KNOWN = 10_000;

/** Counts the writes of each user over the last minute. */
export interface WriteLimit {
  /** @throws BridgeError rate_limited when this user has made `most` writes in the last 60 seconds. */
  check(who: string, most: number): void;
  /** One write more. */
  count(who: string): void;
}

export function createWriteLimit(now: () => number = Date.now): WriteLimit {
  const times = new Map<string, number[]>();
  const recent = (who: string): number[] => (times.get(who) ?? []).filter((at) => now() - at < WINDOW_MS);
  return {
    check(who, most) {
      const made = recent(who);
      const first = made[made.length - most];
      if (first === undefined) return;
      const seconds = Math.max(1, Math.ceil((first + WINDOW_MS - now()) / 1000));
      throw new BridgeError(
        "rate_limited",
        `This server lets one user make ${most} writes in a minute, and they are made.`,
        `Nothing was sent. Call again in ${seconds} s. If so many writes were not meant, stop and tell the user.`,
        { rule: "write_rate", retry_after: seconds },
      );
    },
    count(who) {
      const made = [...recent(who), now()];
      times.delete(who);
      times.set(who, made);
      const oldest = times.keys().next().value;
      if (times.size > MOST_KNOWN && oldest !== undefined) times.delete(oldest);
    },
  };
}
