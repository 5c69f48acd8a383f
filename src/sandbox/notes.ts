import { findProject, lookUpProject, projectLevel, requireUser } from "./access.ts";
import { addEvent, addMentions } from "./activity.ts";
import { badParams, badRequest, forbidden, notFound } from "./errors.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { addNote, discussionJson, discussionsOf, type Noteable, noteable, noteJson, notesOn, seesNote } from "./notes-store.ts";
import { ordered, paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { type Behaviour, type Issuable, type IssuableKind, type Json, type Note, type Reply, type Request, ROLE } from "./types.ts";

/** What the comment routes need to know of what they hang on. Issues and merge requests come from `noteBehaviours(kind)`; others may be given as they are. */
export interface NoteHome {
  readonly path: string;
  readonly find: (request: Request) => { readonly target: Noteable; readonly issuable?: Issuable };
  /** Threads can be resolved. */
  readonly resolvable: boolean;
  readonly position?: (
    request: Request,
    target: { readonly target: Noteable; readonly issuable?: Issuable },
    position: Readonly<Json>,
  ) => Json;
}

const visible = (request: Request, home: NoteHome) =>
  notesOn(request.world, home.find(request).target).filter((note) => seesNote(request, note));

function listNotes(home: NoteHome) {
  return (request: Request): Reply => {
    const filter = oneOf(request.query, "activity_filter", ["all_notes", "only_comments", "only_activity"]) ?? "all_notes";
    const notes = visible(request, home).filter(({ system }) => filter === "all_notes" || system === (filter === "only_activity"));
    const orders = {
      created_at: (note: Note) => `${note.created_at} ${String(note.id).padStart(9, "0")}`,
      updated_at: (note: Note) => `${note.updated_at} ${String(note.id).padStart(9, "0")}`,
    };
    return paged(request, ordered(request.query, notes, orders), (note) => noteJson(request.world, note));
  };
}

function one(request: Request, home: NoteHome): Note {
  const { note_id, discussion_id } = request.params;
  const note = visible(request, home).find(({ id }) => String(id) === note_id);
  if (!note || (discussion_id !== undefined && note.discussion_id !== discussion_id)) throw notFound("Note");
  return note;
}

/** The caller's own comment, or any where the caller is a maintainer. */
function editable(request: Request, note: Note): Note {
  const user = requireUser(request);
  const project = lookUpProject(request.world, String(note.project_id));
  const level = project ? projectLevel(request.world, user, project) : ROLE.none;
  if (note.system || (note.author_id !== user.id && level < ROLE.maintainer && !user.admin)) throw forbidden();
  return note;
}

function checkLocked(request: Request, issuable: Issuable | undefined): void {
  if (!issuable?.discussion_locked) return;
  const project = lookUpProject(request.world, String(issuable.project_id));
  if (project && projectLevel(request.world, request.user, project) < ROLE.guest) throw forbidden();
}

/** Reads a comment from the request and puts it on its home. */
function write(request: Request, home: NoteHome, given: Partial<Note>): Note {
  const user = requireUser(request);
  required(request, "body");
  const found = home.find(request);
  checkLocked(request, found.issuable);
  const body = text(request.input, "body") ?? "";
  if (body.trim() === "") throw badRequest('Note {:note=>["can\'t be blank"]}');
  const note = addNote(request.world, found.target, {
    author_id: user.id,
    body,
    internal: flag(request.input, "internal") ?? flag(request.input, "confidential") ?? false,
    ...(user.admin && text(request.input, "created_at") ? { created_at: String(request.input.created_at) } : {}),
    ...given,
  });
  announce(request, found, note);
  return note;
}

function announce(request: Request, { target, issuable }: { target: Noteable; issuable?: Issuable }, note: Note): void {
  if (target.project_id !== null) {
    addEvent(request.world, {
      project_id: target.project_id,
      author_id: note.author_id,
      action_name: "commented on",
      target_type: note.type ?? "Note",
      target_id: note.id,
      target_iid: note.id,
      target_title: issuable?.title ?? null,
      note_id: note.id,
    });
  }
  if (!issuable) return;
  issuable.updated_at = request.world.now();
  if (target.type === "Issue" || target.type === "MergeRequest") addMentions(request, target.type, issuable, note.body);
}

function updateNote(home: NoteHome) {
  return (request: Request): Reply => {
    const note = one(request, home);
    const resolved = request.params.discussion_id === undefined ? undefined : flag(request.input, "resolved");
    const body = text(request.input, "body");
    if (body !== undefined && resolved !== undefined) throw badParams("body, resolved are mutually exclusive");
    if (body === undefined && resolved === undefined) {
      throw badParams(
        request.params.discussion_id === undefined
          ? "body is missing"
          : "body, resolved are missing, exactly one parameter must be provided",
      );
    }
    if (body !== undefined) {
      if (body.trim() === "") throw badRequest('Note {:note=>["can\'t be blank"]}');
      Object.assign(editable(request, note), { body, updated_at: request.world.now() });
    }
    if (resolved !== undefined) resolve(request, [note], resolved);
    return ok(noteJson(request.world, note));
  };
}

/** Sets the resolution of the notes that have one. @throws 403 below developer, unless the caller wrote the thing. */
function resolve(request: Request, notes: readonly Note[], resolved: boolean): void {
  const user = requireUser(request);
  const level = projectLevel(request.world, user, findProject(request));
  if (level < ROLE.developer && !notes.some(({ author_id }) => author_id === user.id)) throw forbidden();
  for (const note of notes.filter(({ resolvable }) => resolvable)) {
    Object.assign(note, {
      resolved,
      resolved_by_id: resolved ? user.id : null,
      resolved_at: resolved ? request.world.now() : null,
      updated_at: request.world.now(),
    });
  }
}

function deleteNote(home: NoteHome) {
  return (request: Request): Reply => {
    const note = editable(request, one(request, home));
    request.world.notes.splice(request.world.notes.indexOf(note), 1);
    return noContent();
  };
}

function thread(request: Request, home: NoteHome): Note[] {
  const notes = visible(request, home).filter(({ discussion_id }) => discussion_id === request.params.discussion_id);
  if (notes.length === 0) throw notFound("Discussion");
  return notes;
}

const SHAS = ["base_sha", "start_sha", "head_sha", "position_type"] as const;

function positionOf(request: Request, home: NoteHome): Json | undefined {
  const sent = request.input.position;
  if (sent === undefined || sent === null) return undefined;
  if (typeof sent !== "object" || Array.isArray(sent)) throw badParams("position is invalid");
  const position = sent as Json;
  const missing = SHAS.filter((name) => text(position, name) === undefined);
  if (missing.length > 0) throw badParams(missing.map((name) => `position[${name}] is missing`).join(", "));
  if (!home.position) throw badParams("position is invalid");
  return home.position(request, home.find(request), position);
}

function startThread(home: NoteHome) {
  return (request: Request): Reply => {
    required(request, "body");
    const position = positionOf(request, home);
    const note = write(request, home, {
      individual: false,
      type: position ? "DiffNote" : "DiscussionNote",
      resolvable: home.resolvable,
      position: position ?? null,
      ...(text(request.input, "commit_id") ? { commit_id: String(request.input.commit_id) } : {}),
    });
    return created(discussionJson(request.world, [note]));
  };
}

function answer(home: NoteHome) {
  return (request: Request): Reply => {
    const notes = thread(request, home);
    const [opening] = notes;
    if (!opening || opening.system) throw badRequest("Discussion can not be replied to.");
    const type = opening.type ?? "DiscussionNote";
    for (const note of notes) Object.assign(note, { individual: false, type, resolvable: home.resolvable });
    const note = write(request, home, {
      individual: false,
      type,
      discussion_id: opening.discussion_id,
      resolvable: home.resolvable,
      position: opening.position,
    });
    return created(noteJson(request.world, note));
  };
}

function updateThread(home: NoteHome) {
  return (request: Request): Reply => {
    const notes = thread(request, home);
    required(request, "resolved");
    if (!home.resolvable || notes.every(({ resolvable }) => !resolvable)) throw forbidden();
    resolve(request, notes, flag(request.input, "resolved") ?? false);
    return ok(discussionJson(request.world, notes));
  };
}

/** Comments and threads of one kind of thing. */
export function noteRows(home: NoteHome): Behaviour[] {
  const { path } = home;
  const threads = `${path}/discussions/{discussion_id}`;
  return [
    get(`${path}/notes`, listNotes(home)),
    post(`${path}/notes`, (request) => created(noteJson(request.world, write(request, home, {})))),
    get(`${path}/notes/{note_id}`, (request) => ok(noteJson(request.world, one(request, home)))),
    put(`${path}/notes/{note_id}`, updateNote(home)),
    del(`${path}/notes/{note_id}`, deleteNote(home)),
    get(`${path}/discussions`, (request) =>
      paged(request, discussionsOf(visible(request, home)), (notes) => discussionJson(request.world, notes)),
    ),
    post(`${path}/discussions`, startThread(home)),
    get(threads, (request) => ok(discussionJson(request.world, thread(request, home)))),
    put(threads, updateThread(home)),
    get(`${threads}/notes`, (request) => paged(request, thread(request, home), (note) => noteJson(request.world, note))),
    post(`${threads}/notes`, answer(home)),
    get(`${threads}/notes/{note_id}`, (request) => ok(noteJson(request.world, one(request, home)))),
    put(`${threads}/notes/{note_id}`, updateNote(home)),
    del(`${threads}/notes/{note_id}`, deleteNote(home)),
  ];
}

/** Comments and threads of issues or merge requests. */
export function noteBehaviours(kind: IssuableKind): Behaviour[] {
  const { position } = kind;
  return noteRows({
    path: kind.path,
    resolvable: true,
    find: (request) => {
      const issuable = kind.find(request);
      return { target: noteable(kind.type, issuable), issuable };
    },
    ...(position ? { position: (request, { issuable }, sent) => (issuable ? position(request, issuable, sent) : {}) } : {}),
  });
}
