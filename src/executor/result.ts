import type { Call, Outcome, OutcomeNotes, Wanted } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { cutToFit } from "./budget.ts";
import { type Kept, MOST_BYTES } from "./intake.ts";
import type { Shaped } from "./listing.ts";
import { decodeCursor, encodeCursor } from "./page.ts";
import { hideSecrets } from "./secrets.ts";
import { select } from "./select.ts";
import { isPlain, slim } from "./slim.ts";
import { cleanLog, decodeText, type Window, windowBackward, windowForward } from "./text.ts";
import { VIEW, type View, viewOf } from "./text-view.ts";

export type ShapeSettings = Pick<Settings, "budget" | "revealSecrets">;

/** Bytes of a file that one message of 1 MB can carry as base64, once in each form. */
export const MOST_BINARY = 360_000;

/** Tokens of one part of a composite. */
const MOST_PART = 250_000;

/** Room for page, notes and frame beside the content. */
const FRAME = 150;

/** Tokens of content that an answer may have; a part of a composite is not cut, since the composite fits the whole. */
export const roomOf = ({ budget }: ShapeSettings, wanted: Wanted = {}): number =>
  wanted.part ? MOST_PART : Math.max(200, (wanted.budget ?? budget) - FRAME);

const AUTHORED =
  /^((?:.*_)?(?:title|name|path)|description|summary|reason|body|message|content|text|diff|notes?|labels|ref|slug|(?:source_|target_)?branch|merged_yaml|bio)$/;
const FIELD = /^[\w.-]{1,60}$/;
const TIME = /^\d{4}-\d\d-\d\d[T ][\d:.]+ ?(?:UTC|Z|[+-]\d\d:?\d\d)?$/;

/** Words, and not one of GitLab's own: states, ids, times, addresses and hashes hold no blank. */
const isProse = (text: string) => /[^\x21-\x7e]/.test(text) && !TIME.test(text);

const DEEPEST = 12;

/** Whether people other than the caller may have written something in it. */
export function isAuthored(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isProse(value);
  if (depth > DEEPEST) return true;
  if (Array.isArray(value)) return value.some((item) => isAuthored(item, depth + 1));
  if (!isPlain(value)) return false;
  return Object.entries(value).some(([key, inner]) => !FIELD.test(key) || AUTHORED.test(key) || isAuthored(inner, depth + 1));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value, ...value.split(",").map((part) => part.trim())];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isPlain(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** How a short answer tells of a long text. */
const COUNTED = /^\d+ (?:characters|entries)$/;

/** The same for the answer of a write, in which the caller's own words may stand: those are not others'. */
export function isForeign(value: unknown, params: Readonly<Record<string, unknown>>): boolean {
  const own = new Set(textsIn(params));
  const isOthers = (text: string, named: boolean) => text !== "" && !own.has(text) && !COUNTED.test(text) && (named || isProse(text));
  const look = (inner: unknown, key: string, depth: number): boolean => {
    if (typeof inner === "string") return isOthers(inner, AUTHORED.test(key));
    if (depth > DEEPEST) return true;
    if (Array.isArray(inner)) return inner.some((item) => look(item, key, depth + 1));
    return isPlain(inner) && Object.entries(inner).some(([name, one]) => !FIELD.test(name) || look(one, name, depth + 1));
  };
  return look(value, "", 0);
}

/** Every outcome that may hold words of others says so, whatever made it. */
export function markForeign(outcome: Outcome, { params }: Pick<Call, "params">): Outcome {
  if (outcome.kind === "binary") return { ...outcome, untrusted: true };
  if ((outcome.kind !== "value" && outcome.kind !== "list") || outcome.untrusted) return outcome;
  return isForeign(outcome.kind === "value" ? outcome.value : outcome.items, params) ? { ...outcome, untrusted: true } : outcome;
}

export const projectOf = ({ params }: Pick<Call, "params">): string | undefined =>
  typeof params.project_id === "string" || typeof params.project_id === "number" ? String(params.project_id) : undefined;

export function notesOf(call: Call, content: unknown): OutcomeNotes {
  const project = projectOf(call);
  return { ...(project === undefined ? {} : { project }), ...(isAuthored(content) ? { untrusted: true } : {}) };
}

/** Fields that say nothing in a list of one project, whose name stands beside the list. */
const IN_ONE_PROJECT = ["ref=references.full", "project_id?"];

/** What a search answers with depends on its scope. */
const BY_SCOPE: Readonly<Record<string, string>> = {
  issues: "Issue",
  work_items: "Issue",
  merge_requests: "MergeRequestBasic",
  projects: "BasicProjectDetails",
  milestones: "Milestone",
  users: "UserBasic",
  commits: "Commit",
  notes: "Note",
  blobs: "Blob",
  wiki_blobs: "Blob",
  snippet_titles: "Snippet",
};

const entityOf = ({ action, params }: Call): string | undefined =>
  action.entity ?? (action.params.scope && typeof params.scope === "string" ? BY_SCOPE[params.scope] : undefined);

/** Rows as the caller wants them: whole, chosen by them, or chosen by us. */
export function shapeRows(items: readonly unknown[], call: Call, settings: ShapeSettings, form: "list" | "get"): Shaped {
  const { action, params, wanted } = call;
  const safe = settings.revealSecrets === "result" ? items : items.map((item) => hideSecrets(item, action));
  if (wanted.select && wanted.select.length > 0) return { items: select(safe, wanted.select, entityOf(call)).items, omitted: 0 };
  if (wanted.full) return { items: safe, omitted: 0 };
  const known = form === "list" && params.project_id !== undefined ? IN_ONE_PROJECT : [];
  const slims = safe.map((item) => slim(item, entityOf(call), form, known));
  return { items: slims.map(({ value }) => value), omitted: slims.reduce((most, { omitted }) => Math.max(most, omitted), 0) };
}

/** The answer of a read that is one object (or a bare value). */
export function toValueOutcome(body: unknown, call: Call, settings: ShapeSettings): Outcome {
  const source = isPlain(body) ? body : { value: body };
  const { items, omitted } = shapeRows([source], call, settings, "get");
  const { value, cuts } = cutToFit(items[0], roomOf(settings, call.wanted));
  return {
    kind: "value",
    value: isPlain(value) ? value : { value },
    ...notesOf(call, source),
    ...(omitted > 0 ? { omitted } : {}),
    ...(cuts.length > 0 ? { truncated: `${cuts.join("; ")}. Narrow the call, use select, or give a larger budget (tokens).` } : {}),
  };
}

type TextOutcome = Extract<Outcome, { kind: "text" }>;

const IS_LOG = /\/trace$/;

const isLog = ({ route, action }: Call) => IS_LOG.test(route?.[1] ?? action.http?.[1] ?? "");

/** A log is told from its end unless its start or a part is asked for. */
export const isReadFromEnd = (call: Call): boolean => isLog(call) && call.wanted.head === undefined && call.wanted.lines === undefined;

/** Tokens of a log where nothing was said of how much: its end tells the most. */
const MOST_LOG = 4_000;

function roomForText({ wanted }: Call, settings: ShapeSettings, log: boolean): number {
  const room = roomOf(settings, wanted);
  const asked = wanted.budget !== undefined || VIEW.some((name) => wanted[name] !== undefined);
  return log && !asked && !wanted.part ? Math.min(room, MOST_LOG) : room;
}

/** A cursor counts the lines that were chosen: it is good for the same choice only. */
function cursorKey({ action, params, wanted }: Call): Pick<Call, "action" | "params"> {
  const chosen = ["grep", "context", "lines", "errors"] as const;
  return {
    action,
    params: { ...params, ...Object.fromEntries(chosen.flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name]]]))) },
  };
}

function told(view: View, window: Window, { wanted }: Call, more: string): string {
  if (wanted.lines !== undefined && !view.note)
    return window.from === 1 && window.to === window.of
      ? `lines ${wanted.lines} only`
      : `lines ${wanted.lines}: of these ${window.from}–${window.to} of ${window.of}${more}`;
  return `${view.note ? "chosen lines" : "lines"} ${window.from}–${window.to} of ${window.of}${more}`;
}

/** A text as a window of whole lines: logs from their end, everything else from its start. */
export function toTextOutcome(raw: string, call: Call, settings: ShapeSettings, about?: Readonly<Record<string, unknown>>): TextOutcome {
  const log = isLog(call);
  const seen = cursorKey(call);
  const start = call.wanted.cursor === undefined ? undefined : decodeCursor(call.wanted.cursor, seen);
  if (start && start.kind !== "lines")
    throw new BridgeError("invalid_params", "cursor: belongs to a list, not to a text", "Leave cursor out to begin the text at its start.");
  const text = log ? cleanLog(raw) : raw;
  const view = viewOf(text, call.wanted, log);
  const room = roomForText(call, settings, log);
  const window = (view.backward ? windowBackward : windowForward)(view.text, room, start?.line, view.most);
  const whole = view.whole && window.to - window.from + 1 >= window.of;
  const project = projectOf(call);
  const more = window.next === undefined ? "" : `; page.next as cursor gives the lines ${view.backward ? "before" : "after"}`;
  return {
    kind: "text",
    text: whole && !log ? text : window.text,
    ...(about ? { value: about } : {}),
    ...(window.next === undefined ? {} : { page: { next: encodeCursor({ kind: "lines", line: window.next }, seen) } }),
    ...(project === undefined ? {} : { project }),
    ...(whole || (view.note && window.next === undefined) ? {} : { truncated: told(view, window, call, more) }),
    ...(view.note === undefined ? {} : { hint: view.note }),
    untrusted: true,
  };
}

const fileName = (disposition: string | undefined): string | undefined => {
  const name = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1] ?? /filename="?([^";]+)/i.exec(disposition ?? "")?.[1];
  return name?.replace(/^.*[\\/]/, "");
};

function toBinaryOutcome(bytes: Uint8Array, mime: string, call: Call, name?: string): Outcome {
  if (bytes.byteLength > MOST_BINARY)
    throw new BridgeError(
      "too_large",
      `${call.action.id}: the file has ${bytes.byteLength} bytes; one answer carries ${MOST_BINARY}.`,
      "Fetch a part of it (a single path of the archive or the artifacts), or give save_as where the operator allows a directory.",
    );
  const project = projectOf(call);
  return {
    kind: "binary",
    base64: Buffer.from(bytes).toString("base64"),
    mime,
    bytes: bytes.byteLength,
    ...(name ? { name } : {}),
    ...(project === undefined ? {} : { project }),
  };
}

const NEWLINE = 10;

/** A part of a longer text, without the line that was cut. */
const wholeLines = (bytes: Uint8Array, kept: Kept) =>
  kept === "end" ? bytes.subarray(bytes.indexOf(NEWLINE) + 1) : bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);

function tellKept(outcome: TextOutcome, kept: Kept | undefined): TextOutcome {
  if (!kept) return outcome;
  const what = `the text is longer than ${MOST_BYTES / 1_048_576} MB: only its ${kept} was read, and lines are counted in that part`;
  return { ...outcome, truncated: [outcome.truncated, what].filter(Boolean).join("; ") };
}

/** A download: text where the bytes are text, base64 otherwise; never changed on the way. */
export async function toRawOutcome(
  body: unknown,
  headers: Readonly<Record<string, string>>,
  call: Call,
  settings: ShapeSettings,
  kept?: Kept,
): Promise<Outcome> {
  const bytes = body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : new Uint8Array();
  const text = decodeText(kept ? wholeLines(bytes, kept) : bytes);
  if (text !== undefined) return tellKept(toTextOutcome(text, call, settings), kept);
  const type = headers["content-type"]?.split(";")[0]?.trim() ?? "";
  const mime = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) ? type : "application/octet-stream";
  return toBinaryOutcome(bytes, mime, call, fileName(headers["content-disposition"]));
}

/** A file as the files API gives it (base64 in JSON): its text, with what else is known of it beside; undefined for anything else. */
export function toFileOutcome(body: unknown, call: Call, settings: ShapeSettings): Outcome | undefined {
  if (!isPlain(body) || body.encoding !== "base64" || typeof body.content !== "string" || call.wanted.select) return undefined;
  const bytes = new Uint8Array(Buffer.from(body.content, "base64"));
  const text = decodeText(bytes);
  const name = typeof body.file_name === "string" ? body.file_name : undefined;
  if (text === undefined) return toBinaryOutcome(bytes, "application/octet-stream", call, name);
  const { content: _content, encoding: _encoding, content_sha256: _digest, ...about } = body;
  return toTextOutcome(text, call, settings, about);
}
