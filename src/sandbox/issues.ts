import { findGroup, findProject, lookUpProject, projectLevel, projectsIn, requireUser, visibleProjects } from "./access.ts";
import { addMentions, addResourceEvent, addTargetEvent, addTodo } from "./activity.ts";
import { milestonesOf } from "./entities-planning.ts";
import { badParams, badRequest, failure, forbidden, invalid, notFound } from "./errors.ts";
import { atLeastOne, flag, integer, oneOf, required, text } from "./input.ts";
import { changedAssignees, issuableBehaviours } from "./issuables.ts";
import { issueFull, issueJson, seesIssue } from "./issue-entities.ts";
import { issuableTests, issueTests, scopeTest } from "./issue-filters.ts";
import { changedLabels } from "./labels.ts";
import { addSystemNote, noteable } from "./notes-store.ts";
import { type Keyset, paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { type Behaviour, type IssuableKind, type Issue, type Project, type Reply, type Request, ROLE } from "./types.ts";
import { blankIssue } from "./world.ts";

export function findIssue(request: Request): Issue {
  const project = findProject(request);
  const issue = request.world.issues.find((row) => row.project_id === project.id && String(row.iid) === request.params.issue_iid);
  if (!issue || !seesIssue(request, issue)) throw notFound("Issue");
  return issue;
}

export const ISSUE_KIND: IssuableKind = {
  type: "Issue",
  path: "/projects/{project_id}/issues/{issue_iid}",
  find: findIssue,
  json: (request, row) => issueFull(request, row as Issue),
};

const ORDERS: Readonly<Record<string, (row: Issue) => string | number>> = {
  created_at: ({ created_at, id }) => `${created_at} ${String(id).padStart(9, "0")}`,
  updated_at: ({ updated_at, id }) => `${updated_at} ${String(id).padStart(9, "0")}`,
  title: ({ title }) => title.toLowerCase(),
  due_date: ({ due_date }) => due_date ?? "9999",
  weight: ({ weight }) => weight ?? 1e9,
  id: ({ id }) => id,
  relative_position: ({ id }) => id,
  milestone_due: ({ milestone_id }) => milestone_id ?? 1e9,
  popularity: ({ id }) => id,
  priority: ({ id }) => id,
  label_priority: ({ id }) => id,
};

const KEYSET: Keyset<Issue> = {
  key: (row) => ORDERS.created_at?.(row) ?? row.id,
  defaultOrder: "created_at",
  others: ORDERS,
};

/** Issues of the route's scope that the caller may see, filtered by all but the state. */
function found(request: Request, defaultScope: string): Issue[] {
  const projects = scopeProjects(request);
  const scope =
    oneOf(request.query, "scope", ["created_by_me", "assigned_to_me", "created-by-me", "assigned-to-me", "all"]) ?? defaultScope;
  const user = scope === "all" ? request.user : requireUser(request);
  const tests = [...issuableTests(request, "Issue"), scopeTest(user, scope)].filter((test) => test !== undefined);
  const own = issueTests(request);
  const archived = flag(request.query, "non_archived") !== false && request.params.project_id === undefined;
  const ids = new Set(projects.filter((project) => !archived || !project.archived).map(({ id }) => id));
  return request.world.issues.filter(
    (issue) =>
      ids.has(issue.project_id) && seesIssue(request, issue) && tests.every((test) => test(issue)) && own.every((test) => test(issue)),
  );
}

function scopeProjects(request: Request): Project[] {
  if (request.params.project_id !== undefined) return [findProject(request)];
  return request.params.group_id === undefined ? visibleProjects(request) : projectsIn(request, findGroup(request));
}

const list =
  (defaultScope: string) =>
  (request: Request): Reply => {
    const state = oneOf(request.query, "state", ["opened", "closed", "all"]) ?? "all";
    const order = text(request.query, "order_by") ?? "created_at";
    const key = ORDERS[order];
    if (!key) throw badParams("order_by does not have a valid value");
    const sort = oneOf(request.query, "sort", ["asc", "desc"]) ?? "desc";
    const rows = found(request, defaultScope)
      .filter((issue) => state === "all" || issue.state === state)
      .sort((one, other) => (key(one) < key(other) ? -1 : 1) * (sort === "asc" ? 1 : -1));
    return paged(request, rows, (issue) => issueJson(request, issue), { keyset: KEYSET });
  };

const statistics =
  (defaultScope: string) =>
  (request: Request): Reply => {
    const rows = found(request, defaultScope);
    const opened = rows.filter(({ state }) => state === "opened").length;
    return ok({ statistics: { counts: { all: rows.length, closed: rows.length - opened, opened } } });
  };

function title(request: Request): string | undefined {
  const value = text(request.input, "title");
  if (value === undefined) return undefined;
  if (value.trim() === "") throw invalid({ title: ["can't be blank"] });
  if (value.length > 255) throw invalid({ title: ["is too long (maximum is 255 characters)"] });
  return value;
}

/** Milestone as asked, 0 or empty for none; one of another project is dropped in silence. */
function milestone(request: Request, project: Project, current: number | null): number | null {
  if (!("milestone_id" in request.input)) return current;
  const id = integer(request.input, "milestone_id");
  if (!id) return null;
  return milestonesOf(request.world, project).some((row) => row.id === id) ? id : current;
}

function dueDate(request: Request, current: string | null): string | null {
  if (!("due_date" in request.input)) return current;
  const value = text(request.input, "due_date");
  return value && !Number.isNaN(Date.parse(value)) ? value.slice(0, 10) : null;
}

function tellAssignees(request: Request, issue: Issue, before: readonly number[]): void {
  for (const id of issue.assignee_ids.filter((one) => !before.includes(one))) {
    const name = request.world.users.find((user) => user.id === id)?.username;
    addSystemNote(request, noteable("Issue", issue), `assigned to @${name}`);
    if (id === request.user?.id) continue;
    addTodo(request.world, {
      user_id: id,
      author_id: request.user?.id ?? 0,
      project_id: issue.project_id,
      action_name: "assigned",
      target_type: "Issue",
      target_id: issue.id,
      body: issue.title,
    });
  }
}

function tellLabels(request: Request, issue: Issue, before: readonly string[]): void {
  const event = (action: string) => (value: string) =>
    addResourceEvent(request.world, {
      kind: "label",
      resource_type: "Issue",
      resource_id: issue.id,
      user_id: request.user?.id ?? 0,
      action,
      value,
    });
  issue.labels.filter((name) => !before.includes(name)).forEach(event("add"));
  before.filter((name) => !issue.labels.includes(name)).forEach(event("remove"));
}

const TYPES = ["issue", "incident", "test_case", "task"] as const;

function create(request: Request): Reply {
  const user = requireUser(request);
  const project = findProject(request);
  required(request, "title");
  const level = projectLevel(request.world, user, project);
  if (project.archived) throw forbidden();
  const name = title(request) ?? "";
  const issue = blankIssue(request.world, project.id, user.id, name);
  const asked = integer(request.input, "iid");
  if (asked !== undefined && level >= ROLE.owner) issue.iid = takeIid(request, project, asked);
  Object.assign(issue, {
    description: text(request.input, "description") ?? null,
    confidential: flag(request.input, "confidential") ?? false,
    issue_type: oneOf(request.input, "issue_type", TYPES) ?? "issue",
    due_date: dueDate(request, null),
    // Guests may open issues, but not plan them.
    ...(level < ROLE.planner
      ? {}
      : {
          labels: changedLabels(request, project, []) ?? [],
          assignee_ids: changedAssignees(request) ?? [],
          milestone_id: milestone(request, project, null),
          weight: integer(request.input, "weight") ?? null,
        }),
  });
  if (text(request.input, "created_at") && level >= ROLE.owner) issue.created_at = String(request.input.created_at);
  request.world.issues.push(issue);
  addTargetEvent(request, "Issue", issue, "opened");
  addMentions(request, "Issue", issue, issue.description ?? "");
  tellAssignees(request, issue, []);
  tellLabels(request, issue, []);
  return created(issueFull(request, issue));
}

function takeIid(request: Request, project: Project, iid: number): number {
  if (request.world.issues.some((row) => row.project_id === project.id && row.iid === iid)) throw failure(409, "Duplicated issue");
  request.world.usedId(`issue-iid-${project.id}`, iid);
  return iid;
}

const CHANGES = [
  "add_labels",
  "assignee_id",
  "assignee_ids",
  "confidential",
  "created_at",
  "description",
  "discussion_locked",
  "due_date",
  "epic_id",
  "epic_iid",
  "issue_type",
  "labels",
  "milestone_id",
  "remove_labels",
  "state_event",
  "title",
  "updated_at",
  "weight",
  "severity",
] as const;

function changeState(request: Request, issue: Issue): void {
  const event = oneOf(request.input, "state_event", ["reopen", "close"]);
  const state = event === "close" ? "closed" : event === "reopen" ? "opened" : issue.state;
  if (state === issue.state) return;
  const closing = state === "closed";
  Object.assign(issue, {
    state,
    closed_at: closing ? request.world.now() : null,
    closed_by_id: closing ? (request.user?.id ?? null) : null,
  });
  addTargetEvent(request, "Issue", issue, closing ? "closed" : "opened");
  const value = closing ? "closed" : "reopened";
  addResourceEvent(request.world, {
    kind: "state",
    resource_type: "Issue",
    resource_id: issue.id,
    user_id: request.user?.id ?? 0,
    action: value,
    value,
  });
  if (closing) for (const todo of request.world.todos) if (todo.target_type === "Issue" && todo.target_id === issue.id) todo.state = "done";
}

function changeText(request: Request, issue: Issue): void {
  const name = title(request);
  if (name !== undefined && name !== issue.title) {
    addSystemNote(request, noteable("Issue", issue), `changed title from **${issue.title}** to **${name}**`);
    issue.title = name;
  }
  if ("description" in request.input) {
    issue.description = text(request.input, "description") ?? null;
    addMentions(request, "Issue", issue, issue.description ?? "");
  }
}

function changePlan(request: Request, project: Project, issue: Issue): void {
  const before = { labels: issue.labels, assignees: issue.assignee_ids, milestone: issue.milestone_id };
  issue.labels = changedLabels(request, project, issue.labels) ?? issue.labels;
  issue.assignee_ids = changedAssignees(request) ?? issue.assignee_ids;
  issue.milestone_id = milestone(request, project, issue.milestone_id);
  issue.due_date = dueDate(request, issue.due_date);
  if ("weight" in request.input) issue.weight = integer(request.input, "weight") ?? null;
  tellLabels(request, issue, before.labels);
  tellAssignees(request, issue, before.assignees);
  if (before.milestone === issue.milestone_id) return;
  const action = issue.milestone_id === null ? "remove" : "add";
  const value = issue.milestone_id ?? before.milestone;
  addResourceEvent(request.world, {
    kind: "milestone",
    resource_type: "Issue",
    resource_id: issue.id,
    user_id: request.user?.id ?? 0,
    action,
    value,
  });
}

function update(request: Request): Reply {
  const user = requireUser(request);
  const project = findProject(request);
  const issue = findIssue(request);
  const level = projectLevel(request.world, user, project);
  if (level < ROLE.planner && issue.author_id !== user.id && !issue.assignee_ids.includes(user.id)) throw forbidden();
  atLeastOne(request, CHANGES);
  changeText(request, issue);
  if (level >= ROLE.planner) changePlan(request, project, issue);
  issue.confidential = flag(request.input, "confidential") ?? issue.confidential;
  if ("discussion_locked" in request.input) issue.discussion_locked = flag(request.input, "discussion_locked") ?? null;
  issue.issue_type = oneOf(request.input, "issue_type", TYPES) ?? issue.issue_type;
  changeState(request, issue);
  issue.updated_at = request.world.now();
  return ok(issueFull(request, issue));
}

function remove(request: Request): Reply {
  const user = requireUser(request);
  const issue = findIssue(request);
  const level = projectLevel(request.world, user, findProject(request));
  if (level < ROLE.planner || (level < ROLE.owner && issue.author_id !== user.id && level !== ROLE.planner)) throw forbidden();
  request.world.issues.splice(request.world.issues.indexOf(issue), 1);
  return noContent();
}

/** Puts a copy of an issue into another project. */
function copyTo(request: Request, role: number): { issue: Issue; copy: Issue } {
  const issue = findIssue(request);
  required(request, "to_project_id");
  const target = lookUpProject(request.world, text(request.input, "to_project_id") ?? "");
  if (!target || projectLevel(request.world, request.user, target) === ROLE.none) throw notFound("Project");
  if (projectLevel(request.world, request.user, target) < role) throw badRequest("Cannot move issue due to insufficient permissions!");
  const { id, iid } = blankIssue(request.world, target.id, issue.author_id, issue.title);
  const copy: Issue = {
    ...issue,
    id,
    iid,
    project_id: target.id,
    milestone_id: null,
    subscriptions: new Map(),
    updated_at: request.world.now(),
  };
  request.world.issues.push(copy);
  return { issue, copy };
}

function move(request: Request): Reply {
  const project = findProject(request);
  const to = lookUpProject(request.world, text(request.input, "to_project_id") ?? "");
  if (to && to.id === project.id) throw failure(400, "Cannot move issue to project it originates from!");
  const { issue, copy } = copyTo(request, ROLE.planner);
  Object.assign(issue, { state: "closed", closed_at: request.world.now(), closed_by_id: request.user?.id ?? null, moved_to_id: copy.id });
  for (const note of request.world.notes.filter((row) => row.noteable_type === "Issue" && row.noteable_id === issue.id)) {
    request.world.notes.push({
      ...note,
      id: request.world.nextId("note"),
      noteable_id: copy.id,
      noteable_iid: copy.iid,
      project_id: copy.project_id,
    });
  }
  return created(issueFull(request, copy));
}

function clone(request: Request): Reply {
  const { copy } = copyTo(request, ROLE.planner);
  Object.assign(copy, { author_id: request.user?.id ?? copy.author_id, created_at: request.world.now(), state: "opened", closed_at: null });
  return created(issueFull(request, copy));
}

function byId(request: Request): Reply {
  const issue = request.world.issues.find(({ id }) => String(id) === request.params.issue_id);
  if (!requireUser(request).admin) throw forbidden();
  if (!issue) throw notFound("Issue");
  return ok(issueFull(request, issue));
}

const ONE = ISSUE_KIND.path;

export const issueBehaviours: readonly Behaviour[] = [
  get("/projects/{project_id}/issues", list("all")),
  get("/groups/{group_id}/issues", list("all")),
  get("/issues", list("created_by_me")),
  get("/projects/{project_id}/issues_statistics", statistics("all")),
  get("/groups/{group_id}/issues_statistics", statistics("all")),
  get("/issues_statistics", statistics("created_by_me")),
  get("/issues/{issue_id}", byId),
  post("/projects/{project_id}/issues", create),
  get(ONE, (request) => ok(issueFull(request, findIssue(request)))),
  put(ONE, update),
  del(ONE, remove),
  post(`${ONE}/move`, move),
  post(`${ONE}/clone`, clone),
  put(`${ONE}/reorder`, (request) => ok(issueFull(request, findIssue(request)))),
  get(`${ONE}/closed_by`, (request) =>
    paged(request, request.world.hooks.mergeRequests?.closing(request, findIssue(request)) ?? [], (row) => row),
  ),
  get(`${ONE}/related_merge_requests`, (request) =>
    paged(request, request.world.hooks.mergeRequests?.related(request, findIssue(request)) ?? [], (row) => row),
  ),
  ...issuableBehaviours(ISSUE_KIND),
];
