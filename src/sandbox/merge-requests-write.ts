import { findProject, lookUpProject, projectLevel, requireRole, requireUser } from "./access.ts";
import { addMentions, addResourceEvent, addTargetEvent, addTodo } from "./activity.ts";
import { milestonesOf } from "./entities-planning.ts";
import { ApiFailure, failure, forbidden, invalid, notFound } from "./errors.ts";
import { atLeastOne, flag, integer, integers, oneOf, required, text } from "./input.ts";
import { changedAssignees } from "./issuables.ts";
import { changedLabels } from "./labels.ts";
import { mergeRequestFull } from "./merge-requests-json.ts";
import {
  type ApprovalRule,
  addVersion,
  findMergeRequest,
  type MergeRequest,
  mergeRequestsOf,
  targetProject,
} from "./merge-requests-state.ts";
import { addSystemNote, noteable } from "./notes-store.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Project, type Reply, type Request, ROLE, type World } from "./types.ts";

/** Rules that new merge requests of a project start with. */
export function projectRules(world: World, project: Project): ApprovalRule[] {
  const all = world.part("project-approval-rules", () => new Map<number, ApprovalRule[]>());
  const rules = all.get(project.id) ?? [];
  all.set(project.id, rules);
  return rules;
}

/** A merge request with everything at rest. */
export function blankMergeRequest(
  world: World,
  project: Project,
  authorId: number,
  source: string,
  target: string,
  title: string,
): MergeRequest {
  const now = world.now();
  return {
    id: world.nextId("merge-request"),
    iid: world.nextId(`merge-request-iid-${project.id}`),
    project_id: project.id,
    source_project_id: project.id,
    source_branch: source,
    target_branch: target,
    title,
    description: null,
    state: "opened",
    author_id: authorId,
    assignee_ids: [],
    reviewers: [],
    labels: [],
    milestone_id: null,
    created_at: now,
    updated_at: now,
    closed_at: null,
    closed_by_id: null,
    merged_at: null,
    merge_user_id: null,
    merge_commit_sha: null,
    squash_commit_sha: null,
    auto_merge: null,
    squash: false,
    force_remove_source_branch: project.remove_source_branch_after_merge,
    allow_collaboration: false,
    discussion_locked: null,
    time_estimate: 0,
    total_time_spent: 0,
    subscriptions: new Map(),
    versions: [],
    rules: projectRules(world, project).map((rule) => ({ ...rule, id: world.nextId("approval-rule"), user_ids: [...rule.user_ids] })),
    approvals: [],
    draftNotes: [],
    blocked_by: [],
    merge_error: null,
  };
}

function titleOf(request: Request): string | undefined {
  const value = text(request.input, "title");
  if (value === undefined) return undefined;
  if (value.trim() === "") throw invalid({ title: ["can't be blank"] });
  if (value.length > 255) throw invalid({ title: ["is too long (maximum is 255 characters)"] });
  return value;
}

function refuseTwin(
  world: World,
  row: Pick<MergeRequest, "id" | "source_project_id" | "source_branch" | "project_id" | "target_branch">,
): void {
  const same = (other: MergeRequest) =>
    other.state === "opened" &&
    other.id !== row.id &&
    other.source_project_id === row.source_project_id &&
    other.project_id === row.project_id &&
    other.source_branch === row.source_branch &&
    other.target_branch === row.target_branch;
  const twin = mergeRequestsOf(world).find(same);
  if (twin) throw failure(409, [`Another open merge request already exists for this source branch: !${twin.iid}`]);
}

function checkBranches(world: World, source: Project, target: Project, from: string, to: string): void {
  if (source.id === target.id && from === to)
    throw new ApiFailure(422, { error: ["You can't use same project/branch for source and target"] });
  if (!repositoryOf(world, source).git.branches.has(from)) throw invalid({ source_branch: ["does not exist"] });
  if (!repositoryOf(world, target).git.branches.has(to)) throw invalid({ target_branch: ["does not exist"] });
}

function targetOf(request: Request, source: Project): Project {
  const id = text(request.input, "target_project_id");
  const target = id === undefined ? source : lookUpProject(request.world, id);
  if (!target || projectLevel(request.world, request.user, target) < ROLE.reporter) throw notFound("Project");
  return target;
}

/** Reviewers as asked; those who stay keep their state. */
function setReviewers(request: Request, row: MergeRequest): void {
  const ids = integers(request.input, "reviewer_ids");
  if (ids === undefined) return;
  const { world } = request;
  const known = [...new Set(ids)].filter((id) => world.users.some((user) => user.id === id));
  const before = row.reviewers;
  row.reviewers = known.map(
    (user_id) => before.find((one) => one.user_id === user_id) ?? { user_id, state: "unreviewed", created_at: world.now() },
  );
  for (const { user_id } of row.reviewers) {
    if (before.some((one) => one.user_id === user_id)) continue;
    tell(request, row, user_id, "review_requested", `requested review from @${nameOf(world, user_id)}`);
  }
}

const nameOf = (world: World, id: number) => world.users.find((user) => user.id === id)?.username ?? "ghost";

function tell(request: Request, row: MergeRequest, userId: number, action: string, words: string): void {
  addSystemNote(request, noteable("MergeRequest", row), words);
  if (userId === request.user?.id) return;
  const author_id = request.user?.id ?? 0;
  addTodo(request.world, {
    user_id: userId,
    author_id,
    project_id: row.project_id,
    action_name: action,
    target_type: "MergeRequest",
    target_id: row.id,
    body: row.title,
  });
}

function setLabels(request: Request, row: MergeRequest): void {
  const before = row.labels;
  row.labels = changedLabels(request, targetProject(request.world, row), before) ?? before;
  const event = (action: string, value: string) =>
    addResourceEvent(request.world, {
      kind: "label",
      resource_type: "MergeRequest",
      resource_id: row.id,
      user_id: request.user?.id ?? 0,
      action,
      value,
    });
  for (const name of row.labels) if (!before.includes(name)) event("add", name);
  for (const name of before) if (!row.labels.includes(name)) event("remove", name);
}

function setMilestone(request: Request, row: MergeRequest): void {
  if (!("milestone_id" in request.input)) return;
  const id = integer(request.input, "milestone_id") || null;
  const project = targetProject(request.world, row);
  if (id === null || milestonesOf(request.world, project).some((one) => one.id === id)) row.milestone_id = id;
}

/** What creation and update have in common. */
function setPlan(request: Request, row: MergeRequest): void {
  const before = row.assignee_ids;
  row.assignee_ids = changedAssignees(request) ?? before;
  for (const id of row.assignee_ids.filter((one) => !before.includes(one)))
    tell(request, row, id, "assigned", `assigned to @${nameOf(request.world, id)}`);
  setReviewers(request, row);
  setLabels(request, row);
  setMilestone(request, row);
  if ("description" in request.input) row.description = text(request.input, "description") ?? null;
  row.squash = flag(request.input, "squash") ?? row.squash;
  row.force_remove_source_branch = flag(request.input, "remove_source_branch") ?? row.force_remove_source_branch;
  row.allow_collaboration = flag(request.input, "allow_collaboration") ?? row.allow_collaboration;
}

function create(request: Request): Reply {
  const { world } = request;
  const user = requireUser(request);
  const source = findProject(request);
  requireRole(request, source, ROLE.developer);
  required(request, "source_branch", "target_branch", "title");
  const [from = "", to = ""] = [text(request.input, "source_branch"), text(request.input, "target_branch")];
  const title = titleOf(request) ?? "";
  const target = targetOf(request, source);
  checkBranches(world, source, target, from, to);
  refuseTwin(world, { id: 0, source_project_id: source.id, source_branch: from, project_id: target.id, target_branch: to });
  const row: MergeRequest = { ...blankMergeRequest(world, target, user.id, from, to, title), source_project_id: source.id };
  mergeRequestsOf(world).push(row);
  setPlan(request, row);
  addVersion(world, row);
  addTargetEvent(request, "MergeRequest", row, "opened");
  addMentions(request, "MergeRequest", row, row.description ?? "");
  return created(mergeRequestFull(request, row));
}

const CHANGES = [
  "assignee_id",
  "assignee_ids",
  "reviewer_ids",
  "description",
  "labels",
  "add_labels",
  "remove_labels",
  "milestone_id",
  "remove_source_branch",
  "allow_collaboration",
  "allow_maintainer_to_push",
  "squash",
  "target_branch",
  "title",
  "state_event",
  "discussion_locked",
  "merge_after",
] as const;

function changeState(request: Request, row: MergeRequest): void {
  const event = oneOf(request.input, "state_event", ["close", "reopen"]);
  const next = event === "close" ? "closed" : event === "reopen" ? "opened" : row.state;
  if (next === row.state || row.state === "merged") return;
  if (next === "opened") refuseTwin(request.world, row);
  const closing = next === "closed";
  Object.assign(row, {
    state: next,
    auto_merge: null,
    closed_at: closing ? request.world.now() : null,
    closed_by_id: closing ? (request.user?.id ?? null) : null,
  });
  const value = closing ? "closed" : "reopened";
  addSystemNote(request, noteable("MergeRequest", row), value);
  addTargetEvent(request, "MergeRequest", row, closing ? "closed" : "reopened");
  addResourceEvent(request.world, {
    kind: "state",
    resource_type: "MergeRequest",
    resource_id: row.id,
    user_id: request.user?.id ?? 0,
    action: value,
    value,
  });
}

function changeTarget(request: Request, row: MergeRequest): void {
  const branch = text(request.input, "target_branch");
  if (branch === undefined || branch === row.target_branch) return;
  checkBranches(request.world, targetProject(request.world, row), targetProject(request.world, row), row.source_branch, branch);
  refuseTwin(request.world, { ...row, target_branch: branch });
  addSystemNote(request, noteable("MergeRequest", row), `changed target branch from \`${row.target_branch}\` to \`${branch}\``);
  row.target_branch = branch;
  addVersion(request.world, row);
}

/** Authors may change their own; others need to be developers. */
export function requireUpdate(request: Request, row: MergeRequest): void {
  const user = requireUser(request);
  const level = projectLevel(request.world, user, targetProject(request.world, row));
  if (level < ROLE.developer && row.author_id !== user.id) throw forbidden();
}

function update(request: Request): Reply {
  const row = findMergeRequest(request);
  requireUpdate(request, row);
  atLeastOne(request, CHANGES);
  const title = titleOf(request);
  if (title !== undefined && title !== row.title) {
    addSystemNote(request, noteable("MergeRequest", row), `changed title from **${row.title}** to **${title}**`);
    row.title = title;
  }
  setPlan(request, row);
  changeTarget(request, row);
  changeState(request, row);
  if ("discussion_locked" in request.input) row.discussion_locked = flag(request.input, "discussion_locked") ?? null;
  row.updated_at = request.world.now();
  return ok(mergeRequestFull(request, row));
}

function remove(request: Request): Reply {
  const row = findMergeRequest(request);
  const user = requireUser(request);
  if (projectLevel(request.world, user, targetProject(request.world, row)) < ROLE.owner) throw forbidden();
  const all = mergeRequestsOf(request.world);
  all.splice(all.indexOf(row), 1);
  return noContent();
}

export const ONE = "/projects/{project_id}/merge_requests/{merge_request_iid}";

export const mergeRequestWrites: readonly Behaviour[] = [
  post("/projects/{project_id}/merge_requests", create),
  get(ONE, (request) => ok(mergeRequestFull(request, findMergeRequest(request)))),
  put(ONE, update),
  del(ONE, remove),
];
