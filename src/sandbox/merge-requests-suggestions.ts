import { requireUser } from "./access.ts";
import { projectOf } from "./ci-state.ts";
import { badParams, failure, forbidden, notFound } from "./errors.ts";
import { type GitStore, resolveRef, snapshotOf } from "./git.ts";
import { splitLines } from "./git-diff.ts";
import { integers, required, text } from "./input.ts";
import { type MergeRequest, mergeRequestsOf } from "./merge-requests-state.ts";
import { noteExtras } from "./notes-store.ts";
import { ok, put } from "./reply.ts";
import { mayPush, repositoryOf } from "./repository-state.ts";
import { commitFiles } from "./repository-write.ts";
import type { Behaviour, Json, Note, Reply, Request, World } from "./types.ts";

/** A ```suggestion block of a comment on a line. */
interface Suggestion {
  readonly id: number;
  readonly row: MergeRequest;
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly before: string;
  readonly after: string;
}

const BLOCK = /```suggestion(?::-(\d+)\+(\d+))?[^\n]*\n([\s\S]*?)```/g;

interface Memory {
  /** `note:index` → id. */
  readonly ids: Map<string, number>;
  readonly applied: Set<number>;
}

const memory = (world: World) => world.part("suggestions", (): Memory => ({ ids: new Map(), applied: new Set() }));

function idOf(world: World, key: string): number {
  const { ids } = memory(world);
  const id = ids.get(key) ?? world.nextId("suggestion");
  ids.set(key, id);
  return id;
}

function linesAt(git: GitStore, ref: string, path: string): string[] {
  const entry = snapshotOf(git, resolveRef(git, ref)).get(path);
  return splitLines((entry && git.blobs.get(entry.id))?.toString() ?? "");
}

const gitOf = (world: World, row: MergeRequest) => repositoryOf(world, projectOf(world, row.source_project_id)).git;

function suggestionsOf(world: World, note: Note): Suggestion[] {
  const line = Number(note.position?.new_line ?? 0);
  const row = note.type === "DiffNote" ? mergeRequestsOf(world).find(({ id }) => id === note.noteable_id) : undefined;
  if (!row || line < 1) return [];
  const path = String(note.position?.new_path);
  const lines = linesAt(gitOf(world, row), String(note.position?.head_sha), path);
  return [...note.body.matchAll(BLOCK)].map(([, above = "0", below = "0", after = ""], index) => {
    const [from, to] = [Math.max(1, line - Number(above)), line + Number(below)];
    const id = idOf(world, `${note.id}:${index}`);
    return { id, row, path, from, to, before: lines.slice(from - 1, to).join(""), after };
  });
}

/** The lines still stand in the source branch as they stood when the comment was written. */
function fits(world: World, one: Suggestion): boolean {
  if (memory(world).applied.has(one.id) || one.row.state !== "opened") return false;
  const now = linesAt(gitOf(world, one.row), one.row.source_branch, one.path);
  return now.slice(one.from - 1, one.to).join("") === one.before && one.before !== one.after;
}

const suggestionJson = (world: World, one: Suggestion): Json => ({
  id: one.id,
  from_line: one.from,
  to_line: one.to,
  appliable: fits(world, one),
  applied: memory(world).applied.has(one.id),
  from_content: one.before,
  to_content: one.after,
});

const all = (world: World) =>
  world.notes.filter((note) => note.body.includes("```suggestion")).flatMap((note) => suggestionsOf(world, note));

/** The file with all suggestions for it, the last ones first, so that the earlier line numbers stay true. */
function contentWith(git: GitStore, branch: string, path: string, list: readonly Suggestion[]): string {
  const lines = linesAt(git, branch, path);
  for (const one of [...list].sort((a, b) => b.from - a.from)) lines.splice(one.from - 1, one.to - one.from + 1, one.after);
  return lines.join("");
}

/** Commits suggestions to the source branch of their merge request, in one commit. */
function apply(request: Request, list: readonly Suggestion[]): void {
  const { world } = request;
  const user = requireUser(request);
  const row = list[0]?.row;
  if (!row) throw notFound("Suggestion");
  const project = projectOf(world, row.source_project_id);
  if (!mayPush(world, project, user, row.source_branch)) throw forbidden();
  if (list.some((one) => one.row !== row)) throw failure(400, "Suggestions must all be on the same branch.");
  if (list.some((one) => !fits(world, one))) throw failure(400, "Can't apply as this line was changed in a more recent version.");
  const repository = repositoryOf(world, project);
  const paths = [...new Set(list.map(({ path }) => path))];
  const actions = paths.map((path) => ({
    action: "update",
    file_path: path,
    content: contentWith(
      repository.git,
      row.source_branch,
      path,
      list.filter((one) => one.path === path),
    ),
  }));
  const message = text(request.input, "commit_message") ?? `Apply ${list.length} suggestion(s) to ${paths.length} file(s)`;
  commitFiles({ world, project, repository, git: repository.git }, { branch: row.source_branch, message, actions }, user);
  for (const { id } of list) memory(world).applied.add(id);
}

function applyOne(request: Request): Reply {
  const found = all(request.world).filter(({ id }) => String(id) === request.params.suggestion_id);
  apply(request, found);
  return ok(found.map((one) => suggestionJson(request.world, one))[0]);
}

function applyMany(request: Request): Reply {
  required(request, "ids");
  const ids = integers(request.input, "ids") ?? [];
  if (ids.length === 0) throw badParams("ids is empty");
  const found = all(request.world).filter(({ id }) => ids.includes(id));
  if (found.length !== new Set(ids).size) throw notFound("Suggestion");
  apply(request, found);
  return ok(found.map((one) => suggestionJson(request.world, one)));
}

export const suggestionBehaviours: readonly Behaviour[] = [
  put("/suggestions/batch_apply", applyMany),
  put("/suggestions/{suggestion_id}/apply", applyOne),
];

/** Comments on lines show their suggestions from now on. */
export function showSuggestions(world: World): void {
  noteExtras(world).push((note) =>
    note.type === "DiffNote" ? { suggestions: suggestionsOf(world, note).map((one) => suggestionJson(world, one)) } : {},
  );
}
