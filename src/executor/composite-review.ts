import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { readFiles } from "./composite-diff.ts";
import { attempt, type Composite, compact, type Fields, isFields, list, number, text, toItems, toValue } from "./composite-read.ts";
import { createSteps } from "./composite-steps.ts";
import { type DiffLine, parseDiff } from "./diff-lines.ts";

interface Comment {
  readonly path: string;
  readonly line?: number;
  readonly old_line?: number;
  readonly text: string;
  readonly suggestion?: string;
}

/** A version of the merge request: positions hold for exactly these commits. */
interface Version {
  readonly base: string;
  readonly start: string;
  readonly head: string;
  readonly files: readonly Fields[];
}

const where = ({ params }: Call) => ({ project_id: params.project_id, merge_request_iid: params.merge_request_iid });

async function readVersion(call: Call, context: CallContext): Promise<Version> {
  const latest = toItems(await call.run("merge_request.version_list", { ...where(call), limit: 1, full: true }))[0];
  const id = number(latest, "id");
  if (id === undefined) {
    const hint = "The source branch may have no commits of its own; look at it first.";
    throw new BridgeError("conflict", "merge_request.review: the merge request has no diff yet.", hint);
  }
  const whole = await call.run("merge_request.version_get", { ...where(call), version_id: id, full: true });
  const version = toValue(whole);
  // A version comes in one piece; where that is too large for one, its files are read page by page.
  const cut = whole.kind === "value" && whole.truncated !== undefined;
  const sha = (name: string) => text(version, name) ?? text(latest, name) ?? "";
  return {
    base: sha("base_commit_sha"),
    start: sha("start_commit_sha"),
    head: sha("head_commit_sha"),
    files: cut ? (await readFiles(call, context)).files : list(version, "diffs"),
  };
}

const pathOf = (file: Fields) => text(file, "new_path") ?? "";

const isLine = (line: DiffLine, comment: Comment) =>
  (comment.line === undefined || line.new === comment.line) && (comment.old_line === undefined || line.old === comment.old_line);

/** `10–18, 30`: runs of numbers. */
function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const one of numbers) {
    const last = runs.at(-1);
    if (last && one === last[1] + 1) last[1] = one;
    else runs.push([one, one]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(", ");
}

/** What to say where the diff has no such line: the lines nearest to it that it has. */
function missing(comment: Comment, lines: readonly DiffLine[]): string {
  if (comment.line !== undefined && comment.old_line !== undefined)
    return `line ${comment.line} and old_line ${comment.old_line} are not the same line; give one of them`;
  const side = comment.line === undefined ? "old" : "new";
  const wanted = comment.line ?? comment.old_line ?? 0;
  const known = [...new Set(lines.flatMap((line) => line[side] ?? []))];
  const near = known.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted)).slice(0, 6);
  const name = side === "new" ? "line" : "old_line";
  if (near.length === 0) return `the diff has no line on this side; give ${side === "new" ? "old_line" : "line"} instead`;
  return `${name} ${wanted} is not in the diff; nearest that can be commented: ${ranges(near.toSorted((a, b) => a - b))}`;
}

/** The position that GitLab wants, or what is wrong with the comment. A line that both sides have needs both numbers. */
function toPosition(comment: Comment, version: Version): Fields | string {
  const file = version.files.find((one) => pathOf(one) === comment.path) ?? version.files.find((one) => one.old_path === comment.path);
  if (!file) {
    const near = nearest(comment.path, version.files.map(pathOf));
    return `${comment.path} is not changed here${near.length > 0 ? `; nearest: ${near.join(", ")}` : ""}`;
  }
  const { base, start, head } = version;
  const place = { base_sha: base, start_sha: start, head_sha: head, old_path: file.old_path ?? file.new_path, new_path: file.new_path };
  if (comment.line === undefined && comment.old_line === undefined) {
    return comment.suggestion === undefined ? { ...place, position_type: "file" } : "a suggestion needs a line";
  }
  const lines = parseDiff(text(file, "diff") ?? "").flatMap((hunk) => hunk.lines);
  if (lines.length === 0) return "its diff is not shown (binary or too large); leave line out to comment on the whole file";
  const line = lines.find((one) => isLine(one, comment));
  if (!line) return missing(comment, lines);
  if (comment.suggestion !== undefined && line.new === undefined) return "a suggestion needs a line of the new side; this one is removed";
  return compact({ ...place, position_type: "text", old_line: line.old, new_line: line.new });
}

/** The text with its suggestion as GitLab reads it; the fence is longer than any inside. */
function toNote({ text: words, suggestion }: Comment): string {
  if (suggestion === undefined) return words;
  const longest = Math.max(2, ...[...suggestion.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${words}\n\n${fence}suggestion:-0+0\n${suggestion.replace(/\n$/, "")}\n${fence}`;
}

interface Placed {
  readonly comment: Comment;
  readonly position: Fields;
}

/** Every comment on its place. @throws BridgeError invalid_params with all that do not fit. */
function placeAll(comments: readonly Comment[], version: Version): Placed[] {
  const placed = comments.map((comment) => ({ comment, position: toPosition(comment, version) }));
  const wrong = placed.flatMap(({ position }, index) => (typeof position === "string" ? [[`comments[${index}]`, position] as const] : []));
  if (wrong.length > 0) {
    throw new BridgeError(
      "invalid_params",
      `merge_request.review: ${wrong.map(([name, problem]) => `${name}: ${problem}`).join("; ")}.`,
      "Nothing was sent. merge_request.diff_show with paths gives the lines and their numbers; then call again with all comments.",
      { fields: Object.fromEntries(wrong) },
    );
  }
  return placed.flatMap(({ comment, position }) => (typeof position === "string" ? [] : [{ comment, position }]));
}

function toComments(value: unknown): Comment[] {
  return (Array.isArray(value) ? value : []).filter(isFields).map((row) => row as unknown as Comment);
}

const placeName = ({ path, line, old_line }: Comment) => {
  const at = line ?? (old_line === undefined ? undefined : `${old_line} (old)`);
  return at === undefined ? path : `${path}:${at}`;
};

function advice(done: readonly string[]): string {
  if (done.some((name) => name.endsWith("published"))) return "Do not repeat the review: published comments stand. Do only what is left.";
  if (done.some((name) => name.startsWith("draft")))
    return "The drafts are seen by you alone: publish them (merge_request.draft_note_publish_all) or delete them before you begin anew.";
  return "Do not repeat what is done.";
}

const PUBLISHED = "comments published";

interface Publishing {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

/** All at once; where older drafts of the same person wait, only the new ones, one by one. */
function publishings(call: Call, drafts: readonly Fields[], names: readonly string[], older: number): Publishing[] {
  if (older === 0) return [{ name: PUBLISHED, run: () => call.run("merge_request.draft_note_publish_all", where(call)) }];
  return names.map((name, index) => ({
    name: `${name} published`,
    run: () => call.run("merge_request.draft_note_publish", { ...where(call), draft_note_id: number(drafts[index], "id") }),
  }));
}

async function olderDrafts(call: Call): Promise<number> {
  const found = await attempt("drafts", () => call.run("merge_request.draft_note_list", { ...where(call), limit: 100 }), []);
  return toItems(found).length;
}

/** Sends a review whose comments all fit, step by step. */
async function send(call: Call, context: CallContext, placed: readonly Placed[], version: Version): Promise<Fields> {
  const { summary, approve } = call.params;
  const names = placed.map(({ comment }, index) => `draft ${index + 1} on ${placeName(comment)}`);
  const older = placed.length > 0 ? await olderDrafts(call) : 0;
  const drafts: Fields[] = [];
  const publishing = placed.length > 0 ? publishings(call, drafts, names, older) : [];
  const planned = [...names, ...publishing.map(({ name }) => name), ...(summary ? ["summary"] : []), ...(approve ? ["approval"] : [])];
  const steps = createSteps(call.action.id, planned, advice);
  for (const [index, { comment, position }] of placed.entries()) {
    const draft = () => call.run("merge_request.draft_note_create", { ...where(call), note: toNote(comment), position });
    drafts.push(toValue(await steps.run(names[index] ?? "", draft)));
    context.progress?.({ progress: index + 1, total: planned.length, message: "draft comments" });
  }
  for (const { name, run } of publishing) await steps.run(name, run);
  if (summary) await steps.run("summary", () => call.run("merge_request.note_create", { ...where(call), body: summary }));
  if (approve) await steps.run("approval", () => call.run("merge_request.approve", { ...where(call), sha: version.head }));
  return compact({
    published: placed.length,
    at: placed.length > 0 ? placed.slice(0, 8).map(({ comment }) => placeName(comment)) : undefined,
    summary: summary ? true : undefined,
    approved: approve ? true : undefined,
    sha: version.head,
    drafts_kept: older > 0 ? older : undefined,
  });
}

/**
 * A whole review: comments on lines, published together, a summary, an approval pinned to the commit that was looked at. Every
 * place is checked before anything is sent.
 */
export const reviewMergeRequest: Composite = async (call, context) => {
  const comments = toComments(call.params.comments);
  const { summary, approve } = call.params;
  if (comments.length === 0 && !summary && approve !== true) {
    const hint = "Nothing was sent. Give at least one of them.";
    throw new BridgeError("invalid_params", "merge_request.review: there are no comments, no summary and no approval.", hint);
  }
  const version = await readVersion(call, context);
  const placed = placeAll(comments, version);
  return { kind: "value", value: await send(call, context, placed, version), project: String(call.params.project_id) };
};
