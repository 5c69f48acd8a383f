import { lookUpProject } from "./access.ts";
import { userBasic } from "./entities.ts";
import { projectIdentity } from "./entities-projects.ts";
import type { Json, Request, Todo } from "./types.ts";

export function todoJson(request: Request, todo: Todo): Json {
  const { world } = request;
  const project = lookUpProject(world, String(todo.project_id));
  const find = todo.target_type === "Issue" ? world.hooks.issue : world.hooks.mergeRequests?.byId;
  const target = find?.(request, todo.target_id) ?? null;
  return {
    id: todo.id,
    project: project ? projectIdentity(world, project) : null,
    author: userBasic(world, todo.author_id),
    action_name: todo.action_name,
    target_type: todo.target_type,
    target,
    target_url: target?.web_url ?? null,
    body: todo.body,
    state: todo.state,
    created_at: todo.created_at,
    updated_at: todo.updated_at,
  };
}
