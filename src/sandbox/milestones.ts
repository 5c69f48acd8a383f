import { ancestry, findGroup, findProject, groupOf } from "./access.ts";
import { milestoneJson, milestonesOf } from "./entities-planning.ts";
import { invalid, notFound } from "./errors.ts";
import { flag, integers, oneOf, required, text } from "./input.ts";
import { issueJson, seesIssue } from "./issue-entities.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { type Behaviour, type Milestone, type Reply, type Request, ROLE } from "./types.ts";

interface Home {
  readonly source: "project" | "group";
  readonly id: number;
  /** Own ones. */
  readonly milestones: Milestone[];
  readonly inherited: Milestone[];
}

function home(request: Request, role: number = ROLE.none): Home {
  const { world } = request;
  if (request.params.project_id !== undefined) {
    const project = findProject(request, role);
    const all = milestonesOf(world, project);
    return { source: "project", id: project.id, milestones: all.filter(({ source }) => source === "project"), inherited: all };
  }
  const group = findGroup(request, role);
  const above = ancestry(world, group).map(({ id }) => id);
  const inherited = world.milestones.filter((row) => row.source === "group" && above.includes(row.source_id));
  return { source: "group", id: group.id, milestones: inherited.filter(({ source_id }) => source_id === group.id), inherited };
}

function one(request: Request, role: number = ROLE.none): { milestone: Milestone; at: Home } {
  const at = home(request, role);
  const milestone = at.milestones.find(({ id }) => String(id) === request.params.milestone_id);
  if (!milestone) throw notFound("Milestone");
  return { milestone, at };
}

function list(request: Request): Reply {
  const at = home(request);
  const wide = flag(request.query, "include_ancestors") ?? flag(request.query, "include_parent_milestones") ?? false;
  const state = oneOf(request.query, "state", ["active", "closed", "all"]) ?? "all";
  const [iids, title, search] = [
    integers(request.query, "iids"),
    text(request.query, "title"),
    text(request.query, "search")?.toLowerCase(),
  ];
  const rows = (wide ? at.inherited : at.milestones)
    .filter((row) => state === "all" || row.state === state)
    .filter((row) => !iids || iids.includes(row.iid))
    .filter((row) => title === undefined || row.title === title)
    .filter((row) => !search || `${row.title} ${row.description}`.toLowerCase().includes(search));
  return paged(
    request,
    rows.sort((a, b) => b.id - a.id),
    (row) => milestoneJson(request.world, row),
  );
}

function date(request: Request, name: string, current: string | null): string | null {
  if (!(name in request.input)) return current;
  const value = text(request.input, name);
  if (!value) return null;
  if (Number.isNaN(Date.parse(value))) throw invalid({ [name]: ["must be a valid date"] });
  return value.slice(0, 10);
}

function checkDates(row: Pick<Milestone, "start_date" | "due_date">): void {
  if (row.start_date && row.due_date && row.start_date > row.due_date) throw invalid({ due_date: ["must be greater than start date"] });
}

function create(request: Request): Reply {
  const at = home(request, ROLE.planner);
  required(request, "title");
  const { world } = request;
  const title = text(request.input, "title") ?? "";
  if (title === "") throw invalid({ title: ["can't be blank"] });
  if (at.inherited.some((row) => row.title === title))
    throw invalid({ title: ["already being used for another group or project milestone."] });
  const dates = { start_date: date(request, "start_date", null), due_date: date(request, "due_date", null) };
  checkDates(dates);
  const milestone: Milestone = {
    id: world.nextId("milestone"),
    iid: Math.max(0, ...at.milestones.map(({ iid }) => iid)) + 1,
    source: at.source,
    source_id: at.id,
    title,
    description: text(request.input, "description") ?? "",
    state: "active",
    created_at: world.now(),
    updated_at: world.now(),
    ...dates,
  };
  world.milestones.push(milestone);
  return created(milestoneJson(world, milestone));
}

function update(request: Request): Reply {
  const { milestone } = one(request, ROLE.planner);
  const event = oneOf(request.input, "state_event", ["activate", "close"]);
  const dates = { start_date: date(request, "start_date", milestone.start_date), due_date: date(request, "due_date", milestone.due_date) };
  checkDates(dates);
  Object.assign(milestone, dates, {
    title: text(request.input, "title") ?? milestone.title,
    description: text(request.input, "description") ?? milestone.description,
    state: event === "close" ? "closed" : event === "activate" ? "active" : milestone.state,
    updated_at: request.world.now(),
  });
  return ok(milestoneJson(request.world, milestone));
}

function remove(request: Request): Reply {
  const { milestone } = one(request, ROLE.planner);
  request.world.milestones.splice(request.world.milestones.indexOf(milestone), 1);
  for (const issue of request.world.issues) if (issue.milestone_id === milestone.id) issue.milestone_id = null;
  return noContent();
}

function issuesIn(request: Request): Reply {
  const { milestone } = one(request);
  const rows = request.world.issues.filter((issue) => issue.milestone_id === milestone.id && seesIssue(request, issue));
  return paged(request, rows, (issue) => issueJson(request, issue));
}

function mergeRequestsIn(request: Request): Reply {
  const { milestone } = one(request);
  return paged(request, request.world.hooks.mergeRequests?.inMilestone(request, milestone) ?? [], (row) => row);
}

function promote(request: Request): Reply {
  const { milestone } = one(request, ROLE.planner);
  const group = groupOf(request.world, findProject(request));
  if (!group) throw notFound("Group");
  milestone.source = "group";
  milestone.source_id = group.id;
  milestone.iid =
    Math.max(
      0,
      ...request.world.milestones
        .filter((row) => row.source === "group" && row.source_id === group.id && row !== milestone)
        .map(({ iid }) => iid),
    ) + 1;
  return ok({});
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/milestones`, list),
  post(`${base}/milestones`, create),
  get(`${base}/milestones/{milestone_id}`, (request) => ok(milestoneJson(request.world, one(request).milestone))),
  put(`${base}/milestones/{milestone_id}`, update),
  del(`${base}/milestones/{milestone_id}`, remove),
  get(`${base}/milestones/{milestone_id}/issues`, issuesIn),
  get(`${base}/milestones/{milestone_id}/merge_requests`, mergeRequestsIn),
];

export const milestoneBehaviours: readonly Behaviour[] = [
  ...rows("/projects/{project_id}"),
  ...rows("/groups/{group_id}"),
  post("/projects/{project_id}/milestones/{milestone_id}/promote", promote),
];
