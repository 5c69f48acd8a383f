import { addEvent } from "./activity.ts";
import { userBasic } from "./entities.ts";
import { integer, oneOf, required, text } from "./input.ts";
import { noteRows } from "./notes.ts";
import { addNote, type Noteable, notesOn } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { created, get, post } from "./reply.ts";
import { findCommit } from "./repository-commits.ts";
import { type Behaviour, type Json, type Note, type Reply, type Request, ROLE, type User } from "./types.ts";

const COMMIT = "/projects/{project_id}/repository/commits/{sha}";

function targetOf(request: Request, role: number = ROLE.none): Noteable {
  const { opened, commit } = findCommit(request, role);
  return { type: "Commit", id: commit.id, iid: null, project_id: opened.project.id };
}

/** The short form in which a commit's comments are listed. */
function commentJson(request: Request, note: Note): Json {
  const place = note.position;
  const old = place?.new_line === null || place?.new_line === undefined;
  return {
    note: note.body,
    path: place?.new_path ?? null,
    line: place ? (old ? place.old_line : place.new_line) : null,
    line_type: place ? (old ? "old" : "new") : null,
    author: userBasic(request.world, note.author_id),
    created_at: note.created_at,
  };
}

function placeOf(request: Request, sha: string): Json | null {
  const path = text(request.input, "path");
  if (path === undefined) return null;
  required(request, "line");
  const line = integer(request.input, "line") ?? null;
  const old = oneOf(request.input, "line_type", ["new", "old"]) === "old";
  return { head_sha: sha, position_type: "text", old_path: path, new_path: path, old_line: old ? line : null, new_line: old ? null : line };
}

function addComment(request: Request): Reply {
  const target = targetOf(request, ROLE.reporter);
  required(request, "note");
  const sha = String(target.id);
  const user = request.user as User;
  const note = addNote(request.world, target, {
    author_id: user.id,
    body: text(request.input, "note") ?? "",
    position: placeOf(request, sha),
    commit_id: sha,
  });
  addEvent(request.world, {
    project_id: target.project_id ?? 0,
    author_id: user.id,
    action_name: "commented on",
    target_type: "Note",
    target_id: note.id,
    target_iid: note.id,
    target_title: null,
    note_id: note.id,
  });
  return created(commentJson(request, note));
}

/** Comments of a commit in both forms: the plain list, and threads. */
export const commitDiscussionBehaviours: readonly Behaviour[] = [
  get(`${COMMIT}/comments`, (request) => paged(request, notesOn(request.world, targetOf(request)), (note) => commentJson(request, note))),
  post(`${COMMIT}/comments`, addComment),
  ...noteRows({
    path: COMMIT,
    resolvable: false,
    find: (request) => ({ target: targetOf(request) }),
    position: (_request, _found, position) => ({ ...position }),
  }).filter(({ path }) => path.includes("/discussions")),
];
