import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { countLines } from "./composite-merge-request.ts";
import { type Composite, type Fields, stopIfCancelled, text, toItems } from "./composite-read.ts";
import { fitsPath, type Hunk, parseDiff } from "./diff-lines.ts";
import { decodeCursor, encodeCursor } from "./page.ts";
import { windowForward } from "./text.ts";

/** Tokens of an answer: what a reader takes in at once; page.next has the rest. */
const MOST = 4_000;
/** Pages of 100 files that are read. */
const MOST_PAGES = 10;

interface Changed {
  readonly files: readonly Fields[];
  readonly more: boolean;
}

/** Every changed file with its diff, as many as GitLab shows. */
export async function readFiles(call: Call, context: CallContext): Promise<Changed> {
  const where = { project_id: call.params.project_id, merge_request_iid: call.params.merge_request_iid, full: true, limit: 100 };
  const files: Fields[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    stopIfCancelled(context);
    const outcome = await call.run("merge_request.diff_list", { ...where, ...(cursor === undefined ? {} : { cursor }) });
    files.push(...toItems(outcome));
    cursor = outcome.kind === "list" ? outcome.page.next : undefined;
    if (cursor === undefined) return { files, more: false };
    context.progress?.({ progress: files.length, message: "changed files" });
  }
  return { files, more: true };
}

const pathOf = (file: Fields): string => text(file, "new_path") ?? text(file, "old_path") ?? "";

const isHidden = (file: Fields) => file.collapsed === true || file.too_large === true;

/** What is special about a changed file, in few words. */
function flagsOf(file: Fields): string[] {
  const mode = text(file, "a_mode") !== text(file, "b_mode") && file.new_file !== true && file.deleted_file !== true;
  return [
    ...(file.new_file === true ? ["new"] : []),
    ...(file.deleted_file === true ? ["deleted"] : []),
    ...(file.renamed_file === true ? [`renamed from ${text(file, "old_path")}`] : []),
    ...(file.generated_file === true ? ["generated"] : []),
    ...(mode ? ["mode changed"] : []),
    ...(isHidden(file) ? ["too large: GitLab gives no diff"] : []),
  ];
}

function headOf(file: Fields): string {
  const { added, removed } = countLines(text(file, "diff") ?? "");
  const notes = [...(isHidden(file) ? [] : [`+${added} -${removed}`]), ...flagsOf(file)];
  return `${pathOf(file)} (${notes.join(", ")})`;
}

const cell = (number: number | undefined, width: number) => String(number ?? "").padStart(width);

function linesOfHunk(hunk: Hunk, width: number): string[] {
  const lines = hunk.lines.map((line) => `${cell(line.old, width)} ${cell(line.new, width)} ${line.sign}${line.text}`);
  return [hunk.header, ...lines];
}

function linesOfFile(file: Fields): string[] {
  const hunks = parseDiff(text(file, "diff") ?? "");
  const most = Math.max(0, ...hunks.flatMap(({ lines }) => lines.map((line) => Math.max(line.old ?? 0, line.new ?? 0))));
  return [headOf(file), ...hunks.flatMap((hunk) => linesOfHunk(hunk, String(most).length))];
}

const patterns = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const fitsAny = (list: readonly string[], file: Fields) =>
  [pathOf(file), text(file, "old_path") ?? ""].some((path) => list.some((pattern) => fitsPath(pattern, path)));

function refuseUnknown(paths: readonly string[], files: readonly Fields[]): never {
  const known = files.map(pathOf);
  const near = paths.flatMap((path) => nearest(path, known)).slice(0, 5);
  throw new BridgeError(
    "invalid_params",
    `merge_request.diff_show: no changed file fits paths ${paths.join(", ")}${near.length > 0 ? `; nearest: ${near.join(", ")}` : ""}.`,
    "Call it without paths for the list of changed files.",
    { fields: { paths: "no changed file fits" }, ...(near.length > 0 ? { nearest: near } : {}) },
  );
}

function startOf(call: Call): number {
  if (call.wanted.cursor === undefined) return 0;
  const position = decodeCursor(call.wanted.cursor, call);
  if (position.kind === "lines") return position.line;
  throw new BridgeError("invalid_params", "cursor: belongs to a list, not to a diff", "Leave cursor out to begin at the first file.");
}

const NUMBERS =
  "Numbers: before the change, after it. merge_request.review comments on a line: line is the right number, old_line the left one.";
const NAMES = "Call again with paths to see the diffs of these files; exclude leaves files out.";

/** The window of lines that fits, and where the next one begins. Inside a file, its name stands before the first line. */
function toOutcome(
  blocks: readonly (readonly string[])[],
  call: Call,
  room: number,
): Pick<Extract<Outcome, { kind: "text" }>, "text" | "page" | "truncated"> {
  const lines = blocks.flat();
  const start = startOf(call);
  const window = windowForward(lines.join("\n"), call.wanted.budget === undefined ? Math.min(MOST, room) : room, start);
  let at = 0;
  const inside = blocks.find((block) => {
    at += block.length;
    return at > start;
  });
  const head = start > 0 && inside && at - inside.length < start ? `${inside[0]} … continued\n` : "";
  if (window.next === undefined) return { text: `${head}${window.text}` };
  return {
    text: `${head}${window.text}`,
    page: { next: encodeCursor({ kind: "lines", line: window.next }, call) },
    truncated: `lines ${window.from}–${window.to} of ${window.of}; page.next as cursor gives what follows, or name fewer paths`,
  };
}

/** What a merge request changes: the files with their counts, or the diffs of some of them with the numbers that comments need. */
export const showDiff: Composite = async (call, context, room) => {
  const { files, more } = await readFiles(call, context);
  const [paths, exclude] = [patterns(call.params.paths), patterns(call.params.exclude)];
  const kept = files.filter((file) => !fitsAny(exclude, file) && (paths.length === 0 || fitsAny(paths, file)));
  if (kept.length === 0 && files.length > 0 && paths.length > 0) refuseUnknown(paths, files);
  const counts = kept.map((file) => countLines(text(file, "diff") ?? ""));
  const sum = (name: "added" | "removed") => counts.reduce((total, count) => total + count[name], 0);
  const blocks = kept.map((file) => (paths.length > 0 ? linesOfFile(file) : [headOf(file)]));
  return {
    kind: "text",
    value: { files: kept.length, added: sum("added"), removed: sum("removed"), ...(more ? { more_files: true } : {}) },
    ...toOutcome(blocks, call, room),
    project: String(call.params.project_id),
    hint: paths.length > 0 ? NUMBERS : NAMES,
    untrusted: true,
  };
};
