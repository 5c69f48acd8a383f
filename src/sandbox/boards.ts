import { findGroup, findProject } from "./access.ts";
import { badParams } from "./errors.ts";
import { requireRow, rowsOf } from "./generic-rows.ts";
import { integer } from "./input.ts";
import { created, post } from "./reply.ts";
import { type Behaviour, type Reply, type Request, ROLE } from "./types.ts";

/** A list of a board stands for a label; the rest of a board is the generic engine's. */
function addList(request: Request, board: string): Reply {
  if (request.params.project_id === undefined) findGroup(request, ROLE.reporter);
  else findProject(request, ROLE.reporter);
  requireRow(request, board);
  const wanted = integer(request.input, "label_id");
  const label = request.world.labels.find(({ id }) => id === wanted);
  if (wanted !== undefined && !label) throw badParams("Label not found!");
  const lists = rowsOf(request, `${board}/lists`);
  const row = {
    id: request.world.nextId("board-list"),
    label: label ? { id: label.id, name: label.name, color: label.color, description: label.description, text_color: "#FFFFFF" } : null,
    position: lists.length,
    max_issue_count: 0,
    max_issue_weight: 0,
    limit_metric: null,
  };
  lists.push(row);
  return created(row);
}

const boards = ["/projects/{project_id}/boards/{board_id}", "/groups/{group_id}/boards/{board_id}"];

export const boardBehaviours: readonly Behaviour[] = boards.map((board) => post(`${board}/lists`, (request) => addList(request, board)));
