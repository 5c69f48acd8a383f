import { pipelineFull } from "./ci-json.ts";
import { pipelineBasic, projectOf } from "./ci-state.ts";
import { userBasic, usersBasic } from "./entities.ts";
import { shownMilestone, timeStats } from "./entities-planning.ts";
import { flag } from "./input.ts";
import { isSubscribed } from "./issuables.ts";
import { shownLabels } from "./labels.ts";
import {
  behind,
  detailedStatus,
  hasConflicts,
  headPipeline,
  isDraft,
  latest,
  type MergeRequest,
  targetProject,
  unresolved,
  versionDiff,
} from "./merge-requests-state.ts";
import { notesOn } from "./notes-store.ts";
import { mayMerge } from "./repository-state.ts";
import type { Json, Request, World } from "./types.ts";

function taskCounts(description: string | null): Json {
  const boxes = [...(description ?? "").matchAll(/^\s*(?:[-*+]|\d+\.) \[( |x|X)\]/gm)];
  return { count: boxes.length, completed_count: boxes.filter(([, mark]) => mark !== " ").length };
}

function emojiCount(world: World, row: MergeRequest, name: string): number {
  return world.emoji.filter((emoji) => emoji.awardable_type === "MergeRequest" && emoji.awardable_id === row.id && emoji.name === name)
    .length;
}

export const mergeRequestUrl = (world: World, row: MergeRequest) =>
  `${world.url}/${targetProject(world, row).path_with_namespace}/-/merge_requests/${row.iid}`;

function people(world: World, row: MergeRequest): Json {
  const assignees = usersBasic(world, row.assignee_ids);
  return {
    merged_by: userBasic(world, row.merge_user_id),
    merge_user: userBasic(world, row.merge_user_id ?? row.auto_merge?.user_id),
    closed_by: userBasic(world, row.closed_by_id),
    author: userBasic(world, row.author_id),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: usersBasic(
      world,
      row.reviewers.map(({ user_id }) => user_id),
    ),
  };
}

function references(world: World, row: MergeRequest): Json {
  const full = `${targetProject(world, row).path_with_namespace}!${row.iid}`;
  return { short: `!${row.iid}`, relative: `!${row.iid}`, full };
}

function merging(world: World, row: MergeRequest): Json {
  const conflicts = hasConflicts(world, row);
  return {
    merge_when_pipeline_succeeds: row.auto_merge !== null,
    merge_status: row.state === "opened" && conflicts ? "cannot_be_merged" : "can_be_merged",
    detailed_merge_status: detailedStatus(world, row),
    merge_after: null,
    sha: latest(row)?.head_sha ?? null,
    merge_commit_sha: row.merge_commit_sha,
    squash_commit_sha: row.squash_commit_sha,
    should_remove_source_branch: row.auto_merge ? (row.auto_merge.options.should_remove_source_branch ?? null) : null,
    force_remove_source_branch: row.force_remove_source_branch,
    squash: row.squash,
    squash_on_merge: row.squash,
    has_conflicts: conflicts,
    blocking_discussions_resolved: !unresolved(world, row),
  };
}

/** What every form of a merge request begins with. */
export const coreJson = (row: MergeRequest): Json => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** A merge request as lists show it. */
export function mergeRequestJson(request: Request, row: MergeRequest): Json {
  const { world } = request;
  return {
    ...coreJson(row),
    merged_at: row.merged_at,
    closed_at: row.closed_at,
    ...people(world, row),
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    user_notes_count: notesOn(world, { type: "MergeRequest", id: row.id }).filter(({ system }) => !system).length,
    upvotes: emojiCount(world, row, "thumbsup"),
    downvotes: emojiCount(world, row, "thumbsdown"),
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    labels: shownLabels(request, targetProject(world, row), row.labels),
    draft: isDraft(row.title),
    imported: false,
    imported_from: "none",
    work_in_progress: isDraft(row.title),
    milestone: shownMilestone(world, row.milestone_id),
    ...merging(world, row),
    discussion_locked: row.discussion_locked,
    prepared_at: row.created_at,
    allow_collaboration: row.allow_collaboration,
    allow_maintainer_to_push: row.allow_collaboration,
    reference: `!${row.iid}`,
    references: references(world, row),
    web_url: mergeRequestUrl(world, row),
    time_stats: timeStats(row),
    task_completion_status: taskCounts(row.description),
    approvals_before_merge: null,
  };
}

/** A merge request as it stands alone. */
export function mergeRequestFull(request: Request, row: MergeRequest): Json {
  const { world, user } = request;
  const pipeline = headPipeline(world, row);
  const version = latest(row);
  const canMerge = user !== undefined && mayMerge(world, targetProject(world, row), user, row.target_branch);
  return {
    ...mergeRequestJson(request, row),
    subscribed: isSubscribed(request, "MergeRequest", row),
    changes_count: version ? String(versionDiff(world, row, version).length) : null,
    latest_build_started_at: pipeline?.started_at ?? null,
    latest_build_finished_at: pipeline?.finished_at ?? null,
    first_deployed_to_production_at: null,
    pipeline: pipeline ? pipelineBasic(world, pipeline) : null,
    head_pipeline: pipeline ? pipelineFull(world, pipeline) : null,
    diff_refs: version ? { base_sha: version.base_sha, head_sha: version.head_sha, start_sha: version.start_sha } : null,
    merge_error: row.merge_error,
    first_contribution: false,
    user: { can_merge: canMerge },
    ...(flag(request.query, "include_diverged_commits_count") ? { diverged_commits_count: behind(world, row) } : {}),
    ...(flag(request.query, "include_rebase_in_progress") ? { rebase_in_progress: false } : {}),
    ...(flag(request.query, "render_html") ? { title_html: row.title, description_html: `<p>${row.description ?? ""}</p>` } : {}),
  };
}

export const sourceProject = (world: World, row: MergeRequest) => projectOf(world, row.source_project_id);
