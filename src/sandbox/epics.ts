import { findGroup } from "./access.ts";
import { emojiRows } from "./emoji.ts";
import { notFound } from "./errors.ts";
import { type NoteHome, noteRows } from "./notes.ts";
import type { Noteable } from "./notes-store.ts";
import type { Behaviour, Request } from "./types.ts";

/** The epic that the path names: by global id where GitLab asks for that (comments), else by its number in the group. */
function target(request: Request): Noteable {
  const group = findGroup(request);
  const { epic_id, epic_iid } = request.params;
  const rows = request.world.tables.get(`/groups/${group.id}/epics`) ?? [];
  const epic = rows.find((row) => (epic_id === undefined ? String(row.iid) === epic_iid : String(row.id) === epic_id));
  if (!epic) throw notFound("Epic");
  return { type: "Epic", id: Number(epic.id), iid: Number(epic.iid), project_id: null };
}

const HOME: NoteHome = { path: "/groups/{group_id}/epics/{epic_id}", find: (request) => ({ target: target(request) }), resolvable: true };

/** Comments and emoji of epics; the epics themselves come from the generic engine. */
export const epicBehaviours: readonly Behaviour[] = [...noteRows(HOME), ...emojiRows("/groups/{group_id}/epics/{epic_iid}", target)];
