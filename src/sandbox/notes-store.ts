import { createHash } from "node:crypto";
import { lookUpProject, projectLevel } from "./access.ts";
import { userBasic } from "./entities.ts";
import { type Issuable, type Json, type Note, type NoteableType, type Request, ROLE, type World } from "./types.ts";

/** What comments hang on. */
export interface Noteable {
  readonly type: NoteableType;
  readonly id: number | string;
  readonly iid: number | null;
  readonly project_id: number | null;
}

export const noteable = (type: "Issue" | "MergeRequest", target: Issuable): Noteable => ({
  type,
  id: target.id,
  iid: target.iid,
  project_id: target.project_id,
});

export const notesOn = (world: World, target: Pick<Noteable, "type" | "id">): Note[] =>
  world.notes.filter((note) => note.noteable_type === target.type && note.noteable_id === target.id);

/** A new name for a thread: forty hex digits, the same in every run. */
export const discussionId = (world: World) =>
  createHash("sha1")
    .update(`discussion ${world.nextId("discussion")}`)
    .digest("hex");

type Given = Pick<Note, "author_id" | "body"> & Partial<Omit<Note, "id" | "noteable_type" | "noteable_id" | "noteable_iid">>;

/** Puts a comment on something; alone, outside any thread, unless told otherwise. */
export function addNote(world: World, target: Noteable, given: Given): Note {
  const note: Note = {
    discussion_id: given.discussion_id ?? discussionId(world),
    individual: true,
    type: null,
    created_at: world.now(),
    updated_at: given.created_at ?? world.now(),
    system: false,
    internal: false,
    resolvable: false,
    resolved: false,
    resolved_by_id: null,
    resolved_at: null,
    position: null,
    commit_id: null,
    project_id: target.project_id,
    ...given,
    id: world.nextId("note"),
    noteable_type: target.type,
    noteable_id: target.id,
    noteable_iid: target.iid,
  };
  world.notes.push(note);
  return note;
}

/** A line that GitLab itself writes, like `assigned to @jonas`. */
export function addSystemNote(request: Request, target: Noteable, body: string): void {
  addNote(request.world, target, { author_id: request.user?.id ?? 0, body, system: true });
}

type NoteExtra = (note: Note) => Json;

/** Further fields of a comment, from the parts that know them. */
export const noteExtras = (world: World): NoteExtra[] => world.part("note-extras", (): NoteExtra[] => []);

export function noteJson(world: World, note: Note): Json {
  const resolution = note.resolvable
    ? { resolved: note.resolved, resolved_by: userBasic(world, note.resolved_by_id), resolved_at: note.resolved_at }
    : {};
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    author: userBasic(world, note.author_id),
    created_at: note.created_at,
    updated_at: note.updated_at,
    system: note.system,
    noteable_id: note.noteable_id,
    noteable_type: note.noteable_type,
    project_id: note.project_id,
    ...(note.commit_id ? { commit_id: note.commit_id } : {}),
    ...(note.position ? { position: note.position } : {}),
    ...Object.assign({}, ...noteExtras(world).map((extra) => extra(note))),
    resolvable: note.resolvable,
    ...resolution,
    confidential: note.internal,
    internal: note.internal,
    imported: false,
    imported_from: "none",
    noteable_iid: note.noteable_iid,
    commands_changes: {},
  };
}

/** Internal comments are for reporters and above. */
export function seesNote(request: Request, note: Note): boolean {
  if (!note.internal) return true;
  const project = lookUpProject(request.world, String(note.project_id));
  if (note.author_id === request.user?.id) return true;
  return project !== undefined && projectLevel(request.world, request.user, project) >= ROLE.reporter;
}

export function discussionJson(world: World, notes: readonly Note[]): Json {
  return {
    id: notes[0]?.discussion_id,
    individual_note: notes.every(({ individual }) => individual),
    notes: notes.map((note) => noteJson(world, note)),
  };
}

/** Comments grouped into threads, oldest first. */
export function discussionsOf(notes: readonly Note[]): Note[][] {
  const threads = new Map<string, Note[]>();
  for (const note of notes) threads.set(note.discussion_id, [...(threads.get(note.discussion_id) ?? []), note]);
  return [...threads.values()];
}
