import { projectLevel, requireUser } from "./access.ts";
import { addResourceEvent, addTargetEvent } from "./activity.ts";
import { ACTIVE, type Pipeline, projectOf } from "./ci-state.ts";
import { failure, forbidden, unauthorized } from "./errors.ts";
import { type GitCommit, putCommit, snapshotOf } from "./git.ts";
import { isAncestor, mergeBase } from "./git-history.ts";
import { mergeSnapshots } from "./git-merge.ts";
import { flag, text } from "./input.ts";
import { closeIssues } from "./merge-requests-issues.ts";
import { mergeRequestFull } from "./merge-requests-json.ts";
import {
  addVersion,
  blockers,
  findMergeRequest,
  headPipeline,
  latest,
  type MergeRequest,
  mergeRequestsOf,
  sourceTip,
  targetProject,
  versionCommits,
} from "./merge-requests-state.ts";
import { ONE } from "./merge-requests-write.ts";
import { addSystemNote, noteable } from "./notes-store.ts";
import { accepted, created, get, ok, post, put } from "./reply.ts";
import { mayMerge, mayPush, repositoryOf } from "./repository-state.ts";
import { moveBranch, signatureOf } from "./repository-write.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User, type World } from "./types.ts";

const notAllowed = () => failure(405, "405 Method Not Allowed");

/** Checks that an auto-merge may wait for. */
const WAITS = ["ci_still_running", "not_approved", "discussions_not_resolved", "requested_changes", "merge_request_blocked"];

interface Made {
  readonly head: string;
  readonly merge?: string;
  readonly squash?: string;
}

function defaultMessage(world: World, row: MergeRequest): string {
  return `Merge branch '${row.source_branch}' into '${row.target_branch}'\n\n${row.title}\n\nSee merge request ${targetProject(world, row).path_with_namespace}!${row.iid}`;
}

/** Makes the commits of a merge. @throws 422 on a conflict. */
function makeMerge(world: World, row: MergeRequest, user: User, options: Readonly<Json>): Made {
  const project = targetProject(world, row);
  const { git } = repositoryOf(world, project);
  const [target, source] = [git.commits.get(git.branches.get(row.target_branch) ?? ""), git.commits.get(latest(row)?.head_sha ?? "")];
  if (!target || !source) throw failure(422, "Branch cannot be merged");
  const base = snapshotOf(git, mergeBase(git, target.id, source.id));
  const { snapshot, conflicts } = mergeSnapshots(git, base, snapshotOf(git, target), snapshotOf(git, source));
  if (conflicts.length > 0) throw failure(422, "Branch cannot be merged");
  const author = signatureOf(user, world.now());
  const squash = (options.squash as boolean | undefined) ?? row.squash;
  let tip: GitCommit = source;
  if (squash && versionCommits(world, row, latest(row)).length > 0) {
    const message = text(options, "squash_commit_message") ?? row.title;
    tip = putCommit(git, { snapshot, parents: [target.id], author, message });
  }
  const squashed = tip === source ? {} : { squash: tip.id };
  if (project.merge_method === "ff" && (tip !== source || isAncestor(git, target.id, source.id))) return { head: tip.id, ...squashed };
  const message = text(options, "merge_commit_message") ?? defaultMessage(world, row);
  const merge = putCommit(git, { snapshot, parents: [target.id, tip.id], author, message });
  return { head: merge.id, merge: merge.id, ...squashed };
}

/** Merges now: commits, branches, issues, notes. */
function mergeNow(request: Request, row: MergeRequest, user: User, options: Readonly<Json>): void {
  const { world } = request;
  const project = targetProject(world, row);
  const { git } = repositoryOf(world, project);
  const made = makeMerge(world, row, user, options);
  Object.assign(row, {
    state: "merged",
    merged_at: world.now(),
    updated_at: world.now(),
    merge_user_id: user.id,
    merge_commit_sha: made.merge ?? null,
    squash_commit_sha: made.squash ?? null,
    auto_merge: null,
  });
  moveBranch(world, project, git, row.target_branch, made.head, user);
  if ((options.should_remove_source_branch as boolean | undefined) ?? row.force_remove_source_branch) removeSource(world, row, user);
  addSystemNote(request, noteable("MergeRequest", row), "merged");
  addTargetEvent(request, "MergeRequest", row, "accepted");
  addResourceEvent(world, {
    kind: "state",
    resource_type: "MergeRequest",
    resource_id: row.id,
    user_id: user.id,
    action: "merged",
    value: "merged",
  });
  if (row.target_branch === project.default_branch) closeIssues(request, row);
}

function removeSource(world: World, row: MergeRequest, user: User): void {
  const source = projectOf(world, row.source_project_id);
  const { git } = repositoryOf(world, source);
  const protectedName = row.source_branch === source.default_branch;
  if (!protectedName && git.branches.has(row.source_branch)) moveBranch(world, source, git, row.source_branch, undefined, user);
}

function optionsOf(request: Request): Json {
  const { input } = request;
  const options: Json = {};
  for (const name of ["merge_commit_message", "squash_commit_message"]) if (text(input, name)) options[name] = text(input, name);
  for (const name of ["should_remove_source_branch", "squash"]) if (flag(input, name) !== undefined) options[name] = flag(input, name);
  return options;
}

function checkSha(request: Request, row: MergeRequest): void {
  const sha = text(request.input, "sha");
  if (sha && sha !== latest(row)?.head_sha) throw failure(409, `SHA does not match HEAD of source branch: ${latest(row)?.head_sha}`);
}

function merge(request: Request): Reply {
  const { world } = request;
  const user = requireUser(request);
  const row = findMergeRequest(request);
  if (!mayMerge(world, targetProject(world, row), user, row.target_branch)) throw unauthorized();
  const auto = flag(request.input, "auto_merge") ?? flag(request.input, "merge_when_pipeline_succeeds") ?? false;
  const pipeline = headPipeline(world, row);
  const running = pipeline !== undefined && ACTIVE.includes(pipeline.status);
  const waiting = auto && running;
  const open = blockers(world, row).filter((name) => !(waiting && WAITS.includes(name)));
  if (open.some((name) => name !== "conflict")) throw notAllowed();
  if (open.includes("conflict")) throw failure(422, "Branch cannot be merged");
  checkSha(request, row);
  const options = optionsOf(request);
  if (waiting) {
    row.auto_merge = { user_id: user.id, options };
    addSystemNote(
      request,
      noteable("MergeRequest", row),
      `enabled an automatic merge when all merge checks for ${latest(row)?.head_sha} pass`,
    );
  } else {
    mergeNow(request, row, user, options);
  }
  return ok(mergeRequestFull(request, row));
}

/** Merges one that waits, once nothing stands in its way any more. */
export function tryAutoMerge(world: World, row: MergeRequest): void {
  const user = world.users.find(({ id }) => id === row.auto_merge?.user_id);
  if (!row.auto_merge || !user || blockers(world, row).length > 0) return;
  if (headPipeline(world, row)?.status !== "success") return;
  const request: Request = { world, method: "PUT", path: "", params: {}, query: {}, body: {}, input: {}, headers: {}, user };
  mergeNow(request, row, user, row.auto_merge.options);
}

/** A pipeline came to its end: merge what waited for it, or stop waiting. */
export function pipelineFinished(world: World, pipeline: Pipeline): void {
  for (const row of mergeRequestsOf(world).filter((one) => one.auto_merge && headPipeline(world, one)?.id === pipeline.id)) {
    if (pipeline.status === "success") tryAutoMerge(world, row);
    else if (pipeline.status === "failed" || pipeline.status === "canceled") row.auto_merge = null;
  }
}

function cancelAutoMerge(request: Request): Reply {
  const user = requireUser(request);
  const row = findMergeRequest(request);
  const level = projectLevel(request.world, user, targetProject(request.world, row));
  if (level < ROLE.developer && row.author_id !== user.id) throw unauthorized();
  if (!row.auto_merge) throw failure(406, "Can't cancel the automatic merge");
  row.auto_merge = null;
  addSystemNote(request, noteable("MergeRequest", row), "canceled the automatic merge");
  return created({ status: "success" });
}

function rebase(request: Request): Reply {
  const { world } = request;
  const user = requireUser(request);
  const row = findMergeRequest(request);
  const source = projectOf(world, row.source_project_id);
  if (!mayPush(world, source, user, row.source_branch)) throw forbidden("Cannot push to source branch");
  const tip = sourceTip(world, row);
  const { git } = repositoryOf(world, targetProject(world, row));
  let onto = git.branches.get(row.target_branch) ?? "";
  if (!tip || row.state !== "opened") throw failure(403, "403 Forbidden - Source branch does not exist");
  if (isAncestor(git, onto, tip)) return accepted({ rebase_in_progress: true });
  for (const commit of versionCommits(world, row, latest(row)).reverse()) {
    if (commit.parents.length > 1) continue;
    const parent = git.commits.get(commit.parents[0] ?? "");
    const { snapshot, conflicts } = mergeSnapshots(
      git,
      snapshotOf(git, parent),
      snapshotOf(git, git.commits.get(onto)),
      snapshotOf(git, commit),
    );
    if (conflicts.length > 0) {
      row.merge_error = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";
      return accepted({ rebase_in_progress: true });
    }
    const committer = signatureOf(user, world.now());
    onto = putCommit(git, { snapshot, parents: [onto], author: commit.author, committer, message: commit.message }).id;
  }
  row.merge_error = null;
  moveBranch(world, source, repositoryOf(world, source).git, row.source_branch, onto, user);
  addVersion(world, row);
  return accepted({ rebase_in_progress: true });
}

function mergeRef(request: Request): Reply {
  const row = findMergeRequest(request);
  const user = requireUser(request);
  return ok({ commit_id: makeMerge(request.world, row, user, {}).head });
}

export const mergeRequestMerges: readonly Behaviour[] = [
  put(`${ONE}/merge`, merge),
  get(`${ONE}/merge_ref`, mergeRef),
  post(`${ONE}/cancel_merge_when_pipeline_succeeds`, cancelAutoMerge),
  put(`${ONE}/rebase`, rebase),
];
