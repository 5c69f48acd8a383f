import type { Ended } from "./ended.ts";
import type { LegacySession } from "./legacy-session.ts";
import { later, Refused } from "./reply.ts";
import type { Ticket, Tickets } from "./tickets.ts";

export interface SessionsOptions {
  readonly tickets: Tickets;
  readonly ended: Ended;
  readonly open: (id: string, ticket: Ticket, revived: boolean) => Promise<LegacySession>;
  readonly most: number;
  readonly idleMs: number;
  readonly now?: () => number;
}

/** All sessions of this process. */
export interface Sessions {
  create(ticket: Ticket): Promise<LegacySession>;
  /** By id; one that this process does not hold is revived from its ticket. Undefined: forged, expired or ended. */
  find(id: string): Promise<LegacySession | undefined>;
  /** For good: the id is worth nothing any more. */
  end(session: Pick<LegacySession, "id" | "ticket">): Promise<void>;
  /** Ends what was idle too long. */
  sweep(): Promise<void>;
  all(): Iterable<LegacySession>;
  counts(): { readonly open: number; readonly revived: number; readonly ended: number };
}

export function createSessions({ tickets, ended, open, most, idleMs, now = Date.now }: SessionsOptions): Sessions {
  /** The longest unused first. */
  const held = new Map<string, LegacySession>();
  const opening = new Map<string, Promise<LegacySession>>();
  let revived = 0;
  let endedCount = 0;

  const isIdle = (session: LegacySession) => !session.isBusy() && now() - session.used > idleMs;
  const makeRoom = async () => {
    if (held.size + opening.size < most) return;
    for (const session of held.values()) {
      if (session.isBusy()) continue;
      // Not ended: its ticket is still good, so that its client only loses what it had enabled.
      held.delete(session.id);
      await session.close();
      return;
    }
    throw new Refused({ status: 503, message: "There are too many sessions.", headers: later(30) });
  };
  const start = (id: string, ticket: Ticket, again: boolean): Promise<LegacySession> => {
    const made = (async () => {
      await makeRoom();
      const session = await open(id, ticket, again);
      held.set(id, session);
      if (again) revived++;
      return session;
    })().finally(() => opening.delete(id));
    opening.set(id, made);
    return made;
  };
  const end: Sessions["end"] = async ({ id, ticket }) => {
    const session = held.get(id);
    held.delete(id);
    ended.add(ticket);
    endedCount++;
    await session?.close();
  };
  return {
    create: (ticket) => start(tickets.seal(ticket), ticket, false),
    async find(id) {
      const session = held.get(id);
      if (session && isIdle(session)) {
        await end(session);
        return undefined;
      }
      if (session) {
        session.used = now();
        held.delete(id);
        held.set(id, session);
        return session;
      }
      const ticket = tickets.open(id);
      if (!ticket || ended.has(ticket)) return undefined;
      return await (opening.get(id) ?? start(id, ticket, true));
    },
    end,
    async sweep() {
      for (const session of [...held.values()]) if (isIdle(session)) await end(session);
    },
    all: () => held.values(),
    counts: () => ({ open: held.size, revived, ended: endedCount }),
  };
}
