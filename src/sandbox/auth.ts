import { ApiFailure, failure, forbidden, unauthorized } from "./errors.ts";
import type { Behaviour, Json, Method, Token, User, World } from "./types.ts";

type Headers = Readonly<Record<string, string | undefined>>;

interface Sent {
  readonly value: string;
  readonly job: boolean;
}

const first = (query: Readonly<Json>, name: string): string | undefined => {
  const value = query[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** The credential of a request; a job token in its own header or parameter is told apart. */
function credential(headers: Headers, query: Readonly<Json>): Sent | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const value = headers["private-token"] ?? bearer ?? first(query, "private_token") ?? first(query, "access_token");
  if (value) return { value, job: false };
  const job = headers["job-token"] ?? first(query, "job_token");
  return job ? { value: job, job: true } : undefined;
}

function invalidToken(why: string): ApiFailure {
  return new ApiFailure(
    401,
    { error: "invalid_token", error_description: why },
    { "www-authenticate": `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${why}"` },
  );
}

export interface Caller {
  readonly user?: User;
  readonly token?: Token;
}

/** Whether a token may still be used. */
export const isActive = (world: World, token: Token) =>
  !token.revoked && (token.expires_at === null || token.expires_at > world.now().slice(0, 10));

function sudo(world: World, caller: { user: User; token: Token }, name: string): User {
  if (!caller.user.admin) throw failure(403, "403 Forbidden - Must be admin to use sudo");
  if (!caller.token.scopes.includes("sudo")) throw insufficientScope(["sudo"]);
  const user = world.users.find((row) => row.username === name || String(row.id) === name);
  if (!user) throw failure(404, `404 User with ID or username '${name}' Not Found`);
  return user;
}

/**
 * Who is asking.
 * @throws 401 for a credential that is unknown, expired or revoked.
 */
export function authenticate(world: World, headers: Headers, query: Readonly<Json>): Caller {
  const sent = credential(headers, query);
  if (!sent) return {};
  const token = world.tokens.find((row) => row.value === sent.value);
  const user = world.users.find(({ id }) => id === token?.user_id);
  if (!token || !user || (token.kind === "job" && !sent.job && !headers.authorization)) throw unauthorized();
  if (token.revoked) throw invalidToken("Token was revoked. You have to re-authorize from the user.");
  if (!isActive(world, token)) throw invalidToken("Token is expired. You can either do re-authorization or token refresh.");
  if (user.state === "blocked") throw forbidden("Your account has been blocked.");
  token.last_used_at = world.now();
  const name = headers.sudo ?? first(query, "sudo");
  return { user: name ? sudo(world, { user, token }, name) : user, token };
}

/** GitLab's answer to a token that lacks every one of `scopes`. */
export function insufficientScope(scopes: readonly string[]): ApiFailure {
  const why = "The request requires higher privileges than provided by the access token.";
  const scope = scopes.join(" ");
  return new ApiFailure(
    403,
    { error: "insufficient_scope", error_description: why, scope },
    {
      "www-authenticate": `Bearer realm="Protected by OAuth 2.0", error="insufficient_scope", error_description="${why}", scope="${scope}"`,
    },
  );
}

const READING: readonly Method[] = ["GET", "HEAD"];

/** @throws 403 where the token's scopes do not cover this row, 401 where a job token is not taken or a write has no user. */
export function authorize(behaviour: Behaviour, caller: Caller): void {
  const reads = READING.includes(behaviour.method);
  const { token } = caller;
  if (!token) {
    if (!reads && !behaviour.open) throw unauthorized();
    return;
  }
  if (token.kind === "job") {
    if (!behaviour.jobToken) throw unauthorized();
    return;
  }
  const enough = ["api", ...(reads ? ["read_api"] : []), ...(behaviour.scopes ?? [])];
  if (!enough.some((scope) => token.scopes.includes(scope))) throw insufficientScope(enough);
}
