import { createHash } from "node:crypto";
import { requireUser } from "./access.ts";
import { badParams, notFound } from "./errors.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { setReview } from "./merge-requests-approvals.ts";
import { checkPosition } from "./merge-requests-diffs.ts";
import { tryAutoMerge } from "./merge-requests-merge.ts";
import { type DraftNote, findMergeRequest, type MergeRequest } from "./merge-requests-state.ts";
import { ONE } from "./merge-requests-write.ts";
import { addNote, noteable, notesOn } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import type { Behaviour, Json, Note, Reply, Request } from "./types.ts";

/** Draft notes are seen by their author alone. */
function mine(request: Request): { row: MergeRequest; notes: DraftNote[] } {
  const user = requireUser(request);
  const row = findMergeRequest(request);
  return { row, notes: row.draftNotes.filter(({ author_id }) => author_id === user.id) };
}

function one(request: Request): { row: MergeRequest; note: DraftNote } {
  const { row, notes } = mine(request);
  const note = notes.find(({ id }) => String(id) === request.params.draft_note_id);
  if (!note) throw notFound("Draft Note");
  return { row, note };
}

function lineCode(position: Json | null): string | null {
  if (!position) return null;
  const path = createHash("sha1").update(String(position.new_path)).digest("hex");
  return `${path}_${position.old_line ?? 0}_${position.new_line ?? 0}`;
}

const EMPTY = {
  base_sha: null,
  start_sha: null,
  head_sha: null,
  old_path: null,
  new_path: null,
  position_type: "text",
  old_line: null,
  new_line: null,
  line_range: null,
};

const draftJson = (row: MergeRequest, note: DraftNote): Json => ({
  id: note.id,
  author_id: note.author_id,
  merge_request_id: row.id,
  resolve_discussion: note.resolve_discussion,
  discussion_id: note.discussion_id,
  note: note.note,
  commit_id: note.commit_id,
  line_code: lineCode(note.position),
  position: note.position ?? EMPTY,
});

function positionOf(request: Request, row: MergeRequest): Json | null {
  const sent = request.input.position;
  if (sent === undefined || sent === null) return null;
  if (typeof sent !== "object" || Array.isArray(sent)) throw badParams("position is invalid");
  return checkPosition(request, row, sent as Json);
}

function create(request: Request): Reply {
  const { row } = mine(request);
  required(request, "note");
  const discussion = text(request.input, "in_reply_to_discussion_id") ?? null;
  const thread = notesOn(request.world, { type: "MergeRequest", id: row.id }).filter(({ discussion_id }) => discussion_id === discussion);
  if (discussion !== null && thread.length === 0) throw notFound("Discussion");
  const note: DraftNote = {
    id: request.world.nextId("draft-note"),
    author_id: requireUser(request).id,
    note: text(request.input, "note") ?? "",
    position: positionOf(request, row),
    discussion_id: discussion,
    resolve_discussion: flag(request.input, "resolve_discussion") ?? false,
    commit_id: text(request.input, "commit_id") ?? null,
  };
  row.draftNotes.push(note);
  return created(draftJson(row, note));
}

function update(request: Request): Reply {
  const { row, note } = one(request);
  note.note = text(request.input, "note") ?? note.note;
  note.position = positionOf(request, row) ?? note.position;
  return ok(draftJson(row, note));
}

function drop(row: MergeRequest, note: DraftNote): void {
  row.draftNotes.splice(row.draftNotes.indexOf(note), 1);
}

function answer(request: Request, thread: readonly Note[], draft: DraftNote): void {
  for (const note of thread) Object.assign(note, { individual: false, type: note.type ?? "DiscussionNote", resolvable: true });
  if (!draft.resolve_discussion) return;
  const now = request.world.now();
  for (const note of thread) Object.assign(note, { resolved: true, resolved_by_id: draft.author_id, resolved_at: now });
}

/** Turns a draft into a comment: a new thread, or an answer in an old one. */
function publish(request: Request, row: MergeRequest, draft: DraftNote): void {
  const { world } = request;
  const thread = draft.discussion_id
    ? notesOn(world, { type: "MergeRequest", id: row.id }).filter((note) => note.discussion_id === draft.discussion_id)
    : [];
  const first = thread[0];
  const made = addNote(world, noteable("MergeRequest", row), {
    author_id: draft.author_id,
    body: draft.note,
    individual: false,
    type: first?.type ?? (draft.position ? "DiffNote" : "DiscussionNote"),
    resolvable: true,
    position: first?.position ?? draft.position,
    commit_id: draft.commit_id,
    ...(draft.discussion_id ? { discussion_id: draft.discussion_id } : {}),
  });
  if (first) answer(request, [...thread, made], draft);
  drop(row, draft);
  row.updated_at = world.now();
}

function publishAll(request: Request): Reply {
  const { row, notes } = mine(request);
  const user = requireUser(request);
  for (const note of notes) publish(request, row, note);
  const summary = text(request.input, "note");
  if (summary) addNote(request.world, noteable("MergeRequest", row), { author_id: user.id, body: summary });
  const asked = oneOf(request.input, "reviewer_state", ["reviewed", "requested_changes", "approved"]);
  const state = row.approvals.some(({ user_id }) => user_id === user.id) ? "approved" : "reviewed";
  setReview(row, user.id, asked === "requested_changes" ? "requested_changes" : state);
  tryAutoMerge(request.world, row);
  return noContent();
}

const DRAFTS = `${ONE}/draft_notes`;

export const mergeRequestDrafts: readonly Behaviour[] = [
  get(DRAFTS, (request) => {
    const { row, notes } = mine(request);
    return paged(request, notes, (note) => draftJson(row, note));
  }),
  post(DRAFTS, create),
  post(`${DRAFTS}/bulk_publish`, publishAll),
  get(`${DRAFTS}/{draft_note_id}`, (request) => {
    const { row, note } = one(request);
    return ok(draftJson(row, note));
  }),
  put(`${DRAFTS}/{draft_note_id}`, update),
  put(`${DRAFTS}/{draft_note_id}/publish`, (request) => {
    const { row, note } = one(request);
    publish(request, row, note);
    return noContent();
  }),
  del(`${DRAFTS}/{draft_note_id}`, (request) => {
    const { row, note } = one(request);
    drop(row, note);
    return noContent();
  }),
];
