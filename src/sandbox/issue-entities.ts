import { canSeeProject, lookUpProject, projectLevel } from "./access.ts";
import { userBasic, usersBasic } from "./entities.ts";
import { shownMilestone, timeStats } from "./entities-planning.ts";
import { isSubscribed } from "./issuables.ts";
import { shownLabels } from "./labels.ts";
import { notesOn } from "./notes-store.ts";
import { type Issue, type Json, type Project, type Request, ROLE } from "./types.ts";

/** Whether the caller may see an issue: its project, and for a confidential one author, assignees and planners up. */
export function seesIssue(request: Request, issue: Issue): boolean {
  const project = lookUpProject(request.world, String(issue.project_id));
  if (!project || !canSeeProject(request.world, request.user, project)) return false;
  if (!issue.confidential) return true;
  const { user } = request;
  if (user && (issue.author_id === user.id || issue.assignee_ids.includes(user.id))) return true;
  return projectLevel(request.world, user, project) >= ROLE.planner;
}

const taskCounts = (description: string) => {
  const tasks = [...description.matchAll(/^\s*[-*+] \[([ x])\] /gim)];
  return { count: tasks.length, completed_count: tasks.filter(([, mark]) => mark?.toLowerCase() === "x").length };
};

const votes = (request: Request, issue: Issue, name: string) =>
  request.world.emoji.filter((row) => row.awardable_type === "Issue" && row.awardable_id === issue.id && row.name === name).length;

function links(project: Project, request: Request, issue: Issue): Json {
  const self = `${request.world.url}/api/v4/projects/${project.id}`;
  return {
    self: `${self}/issues/${issue.iid}`,
    notes: `${self}/issues/${issue.iid}/notes`,
    award_emoji: `${self}/issues/${issue.iid}/award_emoji`,
    project: self,
    closed_as_duplicate_of: null,
  };
}

/** An issue as lists show it. */
export function issueJson(request: Request, issue: Issue): Json {
  const { world } = request;
  const project = lookUpProject(world, String(issue.project_id));
  const tasks = taskCounts(issue.description ?? "");
  const assignees = usersBasic(world, issue.assignee_ids);
  return {
    id: issue.id,
    iid: issue.iid,
    project_id: issue.project_id,
    title: issue.title,
    description: issue.description,
    state: issue.state,
    created_at: issue.created_at,
    updated_at: issue.updated_at,
    closed_at: issue.closed_at,
    closed_by: userBasic(world, issue.closed_by_id),
    labels: shownLabels(request, project, issue.labels),
    milestone: shownMilestone(world, issue.milestone_id),
    assignees,
    author: userBasic(world, issue.author_id),
    type: issue.issue_type.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: notesOn(world, { type: "Issue", id: issue.id }).filter(({ system }) => !system).length,
    merge_requests_count: world.hooks.mergeRequests?.related(request, issue).length ?? 0,
    upvotes: votes(request, issue, "thumbsup"),
    downvotes: votes(request, issue, "thumbsdown"),
    due_date: issue.due_date,
    confidential: issue.confidential,
    discussion_locked: issue.discussion_locked,
    issue_type: issue.issue_type,
    web_url: `${world.url}/${project?.path_with_namespace}/-/issues/${issue.iid}`,
    time_stats: timeStats(issue),
    task_completion_status: tasks,
    weight: issue.weight,
    blocking_issues_count: 0,
    has_tasks: tasks.count > 0,
    task_status: `${tasks.completed_count} of ${tasks.count} checklist items completed`,
    _links: project ? links(project, request, issue) : {},
    references: {
      short: `#${issue.iid}`,
      relative: `#${issue.iid}`,
      full: `${project?.path_with_namespace}#${issue.iid}`,
    },
    severity: issue.severity,
    moved_to_id: issue.moved_to_id,
    imported: false,
    imported_from: "none",
    service_desk_reply_to: null,
    epic_iid: null,
    epic: null,
    iteration: null,
    health_status: null,
  };
}

/** An issue on its own. */
export const issueFull = (request: Request, issue: Issue): Json => ({
  ...issueJson(request, issue),
  subscribed: isSubscribed(request, "Issue", issue),
});
