import type { Call, Outcome } from "../catalog/types.ts";
import { cutToFit } from "./budget.ts";
import { notesOf, roomOf, type ShapeSettings } from "./result.ts";
import { hideSecrets, secretIn, type Vault } from "./secrets.ts";
import { select } from "./select.ts";
import { chosenFor, compact, gather, isPlain, parseField } from "./slim.ts";
import { estimateJson } from "./tokens.ts";

type Plain = Readonly<Record<string, unknown>>;

/** What a write answered, as far as that could be read. */
export interface Written {
  readonly status: number;
  readonly body: unknown;
  readonly unreadable?: boolean;
}

/** Tokens that the answer of a write may have. */
export const WRITE_BUDGET = 150;

const ALWAYS = ["id", "iid", "name", "title", "key", "tag_name", "slug", "file_path", "branch", "username", "state", "status", "web_url"];
const LONG_TEXT = 100;

const isShort = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length <= 12 && value.every((item) => typeof item !== "object" && isShort(item));
  return typeof value !== "object" && (typeof value !== "string" || value.length <= LONG_TEXT);
};

/** A field that the caller set, as GitLab now has it: short values whole, long texts by their length. */
function told(value: unknown): unknown {
  const plain = compact(value, 1);
  if (isShort(plain)) return plain;
  if (typeof plain === "string") return `${plain.length} characters`;
  if (isPlain(plain)) return [plain.title, plain.name].find((word) => typeof word === "string");
  return Array.isArray(plain) ? `${plain.length} entries` : undefined;
}

/** Names of fields that the call has set: `labels`, `add_labels`, `assignee_ids`, `state_event` change what GitLab calls otherwise. */
function changedFields(params: Plain): string[] {
  return Object.keys(params).flatMap((name) => {
    const bare = name.replace(/^(add|remove)_/, "").replace(/_event$/, "");
    const one = bare.replace(/_ids?$/, "");
    return bare === one ? [bare] : [bare, one, `${one}s`];
  });
}

function entries(body: Plain, call: Call): [string, unknown][] {
  const chosen = (chosenFor(call.action.entity)?.write ?? []).map(parseField);
  const extra = chosen.map((field): [string, unknown] => {
    const value = compact(gather(body, field.path), 1);
    return [field.alias ?? field.path.join("."), field.ifTrue && value !== true ? undefined : value];
  });
  const own = [...ALWAYS, ...changedFields(call.params)].map((name): [string, unknown] => [
    name,
    told(Object.hasOwn(body, name) ? body[name] : undefined),
  ]);
  return [...own.slice(0, ALWAYS.length), ...extra, ...own.slice(ALWAYS.length)].filter(([name, value]) => isTellable(name, value));
}

const isTellable = (name: string, value: unknown) =>
  value !== undefined && value !== null && value !== "" && !/^(project_id|group_id)$/.test(name);

/** Fields in order of worth until the answer would be too long. */
function brief(body: Plain, call: Call): Plain {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of entries(body, call)) {
    // GitLab tells the first of several once more alone: `assignee` beside `assignees`.
    if (name in kept || Object.hasOwn(body, `${name}s`) || estimateJson({ ...kept, [name]: value }) > WRITE_BUDGET - 15) continue;
    kept[name] = value;
  }
  return kept;
}

const LATER = "GitLab has taken it and goes on with it in the background; look again in a moment.";
const UNREADABLE = "GitLab did it, but its answer could not be read. Do not repeat it; read the thing to see it.";

function shape(body: Plain, call: Call): Plain {
  const { wanted, action } = call;
  if (wanted.select && wanted.select.length > 0) {
    const picked = select([body], wanted.select, action.entity, true).items[0];
    return isPlain(picked) ? picked : {};
  }
  if (wanted.full) return body;
  return brief(body, call);
}

function bodyOf(written: Written, call: Call): Plain {
  if (isPlain(written.body)) return shape(written.body, call);
  if (Array.isArray(written.body)) {
    const first = written.body[0];
    return { done: true, count: written.body.length, ...(isPlain(first) && written.body.length === 1 ? brief(first, call) : {}) };
  }
  return {};
}

async function deliver(written: Written, vault: Vault | undefined): Promise<{ readonly written: Written; readonly place: Plain }> {
  if (!vault) return { written, place: {} };
  const secret = secretIn(written.body);
  if (!secret || !isPlain(written.body)) {
    await vault.drop();
    return { written, place: {} };
  }
  const { [secret[0]]: _secret, ...rest } = written.body;
  const place = await vault.put(secret[1]).then(
    () => vault.path,
    () => `${vault.path} could not be written; the new secret is lost, rotate it again`,
  );
  return { written: { ...written, body: rest }, place: { [`${secret[0]}_file`]: place } };
}

/**
 * The short answer of a write. A write that GitLab accepted is a success: whatever the answer lacks or holds, this does not fail.
 */
export async function toWriteOutcome(given: Written, call: Call, settings: ShapeSettings, vault?: Vault): Promise<Outcome> {
  const { written, place } = await deliver(given, vault);
  const reveal = settings.revealSecrets === "result";
  const safe = reveal ? written : { ...written, body: hideSecrets(written.body, call.action) };
  const secret = reveal && call.action.secret ? secretIn(written.body) : undefined;
  const fields = { ...bodyOf(safe, call), ...(secret ? { [secret[0]]: secret[1] } : {}), ...place };
  const { value, cuts } = cutToFit(Object.keys(fields).length > 0 ? fields : { done: true }, roomOf(settings, call.wanted));
  const later = written.status === 202;
  const { project } = notesOf(call, undefined);
  return {
    kind: "value",
    value: isPlain(value) ? value : { done: true },
    ...(project === undefined ? {} : { project }),
    ...(cuts.length > 0 ? { truncated: cuts.join("; ") } : {}),
    ...(written.unreadable ? { hint: UNREADABLE } : later ? { hint: LATER } : {}),
  };
}
