import { AsyncLocalStorage } from "node:async_hooks";
import type { EventStore, JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import { LIMITS } from "./http-limits.ts";

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
  readonly at: number;
  /** The request on whose stream it was sent. */
  readonly request?: RequestId;
}

/** One session's share of the store. */
export interface Shelf extends EventStore {
  /** Events that the work sends are on the stream of this request. */
  during<T>(request: RequestId | undefined, work: () => T): T;
  requestOf(eventId: string): RequestId | undefined;
  has(eventId: string): boolean;
  clear(): void;
}

/** What was sent lately, so that a client whose connection dropped can fetch it. Bounded in number, bytes and time. */
export interface Events {
  shelf(): Shelf;
  sweep(): void;
  bytes(): number;
}

const current = new AsyncLocalStorage<RequestId | undefined>();

export type EventBounds = Pick<typeof LIMITS, "eventsPerSession" | "eventBytesPerSession" | "eventBytes" | "eventMs">;

export function createEvents(bounds: { readonly [K in keyof EventBounds]: number } = LIMITS, now: () => number = Date.now): Events {
  const shelves = new Set<Kept[]>();
  let total = 0;
  const drop = (kept: Kept[]) => {
    total -= kept.shift()?.bytes ?? 0;
  };
  const oldest = (): Kept[] | undefined => {
    let found: Kept[] | undefined;
    for (const kept of shelves) if (kept[0] && (!found?.[0] || kept[0].at < found[0].at)) found = kept;
    return found;
  };
  const sizeOf = (kept: readonly Kept[]) => kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const makeRoom = (own: Kept[]) => {
    while (own.length > bounds.eventsPerSession || (own.length > 1 && sizeOf(own) > bounds.eventBytesPerSession)) drop(own);
    while (total > bounds.eventBytes) {
      const first = oldest();
      if (!first) return;
      drop(first);
    }
  };
  const sweep = () => {
    for (const kept of shelves) {
      while (kept[0] && now() - kept[0].at > bounds.eventMs) drop(kept);
      if (kept.length === 0) shelves.delete(kept);
    }
  };
  return {
    sweep,
    bytes: () => total,
    shelf: () => createShelf(),
  };

  function createShelf(): Shelf {
    const kept: Kept[] = [];
    let count = 0;
    const find = (id: string) => kept.find((event) => event.id === id);
    return {
      async storeEvent(stream, message) {
        const id = `${stream}.${(count++).toString(36)}`;
        const bytes = JSON.stringify(message).length;
        const request = current.getStore();
        kept.push({ id, stream, message, bytes, at: now(), ...(request === undefined ? {} : { request }) });
        total += bytes;
        shelves.add(kept);
        makeRoom(kept);
        return id;
      },
      during: (request, work) => current.run(request, work),
      requestOf: (id) => find(id)?.request,
      has: (id) => find(id) !== undefined,
      async getStreamIdForEventId(id) {
        return find(id)?.stream;
      },
      async replayEventsAfter(lastEventId, { send }) {
        const from = kept.findIndex((event) => event.id === lastEventId);
        const stream = kept[from]?.stream ?? lastEventId.slice(0, lastEventId.lastIndexOf("."));
        const missed = kept.slice(from + 1).filter((event) => event.stream === stream);
        for (const { id, message } of missed) if (Object.keys(message).length > 0) await send(id, message);
        return stream;
      },
      clear() {
        while (kept.length > 0) drop(kept);
        shelves.delete(kept);
      },
    };
  }
}
