import type { DriverContext, Host, ListedTool, Seen } from "../types.ts";
import type { Intent } from "./heuristic-intents.ts";
import { type Known, knownOf, recordsOf } from "./heuristic-memory.ts";
import { type Mention, mentionsOf, withoutValues } from "./heuristic-mentions.ts";
import { type Call, jsonOf, type Offer, type Row } from "./heuristic-offers.ts";
import { type Roles, rolesOf } from "./heuristic-roles.ts";
import type { Scene } from "./heuristic-scores.ts";
import { meaningsOf, mergeQueries, toQuery } from "./heuristic-words.ts";

/** Thrown where no call is left; what was found so far is the answer. */
export const SPENT = Symbol("no call left");

/** One run: what the host shows and what was learned from it. */
export interface Session {
  readonly host: Host;
  readonly seed: number;
  readonly prompt: string;
  readonly mentions: readonly Mention[];
  /** Objects of earlier results, the newest first. */
  known: readonly Known[];
  /** Results that were not about tools. */
  readonly results: Seen[];
  /** Offers that answers of discovery tools named. */
  readonly learned: Map<string, Offer>;
  groups?: readonly Row[];
  readonly opened: Set<string>;
  /** Offers whose parameters were asked for already. */
  readonly shown: Set<string>;
  /** Requests that were searched for already. */
  readonly searched: Set<string>;
  send(call: Call): Promise<Seen>;
}

export function openSession(prompt: string, host: Host, context: DriverContext): Session {
  let calls = 0;
  return {
    host,
    seed: context.seed,
    prompt,
    mentions: mentionsOf(prompt),
    known: [],
    results: [],
    learned: new Map(),
    opened: new Set(),
    shown: new Set(),
    searched: new Set(),
    async send({ tool, args }) {
      context.signal.throwIfAborted();
      if (calls >= context.maxCalls) throw SPENT;
      calls++;
      return host.call(tool, args);
    },
  };
}

const sorted = new WeakMap<readonly ListedTool[], Roles>();

/** The parts of what is listed in this turn. */
export function rolesNow({ host }: Session): Roles {
  const { tools } = host;
  const roles = sorted.get(tools) ?? rolesOf(tools);
  sorted.set(tools, roles);
  return roles;
}

/** The request with its words; `before` is what was asked earlier, for a request that says "it". */
export function toScene(session: Session, intent: Intent, before?: string): Scene {
  const bare = (text: string) => withoutValues(text, session.mentions);
  const own = mergeQueries(toQuery(bare(intent.core)), toQuery(bare(intent.text), 0.4));
  const query = before === undefined ? own : mergeQueries(own, toQuery(bare(before), 0.3));
  return {
    prompt: session.prompt,
    mentions: session.mentions,
    known: session.known,
    intent,
    query,
    meanings: meaningsOf(bare(intent.core)),
  };
}

/** Keeps a result that was not about tools. */
export function learn(session: Session, seen: Seen, offer: Offer): void {
  session.results.push(seen);
  if (seen.isError) return;
  session.known = [...knownOf(jsonOf(seen.text) ?? recordsOf(seen.text), `${offer.name} ${offer.title}`), ...session.known].slice(0, 600);
}
