import { requireRole } from "./access.ts";
import { startPipeline } from "./ci-run.ts";
import { pipelineBasic } from "./ci-state.ts";
import { failure, notFound } from "./errors.ts";
import { integer, required } from "./input.ts";
import { issuableBehaviours } from "./issuables.ts";
import { mergeRequestApprovals } from "./merge-requests-approvals.ts";
import { checkPosition, mergeRequestDiffs } from "./merge-requests-diffs.ts";
import { mergeRequestDrafts } from "./merge-requests-drafts.ts";
import { mergeRequestFull, mergeRequestJson, sourceProject } from "./merge-requests-json.ts";
import { mergeRequestLists } from "./merge-requests-list.ts";
import { mergeRequestMerges, tryAutoMerge } from "./merge-requests-merge.ts";
import { seedMergeRequests } from "./merge-requests-seeds.ts";
import { findMergeRequest, latest, type MergeRequest, mergeRequestsOf } from "./merge-requests-state.ts";
import { showSuggestions, suggestionBehaviours } from "./merge-requests-suggestions.ts";
import { mergeRequestWrites, ONE, requireUpdate } from "./merge-requests-write.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post } from "./reply.ts";
import { type Behaviour, type IssuableKind, type Json, type Part, type Reply, type Request, ROLE, type User } from "./types.ts";

export const MERGE_REQUEST_KIND: IssuableKind = {
  type: "MergeRequest",
  path: ONE,
  find: findMergeRequest,
  json: (request, row) => mergeRequestFull(request, row as MergeRequest),
  position: (request, row, sent) => checkPosition(request, row as MergeRequest, sent),
};

function createPipeline(request: Request): Reply {
  const row = findMergeRequest(request);
  const project = sourceProject(request.world, row);
  requireRole(request, project, ROLE.developer);
  const sha = latest(row)?.head_sha ?? "";
  const pipeline = startPipeline(request.world, project, {
    ref: row.source_branch,
    sha,
    source: "merge_request_event",
    user: request.user as User,
    tag: false,
  });
  if (!pipeline) throw failure(400, "400 Bad request - No stages / jobs for this pipeline.");
  return created(pipelineBasic(request.world, pipeline));
}

/** Resolving the last thread may be what an automatic merge waited for. */
function thenMerge(row: Behaviour): Behaviour {
  if (row.method !== "PUT" || !row.path.includes("/discussions/")) return row;
  const run: Behaviour["run"] = async (request) => {
    const reply = await row.run(request);
    tryAutoMerge(request.world, findMergeRequest(request));
    return reply;
  };
  return { ...row, run };
}

const block = (request: Request, row: MergeRequest, blocker: MergeRequest): Json => ({
  id: blocker.id,
  blocking_merge_request: mergeRequestJson(request, blocker),
  blocked_merge_request: mergeRequestJson(request, row),
  project_id: row.project_id,
});

const blockersOf = (request: Request, row: MergeRequest) => mergeRequestsOf(request.world).filter(({ id }) => row.blocked_by.includes(id));

function addBlock(request: Request): Reply {
  const row = findMergeRequest(request);
  requireUpdate(request, row);
  required(request, "blocking_merge_request_id");
  const id = integer(request.input, "blocking_merge_request_id");
  const blocker = mergeRequestsOf(request.world).find((one) => one.id === id);
  if (!blocker || blocker === row) throw notFound();
  if (row.blocked_by.includes(blocker.id)) throw failure(409, "Block already exists");
  row.blocked_by.push(blocker.id);
  return created(block(request, row, blocker));
}

function oneBlock(request: Request): { row: MergeRequest; blocker: MergeRequest } {
  const row = findMergeRequest(request);
  const blocker = blockersOf(request, row).find(({ id }) => String(id) === request.params.block_id);
  if (!blocker) throw notFound();
  return { row, blocker };
}

const blocks: readonly Behaviour[] = [
  get(`${ONE}/blocks`, (request) => {
    const row = findMergeRequest(request);
    return paged(request, blockersOf(request, row), (blocker) => block(request, row, blocker));
  }),
  post(`${ONE}/blocks`, addBlock),
  get(`${ONE}/blocks/{block_id}`, (request) => {
    const { row, blocker } = oneBlock(request);
    return ok(block(request, row, blocker));
  }),
  del(`${ONE}/blocks/{block_id}`, (request) => {
    const { row, blocker } = oneBlock(request);
    row.blocked_by = row.blocked_by.filter((id) => id !== blocker.id);
    return noContent();
  }),
  get(`${ONE}/blockees`, (request) => {
    const row = findMergeRequest(request);
    const blocked = mergeRequestsOf(request.world).filter((other) => other.blocked_by.includes(row.id));
    return paged(request, blocked, (other) => block(request, other, row));
  }),
];

/** Merge requests: lists, changes, diffs, approvals, drafts of comments, merging. */
export const mergeRequestsPart: Part = {
  behaviours: [
    ...issuableBehaviours(MERGE_REQUEST_KIND).map(thenMerge),
    ...mergeRequestLists,
    ...mergeRequestWrites,
    ...mergeRequestDiffs,
    ...mergeRequestApprovals,
    ...mergeRequestDrafts,
    ...mergeRequestMerges,
    post(`${ONE}/pipelines`, createPipeline),
    ...suggestionBehaviours,
    ...blocks,
  ],
  seed: (world) => {
    seedMergeRequests(world);
    showSuggestions(world);
  },
};
