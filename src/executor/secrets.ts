import { randomBytes } from "node:crypto";
import { mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ActionRow, Outcome } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { MASK } from "../log.ts";
import { isPlain } from "./slim.ts";

/** Fields that hold a secret whatever they stand in. */
const SECRET_FIELD =
  /^(?:(?:.*_)?(?:token|secret|password|passphrase|private_key|api_key|license_key|account_key|user_key|client_key|provided_key|webhook_url)|aws_secret_access_key|token_hash|webhook|pin)$/;

/** Actions whose `value` may be a secret: CI variables, URL variables and headers of webhooks, by the way they are named. */
const isVariable = (row: Pick<ActionRow, "id" | "entity">) => /variable|custom_header/i.test(row.id) || /Variable$/.test(row.entity ?? "");

/** An object that is a variable of CI: its value may be a secret, masked or not. */
const looksLikeVariable = (value: Readonly<Record<string, unknown>>) =>
  "key" in value && "value" in value && ("variable_type" in value || "masked" in value || "environment_scope" in value);

/** A copy in which no secret can be read. */
export function hideSecrets(value: unknown, row: Pick<ActionRow, "id" | "entity">, inVariable = isVariable(row)): unknown {
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, row, inVariable));
  if (!isPlain(value)) return value;
  const variable = inVariable || looksLikeVariable(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const secret = SECRET_FIELD.test(key) || (variable && key === "value");
      if (secret && typeof inner === "string" && inner !== "") return [key, MASK];
      if (key === "variables" || key === "job_variables_attributes" || key === "variables_attributes")
        return [key, hideSecrets(inner, row, true)];
      return [key, hideSecrets(inner, row, inVariable)];
    }),
  );
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

function undeliverable(row: ActionRow, why: string, cause?: unknown): BridgeError {
  const hint = "Nothing was sent: the new secret could not have been handed over. Whoever runs this server set it so; tell the user.";
  return new BridgeError(
    "not_permitted",
    `${row.id} makes a new secret, and ${why}.`,
    hint,
    { rule: "secrets", setting: "--reveal-secrets" },
    cause,
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
