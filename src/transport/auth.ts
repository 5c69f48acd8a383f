import { createHmac } from "node:crypto";
import type { Credential, Facts } from "../catalog/types.ts";
import type { HttpSettings } from "../config/http-check.ts";
import { CODE, Refused } from "./reply.ts";

/** Who stands at the door: a digest of what they showed, and the credential that goes on to GitLab. */
export interface Visitor {
  /** Absent: nothing was shown. Two that are equal showed the same. */
  readonly digest?: string;
  readonly credential?: Credential;
}

const MOST = 4_096;
const VISIBLE = /^[\x21-\x7e]+$/;

/** A personal token is sent as such: some instances and proxies take it in no other way. */
function toCredential(token: string): Credential {
  if (token.startsWith("glpat-")) return { header: "PRIVATE-TOKEN", value: token };
  if (token.startsWith("glcbt-")) return { header: "JOB-TOKEN", value: token };
  return { header: "Authorization", value: `Bearer ${token}` };
}

const malformed = (message: string) => new Refused({ status: 400, code: CODE.invalidRequest, message });

/** The one token that a request brings. @throws Refused 400 */
function tokenIn(headers: Headers): { readonly name: string; readonly token: string } | undefined {
  const found = ["authorization", "private-token", "job-token"].flatMap((name) => {
    const value = headers.get(name)?.trim();
    return value ? [{ name, value }] : [];
  });
  const [first] = found;
  if (!first) return undefined;
  if (found.length > 1) throw malformed("Send one credential: Authorization, PRIVATE-TOKEN or JOB-TOKEN.");
  const token = first.name === "authorization" ? /^bearer\s+(\S+)$/i.exec(first.value)?.[1] : first.value;
  if (token === undefined || token.length > MOST || !VISIBLE.test(token))
    throw malformed("The credential must be one token; Authorization takes Bearer.");
  return { name: first.name, token };
}

export interface Auth {
  /** What a request shows, checked as far as that can be done here. @throws Refused 400 | 401 */
  visitor(headers: Headers, origin: string): Visitor;
  /** @throws Refused 401 or 403 where GitLab does not take the token, or it can do nothing here. */
  requireAccepted(facts: Facts, origin: string): void;
  challenge(origin: string, error?: string): string;
  /** Callers are OAuth clients, which can ask their user for more scopes. */
  readonly asksForScopes: boolean;
  /** The refusal of a token whose scopes are not enough, naming what would be. */
  insufficient(origin: string, scope: string, message: string): Refused;
  /** Metadata for OAuth clients; undefined where GitLab is not asked for it. */
  metadata(origin: string): Readonly<Record<string, unknown>> | undefined;
}

/** The scopes that this policy can use; more would only be asked of people. */
const scopesFor = ({ readOnly }: Pick<HttpSettings, "readOnly">): readonly string[] => [readOnly === true ? "read_api" : "api"];

const USABLE = ["api", "read_api", "read_user", "read_repository", "write_repository", "ai_features"];

export function createAuth(settings: HttpSettings, key: Buffer): Auth {
  const digest = (text: string) => createHmac("sha256", key).update(text).digest("base64url").slice(0, 24);
  const own = new Set(settings.httpTokens.map((token) => digest(`bearer ${token}`)));
  const placeOf = (origin: string) => settings.publicUrl ?? `${origin}${settings.basePath}`;
  const isOAuth = settings.auth === "gitlab";
  const challenge = (origin: string, error?: string, scope = scopesFor(settings).join(" ")): string => {
    const parts = [
      ...(error ? [`error="${error}"`] : []),
      ...(isOAuth ? [`resource_metadata="${placeOf(origin)}/.well-known/oauth-protected-resource"`] : []),
      ...(isOAuth ? [`scope="${scope}"`] : []),
    ];
    return `Bearer realm="gitlab-toolset-bridge"${parts.length > 0 ? `, ${parts.join(", ")}` : ""}`;
  };
  const unauthorized = (origin: string, message: string, error?: string) =>
    new Refused({ status: 401, message, headers: { "WWW-Authenticate": challenge(origin, error) } });

  const insufficient: Auth["insufficient"] = (origin, scope, message) =>
    new Refused({ status: 403, message, headers: { "WWW-Authenticate": challenge(origin, "insufficient_scope", scope) } });

  const atServer = (headers: Headers, origin: string): Visitor => {
    const shown = tokenIn(headers);
    if (shown && shown.name !== "authorization") throw malformed("This server uses a GitLab token of its own; do not send yours.");
    if (own.size === 0) return {};
    if (!shown) throw unauthorized(origin, "This server needs a bearer token of its own: Authorization: Bearer.");
    const sign = digest(`bearer ${shown.token}`);
    if (!own.has(sign)) throw unauthorized(origin, "This bearer token is not one of the server's.", "invalid_token");
    return { digest: sign };
  };

  return {
    challenge,
    asksForScopes: isOAuth,
    insufficient,
    visitor(headers, origin) {
      if (settings.auth === "server") return atServer(headers, origin);
      const shown = tokenIn(headers);
      if (!shown) {
        if (isOAuth) throw unauthorized(origin, "Sign in at GitLab first; the metadata that WWW-Authenticate names says where.");
        return {};
      }
      const credential: Credential =
        shown.name === "authorization"
          ? toCredential(shown.token)
          : { header: shown.name === "job-token" ? "JOB-TOKEN" : "PRIVATE-TOKEN", value: shown.token };
      return { credential, digest: digest(`${credential.header} ${credential.value}`) };
    },
    requireAccepted(facts, origin) {
      if (facts.refused) throw unauthorized(origin, "GitLab does not take this token: it is wrong, expired or revoked.", "invalid_token");
      if (!isOAuth || !facts.scopes || facts.scopes.some((scope) => USABLE.includes(scope))) return;
      throw insufficient(origin, scopesFor(settings).join(" "), `The token's scopes (${facts.scopes.join(", ")}) allow nothing here.`);
    },
    metadata(origin) {
      if (!isOAuth) return undefined;
      return {
        resource: `${placeOf(origin)}/mcp`,
        authorization_servers: [settings.url, ...settings.instances],
        scopes_supported: scopesFor(settings),
        bearer_methods_supported: ["header"],
        resource_name: settings.name ? `GitLab toolset bridge (${settings.name})` : "GitLab toolset bridge",
        ...(settings.oauthClientId ? { client_id: settings.oauthClientId } : {}),
      };
    },
  };
}
