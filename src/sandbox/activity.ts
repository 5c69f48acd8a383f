import { visibleProjects } from "./access.ts";
import { userBasic } from "./entities.ts";
import { noteJson } from "./notes-store.ts";
import type { ActivityEvent, Issuable, IssuableKind, Json, Project, Request, ResourceEvent, Todo, User, World } from "./types.ts";

/** A line in the activity feed of project and author. */
export function addEvent(world: World, event: Omit<ActivityEvent, "id" | "created_at"> & { created_at?: string }): void {
  world.events.push({ created_at: world.now(), ...event, id: world.nextId("event") });
}

/** An event about an issue or merge request. */
export function addTargetEvent(request: Request, kind: IssuableKind["type"], target: Issuable, action: string): void {
  addEvent(request.world, {
    project_id: target.project_id,
    author_id: request.user?.id ?? 0,
    action_name: action,
    target_type: kind,
    target_id: target.id,
    target_iid: target.iid,
    target_title: target.title,
  });
}

/** A to-do item, once per user, target and action while it is pending. Answers nothing where it was there already. */
export function addTodo(
  world: World,
  todo: Pick<Todo, "user_id" | "author_id" | "project_id" | "action_name" | "target_type" | "target_id" | "body">,
): Todo | undefined {
  const same = (row: Todo) =>
    row.state === "pending" &&
    row.user_id === todo.user_id &&
    row.target_type === todo.target_type &&
    row.target_id === todo.target_id &&
    row.action_name === todo.action_name;
  if (world.todos.some(same)) return undefined;
  const made: Todo = { ...todo, id: world.nextId("todo"), state: "pending", created_at: world.now(), updated_at: world.now() };
  world.todos.push(made);
  return made;
}

/** To-do items for everybody whom a text mentions and who is not its author. */
export function addMentions(request: Request, kind: IssuableKind["type"], target: Issuable, body: string): void {
  for (const [, username] of body.matchAll(/(?<![\w`])@([a-z][\w.-]*)/g)) {
    const user = request.world.users.find((row) => row.username === username);
    if (!user || user.id === request.user?.id) continue;
    addTodo(request.world, {
      user_id: user.id,
      author_id: request.user?.id ?? 0,
      project_id: target.project_id,
      action_name: "mentioned",
      target_type: kind,
      target_id: target.id,
      body,
    });
  }
}

/** A change of labels, milestone or state, for the resource event routes. */
export function addResourceEvent(world: World, event: Omit<ResourceEvent, "id" | "created_at">): void {
  world.resourceEvents.push({ ...event, id: world.nextId("resource-event"), created_at: world.now() });
}

export function eventJson(world: World, event: ActivityEvent): Json {
  const author = userBasic(world, event.author_id);
  const note = event.note_id === undefined ? undefined : world.notes.find(({ id }) => id === event.note_id);
  return {
    id: event.id,
    project_id: event.project_id,
    action_name: event.action_name,
    target_id: event.target_id,
    target_iid: event.target_iid,
    target_type: event.target_type,
    author_id: event.author_id,
    target_title: event.target_title,
    created_at: event.created_at,
    author,
    imported: false,
    imported_from: "none",
    ...(note ? { note: noteJson(world, note) } : {}),
    ...(event.push_data ? { push_data: event.push_data } : {}),
    author_username: author?.username,
  };
}

/** Events that the caller may see, newest first. */
export function visibleEvents(request: Request, of: { project?: Project; user?: User }): ActivityEvent[] {
  const seen = new Set(visibleProjects(request).map(({ id }) => id));
  return request.world.events
    .filter((event) => seen.has(event.project_id))
    .filter((event) => (of.project ? event.project_id === of.project.id : true) && (of.user ? event.author_id === of.user.id : true))
    .reverse();
}
