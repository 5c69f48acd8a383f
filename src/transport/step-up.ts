import type { Credential, Facts } from "../catalog/types.ts";
import { actionCalled } from "../surface/called.ts";
import type { Connection } from "../surface/connection.ts";
import { bareContext } from "../surface/fact-source.ts";
import type { Auth } from "./auth.ts";

interface Call {
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown; readonly arguments?: unknown };
}

/**
 * A call that nothing but the token's scopes forbids is answered with a challenge, so that an OAuth client can ask its user for more.
 * What another rule forbids too is not asked for: the call then answers why.
 * @throws Refused 403
 */
export async function requireScopes(
  auth: Auth,
  connection: Connection,
  { facts, body, origin, credential }: { facts: Facts; body: unknown; origin: string; credential: Credential | undefined },
): Promise<void> {
  if (!auth.asksForScopes || !facts.scopes || Array.isArray(body)) return;
  const { method, params } = (body ?? {}) as Call;
  const action = method === "tools/call" ? actionCalled(connection, params?.name, params?.arguments) : undefined;
  if (!action) return;
  const verdict = connection.policy.verdict(action, facts);
  if (verdict.permitted || verdict.reason.rule !== "scopes") return;
  const enough = ["read_api", "api"].find((scope) => connection.policy.permits(action, { ...facts, scopes: [scope] }));
  if (enough === undefined) return;
  // The road refuses it too, and writes that down; whatever it is, it does not run from here.
  const context = bareContext(connection.settings.url, credential);
  await connection.runner().then((road) => road.run({ name: action.id, params: {}, readsOnly: "Not run here." }, context).catch(() => {}));
  throw auth.insufficient(origin, enough, `${action.id}: ${verdict.reason.text}.`);
}
