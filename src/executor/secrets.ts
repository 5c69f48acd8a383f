import { randomBytes } from "node:crypto";
import { mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ActionRow, Call, Outcome } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError, type ErrorDetail } from "../errors.ts";
import { MASK, maskAddress } from "../log.ts";
import { isPlain } from "./slim.ts";

/** Fields that hold a secret whatever they stand in, as their names are spelled in snake case. */
const SECRET_FIELD =
  /^(?:(?:.*_)?(?:token|secret|password|passphrase|private_key|secret_key|secret_access_key|signing_key|api_key|license_key|account_key|user_key|client_key|provided_key|key_pass|connection_string|webhook_url)|token_hash|webhook|pin)$/;

/** Fields that hold a secret in these actions alone. */
const SECRET_IN: readonly (readonly [actions: RegExp, field: string])[] = [
  // The private key of a certificate; other keys are public ones, or names.
  [/^pages_domain\./, "key"],
  [/^license\.add$/, "license"],
];

/** Addresses, in which user names and passwords may stand. */
const ADDRESS_FIELD = /(?:^|_)(?:url|uri|dsn)$/;

/** Lists (or objects by name) of variables and headers, whose values may be secrets. */
const VARIABLES = /^(?:variables|job_variables_attributes|variables_attributes|custom_headers|url_variables)$/;

/** Actions whose `value` may be a secret: CI variables, URL variables and headers of webhooks, by the way they are named. */
const isVariable = (row: Pick<ActionRow, "id" | "entity">) => /variable|custom_header/i.test(row.id) || /Variable$/.test(row.entity ?? "");

/** An object that is a variable of CI: its value may be a secret, masked or not. */
const looksLikeVariable = (value: Readonly<Record<string, unknown>>) =>
  "key" in value && "value" in value && ("variable_type" in value || "masked" in value || "environment_scope" in value);

/** `accessToken`, `X-Gitlab-Token`, `variables[KEY]`: the name alone, in snake case. */
const nameOf = (key: string) =>
  /^[a-z0-9_]*$/.test(key)
    ? key
    : key
        .replace(/\[.*$/s, "")
        .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
        .replaceAll("-", "_")
        .toLowerCase();

/** Every text of a secret; `rest` hides what is in objects. */
function hideAll(value: unknown, rest: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => hideAll(item, rest));
  return typeof value === "string" ? value && MASK : rest(value);
}

/** A query may write a list of variables out: `variables[KEY]`, `variables[][value]`. */
const isWrittenOut = (key: string) => key.includes("[") && VARIABLES.test(nameOf(key)) && !/\[(?:key|variable_type)\]$/.test(key);

/** A copy in which no secret can be read. */
export function hideSecrets(value: unknown, row: Pick<ActionRow, "id" | "entity">, inVariable = isVariable(row)): unknown {
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, row, inVariable));
  if (!isPlain(value)) return value;
  const variable = inVariable || looksLikeVariable(value);
  const rest = (inner: unknown) => hideSecrets(inner, row, inVariable);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = nameOf(key);
      const secret =
        SECRET_FIELD.test(name) ||
        (variable && name === "value") ||
        isWrittenOut(key) ||
        SECRET_IN.some(([actions, field]) => field === name && actions.test(row.id));
      if (secret) return [key, hideAll(inner, rest)];
      if (VARIABLES.test(name)) return [key, hideVariables(inner, row)];
      if (typeof inner === "string") return [key, ADDRESS_FIELD.test(name) ? maskAddress(inner) : inner];
      return [key, rest(inner)];
    }),
  );
}

/** Variables as a list of objects, as an object of values by name, or in any other form that somebody may have taken for one. */
function hideVariables(value: unknown, row: Pick<ActionRow, "id" | "entity">): unknown {
  const rest = (inner: unknown) => hideSecrets(inner, row, true);
  if (!isPlain(value) || "value" in value) return hideAll(value, rest);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hideAll(inner, rest)]));
}

/** Shorter ones would blank out ordinary words. */
const SHORTEST = 6;

/** The secrets that a call brings along: whatever is not in the copy that hides them. */
function ownSecrets(given: unknown, hidden: unknown): readonly string[] {
  if (typeof given === "string") return given === hidden || given.length < SHORTEST ? [] : [given];
  const pairs = Array.isArray(given) ? given.map((item, at) => [item, Array.isArray(hidden) ? hidden[at] : hidden]) : [];
  const fields = isPlain(given) ? Object.keys(given).map((key) => [given[key], isPlain(hidden) ? hidden[key] : hidden]) : [];
  return [...pairs, ...fields].flatMap(([one, other]) => ownSecrets(one, other));
}

/** The same value with every text in it changed, names of fields too. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => eachText(item, change));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), eachText(inner, change)]));
}

/** What was thrown, without the secrets of the call: GitLab, and who reads arguments, may quote what was sent. */
export function withoutOwn(thrown: unknown, row: Pick<ActionRow, "id" | "entity">, params: Readonly<Record<string, unknown>>): unknown {
  if (!(thrown instanceof BridgeError)) return thrown;
  const secrets = ownSecrets(params, hideSecrets(params, row));
  const mask = (text: string) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
  const { code, message, hint, detail, cause } = thrown;
  const before = [message, hint, detail];
  const after = eachText(before, mask) as readonly [string, string, ErrorDetail];
  return JSON.stringify(before) === JSON.stringify(after) ? thrown : new BridgeError(code, ...after, cause);
}

const holdsMask = (value: unknown): boolean =>
  value === MASK || (Array.isArray(value) ? value.some(holdsMask) : isPlain(value) && Object.values(value).some(holdsMask));

const MASKED = `${MASK} stands for a secret (the value of a variable, a token): this server does not give them out.`;

/** The outcome of a read, which says so where a secret was masked in it. */
export function tellMasked(outcome: Outcome): Outcome {
  const content = outcome.kind === "list" ? outcome.items : outcome.kind === "value" ? outcome.value : undefined;
  if (content === undefined || !holdsMask(content)) return outcome;
  const { hint } = outcome as { hint?: string };
  return { ...outcome, hint: hint === undefined ? MASKED : `${hint} ${MASKED}` } as Outcome;
}

/** The new secret in an answer: the field and its value. */
export function secretIn(body: unknown): readonly [string, string] | undefined {
  if (!isPlain(body)) return undefined;
  const found = Object.entries(body).find(([key, value]) => SECRET_FIELD.test(key) && typeof value === "string" && value !== "");
  return found as [string, string] | undefined;
}

/** A place for a new secret, made before the request that brings it. */
export interface Vault {
  readonly path: string;
  put(secret: string): Promise<void>;
  /** Removes the place where no secret came. */
  drop(): Promise<void>;
}

function untold(message: string, hint: string, cause?: unknown): BridgeError {
  return new BridgeError("not_permitted", message, hint, { rule: "secrets", setting: "--reveal-secrets" }, cause);
}

const undeliverable = (row: ActionRow, why: string, cause?: unknown) =>
  untold(
    `${row.id} makes a new secret, and ${why}.`,
    "Nothing was sent: the new secret could not have been handed over. Whoever runs this server set it so; tell the user.",
    cause,
  );

/** @throws BridgeError not_permitted, before anything is asked for, where a file that holds secrets may not stand in an answer. */
export function requireTellable({ action, wanted }: Pick<Call, "action" | "wanted">, settings: Pick<Settings, "revealSecrets">): void {
  if (!action.secret || settings.revealSecrets === "result") return;
  if (settings.revealSecrets === "file" && wanted.save_as !== undefined) return;
  throw untold(
    `${action.id} gives out a file that holds secrets, and this server puts none into an answer.`,
    "Nothing was sent. Where the server keeps files, save_as puts it there; else tell the user: whoever runs this server set it so.",
  );
}

async function openVault(row: ActionRow, directory: string): Promise<Vault> {
  const name = `${row.id.replace(/[^a-z0-9]+/g, "-")}-${randomBytes(6).toString("hex")}.secret`;
  const path = join(directory, name);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const file = await open(path, "wx", 0o600);
    return {
      path,
      async put(secret) {
        await file.writeFile(`${secret}\n`);
        await file.close();
      },
      async drop() {
        await file.close();
        await unlink(path);
      },
    };
  } catch (error) {
    throw undeliverable(row, `${directory} cannot be written to`, error);
  }
}

/** @throws BridgeError not_permitted, before anything is sent, where a new secret could not be delivered. */
export async function prepareDelivery(
  row: ActionRow,
  settings: Pick<Settings, "revealSecrets">,
  directory: string | undefined,
): Promise<Vault | undefined> {
  if (!row.secret || settings.revealSecrets === "result") return undefined;
  if (settings.revealSecrets === "never") throw undeliverable(row, "this server gives out none");
  if (directory === undefined) throw undeliverable(row, "there is no directory to write it to");
  return openVault(row, directory);
}
