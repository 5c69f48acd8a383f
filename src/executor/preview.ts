import type { Action, Call, Outcome } from "../catalog/types.ts";
import { MASK } from "../log.ts";
import { checkOf } from "./check.ts";
import { hideSecrets } from "./secrets.ts";
import { compact, isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

const LONG = 200;

/** A value as a preview shows it: long texts by their start. */
function short(value: unknown): unknown {
  const plain = compact(value, 1);
  if (typeof plain === "string" && plain.length > LONG) return `${plain.slice(0, LONG)}… (${plain.length} characters)`;
  return plain ?? null;
}

const STATES: Readonly<Record<string, string>> = { close: "closed", reopen: "opened", activate: "active" };

const idsOf = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((item) => (isPlain(item) ? item.id : item)) : isPlain(value) ? value.id : undefined;

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : String(value)
        .split(",")
        .map((item) => item.trim());

interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What one parameter changes of the thing as it is now; undefined where the thing does not show it. */
function changeOf(name: string, to: unknown, now: Plain): Change | undefined {
  if (name === "state_event") return { field: "state", from: now.state, to: STATES[String(to)] ?? to };
  if (name === "add_labels" && Array.isArray(now.labels))
    return { field: "labels", from: now.labels, to: [...new Set([...now.labels, ...listOf(to)])] };
  if (name === "remove_labels" && Array.isArray(now.labels))
    return { field: "labels", from: now.labels, to: now.labels.filter((label) => !listOf(to).includes(label)) };
  if (Object.hasOwn(now, name))
    return { field: name, from: now[name], to: Array.isArray(now[name]) && !Array.isArray(to) ? listOf(to) : to };
  const bare = name.replace(/_ids?$/, "");
  const holder = bare === name ? undefined : [`${bare}s`, bare].find((field) => Object.hasOwn(now, field));
  return holder === undefined ? undefined : { field: name, from: idsOf(now[holder]), to };
}

const same = (one: unknown, other: unknown) => one !== MASK && JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Each field that the call would change: what it is, and what it would be. */
export function changesOf(call: Pick<Call, "action" | "params">, now: Plain): Plain {
  const { action } = call;
  const body = Object.entries(call.params).filter(([name]) => action.params[name]?.in === "body");
  const changes = body.flatMap(([name, to]) => changeOf(name, to, now) ?? []).filter(({ from, to }) => !same(from, to));
  return Object.fromEntries(changes.map(({ field, from, to }) => [field, { from: short(from), to: short(to) }]));
}

const NAMES = ["id", "iid", "name", "title", "key", "tag_name", "username", "state", "web_url"];

const briefOf = (now: Plain): Plain =>
  Object.fromEntries(NAMES.flatMap((name) => (now[name] === undefined ? [] : [[name, short(now[name])]])));

const valueIn = (outcome: Outcome): Plain | undefined => (outcome.kind === "value" ? outcome.value : undefined);

/** `issue.note_update` and `issue.note_get` are about the same thing; `job.artifacts_delete` and `job.get` are not. */
const nounOf = (id: string) => id.replace(/_?[a-z0-9]+$/, "");

const CREATES = /[._](?:create|add|import|start)$/;

/**
 * What a write would change, found out by reading: the fields of an update, or the thing that would be gone. Best effort: what
 * cannot be read, or may not be, is not told. Secrets are masked on both sides.
 */
export async function effectOfWrite(call: Call, actions: readonly Action[]): Promise<Plain> {
  const { action } = call;
  const look = CREATES.test(action.id) ? undefined : checkOf(action, call.params, actions);
  if (!look?.action.endsWith("get") || nounOf(look.action) !== nounOf(action.id)) return {};
  const read = await call.run(look.action, { ...look.params, full: true }).then(valueIn, () => undefined);
  if (!read) return {};
  const now = hideSecrets(read, action) as Plain;
  const params = hideSecrets(call.params, action) as Plain;
  const told = action.http?.[0] === "DELETE" ? { would_remove: briefOf(now) } : { changes: changesOf({ action, params }, now) };
  const isEmpty = Object.values(told).every((part) => Object.keys(part).length === 0);
  return isEmpty ? {} : { ...told, untrusted: true };
}
