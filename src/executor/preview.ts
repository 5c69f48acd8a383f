import { isUtf8 } from "node:buffer";
import { beforeOf } from "../catalog/load.ts";
import type { Action, Call, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { cutToFit } from "./budget.ts";
import { type Changes, changesOf } from "./preview-changes.ts";
import { isRemoval, lookFor } from "./preview-look.ts";
import type { Look } from "./preview-path.ts";
import { partAt, short } from "./preview-values.ts";
import { hideSecrets } from "./secrets.ts";
import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

/** What a look before a write may take; then the preview is told without it. */
const LOOK_MS = 5_000;
/** Of many things that one call changes, how many are read. */
const MOST = 10;

const NAMES = ["id", "iid", "name", "title", "key", "tag_name", "username", "slug", "domain", "file_path", "state", "web_url"];
/** What a thing is known by that has no name. */
const TEXTS = ["body", "note", "description", "summary", "link_type", "email", "invite_email"];

const pick = (now: Plain, names: readonly string[]): Plain =>
  Object.fromEntries(
    names.flatMap((name) => (now[name] === undefined || now[name] === null || now[name] === "" ? [] : [[name, short(now[name])]])),
  );

const isNamed = (thing: Plain) => Object.keys(thing).some((name) => name !== "id" && name !== "state");

/** What says which thing it is; of a link or a membership, what it leads to. */
function briefOf(now: Plain): Plain {
  const named = pick(now, NAMES);
  if (isNamed(named)) return named;
  const [text] = Object.entries(pick(now, TEXTS));
  const inner = Object.entries(now).find(([, part]) => isPlain(part) && isNamed(pick(part, NAMES)));
  return { ...named, ...Object.fromEntries([...(text ? [text] : []), ...(inner ? [[inner[0], pick(inner[1] as Plain, NAMES)]] : [])]) };
}

/** Of what has no name at all (a share, a setting), so many plain fields are shown. */
const FEW = 4;
const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value) && value !== "";

/** What would be gone. */
function goneOf(now: Plain): Plain {
  const brief = briefOf(now);
  const plain = Object.keys(now).filter((name) => isScalar(now[name]));
  return Object.keys(brief).length > 0 ? brief : pick(now, plain.slice(0, FEW));
}

/** What of an answer the things may stand in; undefined where it is not what was looked for. */
function partOf(outcome: Outcome, { within, find }: Look): readonly unknown[] | undefined {
  if (outcome.kind === "list") return within === undefined ? outcome.items : outcome.items.flatMap((row) => partAt(row, within) ?? []);
  const value =
    outcome.kind === "value" ? outcome.value : outcome.kind === "text" ? { ...outcome.value, content: outcome.text } : undefined;
  const inner = within === undefined ? value : value?.[within];
  if (Array.isArray(inner)) return inner;
  return isPlain(inner) && !(find && within === undefined) ? [inner] : undefined;
}

/** The field of a list's row that a param names: its own name there, or its last word. */
const fieldIn = (row: Plain, param: string): string => (Object.hasOwn(row, param) ? param : (param.split("_").at(-1) ?? param));

const bare = (id: unknown) => String(id).replace(/^gid:\/\/gitlab\/.*\//, "");

/** The things that are meant, in what was read. */
function thingsIn(read: readonly unknown[], { find }: Look): readonly Plain[] {
  const rows = read.filter(isPlain);
  if (!find) return rows;
  return rows.filter((row) => find.values.some((value) => bare(partAt(row, find.field ?? fieldIn(row, find.param))) === bare(value)));
}

/** What one read found. */
interface Found {
  readonly things: readonly Plain[];
  /** The answer had the part that the things stand in. */
  readonly shown: boolean;
  /** The list goes on behind what was read. */
  readonly goesOn: boolean;
}

const NOTHING: Found = { things: [], shown: false, goesOn: false };

interface Seen {
  readonly things: readonly Plain[];
  /** Every read was answered, to the end of its list. */
  readonly answered: boolean;
  /** Why nothing, or not all, could be seen. */
  readonly unread?: string;
}

const reasonOf = (error: unknown): string => (error instanceof BridgeError ? error.message.replace(/\.$/, "") : "the read failed");

/** Gives up when the time is over, whatever becomes of the read. */
function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const late = () => new BridgeError("timeout", "it took too long", "");
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(late());
    signal.addEventListener("abort", () => reject(late()), { once: true });
    promise.then(resolve, (error: unknown) => reject(signal.aborted ? late() : error));
  });
}

function foundIn(outcome: Outcome, look: Look): Found {
  const rows = partOf(outcome, look);
  if (!rows) return NOTHING;
  return { things: thingsIn(rows, look), shown: true, goesOn: outcome.kind === "list" && outcome.page.next !== undefined };
}

/** One thing, or what stands in one list: from the first place that has it. @throws what the last place said where none has it. */
async function seeOne(call: Call, look: Look, params: Plain, signal: AbortSignal): Promise<Found> {
  const all = (look.find || look.isWhole) && look.within === undefined ? { all: true } : {};
  let failure: unknown;
  for (const place of look.places) {
    try {
      const read = call.run(look.action, { ...place, ...params, full: true, ...all }, signal);
      const found = foundIn(await within(signal, read), look);
      if (found.things.length > 0 || look.places.length === 1) return found;
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return NOTHING;
}

/** Whether less was found than was looked for: of a list as a whole, its end. */
function lacks({ find, isWhole }: Look, found: readonly Found[], things: readonly Plain[]): boolean {
  if (find) return things.length < find.values.length;
  return found.some(({ things: own, shown, goesOn }) => (isWhole ? !shown || goesOn : own.length === 0));
}

async function see(call: Call, look: Look, signal: AbortSignal): Promise<Seen> {
  const asked = look.reads.slice(0, MOST);
  const left = look.reads.length - asked.length;
  const results = await Promise.allSettled(asked.map((params) => seeOne(call, look, params, signal)));
  const failed = results.find((result) => result.status === "rejected");
  const found = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const things = found.flatMap((one) => one.things);
  const missing = lacks(look, found, things);
  const first = found.some(({ goesOn }) => goesOn) ? " in the part that was read" : "";
  const why = failed ? reasonOf(failed.reason) : missing ? `${look.action} does not show it${first}` : undefined;
  const unread = [
    ...(why === undefined ? [] : [`What is there now could not ${things.length > 0 ? "all " : ""}be read: ${why}.`]),
    ...(left > 0 ? [`${left} more things are not shown.`] : []),
  ].join(" ");
  return { things, answered: failed === undefined && !(look.isWhole && missing), ...(unread === "" ? {} : { unread }) };
}

const told = ({ changes, unchanged }: Changes): Plain => ({
  ...(Object.keys(changes).length > 0 ? { changes } : {}),
  ...(unchanged.length > 0 ? { unchanged } : {}),
});

/** What becomes of the things. A list as a whole is one thing: the field that the call adds to or takes away from. */
function toldOf(call: Pick<Call, "action" | "params">, { things, answered }: Seen, { isWhole, used, ownNames }: Look): Plain {
  const { sets = {}, skips = [] } = beforeOf(call.action.id);
  const [field] = Object.keys(sets);
  const whole = isWhole && field !== undefined ? (answered ? [{ [field]: things }] : []) : things;
  const changes = (now: Plain) => told(changesOf(call, now, { used, ownNames, sets, skips }));
  const [one, ...others] = whole;
  if (!one) return {};
  if (others.length === 0) return { ...changes(one), ...(Object.keys(briefOf(one)).length > 0 ? { of: briefOf(one) } : {}) };
  return { changes_each: whole.map((now) => ({ of: briefOf(now), ...changes(now) })) };
}

/** The content of a file as it would stand there: base64 is only how it travels. What is no text is not compared. */
function asWritten(params: Plain): Plain {
  const { content, ...rest } = params;
  if (typeof content !== "string" || params.encoding !== "base64") return params;
  const bytes = Buffer.from(content, "base64");
  return isUtf8(bytes) ? { ...rest, content: bytes.toString() } : rest;
}

/**
 * What a write would change, found out by reading: the fields of each thing that it updates, or the things that would be gone. The
 * reads go the whole road and can be refused like any other. What cannot be read, or not in time, is said. Secrets are masked on both sides.
 */
export async function effectOfWrite(
  call: Call,
  actions: readonly Action[],
  { project, patience = LOOK_MS }: { readonly project?: string | undefined; readonly patience?: number } = {},
): Promise<Plain> {
  const { action } = call;
  const look = lookFor(call, actions, project);
  if (!look) return {};
  const seen = await see(call, look, AbortSignal.timeout(patience));
  const now = seen.things.map((thing) => hideSecrets(thing, action) as Plain);
  const params = hideSecrets(asWritten(call.params), action) as Plain;
  const gone = now.map(goneOf).filter((one) => Object.keys(one).length > 0);
  const shown = isRemoval(action)
    ? { ...(gone.length > 0 ? { would_remove: gone.length === 1 ? gone[0] : gone } : {}) }
    : toldOf({ action, params }, { ...seen, things: now }, look);
  return {
    // First, since of what is too long the end may be cut off.
    ...(Object.keys(shown).length > 0 ? { untrusted: true } : {}),
    ...shown,
    ...(seen.unread === undefined ? {} : { unread: seen.unread }),
  };
}

/** A preview within its room: what a caller sends may be far longer than what is worth reading again. */
export function fitPreview(preview: Plain, tokens: number): Plain {
  const { value, cuts } = cutToFit(preview, tokens);
  if (cuts.length === 0) return preview;
  return { ...(value as Plain), truncated: `${cuts.join("; ")}. Only this preview is cut: the call would send all of it.` };
}
