import { createHmac, randomBytes } from "node:crypto";
import type { CallContext, Credential, Facts } from "../catalog/types.ts";
import type { FactSource } from "./connection.ts";

const MOST_KNOWN = 2_000;

/** What stays known of a caller whom GitLab refused something: who it is, and which GitLab. What it may do is asked for again. */
function withoutRights({ scopes: _scopes, expires_at: _expires, token: _token, digest: _digest, user, ...rest }: Facts): Facts {
  if (!user) return rest;
  const { admin: _admin, ...person } = user;
  return { ...rest, user: person };
}

/** Facts by instance and credential, as `ask` learns them from GitLab; of a credential only a digest is kept. */
export function createFactSource(ask: (context: CallContext) => Promise<Facts>): FactSource & { doubt(context: CallContext): void } {
  const salt = randomBytes(32);
  const known = new Map<string, Facts>();
  const keyOf = ({ principal, credential }: CallContext) => {
    const whose = credential ? createHmac("sha256", salt).update(`${credential.header}:${credential.value}`).digest("base64url") : "";
    return `${principal.instance} ${whose}`;
  };
  return {
    known: (context) => known.get(keyOf(context)) ?? {},
    doubt(context) {
      const old = known.get(keyOf(context));
      if (old) known.set(keyOf(context), withoutRights(old));
    },
    async learn(context) {
      const facts = await ask(context);
      const key = keyOf(context);
      known.delete(key);
      known.set(key, facts);
      const oldest = known.keys().next().value;
      if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
      return facts;
    },
  };
}

const NEVER = new AbortController().signal;

/** The context of nothing but a credential: what facts are asked for with. */
export const bareContext = (instance: string, credential: Credential | undefined): CallContext => ({
  principal: { instance },
  signal: NEVER,
  canAsk: false,
  meta: {},
  ...(credential ? { credential } : {}),
});
