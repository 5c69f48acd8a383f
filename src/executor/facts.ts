import { createHmac, randomBytes } from "node:crypto";
import type { CallContext, Facts } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { isPlain } from "./slim.ts";

/** Reads one path of GitLab for a caller; any failure is thrown. */
export type Get = (path: string, context: CallContext, signal: AbortSignal) => Promise<unknown>;

export interface FactOptions {
  readonly get: Get;
  /** Digest of the token that requests for this caller carry; undefined where they carry none. */
  readonly digest?: (context: CallContext) => Promise<string | undefined>;
  /** Milliseconds for all probes together. */
  readonly deadline?: number;
  /** Milliseconds until the facts of a credential are asked for again. */
  readonly lifetime?: number;
  readonly now?: () => number;
}

const DEADLINE_MS = 3_000;
const LIFETIME_MS = 10 * 60_000;
/** A failed probe is not asked again on every call, and not believed for long. */
const RETRY_MS = 30_000;
/** What was learned a moment ago is not doubted: one refusal after the other would ask without end. */
const DOUBT_MS = 5_000;
const MOST_KNOWN = 5_000;

type Plain = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function userFacts(user: Plain): Pick<Facts, "user"> {
  const username = text(user.username);
  if (typeof user.id !== "number" || username === undefined) return {};
  const name = text(user.name);
  const admin = typeof user.is_admin === "boolean" ? { admin: user.is_admin } : {};
  return { user: { id: user.id, username, ...(name === undefined ? {} : { name }), ...admin } };
}

/** A fine-grained token reports the one scope `granular`: what it may do is not known from it. */
function tokenFacts(token: Plain): Pick<Facts, "token" | "scopes" | "expires_at"> {
  const scopes = Array.isArray(token.scopes) ? token.scopes.filter((scope): scope is string => typeof scope === "string") : [];
  const expires = token.expires_at === null ? null : text(token.expires_at);
  return {
    ...(typeof token.id === "number" ? { token: token.id } : {}),
    ...(scopes.length > 0 && !scopes.includes("granular") ? { scopes } : {}),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
}

function instanceFacts(metadata: Plain): Pick<Facts, "version" | "enterprise"> {
  const version = text(metadata.version);
  return {
    ...(version === undefined ? {} : { version }),
    ...(typeof metadata.enterprise === "boolean" ? { enterprise: metadata.enterprise } : {}),
  };
}

const SELF = "/personal_access_tokens/self";

type Probe = readonly [path: string, read: (body: Plain) => Facts];

const PROBES: readonly Probe[] = [
  ["/user", userFacts],
  [SELF, tokenFacts],
  ["/metadata", instanceFacts],
];

interface Known {
  readonly facts: Promise<{ readonly facts: Facts; readonly complete: boolean }>;
  readonly since: number;
  complete: boolean;
}

const REFUSED: Facts = Object.freeze({ refused: true });

const SALT = randomBytes(32);

/** A credential is remembered by its digest only: what it is ends with the request. */
const keyOf = ({ credential, principal }: CallContext) => {
  const whose = credential ? createHmac("sha256", SALT).update(`${credential.header}:${credential.value}`).digest("base64url") : "server";
  return `${principal.instance}\n${whose}`;
};

/** Only a caller's own personal token can be refused by \`/user\`: job tokens are never taken there. */
const isRefusal = (error: unknown, path: string, { credential }: CallContext): boolean =>
  path === "/user" &&
  credential !== undefined &&
  credential.header !== "JOB-TOKEN" &&
  error instanceof BridgeError &&
  error.code === "unauthenticated";

/** GitLab's answer, and not a fault on the way: what it knows no personal token for is none. */
function isNoToken(error: unknown, path: string): boolean {
  const status = error instanceof BridgeError ? error.detail.status : undefined;
  return path === SELF && status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const NO_TOKEN: Facts = Object.freeze({ token: null });

/** Learns, on the first ask and per credential, who the user is, what the token may do and which GitLab it is. What fails stays unknown. */
export function createFacts({ get, digest, deadline = DEADLINE_MS, lifetime = LIFETIME_MS, now = Date.now }: FactOptions) {
  const known = new Map<string, Known>();
  const ask = async ([path, read]: Probe, context: CallContext, signal: AbortSignal): Promise<Facts | undefined> => {
    try {
      const body = await get(path, context, signal);
      return isPlain(body) ? read(body) : undefined;
    } catch (error) {
      if (isRefusal(error, path, context)) return REFUSED;
      return isNoToken(error, path) ? NO_TOKEN : undefined;
    }
  };
  const probe = async (context: CallContext) => {
    const signal = AbortSignal.timeout(deadline);
    const answers = await Promise.all(PROBES.map((one) => ask(one, context, signal)));
    const own = await digest?.(context).catch(() => undefined);
    return {
      facts: Object.assign(own === undefined ? {} : { digest: own }, ...answers) as Facts,
      complete: answers.every((answer) => answer !== undefined && answer !== REFUSED),
    };
  };
  const start = (context: CallContext): Known => {
    const entry: Known = { facts: probe(context), since: now(), complete: true };
    entry.facts.then(({ complete }) => {
      entry.complete = complete;
    });
    return entry;
  };
  const learn = async (context: CallContext): Promise<Facts> => {
    const key = keyOf(context);
    const old = known.get(key);
    const fresh = old && now() - old.since < (old.complete ? lifetime : RETRY_MS) ? old : start(context);
    known.delete(key);
    known.set(key, fresh);
    const oldest = known.keys().next().value;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return (await fresh.facts).facts;
  };
  /** GitLab refused this caller: token or rights may have changed, and what was known is asked for again. */
  const doubt = (context: CallContext): void => {
    const key = keyOf(context);
    const old = known.get(key);
    if (old && now() - old.since >= DOUBT_MS) known.delete(key);
  };
  return Object.assign(learn, { doubt });
}
