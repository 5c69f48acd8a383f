import { type Context, gid, idOf, requestOf, requireWriter, unavailable } from "./graphql-context.ts";
import { findItem, requireItem } from "./graphql-items.ts";
import { noteableOf, noteNode } from "./graphql-widgets.ts";
import { addNote, notesOn, seesNote } from "./notes-store.ts";
import { type Json, type Note, ROLE } from "./types.ts";

type Input = Readonly<Record<string, unknown>>;
type Mutation = (input: Input, context: Context) => Json;

export function findNote(context: Context, id: unknown): Note | undefined {
  const note = context.world.notes.find((row) => String(row.id) === idOf(id));
  if (!note || !seesNote(requestOf(context), note)) return undefined;
  const onItem = note.noteable_type !== "Issue" || findItem(context, gid("WorkItem", note.noteable_id)) !== undefined;
  return onItem ? note : undefined;
}

function requireOwnNote(context: Context, id: unknown): Note {
  const user = requireWriter(context);
  const note = findNote(context, id);
  if (!note || note.system || (note.author_id !== user.id && !user.admin)) throw unavailable();
  return note;
}

const create: Mutation = (input, context) => {
  const user = requireWriter(context);
  const item = requireItem(context, input.noteableId, ROLE.guest);
  const body = String(input.body);
  if (body.trim() === "") return { note: null, errors: ["Note can't be blank"] };
  const target = noteableOf(item);
  const thread = input.discussionId === undefined || input.discussionId === null ? undefined : idOf(input.discussionId);
  const earlier = notesOn(context.world, target).filter(({ discussion_id }) => discussion_id === thread);
  if (thread !== undefined && earlier.length === 0) throw unavailable();
  const answers = thread === undefined ? {} : { discussion_id: thread, individual: false, type: "DiscussionNote" as const };
  const note = addNote(context.world, target, { author_id: user.id, body, internal: input.internal === true, ...answers });
  return { note: noteNode(context, note, [...earlier, note]), errors: [] };
};

const update: Mutation = (input, context) => {
  const note = requireOwnNote(context, input.id);
  if (String(input.body ?? "").trim() === "") return { note: null, errors: ["Note can't be blank"] };
  Object.assign(note, { body: String(input.body), updated_at: context.world.now() });
  return { note: noteNode(context, note), errors: [] };
};

const remove: Mutation = (input, context) => {
  const note = requireOwnNote(context, input.id);
  context.world.notes.splice(context.world.notes.indexOf(note), 1);
  return { note: noteNode(context, note), errors: [] };
};

export const NOTE_MUTATIONS: Readonly<Record<string, Mutation>> = { createNote: create, updateNote: update, destroyNote: remove };
