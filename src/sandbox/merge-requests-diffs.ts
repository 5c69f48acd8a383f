import { createHash } from "node:crypto";
import { findProject, requireRole } from "./access.ts";
import { pipelineBasic, pipelinesOf } from "./ci-state.ts";
import { userBasic } from "./entities.ts";
import { failure, notFound } from "./errors.ts";
import { type GitStore, snapshotOf } from "./git.ts";
import { editScript, type FileDiff, patchText, splitLines } from "./git-diff.ts";
import { flag, integer, text } from "./input.ts";
import { issueJson } from "./issue-entities.ts";
import { closingIssues, relatedIssues, visibleIssues } from "./merge-requests-issues.ts";
import { mergeRequestFull, sourceProject } from "./merge-requests-json.ts";
import {
  findMergeRequest,
  latest,
  type MergeRequest,
  targetProject,
  type Version,
  versionCommits,
  versionDiff,
} from "./merge-requests-state.ts";
import { ONE } from "./merge-requests-write.ts";
import { paged } from "./paging.ts";
import { get, ok, plain } from "./reply.ts";
import { commitJson } from "./repository-json.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type World } from "./types.ts";

/** Reading code of a private project needs more than a guest's role. */
function readable(request: Request): MergeRequest {
  const project = findProject(request);
  if (project.visibility === "private") requireRole(request, project, ROLE.reporter);
  return findMergeRequest(request);
}

const unified = (file: FileDiff): FileDiff =>
  file.diff.startsWith("@@")
    ? {
        ...file,
        diff: `--- ${file.new_file ? "/dev/null" : `a/${file.old_path}`}\n+++ ${file.deleted_file ? "/dev/null" : `b/${file.new_path}`}\n${file.diff}`,
      }
    : file;

const diffsOf = (request: Request, row: MergeRequest, version: Version | undefined) =>
  versionDiff(request.world, row, version).map((file) => (flag(request.query, "unidiff") ? unified(file) : file));

function changes(request: Request): Reply {
  const row = readable(request);
  return ok({ ...mergeRequestFull(request, row), changes: diffsOf(request, row, latest(row)), overflow: false });
}

function commits(request: Request): Reply {
  const row = readable(request);
  const project = targetProject(request.world, row);
  return paged(request, versionCommits(request.world, row, latest(row)), (commit) => commitJson(request.world, project, commit));
}

function versionJson(row: MergeRequest, version: Version): Json {
  return {
    id: version.id,
    head_commit_sha: version.head_sha,
    base_commit_sha: version.base_sha,
    start_commit_sha: version.start_sha,
    created_at: version.created_at,
    merge_request_id: row.id,
    state: "collected",
    real_size: "0",
    patch_id_sha: createHash("sha1").update(`${version.base_sha}${version.head_sha}`).digest("hex"),
  };
}

const counted = (world: World, row: MergeRequest, version: Version): Json => ({
  ...versionJson(row, version),
  real_size: String(versionDiff(world, row, version).length),
});

function oneVersion(request: Request): Reply {
  const row = readable(request);
  const version = row.versions.find(({ id }) => String(id) === request.params.version_id);
  if (!version) throw notFound();
  const project = targetProject(request.world, row);
  return ok({
    ...counted(request.world, row, version),
    commits: versionCommits(request.world, row, version).map((commit) => commitJson(request.world, project, commit)),
    diffs: diffsOf(request, row, version),
  });
}

function reviewers(request: Request): Reply {
  const row = findMergeRequest(request);
  return paged(request, row.reviewers, ({ user_id, state, created_at }) => ({
    user: userBasic(request.world, user_id),
    state,
    created_at,
  }));
}

function pipelines(request: Request): Reply {
  const row = findMergeRequest(request);
  const { world } = request;
  const shas = new Set(row.versions.flatMap((version) => versionCommits(world, row, version).map(({ id }) => id)));
  const rows = pipelinesOf(world, sourceProject(world, row)).filter((pipeline) => shas.has(pipeline.sha) && !pipeline.tag);
  return paged(request, rows, (pipeline) => pipelineBasic(world, pipeline));
}

const issues = (of: (world: World, row: MergeRequest) => ReturnType<typeof closingIssues>) => (request: Request) =>
  paged(request, visibleIssues(request, of(request.world, findMergeRequest(request))), (issue) => issueJson(request, issue));

interface Place {
  readonly old_line: number | null;
  readonly new_line: number | null;
}

/** Every line that both versions of a file have, with its number on each side. */
function placesOf(git: GitStore, version: Version, file: FileDiff): Place[] {
  const lines = (sha: string, path: string) =>
    splitLines(git.blobs.get(snapshotOf(git, git.commits.get(sha)).get(path)?.id ?? "")?.toString() ?? "");
  const edits = editScript(lines(version.base_sha, file.old_path), lines(version.head_sha, file.new_path));
  return edits.map((edit) => ({
    old_line: edit.kind === "add" ? null : edit.oldLine + 1,
    new_line: edit.kind === "remove" ? null : edit.newLine + 1,
  }));
}

const noLine = () => failure(400, '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}');

/**
 * A place in the diff, as sent. Added lines have a new number only, removed ones an old one only, unchanged lines both.
 * @throws 400 where the diff has no such line.
 */
export function checkPosition(request: Request, row: MergeRequest, sent: Readonly<Json>): Json {
  const { world } = request;
  const version = row.versions.find(({ head_sha }) => head_sha === text(sent, "head_sha")) ?? latest(row);
  const paths = [text(sent, "new_path"), text(sent, "old_path")];
  const file = versionDiff(world, row, version).find((one) => paths.includes(one.new_path) || paths.includes(one.old_path));
  const type = text(sent, "position_type") ?? "text";
  if (!version || !file) throw noLine();
  const [old_line = null, new_line = null] = [integer(sent, "old_line"), integer(sent, "new_line")];
  const { git } = repositoryOf(world, targetProject(world, row));
  const fits = placesOf(git, version, file).some((place) => place.old_line === old_line && place.new_line === new_line);
  if (type === "text" && !fits) throw noLine();
  return {
    base_sha: version.base_sha,
    start_sha: version.start_sha,
    head_sha: version.head_sha,
    old_path: file.old_path,
    new_path: file.new_path,
    position_type: type,
    old_line,
    new_line,
    line_range: (sent.line_range as Json | undefined) ?? null,
  };
}

export const mergeRequestDiffs: readonly Behaviour[] = [
  get(`${ONE}/diffs`, (request) => {
    const row = readable(request);
    return paged(request, diffsOf(request, row, latest(row)), (file) => file);
  }),
  get(`${ONE}/changes`, changes),
  get(`${ONE}/raw_diffs`, (request) => {
    const row = readable(request);
    return plain(patchText(versionDiff(request.world, row, latest(row))));
  }),
  get(`${ONE}/commits`, commits),
  get(`${ONE}/versions`, (request) => {
    const row = readable(request);
    return paged(request, [...row.versions].reverse(), (version) => counted(request.world, row, version));
  }),
  get(`${ONE}/versions/{version_id}`, oneVersion),
  get(`${ONE}/reviewers`, reviewers),
  get(`${ONE}/pipelines`, pipelines),
  get(`${ONE}/closes_issues`, issues(closingIssues)),
  get(`${ONE}/related_issues`, issues(relatedIssues)),
];
