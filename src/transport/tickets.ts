import { createHmac, timingSafeEqual } from "node:crypto";
import type { Wishes } from "../policy/narrow.ts";
import { LIMITS } from "./http-limits.ts";

/** Whose session it is: nobody's yet, or that of who showed this, and of the GitLab user behind it where known. */
export interface Owner {
  readonly digest?: string;
  readonly user?: number;
}

/** Everything that a session needs to live on after a restart. No token, and nothing that was enabled since. */
export interface Ticket {
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly born: number;
  readonly owner: Owner;
  readonly wishes: Wishes;
  readonly instance?: string;
  /** What the client said in its handshake. */
  readonly protocol: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly client: { readonly name: string; readonly version: string };
}

/** Session ids that carry their ticket, signed: nobody can make, change or guess one. */
export interface Tickets {
  seal(ticket: Ticket): string;
  /** Undefined for what was not sealed here, or too long ago. */
  open(id: string): Ticket | undefined;
}

const FORM = /^([\w-]+)\.([\w-]{43})$/;

export function createTickets(key: Buffer, now: () => number = Date.now): Tickets {
  const sign = (payload: string) => createHmac("sha256", key).update(`session ${payload}`).digest();
  return {
    seal(ticket) {
      const payload = Buffer.from(JSON.stringify(ticket)).toString("base64url");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    open(id) {
      if (id.length > LIMITS.sessionId) return undefined;
      const [, payload = "", signature = ""] = FORM.exec(id) ?? [];
      if (payload === "" || !timingSafeEqual(Buffer.from(signature, "base64url"), sign(payload))) return undefined;
      const ticket = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Ticket;
      return now() / 1_000 - ticket.born > LIMITS.revivalDays * 86_400 ? undefined : ticket;
    },
  };
}
