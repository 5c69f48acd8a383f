import { createHash } from "node:crypto";
import type { Action, Facts } from "../catalog/types.ts";
import { wordsIn } from "./destructive.ts";
import type { Reason } from "./rules.ts";

type Params = Readonly<Record<string, unknown>>;

/** Actions that rotate or revoke a token that they name by its id, and the parameter that names it. */
export const BY_ID: Readonly<Record<string, string>> = {
  "access_token.rotate": "token_id",
  "access_token.revoke": "token_id",
  "personal_access_token.rotate": "token_id",
  "personal_access_token.revoke": "token_id",
  "service_account.token_rotate": "token_id",
  "service_account.token_revoke": "token_id",
  "credential.personal_access_token_rotate": "token_id",
  "credential.personal_access_token_revoke": "token_id",
  "credential.resource_access_token_rotate": "token_id",
  "credential.resource_access_token_revoke": "token_id",
  "impersonation_token.revoke": "impersonation_token_id",
};

/** Actions that revoke a token that they are given itself. */
export const BY_VALUE: Readonly<Record<string, string>> = {
  "token.by_value_revoke": "token",
  "admin_token.revoke": "token",
};

/** The refusal of whatever would end or change the token in use. */
export const OWN_TOKEN: Reason = Object.freeze({
  rule: "own_token",
  kind: "withheld",
  text: "it would rotate or revoke the token that is in use here",
  setting: "--allow-own-token",
});

/** GitLab would not judge this: it takes a rotation of the token in use like any other. */
const MAYBE_OWN: Reason = Object.freeze({
  ...OWN_TOKEN,
  text: "GitLab did not tell which token is in use here, and this may be it",
});

/** Whether the call names a token to be ended, so that facts are worth waiting for. */
export const namesToken = ({ id }: Pick<Action, "id">, params: Params): boolean =>
  [BY_ID[id], BY_VALUE[id]].some((name) => name !== undefined && params[name] !== undefined);

/** How a token is known again without being kept. */
export const digestOf = (token: string): string =>
  createHash("sha256")
    .update(token.trim().replace(/^bearer\s+/i, ""))
    .digest("hex");

/** An id as GitLab reads it: by the digits that it begins with. */
const toId = (value: unknown) => Number.parseInt(String(value), 10);

/** What stands against a call that names the token in use, or may name it. */
export function ownTokenReason({ id }: Pick<Action, "id">, params: Params, facts: Facts): Reason | undefined {
  const value = params[BY_VALUE[id] ?? ""];
  if (value !== undefined) return facts.digest !== undefined && digestOf(String(value)) === facts.digest ? OWN_TOKEN : undefined;
  const named = params[BY_ID[id] ?? ""];
  if (named === undefined || facts.token === null) return undefined;
  if (facts.token === undefined) return MAYBE_OWN;
  return toId(named) === facts.token ? OWN_TOKEN : undefined;
}

/** Whether a GraphQL mutation of this name ends access tokens. */
export const endsTokens = (mutation: string): boolean =>
  /access_?token/i.test(mutation) && wordsIn(mutation).some((word) => /^(revoke|rotate|delete|destroy|remove)$/.test(word));
