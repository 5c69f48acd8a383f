import type { Call } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { attempt, type Composite, clip, compact, type Fields, isFields, text, toValue } from "./composite-read.ts";
import { createSteps } from "./composite-steps.ts";

interface Edit {
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

interface NewFile {
  readonly path: string;
  readonly content: string;
}

interface FileNow {
  readonly content: string;
  readonly lastCommit: string | undefined;
}

interface FileChange {
  readonly action: Fields;
  readonly told: Fields;
}

type Problems = Map<string, string>;

const rows = <T>(value: unknown): T[] => (Array.isArray(value) ? value.filter(isFields).map((row) => row as unknown as T) : []);

const paths = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const isMissing = (error: unknown) => error instanceof BridgeError && error.code === "not_found";

/** The file as it is, every byte of it; a byte order mark stays. */
async function readFile(call: Call, path: string, ref: string): Promise<FileNow | string> {
  const params = { project_id: call.params.project_id, file_path: path, ref, select: ["content", "last_commit_id"] };
  try {
    const outcome = await call.run("repository.file_get", params);
    if (outcome.kind === "value" && outcome.truncated !== undefined) return "is too large to be edited here; commit its whole text instead";
    const bytes = Buffer.from(text(toValue(outcome), "content") ?? "", "base64");
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return content.includes("\u0000") ? "is binary" : { content, lastCommit: text(toValue(outcome), "last_commit_id") };
  } catch (error) {
    if (error instanceof TypeError) return "is not a text in UTF-8";
    if (isMissing(error)) return `is not there on ${ref}`;
    throw error;
  }
}

function placesOf(content: string, part: string): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(part); at >= 0; at = content.indexOf(part, at + 1)) found.push(at);
  return found;
}

const lineAt = (content: string, index: number) => content.slice(0, index).split("\n").length;

/** Lines of the file that are most like the first telling line of the text that was not found. */
function nearLines(content: string, part: string): string {
  const lines = content.split(/\r?\n/);
  const wanted = part.split(/\r?\n/).find((line) => line.trim() !== "") ?? "";
  const same = lines.flatMap((line, index) => (line.trim() === wanted.trim() && wanted.trim() !== "" ? [index] : []));
  const names = new Map(lines.slice(0, 5_000).map((line, index) => [line.trim(), index]));
  const near =
    same.length > 0
      ? same.slice(0, 3)
      : nearest(
          wanted.trim(),
          [...names.keys()].filter((line) => line !== ""),
          3,
        ).map((line) => names.get(line) ?? 0);
  return near.map((index) => `line ${index + 1}: ${clip((lines[index] ?? "").trim(), 100)}`).join(" | ");
}

/** Files with Windows line ends are edited in them, however the caller wrote the text. */
const inStyleOf = (content: string, part: string) =>
  content.includes("\r\n") && !part.includes("\r") ? part.replaceAll("\n", "\r\n") : part;

/** The text after one edit, or why it is refused. */
function apply(content: string, edit: Edit): { readonly content: string } | string {
  if (edit.old === "") return "old is empty; new_files makes a file, and an insertion names the line before it";
  if (edit.old === edit.new) return "old and new are the same";
  const old = inStyleOf(content, edit.old);
  const places = placesOf(content, old);
  if (places.length === 1) {
    const at = places[0] ?? 0;
    return { content: content.slice(0, at) + inStyleOf(content, edit.new) + content.slice(at + old.length) };
  }
  if (places.length > 1) {
    const at = places.slice(0, 5).map((place) => lineAt(content, place));
    return `old occurs ${places.length} times in ${edit.path} (lines ${at.join(", ")}${places.length > 5 ? ", …" : ""}); give more of the text around it`;
  }
  const near = nearLines(content, edit.old);
  return `old does not occur in ${edit.path}${near === "" ? "" : `; nearest: ${near}`}`;
}

/** Lines that one edit takes away and brings, without those at its start and end that stay. */
function countsOf(edit: Edit): { added: number; removed: number } {
  let [old, fresh] = [edit.old.split("\n"), edit.new.split("\n")];
  while (old.length > 0 && fresh.length > 0 && old[0] === fresh[0]) [old, fresh] = [old.slice(1), fresh.slice(1)];
  while (old.length > 0 && fresh.length > 0 && old.at(-1) === fresh.at(-1)) [old, fresh] = [old.slice(0, -1), fresh.slice(0, -1)];
  return { added: fresh.length, removed: old.length };
}

type Numbered = Edit & { readonly name: string };

/** All edits of one file on what it holds now; each is looked for in the text that the ones before it left. */
async function editFile(
  call: Call,
  path: string,
  edits: readonly Numbered[],
  ref: string,
  problems: Problems,
): Promise<FileChange | undefined> {
  const file = await readFile(call, path, ref);
  if (typeof file === "string") {
    for (const { name } of edits) problems.set(name, `${path} ${file}`);
    return undefined;
  }
  let { content } = file;
  for (const edit of edits) {
    const next = apply(content, edit);
    if (typeof next === "string") problems.set(edit.name, next);
    else content = next.content;
  }
  const counts = edits.map(countsOf);
  const sum = (name: "added" | "removed") => counts.reduce((total, count) => total + count[name], 0);
  return {
    action: compact({ action: "update", file_path: path, content, last_commit_id: file.lastCommit }),
    told: { path, added: sum("added"), removed: sum("removed") },
  };
}

async function deleteFile(call: Call, path: string, ref: string, name: string, problems: Problems): Promise<FileChange | undefined> {
  const params = { project_id: call.params.project_id, file_path: path, ref, select: ["last_commit_id", "file_path"] };
  try {
    const last = text(toValue(await call.run("repository.file_get", params)), "last_commit_id");
    return { action: compact({ action: "delete", file_path: path, last_commit_id: last }), told: { path, deleted: true } };
  } catch (error) {
    if (!isMissing(error)) throw error;
    problems.set(name, `${path} is not there on ${ref}`);
    return undefined;
  }
}

const newFile = ({ path, content }: NewFile): FileChange => ({
  action: { action: "create", file_path: path, content },
  told: { path, added: content === "" ? 0 : content.replace(/\n$/, "").split("\n").length, new: true },
});

function refuse(problems: Problems): void {
  if (problems.size === 0) return;
  const all = [...problems].map(([name, problem]) => `${name}: ${problem}`).join("; ");
  throw new BridgeError(
    "invalid_params",
    `commit.edit: ${all}.`,
    "Nothing was sent: all edits are made together or none. Correct these and call again with all of them.",
    {
      fields: Object.fromEntries(problems),
    },
  );
}

/** What each file becomes. @throws BridgeError invalid_params with every edit that does not fit. */
async function plan(call: Call, ref: string): Promise<FileChange[]> {
  const edits = rows<Edit>(call.params.edits).map((edit, index): Numbered => ({ ...edit, name: `edits[${index}]` }));
  const fresh = rows<NewFile>(call.params.new_files);
  const gone = paths(call.params.delete_files);
  const problems: Problems = new Map();
  const named = [...new Set(edits.map(({ path }) => path))];
  const all = [...named, ...fresh.map(({ path }) => path), ...gone];
  if (all.length === 0) problems.set("edits", "is missing; give edits, new_files or delete_files");
  const twice = all.find((path, index) => all.indexOf(path) !== index);
  if (twice !== undefined) problems.set("edits", `${twice} is named in more than one of edits, new_files and delete_files`);
  refuse(problems);
  const changes = await Promise.all([
    ...named.map((path) =>
      editFile(
        call,
        path,
        edits.filter((edit) => edit.path === path),
        ref,
        problems,
      ),
    ),
    ...gone.map((path, index) => deleteFile(call, path, ref, `delete_files[${index}]`, problems)),
  ]);
  refuse(problems);
  return [...changes.flatMap((change) => (change ? [change] : [])), ...fresh.map(newFile)];
}

const PROTECTED =
  "Nothing was sent. Give start_branch with this branch and a new name in branch, and merge_request: { title } to propose the change.";

/** The branch as it is; undefined where there is none. */
async function branchOf(call: Call, branch: string): Promise<Fields | undefined> {
  try {
    return toValue(await call.run("branch.get", { project_id: call.params.project_id, branch, full: true }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Refuses what GitLab would refuse after everything was prepared, and says what works. */
async function checkBranch(call: Call, branch: string, start: string | undefined): Promise<void> {
  const found = await branchOf(call, branch);
  if (found && start !== undefined) {
    const hint = "Nothing was sent. Leave start_branch out to commit on top of it, or choose another name.";
    throw new BridgeError("conflict", `commit.edit: the branch ${branch} is there already, so it cannot start from ${start}.`, hint);
  }
  if (!found && start === undefined) {
    const hint = "Nothing was sent. Check the name, or give start_branch (e.g. the default branch) to make it.";
    throw new BridgeError("not_found", `commit.edit: there is no branch ${branch}.`, hint);
  }
  if (found?.can_push !== false) return;
  const why = found.protected === false ? "" : "is protected, and ";
  throw new BridgeError("forbidden", `commit.edit: the branch ${branch} ${why}does not take your commits.`, PROTECTED);
}

/** Where a merge request goes: as asked, else where the branch came from, else the default branch. */
async function targetOf(call: Call, request: Fields, start: string | undefined): Promise<string | undefined> {
  const given = text(request, "target_branch") ?? start;
  if (given !== undefined) return given;
  const project = await attempt("project", () => call.run("project.get", { project_id: call.params.project_id, full: true }), []);
  return text(toValue(project), "default_branch");
}

const advice = () => "The commit stands: do not repeat it. Open the merge request with merge_request.create if it is still wanted.";

async function commit(call: Call, changes: readonly FileChange[], branch: string, start: string | undefined): Promise<Fields> {
  const { project_id, message, merge_request } = call.params;
  const request = isFields(merge_request) ? merge_request : undefined;
  const target = request && (await targetOf(call, request, start));
  if (request && (target === undefined || target === branch))
    throw new BridgeError(
      "invalid_params",
      `commit.edit: merge_request.target_branch: expected a branch other than ${branch}.`,
      "Nothing was sent.",
    );
  const steps = createSteps(call.action.id, ["the commit", "the merge request"], advice);
  const made = toValue(
    await steps.run("the commit", () =>
      call.run(
        "commit.create",
        compact({
          project_id,
          branch,
          start_branch: start,
          commit_message: message,
          actions: changes.map(({ action }) => action),
          full: true,
        }),
      ),
    ),
  );
  const opening = compact({
    project_id,
    source_branch: branch,
    target_branch: target,
    title: request?.title,
    description: request?.description,
  });
  const opened = request && toValue(await steps.run("the merge request", () => call.run("merge_request.create", opening)));
  return compact({
    sha: text(made, "id"),
    branch,
    files: changes.map(({ told }) => told),
    merge_request: opened && compact({ iid: opened.iid, title: opened.title, web_url: opened.web_url }),
    web_url: opened ? undefined : text(made, "web_url"),
  });
}

/**
 * A commit made of edits: old text → new text, each found exactly once, or nothing is sent. A change that came in between is
 * refused by GitLab, since each file names the commit that it was read from.
 */
export const editFiles: Composite = async (call) => {
  const branch = String(call.params.branch);
  const start = typeof call.params.start_branch === "string" && call.params.start_branch !== branch ? call.params.start_branch : undefined;
  await checkBranch(call, branch, start);
  const changes = await plan(call, start ?? branch);
  return { kind: "value", value: await commit(call, changes, branch, start), project: String(call.params.project_id) };
};
