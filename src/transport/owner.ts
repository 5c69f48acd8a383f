import type { Visitor } from "./auth.ts";
import type { LegacySession } from "./legacy-session.ts";
import { later, Refused } from "./reply.ts";

const missing = (challenge: string) =>
  new Refused({
    status: 401,
    message: "This session belongs to somebody: send the token of its user.",
    headers: { "WWW-Authenticate": challenge },
  });

const unclear = () =>
  new Refused({
    status: 503,
    message: "GitLab does not say now whose token this is. Try again, or send the token from before.",
    headers: later(5),
  });

const foreign = () =>
  new Refused({
    status: 403,
    message: "This session was opened with another token, and yours is not known to be of the same user. Connect again.",
  });

/**
 * Lets only the owner in. What was shown before is taken at once; another token must belong to the same user (a token that was
 * refreshed); a session that is nobody's becomes that of the first who shows one.
 * @throws Refused 401 | 403, 503 where it cannot be told
 */
export async function requireOwner(
  session: LegacySession,
  visitor: Visitor,
  userOf: () => Promise<number | undefined>,
  challenge: string,
): Promise<void> {
  const { digest } = visitor;
  if (digest === undefined) {
    if (session.owner.digest !== undefined) throw missing(challenge);
    return;
  }
  if (session.owner.digest === digest) return;
  const user = await userOf();
  // Asked again after the wait: somebody else may have come first.
  const { owner } = session;
  if (owner.digest === undefined || owner.digest === digest) {
    session.owner = { digest, ...(user === undefined ? {} : { user }) };
    return;
  }
  if (user === undefined && owner.user !== undefined) throw unclear();
  if (user === undefined || owner.user !== user) throw foreign();
  session.owner = { digest, user };
}
