import { requireUser } from "./access.ts";
import { userBasic } from "./entities.ts";
import { failure, notFound, unauthorized } from "./errors.ts";
import { required, text } from "./input.ts";
import { type Noteable, noteable, notesOn } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post } from "./reply.ts";
import type { Behaviour, Emoji, IssuableKind, Json, Reply, Request } from "./types.ts";

type Find = (request: Request) => { readonly type: string; readonly id: number | string };

const all = (request: Request, find: Find): Emoji[] => {
  const { type, id } = find(request);
  return request.world.emoji.filter((row) => row.awardable_type === type && row.awardable_id === id);
};

function emojiJson(request: Request, row: Emoji): Json {
  const { user_id, ...rest } = row;
  return { ...rest, user: userBasic(request.world, user_id), url: null };
}

function one(request: Request, find: Find): Emoji {
  const row = all(request, find).find(({ id }) => String(id) === request.params.award_id);
  if (!row) throw notFound("Award Emoji");
  return row;
}

function add(request: Request, find: Find): Reply {
  const user = requireUser(request);
  required(request, "name");
  const name = (text(request.input, "name") ?? "").replaceAll(":", "");
  const { type, id } = find(request);
  if (!/^[\w+-]+$/.test(name)) throw failure(404, "404 Award Emoji Name is not a valid emoji name Not Found");
  if (all(request, find).some((row) => row.name === name && row.user_id === user.id)) {
    throw failure(404, "404 Award Emoji Name has already been taken Not Found");
  }
  const row: Emoji = {
    id: request.world.nextId("emoji"),
    awardable_type: type,
    awardable_id: id,
    name,
    user_id: user.id,
    created_at: request.world.now(),
    updated_at: request.world.now(),
  };
  request.world.emoji.push(row);
  return created(emojiJson(request, row));
}

function remove(request: Request, find: Find): Reply {
  const user = requireUser(request);
  const row = one(request, find);
  if (row.user_id !== user.id && !user.admin) throw unauthorized();
  request.world.emoji.splice(request.world.emoji.indexOf(row), 1);
  return noContent();
}

const rows = (path: string, find: Find): Behaviour[] => [
  get(`${path}/award_emoji`, (request) => paged(request, all(request, find), (row) => emojiJson(request, row))),
  post(`${path}/award_emoji`, (request) => add(request, find)),
  get(`${path}/award_emoji/{award_id}`, (request) => ok(emojiJson(request, one(request, find)))),
  del(`${path}/award_emoji/{award_id}`, (request) => remove(request, find)),
];

/** Emoji on a thing and on its comments. */
export function emojiRows(path: string, find: (request: Request) => Noteable): Behaviour[] {
  const onNote: Find = (request) => {
    const note = notesOn(request.world, find(request)).find(({ id }) => String(id) === request.params.note_id);
    if (!note) throw notFound("Note");
    return { type: "Note", id: note.id };
  };
  return [...rows(path, find), ...rows(`${path}/notes/{note_id}`, onNote)];
}

export const emojiBehaviours = (kind: IssuableKind): Behaviour[] =>
  emojiRows(kind.path, (request) => noteable(kind.type, kind.find(request)));
