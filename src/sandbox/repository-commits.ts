import { ApiFailure, badParams, notFound } from "./errors.ts";
import { type GitCommit, putCommit, resolveRef, type Snapshot, snapshotOf } from "./git.ts";
import { isAncestor, logOf, touches } from "./git-history.ts";
import { mergeSnapshots } from "./git-merge.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, get, ok, post } from "./reply.ts";
import { commitDetail, commitDiff, commitJson, statsOf, titleOf } from "./repository-json.ts";
import { type Opened, openRepository, repositoryLinks, requireCommit, requirePush } from "./repository-state.ts";
import { commitFiles, type FileAction, moveBranch, signatureOf } from "./repository-write.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User } from "./types.ts";

/** A date given by the caller. @throws 400 where it is none. */
function dateOf(request: Request, name: string): number | undefined {
  const value = text(request.input, name);
  if (value === undefined || value === "") return undefined;
  const time = Date.parse(value.replace(" ", "+"));
  if (Number.isNaN(time)) throw badParams(`${name} is invalid`);
  return time;
}

/** `a..b` and `a...b` as well as one ref. */
function startingAt(opened: Opened, request: Request): GitCommit[] {
  const { git, project } = opened;
  if (flag(request.input, "all")) {
    const seen = new Map([...git.branches.values()].flatMap((id) => logOf(git, id)).map((commit) => [commit.id, commit]));
    return [...seen.values()].sort((a, b) => Date.parse(b.committer.date) - Date.parse(a.committer.date));
  }
  const ref = text(request.input, "ref_name");
  const range = ref ? /^(.+?)\.\.\.?(.+)$/.exec(ref) : null;
  const tip = resolveRef(git, range?.[2] ?? ref ?? "HEAD", project.default_branch ?? undefined);
  if (!tip) {
    if (ref === undefined) return [];
    throw notFound("Commit");
  }
  const from = range?.[1] ? resolveRef(git, range[1]) : undefined;
  const hidden = from ? new Set(logOf(git, from.id).map(({ id }) => id)) : undefined;
  return logOf(git, tip.id, hidden);
}

function firstParents(opened: Opened, commits: readonly GitCommit[]): GitCommit[] {
  const main = new Set<string>();
  for (let at = commits[0]; at; at = at.parents[0] ? opened.git.commits.get(at.parents[0]) : undefined) main.add(at.id);
  return commits.filter(({ id }) => main.has(id));
}

function listCommits(request: Request): Reply {
  const opened = openRepository(request);
  const [since, until] = [dateOf(request, "since"), dateOf(request, "until")];
  const path = text(request.input, "path");
  const author = text(request.input, "author")?.toLowerCase();
  const all = startingAt(opened, request);
  const commits = (flag(request.input, "first_parent") ? firstParents(opened, all) : all).filter((commit) => {
    const when = Date.parse(commit.committer.date);
    if ((since !== undefined && when < since) || (until !== undefined && when > until)) return false;
    if (author && !`${commit.author.name} <${commit.author.email}>`.toLowerCase().includes(author)) return false;
    return !path || touches(opened.git, commit, path);
  });
  const stats = flag(request.input, "with_stats") ?? false;
  const json = (commit: GitCommit) => ({
    ...commitJson(opened.world, opened.project, commit),
    ...(stats ? { stats: statsOf(commitDiff(opened, commit)) } : {}),
  });
  return paged(request, commits, json, { uncounted: true });
}

export function findCommit(request: Request, role: number = ROLE.none): { opened: Opened; commit: GitCommit } {
  const opened = openRepository(request, role);
  return { opened, commit: requireCommit(opened, request.params.sha ?? "") };
}

function getCommit(request: Request): Reply {
  const { opened, commit } = findCommit(request);
  return ok(commitDetail(opened, commit, flag(request.input, "stats") ?? true));
}

function getDiff(request: Request): Reply {
  const { opened, commit } = findCommit(request);
  const unified = flag(request.input, "unidiff") ?? false;
  return paged(request, commitDiff(opened, commit), (file) =>
    unified && file.diff.startsWith("@@") ? { ...file, diff: `--- a/${file.old_path}\n+++ b/${file.new_path}\n${file.diff}` } : file,
  );
}

function getRefs(request: Request): Reply {
  const { opened, commit } = findCommit(request);
  const type = oneOf(request.input, "type", ["branch", "tag", "all"]) ?? "all";
  const branches = [...opened.git.branches]
    .filter(([, id]) => isAncestor(opened.git, commit.id, id))
    .map(([name]) => ({ type: "branch", name }));
  const tags = [...opened.git.tags.values()]
    .filter((tag) => isAncestor(opened.git, commit.id, tag.commit))
    .map(({ name }) => ({ type: "tag", name }));
  const rows = [...(type === "tag" ? [] : branches), ...(type === "branch" ? [] : tags)];
  return paged(request, rows, (row) => row);
}

function getSequence(request: Request): Reply {
  const { opened, commit } = findCommit(request);
  const all = logOf(opened.git, commit.id);
  return ok({ count: flag(request.input, "first_parent") ? firstParents(opened, all).length : all.length });
}

function getMergeRequests(request: Request): Reply {
  const { opened, commit } = findCommit(request);
  const rows = repositoryLinks(opened.world).mergeRequestsWith?.(request, opened.project, commit.id) ?? [];
  return paged(request, rows, (row) => row);
}

function getSignature(request: Request): Reply {
  findCommit(request);
  throw notFound("Signature");
}

const ACTIONS = ["create", "update", "move", "delete", "chmod"] as const;

function actionOf(row: Readonly<Json>): FileAction {
  const action = oneOf(row, "action", ACTIONS);
  const path = text(row, "file_path");
  if (!action || path === undefined) throw badParams(`actions[0][${action ? "file_path" : "action"}] is missing`);
  const mode = flag(row, "execute_filemode");
  const copy = (name: "previous_path" | "content" | "encoding" | "last_commit_id") => {
    const value = text(row, name);
    return value === undefined ? {} : { [name]: value };
  };
  if (action === "move" && text(row, "previous_path") === undefined) throw badParams("actions[0][previous_path] is missing");
  return {
    action,
    file_path: path,
    ...copy("previous_path"),
    ...copy("content"),
    ...copy("encoding"),
    ...copy("last_commit_id"),
    ...(mode === undefined ? {} : { execute_filemode: mode }),
  };
}

function createCommit(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  required(request, "branch", "commit_message");
  const rows = request.body.actions ?? [];
  if (!Array.isArray(rows)) throw badParams("actions is invalid");
  const branch = text(request.input, "branch") ?? "";
  requirePush(request, opened.project, branch);
  const value = (name: string) => text(request.input, name);
  const copy = (name: "start_branch" | "start_sha" | "author_name" | "author_email") => (value(name) ? { [name]: value(name) } : {});
  const draft = {
    branch,
    message: value("commit_message") ?? "",
    actions: (rows as Json[]).map(actionOf),
    force: flag(request.input, "force") ?? false,
    ...copy("start_branch"),
    ...copy("start_sha"),
    ...copy("author_name"),
    ...copy("author_email"),
  };
  const commit = commitFiles(opened, draft, request.user as User);
  return created(commitDetail(opened, commit, flag(request.input, "stats") ?? true));
}

interface Replay {
  readonly base: Snapshot;
  readonly theirs: Snapshot;
  readonly message: string;
  readonly author: GitCommit["author"] | undefined;
}

/** Puts a change on top of a branch; `dry_run` only says whether it would work. */
function replay(
  request: Request,
  what: "cherry-pick" | "revert",
  make: (opened: Opened, commit: GitCommit, parent: Snapshot) => Replay,
): Reply {
  const { opened, commit } = findCommit(request, ROLE.developer);
  required(request, "branch");
  const branch = text(request.input, "branch") ?? "";
  const tip = opened.git.commits.get(opened.git.branches.get(branch) ?? "");
  if (!tip) throw notFound("Branch");
  requirePush(request, opened.project, branch);
  const parent = snapshotOf(opened.git, opened.git.commits.get(commit.parents[0] ?? ""));
  const { base, theirs, message, author } = make(opened, commit, parent);
  const { snapshot, conflicts } = mergeSnapshots(opened.git, base, snapshotOf(opened.git, tip), theirs);
  const words = `Sorry, we cannot ${what} this commit automatically. This commit may already have been ${what === "revert" ? "reverted" : "cherry-picked"}, or a more recent commit may have updated some of its content.`;
  const same =
    [...snapshot].every(([path, entry]) => snapshotOf(opened.git, tip).get(path)?.id === entry.id) &&
    snapshot.size === snapshotOf(opened.git, tip).size;
  if (conflicts.length > 0 || same) {
    throw new ApiFailure(400, { message: words, error_code: conflicts.length > 0 ? "conflict" : "empty" });
  }
  if (flag(request.input, "dry_run")) return ok({ dry_run: "success" });
  const user = request.user as User;
  const committer = signatureOf(user, opened.world.now());
  const made = putCommit(opened.git, { snapshot, parents: [tip.id], author: author ?? committer, committer, message });
  moveBranch(opened.world, opened.project, opened.git, branch, made.id, user);
  return created(commitJson(opened.world, opened.project, made));
}

const cherryPick = (request: Request) =>
  replay(request, "cherry-pick", (opened, commit, parent) => ({
    base: parent,
    theirs: snapshotOf(opened.git, commit),
    message: text(request.input, "message") ?? `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.id})`,
    author: commit.author,
  }));

const revert = (request: Request) =>
  replay(request, "revert", (opened, commit, parent) => ({
    base: snapshotOf(opened.git, commit),
    theirs: parent,
    message: `Revert "${titleOf(commit)}"\n\nThis reverts commit ${commit.id}.`,
    author: undefined,
  }));

const COMMITS = "/projects/{project_id}/repository/commits";
const ONE = `${COMMITS}/{sha}`;

export const commitBehaviours: readonly Behaviour[] = [
  get(COMMITS, listCommits, { scopes: ["read_repository"] }),
  post(COMMITS, createCommit),
  get(ONE, getCommit),
  get(`${ONE}/diff`, getDiff),
  get(`${ONE}/refs`, getRefs),
  get(`${ONE}/sequence`, getSequence),
  get(`${ONE}/merge_requests`, getMergeRequests),
  get(`${ONE}/signature`, getSignature),
  post(`${ONE}/cherry_pick`, cherryPick),
  post(`${ONE}/revert`, revert),
];
