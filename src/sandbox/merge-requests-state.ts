import { findProject } from "./access.ts";
import { ACTIVE, type Pipeline, pipelineFor, projectOf } from "./ci-state.ts";
import { notFound } from "./errors.ts";
import { type GitCommit, snapshotOf } from "./git.ts";
import { diffSnapshots, type FileDiff } from "./git-diff.ts";
import { isAncestor, logOf, mergeBase } from "./git-history.ts";
import { mergeSnapshots } from "./git-merge.ts";
import { notesOn } from "./notes-store.ts";
import { repositoryOf } from "./repository-state.ts";
import type { Issuable, Json, Project, Request, World } from "./types.ts";

/** What was compared at one push to the source branch. */
export interface Version {
  readonly id: number;
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
  readonly created_at: string;
}

export interface Reviewer {
  readonly user_id: number;
  state: "unreviewed" | "reviewed" | "requested_changes" | "approved" | "unapproved";
  readonly created_at: string;
}

export interface ApprovalRule {
  readonly id: number;
  name: string;
  rule_type: "any_approver" | "regular";
  approvals_required: number;
  user_ids: number[];
}

export interface DraftNote {
  readonly id: number;
  readonly author_id: number;
  note: string;
  position: Json | null;
  readonly discussion_id: string | null;
  readonly resolve_discussion: boolean;
  readonly commit_id: string | null;
}

export interface MergeRequest extends Issuable {
  state: "opened" | "closed" | "merged" | "locked";
  source_branch: string;
  target_branch: string;
  readonly source_project_id: number;
  reviewers: Reviewer[];
  /** Oldest first. */
  versions: Version[];
  rules: ApprovalRule[];
  approvals: { readonly user_id: number; readonly at: string }[];
  draftNotes: DraftNote[];
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
  merged_at: string | null;
  merge_user_id: number | null;
  auto_merge: { readonly user_id: number; readonly options: Readonly<Json> } | null;
  squash: boolean;
  force_remove_source_branch: boolean;
  allow_collaboration: boolean;
  blocked_by: number[];
  merge_error: string | null;
}

export function mergeRequestsOf(world: World): MergeRequest[] {
  return world.part("merge-requests", (): MergeRequest[] => []);
}

/** @throws 404 where the project is hidden or has no such merge request. */
export function findMergeRequest(request: Request): MergeRequest {
  const project = findProject(request);
  const iid = request.params.merge_request_iid;
  const found = mergeRequestsOf(request.world).find((row) => row.project_id === project.id && String(row.iid) === iid);
  if (!found) throw notFound();
  return found;
}

export const isDraft = (title: string) => /^\s*(\[draft\]|\(draft\)|draft:|\[wip\]|wip:)/i.test(title);

export const targetProject = (world: World, row: MergeRequest): Project => projectOf(world, row.project_id);

const storeOf = (world: World, row: MergeRequest) => repositoryOf(world, targetProject(world, row)).git;

/** Tip of the source branch, while it is there. */
export function sourceTip(world: World, row: MergeRequest): string | undefined {
  return repositoryOf(world, projectOf(world, row.source_project_id)).git.branches.get(row.source_branch);
}

/** Objects of a fork, so that the target's repository can compare and merge them. */
export function fetchSource(world: World, row: Pick<MergeRequest, "project_id" | "source_project_id">): void {
  if (row.project_id === row.source_project_id) return;
  const [from, to] = [row.source_project_id, row.project_id].map((id) => repositoryOf(world, projectOf(world, id)).git);
  if (!from || !to) return;
  for (const [id, blob] of from.blobs) to.blobs.set(id, blob);
  for (const [id, snapshot] of from.snapshots) to.snapshots.set(id, snapshot);
  for (const [id, commit] of from.commits) to.commits.set(id, commit);
}

/** Notes the comparison as it is now, where it differs from the last one. */
export function addVersion(world: World, row: MergeRequest): void {
  fetchSource(world, row);
  const git = storeOf(world, row);
  const [head, start] = [sourceTip(world, row), git.branches.get(row.target_branch)];
  if (!head || !start) return;
  const base = mergeBase(git, start, head)?.id ?? start;
  if (row.versions.at(-1)?.head_sha === head && row.versions.at(-1)?.base_sha === base) return;
  const id = world.nextId("merge-request-diff");
  row.versions.push({ id, base_sha: base, start_sha: start, head_sha: head, created_at: world.now() });
}

export const latest = (row: MergeRequest): Version | undefined => row.versions.at(-1);

export function versionDiff(world: World, row: MergeRequest, version: Version | undefined): FileDiff[] {
  if (!version) return [];
  const git = storeOf(world, row);
  return diffSnapshots(git, snapshotOf(git, git.commits.get(version.base_sha)), snapshotOf(git, git.commits.get(version.head_sha)));
}

/** Newest first. */
export function versionCommits(world: World, row: MergeRequest, version: Version | undefined): GitCommit[] {
  if (!version) return [];
  const git = storeOf(world, row);
  return logOf(git, version.head_sha, new Set(logOf(git, version.base_sha).map(({ id }) => id)));
}

export function headPipeline(world: World, row: MergeRequest): Pipeline | undefined {
  const head = latest(row)?.head_sha;
  return head ? pipelineFor(world, projectOf(world, row.source_project_id), head) : undefined;
}

export function hasConflicts(world: World, row: MergeRequest): boolean {
  if (row.state !== "opened") return false;
  const git = storeOf(world, row);
  const [head, target] = [latest(row)?.head_sha, git.branches.get(row.target_branch)];
  if (!head || !target || !sourceTip(world, row)) return true;
  if (isAncestor(git, target, head)) return false;
  const base = snapshotOf(git, mergeBase(git, target, head));
  return mergeSnapshots(git, base, snapshotOf(git, git.commits.get(target)), snapshotOf(git, git.commits.get(head))).conflicts.length > 0;
}

export function behind(world: World, row: MergeRequest): number {
  const git = storeOf(world, row);
  const [head, target] = [latest(row)?.head_sha, git.branches.get(row.target_branch)];
  return head && target ? logOf(git, target, new Set(logOf(git, head).map(({ id }) => id))).length : 0;
}

export function unresolved(world: World, row: MergeRequest): boolean {
  return notesOn(world, { type: "MergeRequest", id: row.id }).some((note) => note.resolvable && !note.resolved);
}

/** Who gave the approval that a rule asks for. */
export function approvedBy(row: MergeRequest, rule: ApprovalRule): number[] {
  const given = row.approvals.map(({ user_id }) => user_id);
  return rule.rule_type === "any_approver" ? given : given.filter((id) => rule.user_ids.includes(id));
}

export const ruleDone = (row: MergeRequest, rule: ApprovalRule) => approvedBy(row, rule).length >= rule.approvals_required;
export const isApproved = (row: MergeRequest) => row.rules.every((rule) => ruleDone(row, rule));

type Check = (world: World, row: MergeRequest) => string | undefined;

function ciCheck(world: World, row: MergeRequest): string | undefined {
  if (!targetProject(world, row).only_allow_merge_if_pipeline_succeeds) return undefined;
  const pipeline = headPipeline(world, row);
  if (pipeline && ACTIVE.includes(pipeline.status)) return "ci_still_running";
  return pipeline?.status === "success" ? undefined : "ci_must_pass";
}

/** In GitLab's order: the first that fails is the status. */
const CHECKS: readonly Check[] = [
  (_world, row) => (row.state === "opened" ? undefined : "not_open"),
  (_world, row) => (isDraft(row.title) ? "draft_status" : undefined),
  (world, row) => (sourceTip(world, row) && versionCommits(world, row, latest(row)).length > 0 ? undefined : "commits_status"),
  (world, row) =>
    targetProject(world, row).only_allow_merge_if_all_discussions_are_resolved && unresolved(world, row)
      ? "discussions_not_resolved"
      : undefined,
  ciCheck,
  (_world, row) => (isApproved(row) ? undefined : "not_approved"),
  (_world, row) => (row.reviewers.some(({ state }) => state === "requested_changes") ? "requested_changes" : undefined),
  (world, row) =>
    row.blocked_by.some((id) => mergeRequestsOf(world).find((other) => other.id === id)?.state === "opened")
      ? "merge_request_blocked"
      : undefined,
  (world, row) => (hasConflicts(world, row) ? "conflict" : undefined),
  (world, row) => (targetProject(world, row).merge_method === "ff" && behind(world, row) > 0 ? "need_rebase" : undefined),
];

/** Everything that stands in the way of merging, most telling first. */
export function blockers(world: World, row: MergeRequest): string[] {
  return CHECKS.flatMap((check) => check(world, row) ?? []);
}

export const detailedStatus = (world: World, row: MergeRequest) => blockers(world, row)[0] ?? "mergeable";
