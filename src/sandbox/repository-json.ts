import { projectLevel } from "./access.ts";
import type { GitCommit, GitTag } from "./git.ts";
import { snapshotOf } from "./git.ts";
import { countLines, diffSnapshots, type FileDiff } from "./git-diff.ts";
import { isAncestor } from "./git-history.ts";
import { allows, mayPush, type Opened, protectionsOf, repositoryLinks, tagProtectionsOf } from "./repository-state.ts";
import { type Json, type Project, ROLE, type User, type World } from "./types.ts";

/** Git's dates as GitLab writes them: with an offset, not `Z`. */
export const gitDate = (date: string) => date.replace(/Z$/, "+00:00");

export const webUrl = (world: World, project: Project, rest = "") => `${world.url}/${project.path_with_namespace}${rest}`;

/** `Key: value` lines of the last paragraph. */
export function trailersOf(message: string): Record<string, string> {
  const last =
    message
      .trimEnd()
      .split(/\n\s*\n/)
      .slice(1)
      .at(-1) ?? "";
  const pairs = last.split("\n").map((line) => /^([A-Za-z][A-Za-z-]*): (.+)$/.exec(line));
  if (pairs.length === 0 || pairs.some((pair) => !pair)) return {};
  return Object.fromEntries(pairs.flatMap((pair) => (pair?.[1] && pair[2] ? [[pair[1], pair[2]]] : [])));
}

export const titleOf = (commit: GitCommit) => commit.message.split("\n")[0] ?? "";

export function commitJson(world: World, project: Project, commit: GitCommit): Json {
  const trailers = trailersOf(commit.message);
  return {
    id: commit.id,
    short_id: commit.id.slice(0, 8),
    created_at: gitDate(commit.committer.date),
    parent_ids: commit.parents,
    title: titleOf(commit),
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: gitDate(commit.author.date),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: gitDate(commit.committer.date),
    trailers,
    extended_trailers: Object.fromEntries(Object.entries(trailers).map(([key, value]) => [key, [value]])),
    web_url: webUrl(world, project, `/-/commit/${commit.id}`),
  };
}

/** What a commit changed, seen from its first parent. */
export function commitDiff({ git }: Opened, commit: GitCommit): FileDiff[] {
  const parent = commit.parents[0];
  return diffSnapshots(git, snapshotOf(git, parent ? git.commits.get(parent) : undefined), snapshotOf(git, commit));
}

export function statsOf(files: readonly FileDiff[]): { additions: number; deletions: number; total: number } {
  const counts = files.map((file) => countLines(file.diff));
  const additions = counts.reduce((sum, row) => sum + row.additions, 0);
  const deletions = counts.reduce((sum, row) => sum + row.deletions, 0);
  return { additions, deletions, total: additions + deletions };
}

export function commitDetail(opened: Opened, commit: GitCommit, withStats = true): Json {
  const { world, project } = opened;
  const pipeline = repositoryLinks(world).lastPipeline?.(world, project, commit.id);
  return {
    ...commitJson(world, project, commit),
    ...(withStats ? { stats: statsOf(commitDiff(opened, commit)) } : {}),
    status: pipeline?.status ?? null,
    project_id: project.id,
    last_pipeline: pipeline ?? null,
  };
}

export function branchJson({ world, project, repository, git }: Opened, name: string, user: User | undefined): Json {
  const commit = git.commits.get(git.branches.get(name) ?? "");
  const base = project.default_branch ? git.branches.get(project.default_branch) : undefined;
  const rules = protectionsOf(repository, name);
  return {
    name,
    commit: commit ? commitJson(world, project, commit) : null,
    // GitLab does not call a branch merged while it stands where the default branch stands.
    merged: Boolean(base && commit && commit.id !== base && isAncestor(git, commit.id, base)),
    protected: rules.length > 0,
    developers_can_push: rules.some((rule) => allows(rule.push, undefined, ROLE.developer)),
    developers_can_merge: rules.some((rule) => allows(rule.merge, undefined, ROLE.developer)),
    can_push: projectLevel(world, user, project) >= ROLE.developer && mayPush(world, project, user, name),
    default: name === project.default_branch,
    web_url: webUrl(world, project, `/-/tree/${encodeURI(name)}`),
  };
}

export function tagJson({ world, project, repository, git }: Opened, tag: GitTag): Json {
  const commit = git.commits.get(tag.commit);
  return {
    name: tag.name,
    message: tag.message,
    target: tag.target,
    commit: commit ? commitJson(world, project, commit) : null,
    release: repositoryLinks(world).release?.(world, project, tag.name) ?? null,
    protected: tagProtectionsOf(repository, tag.name).length > 0,
    created_at: tag.date ?? null,
  };
}
