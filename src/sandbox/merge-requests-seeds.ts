import { canSeeProject, lookUpProject, visibleProjects } from "./access.ts";
import { ciOf } from "./ci-state.ts";
import { fixture } from "./fixtures.ts";
import { snapshotOf } from "./git.ts";
import { editScript, splitLines } from "./git-diff.ts";
import { ensureLabels } from "./labels.ts";
import { closingIssues, relatedIssues } from "./merge-requests-issues.ts";
import { mergeRequestFull, mergeRequestJson } from "./merge-requests-json.ts";
import { pipelineFinished } from "./merge-requests-merge.ts";
import {
  type ApprovalRule,
  addVersion,
  latest,
  type MergeRequest,
  mergeRequestsOf,
  sourceTip,
  targetProject,
  type Version,
  versionCommits,
} from "./merge-requests-state.ts";
import { blankMergeRequest, projectRules } from "./merge-requests-write.ts";
import { addNote, discussionId, noteable } from "./notes-store.ts";
import { seededCommits } from "./repository-seeds.ts";
import { repositoryLinks, repositoryOf } from "./repository-state.ts";
import type { Issue, Json, Project, Request, World } from "./types.ts";

interface SeedComment {
  readonly by: string;
  readonly at: string;
  readonly body: string;
}

interface SeedThread extends SeedComment {
  readonly path: string;
  /** Text of the added line that it stands at. */
  readonly line: string;
  readonly resolved_by?: string;
  readonly replies: readonly SeedComment[];
}

interface SeedMergeRequest {
  readonly project: string;
  readonly iid: number;
  readonly title: string;
  readonly source_branch: string;
  readonly author: string;
  readonly description: string;
  readonly created: string;
  readonly state?: "merged" | "closed";
  readonly merged?: string;
  readonly merged_by?: string;
  readonly closed?: string;
  /** Keys of seeded commits: what a merged one consisted of. */
  readonly head?: string;
  readonly base?: string;
  readonly merge_commit?: string;
  readonly labels?: readonly string[];
  readonly assignees?: readonly string[];
  readonly reviewers?: readonly string[];
  readonly milestone?: string;
  readonly approved_by?: readonly (readonly [string, string])[];
  readonly discussions?: readonly SeedThread[];
  readonly notes?: readonly SeedComment[];
}

interface SeedRule {
  readonly project: string;
  readonly name: string;
  readonly rule_type: "any_approver" | "regular";
  readonly approvals_required: number;
  readonly users: readonly string[];
  /** Numbers of the merge requests that have it; all of the project's where absent. */
  readonly only?: readonly number[];
}

interface Seeds {
  readonly rules: readonly SeedRule[];
  readonly merge_requests: readonly SeedMergeRequest[];
}

const userId = (world: World, username: string) => world.users.find((user) => user.username === username)?.id;

const userIds = (world: World, names: readonly string[] | undefined): number[] =>
  (names ?? []).flatMap((name) => userId(world, name) ?? []);

function ruleOf(world: World, { name, rule_type, approvals_required, users }: SeedRule): ApprovalRule {
  return { id: world.nextId("approval-rule"), name, rule_type, approvals_required, user_ids: userIds(world, users) };
}

/** The line number of a text in the new version of a file. @throws where it is not an added line there. */
function addedLine(world: World, row: MergeRequest, version: Version, path: string, wanted: string): number {
  const { git } = repositoryOf(world, targetProject(world, row));
  const lines = (sha: string) => splitLines(git.blobs.get(snapshotOf(git, git.commits.get(sha)).get(path)?.id ?? "")?.toString() ?? "");
  const after = lines(version.head_sha);
  const edit = editScript(lines(version.base_sha), after).find((one) => one.kind === "add" && after[one.newLine]?.trimEnd() === wanted);
  if (!edit) throw new Error(`seed thread of !${row.iid} stands on no added line of ${path}: ${wanted}`);
  return edit.newLine + 1;
}

function seedThread(world: World, row: MergeRequest, thread: SeedThread): void {
  const version = latest(row);
  if (!version) return;
  const new_line = addedLine(world, row, version, thread.path, thread.line);
  const { base_sha, start_sha, head_sha } = version;
  const position = {
    base_sha,
    start_sha,
    head_sha,
    old_path: thread.path,
    new_path: thread.path,
    position_type: "text",
    old_line: null,
    new_line,
    line_range: null,
  };
  const id = discussionId(world);
  const resolver = thread.resolved_by ? (userId(world, thread.resolved_by) ?? null) : null;
  const resolution =
    resolver === null ? {} : { resolved: true, resolved_by_id: resolver, resolved_at: thread.replies.at(-1)?.at ?? thread.at };
  for (const comment of [thread, ...thread.replies]) {
    addNote(world, noteable("MergeRequest", row), {
      author_id: userId(world, comment.by) ?? row.author_id,
      body: comment.body,
      created_at: comment.at,
      discussion_id: id,
      individual: false,
      type: "DiffNote",
      resolvable: true,
      position,
      ...resolution,
    });
  }
}

/** Gives a merged or closed one the versions that it had; open ones are compared as they stand. */
function seedVersions(world: World, row: MergeRequest, seed: SeedMergeRequest): void {
  const commit = (key: string | undefined) => seededCommits(world).get(`${seed.project} ${key}`);
  const [base, head] = [commit(seed.base), commit(seed.head)];
  if (base && head)
    row.versions.push({
      id: world.nextId("merge-request-diff"),
      base_sha: base,
      start_sha: base,
      head_sha: head,
      created_at: seed.created,
    });
  else addVersion(world, row);
  const version = row.versions[0];
  if (version) row.versions[0] = { ...version, created_at: seed.created };
  row.merge_commit_sha = commit(seed.merge_commit) ?? null;
}

function seedOne(world: World, project: Project, seed: SeedMergeRequest): void {
  const author = userId(world, seed.author) ?? project.creator_id;
  const at = seed.merged ?? seed.closed ?? seed.discussions?.at(-1)?.at ?? seed.created;
  const row: MergeRequest = {
    ...blankMergeRequest(world, project, author, seed.source_branch, project.default_branch ?? "main", seed.title),
    iid: seed.iid,
    state: seed.state ?? "opened",
    description: seed.description,
    created_at: seed.created,
    updated_at: at,
    labels: [...(seed.labels ?? [])].sort(),
    assignee_ids: userIds(world, seed.assignees),
    reviewers: userIds(world, seed.reviewers).map((user_id) => ({ user_id, state: "unreviewed", created_at: seed.created })),
    milestone_id: world.milestones.find(({ title }) => title === seed.milestone)?.id ?? null,
    merged_at: seed.merged ?? null,
    merge_user_id: seed.merged_by ? (userId(world, seed.merged_by) ?? null) : null,
    closed_at: seed.closed ?? null,
    closed_by_id: seed.closed ? author : null,
    approvals: (seed.approved_by ?? []).flatMap(([name, when]) => userIds(world, [name]).map((user_id) => ({ user_id, at: when }))),
  };
  for (const reviewer of row.reviewers) if (row.approvals.some(({ user_id }) => user_id === reviewer.user_id)) reviewer.state = "approved";
  mergeRequestsOf(world).push(row);
  ensureLabels(world, project, row.labels);
  world.usedId(`merge-request-iid-${project.id}`, seed.iid);
  seedVersions(world, row, seed);
  for (const thread of seed.discussions ?? []) seedThread(world, row, thread);
  for (const note of seed.notes ?? []) {
    addNote(world, noteable("MergeRequest", row), { author_id: userId(world, note.by) ?? author, body: note.body, created_at: note.at });
  }
}

const visible = (request: Request, row: MergeRequest) => canSeeProject(request.world, request.user, targetProject(request.world, row));

type Naming = typeof closingIssues;

/** Which issues each merge request names, found once a request: a list of issues asks for every one of its rows. */
const found = new WeakMap<Request, Map<Naming, Map<MergeRequest, Issue[]>>>();

function namedBy(request: Request, of: Naming): Map<MergeRequest, Issue[]> {
  const known = found.get(request) ?? new Map<Naming, Map<MergeRequest, Issue[]>>();
  found.set(request, known);
  const rows = () => mergeRequestsOf(request.world).filter((row) => visible(request, row));
  const named = known.get(of) ?? new Map(rows().map((row) => [row, of(request.world, row)]));
  known.set(of, named);
  return named;
}

function withIssue(request: Request, issue: Issue, of: Naming): Json[] {
  const rows = [...namedBy(request, of)].filter(([, issues]) => issues.includes(issue));
  return rows.map(([row]) => mergeRequestJson(request, row));
}

function search(request: Request, text: string, projects: readonly Project[]): Json[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ids = new Set(projects.map(({ id }) => id));
  return mergeRequestsOf(request.world)
    .filter(
      (row) => ids.has(row.project_id) && words.every((word) => `${row.title}\n${row.description ?? ""}`.toLowerCase().includes(word)),
    )
    .map((row) => mergeRequestJson(request, row));
}

/** Newest versions follow pushes to the source branch; a push takes back nothing that was approved. */
function followPushes(world: World): void {
  const links = repositoryLinks(world);
  links.pushed.push((where, push) => {
    if (push.tag || push.after === undefined) return;
    for (const row of mergeRequestsOf(where)) {
      if (row.state === "opened" && row.source_project_id === push.project.id && row.source_branch === push.ref) {
        addVersion(where, row);
        row.auto_merge = null;
        row.updated_at = where.now();
      }
    }
  });
  links.mergeRequestsWith = (request, project, sha) =>
    mergeRequestsOf(request.world)
      .filter(
        (row) =>
          row.project_id === project.id &&
          (row.merge_commit_sha === sha || versionCommits(request.world, row, latest(row)).some(({ id }) => id === sha)),
      )
      .map((row) => mergeRequestJson(request, row));
}

function setHooks(world: World): void {
  world.hooks.mergeRequests = {
    closing: (request, issue) => withIssue(request, issue, closingIssues),
    related: (request, issue) => withIssue(request, issue, relatedIssues),
    byId: (request, id) => {
      const row = mergeRequestsOf(request.world).find((one) => one.id === id);
      return row && visible(request, row) ? mergeRequestFull(request, row) : undefined;
    },
    issuable: (id) => mergeRequestsOf(world).find((row) => row.id === id),
    inMilestone: (request, milestone) => {
      const seen = new Set(visibleProjects(request).map(({ id }) => id));
      return mergeRequestsOf(request.world)
        .filter((row) => row.milestone_id === milestone.id && seen.has(row.project_id))
        .map((row) => mergeRequestJson(request, row));
    },
  };
  world.search.set("merge_requests", search);
  followPushes(world);
  ciOf(world).finished.push(pipelineFinished);
}

/** The seeded merge requests; those without a source branch in their repository are left out. */
export function seedMergeRequests(world: World): void {
  setHooks(world);
  const seeds = fixture<Seeds>("merge-requests");
  for (const rule of seeds.rules.filter(({ only }) => !only)) {
    const project = lookUpProject(world, rule.project);
    if (project) projectRules(world, project).push(ruleOf(world, rule));
  }
  const shop = lookUpProject(world, "acme/webshop");
  if (shop) shop.only_allow_merge_if_pipeline_succeeds = true;
  for (const seed of seeds.merge_requests) {
    const project = lookUpProject(world, seed.project);
    if (project) seedOne(world, project, seed);
  }
  for (const rule of seeds.rules) {
    const id = lookUpProject(world, rule.project)?.id;
    for (const row of mergeRequestsOf(world))
      if (row.project_id === id && rule.only?.includes(row.iid)) row.rules.push(ruleOf(world, rule));
  }
  for (const row of mergeRequestsOf(world)) {
    if (row.state === "opened" && !sourceTip(world, row)) throw new Error(`seed !${row.iid} has no source branch ${row.source_branch}`);
  }
}
