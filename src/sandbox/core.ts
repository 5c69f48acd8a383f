import { findGroup, findProject, projectsIn, requireAdmin, requireUser, visibleProjects } from "./access.ts";
import { eventJson, visibleEvents } from "./activity.ts";
import { userBasic } from "./entities.ts";
import { milestoneJson } from "./entities-planning.ts";
import { projectBasic } from "./entities-projects.ts";
import { badParams, notFound } from "./errors.ts";
import { integer, oneOf, required, text } from "./input.ts";
import { issueFull, issueJson, seesIssue } from "./issue-entities.ts";
import { paged } from "./paging.ts";
import { created, get, ok, post } from "./reply.ts";
import { todoJson } from "./todo-entities.ts";
import type { ActivityEvent, Behaviour, Json, Project, Reply, Request, SearchScope, Todo, World } from "./types.ts";
import { findUser } from "./users.ts";

const METADATA = {
  version: "18.9.0-ee",
  revision: "5a9d0c1be7f",
  kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
  enterprise: true,
};

function metadata(request: Request): Reply {
  requireUser(request);
  return ok(METADATA);
}

const version = (request: Request): Reply => {
  requireUser(request);
  return ok({ version: METADATA.version, revision: METADATA.revision });
};

/** The licence in force; the namespaces of the seeds have the same plan. */
function licence(request: Request): Reply {
  requireAdmin(request);
  return ok({
    id: 1,
    plan: "ultimate",
    created_at: "2026-01-01T00:00:00.000Z",
    starts_at: "2026-01-01",
    expires_at: "2027-01-01",
    historical_max: request.world.users.length,
    maximum_user_count: request.world.users.length,
    licensee: { Name: "Sandbox" },
    add_ons: {},
    expired: false,
    overage: 0,
    user_limit: 100,
    active_users: request.world.users.length,
  });
}

function todos(request: Request): Todo[] {
  const { query, world } = request;
  const user = requireUser(request);
  const state = oneOf(query, "state", ["pending", "done"]) ?? "pending";
  const [project, author] = [integer(query, "project_id"), integer(query, "author_id")];
  const [action, type] = [text(query, "action"), text(query, "type")];
  return world.todos
    .filter((row) => row.user_id === user.id && row.state === state)
    .filter((row) => project === undefined || row.project_id === project)
    .filter((row) => author === undefined || row.author_id === author)
    .filter((row) => action === undefined || row.action_name === action)
    .filter((row) => type === undefined || row.target_type === type)
    .sort((one, other) => other.id - one.id);
}

function finish(request: Request, rows: readonly Todo[]): void {
  for (const row of rows) Object.assign(row, { state: "done", updated_at: request.world.now() });
}

function finishOne(request: Request): Reply {
  const user = requireUser(request);
  const todo = request.world.todos.find((row) => row.user_id === user.id && String(row.id) === request.params.todo_id);
  if (!todo) throw notFound();
  finish(request, [todo]);
  return created(todoJson(request, todo));
}

function finishAll(request: Request): Reply {
  finish(request, todos({ ...request, query: {} }));
  return { status: 204 };
}

const TARGETS: Readonly<Record<string, readonly string[]>> = {
  issue: ["Issue"],
  merge_request: ["MergeRequest"],
  milestone: ["Milestone"],
  note: ["Note", "DiscussionNote", "DiffNote"],
  project: ["Project"],
  snippet: ["Snippet"],
  user: ["User"],
};

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  commented: ["commented on"],
  pushed: ["pushed to", "pushed new", "deleted"],
  created: ["created", "opened"],
};

function events(request: Request, rows: readonly ActivityEvent[]): Reply {
  const { query } = request;
  const [action, type] = [text(query, "action"), text(query, "target_type")];
  const [after, before] = [text(query, "after"), text(query, "before")];
  const kept = rows
    .filter(({ action_name }) => !action || (ACTIONS[action] ?? [action]).includes(action_name))
    .filter(({ target_type }) => !type || (target_type !== null && (TARGETS[type.toLowerCase()] ?? []).includes(target_type)))
    .filter(({ created_at }) => (!after || created_at.slice(0, 10) > after) && (!before || created_at.slice(0, 10) < before));
  return paged(request, text(query, "sort") === "asc" ? [...kept].reverse() : kept, (event) => eventJson(request.world, event));
}

const userEvents = (request: Request): Reply => {
  const key = request.params.user_id ?? "";
  const named = request.world.users.find(({ username }) => username === key);
  return events(request, visibleEvents(request, { user: findUser(request, named ? String(named.id) : key) }));
};

const has = (words: string, ...values: (string | null)[]) => {
  const hay = values.join("\n").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
};

const inside = (projects: readonly Project[]) => new Set(projects.map(({ id }) => id));

const searchIssues: SearchScope = (request, words, projects) => {
  const ids = inside(projects);
  const state = oneOf(request.query, "state", ["opened", "closed", "all"]) ?? "all";
  return request.world.issues
    .filter((issue) => ids.has(issue.project_id) && seesIssue(request, issue) && has(words, issue.title, issue.description))
    .filter((issue) => state === "all" || issue.state === state)
    .map((issue) => issueJson(request, issue));
};

const searchNotes: SearchScope = (request, words, projects) => {
  const ids = inside(projects);
  return request.world.notes
    .filter((note) => note.project_id !== null && ids.has(note.project_id) && !note.system && !note.internal && has(words, note.body))
    .map((note) => ({
      id: note.id,
      body: note.body,
      author: userBasic(request.world, note.author_id),
      created_at: note.created_at,
      updated_at: note.updated_at,
      system: false,
      noteable_id: note.noteable_id,
      noteable_type: note.noteable_type,
      noteable_iid: note.noteable_iid,
      project_id: note.project_id,
    }));
};

const OWN_SCOPES: Readonly<Record<string, SearchScope>> = {
  projects: (request, words) =>
    visibleProjects(request)
      .filter((row) => has(words, row.name, row.path_with_namespace, row.description))
      .map((row) => projectBasic(request.world, row)),
  issues: searchIssues,
  notes: searchNotes,
  milestones: (request, words, projects) => {
    const ids = inside(projects);
    return request.world.milestones
      .filter((row) => row.source === "project" && ids.has(row.source_id) && has(words, row.title, row.description))
      .map((row) => milestoneJson(request.world, row));
  },
  users: (request, words) =>
    request.world.users.filter(({ username, name }) => has(words, username, name)).map(({ id }) => userBasic(request.world, id) as Json),
};

const SCOPES = [
  "projects",
  "issues",
  "work_items",
  "merge_requests",
  "milestones",
  "snippet_titles",
  "wiki_blobs",
  "commits",
  "blobs",
  "notes",
  "users",
] as const;

function search(request: Request): Reply {
  requireUser(request);
  const projects = request.params.project_id
    ? [findProject(request)]
    : request.params.group_id
      ? projectsIn(request, findGroup(request))
      : visibleProjects(request);
  required(request, "scope", "search");
  const scope = oneOf(request.input, "scope", SCOPES) ?? "projects";
  if (scope === "projects" && request.params.project_id) throw badParams("scope does not have a valid value");
  const words = text(request.input, "search") ?? "";
  const run = request.world.search.get(scope === "work_items" ? "issues" : scope);
  return paged(request, run ? run(request, words, projects) : [], (row) => row);
}

/** Enough of Markdown for the render route: paragraphs, headings, code, emphasis, links; the rest stays text. */
function render(source: string): string {
  const escaped = source.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const inline = (line: string) =>
    line
      .replace(/`([^`]+)`/g, "<code>$1</code>")
      .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
      .replace(/\*([^*]+)\*/g, "<em>$1</em>")
      .replace(/\[([^\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');
  return escaped
    .split(/\n{2,}/)
    .map((block) => {
      const heading = /^(#{1,6})\s+(.*)$/.exec(block);
      if (heading) return `<h${heading[1]?.length}>${inline(heading[2] ?? "")}</h${heading[1]?.length}>`;
      return `<p dir="auto">${inline(block)}</p>`;
    })
    .join("\n");
}

function markdown(request: Request): Reply {
  required(request, "text");
  const project = text(request.input, "project");
  if (project !== undefined) findProject({ ...request, params: { project_id: project } });
  return created({ html: render(text(request.input, "text") ?? "") });
}

export const coreBehaviours: readonly Behaviour[] = [
  get("/metadata", metadata, { scopes: ["read_user"] }),
  get("/license", licence),
  get("/version", version, { scopes: ["read_user"] }),
  get("/todos", (request) => paged(request, todos(request), (todo) => todoJson(request, todo))),
  post("/todos/mark_as_done", finishAll),
  post("/todos/{todo_id}/mark_as_done", finishOne),
  get("/events", (request) => events(request, visibleEvents(request, { user: requireUser(request) })), { scopes: ["read_user"] }),
  get("/users/{user_id}/events", userEvents, { scopes: ["read_user"] }),
  get("/projects/{project_id}/events", (request) => events(request, visibleEvents(request, { project: findProject(request) }))),
  get("/search", search),
  get("/groups/{group_id}/search", search),
  get("/projects/{project_id}/search", search),
  post("/markdown", markdown, { open: true }),
];

/** Puts the search scopes and hooks of people, projects and issues into a world. */
export function seedCore(world: World): void {
  for (const [name, scope] of Object.entries(OWN_SCOPES)) world.search.set(name, scope);
  world.hooks.issue = (request, id) => {
    const issue = request.world.issues.find((row) => row.id === id);
    return issue && issueFull(request, issue);
  };
}
