import { findProject, projectLevel } from "./access.ts";
import { failure, forbidden, notFound } from "./errors.ts";
import { createGitStore, type GitCommit, type GitStore, resolveRef } from "./git.ts";
import { type Json, type Project, type Request, ROLE, type User, type World } from "./types.ts";

/** Who may do a thing: a role, one user or one group. Level 0 is nobody. */
export interface AccessRule {
  readonly id: number;
  readonly access_level: number | null;
  readonly user_id: number | null;
  readonly group_id: number | null;
}

export interface ProtectedBranch {
  readonly id: number;
  /** May hold `*`. */
  readonly name: string;
  push: AccessRule[];
  merge: AccessRule[];
  unprotect: AccessRule[];
  allow_force_push: boolean;
  code_owner_approval_required: boolean;
}

export interface ProtectedTag {
  readonly name: string;
  create: AccessRule[];
}

export interface Repository {
  readonly git: GitStore;
  protectedBranches: ProtectedBranch[];
  protectedTags: ProtectedTag[];
}

/** A branch or tag that moved. `before` or `after` is absent where it was made or deleted. */
export interface Push {
  readonly project: Project;
  readonly ref: string;
  readonly tag: boolean;
  readonly before?: string;
  readonly after?: string;
  readonly user: User;
  readonly source: "push" | "web";
}

/** What other modules tell the repository, and want to hear from it. */
export interface RepositoryLinks {
  readonly pushed: ((world: World, push: Push) => void)[];
  lastPipeline?: (world: World, project: Project, sha: string) => Json | undefined;
  mergeRequestsWith?: (request: Request, project: Project, sha: string) => Json[];
  release?: (world: World, project: Project, tag: string) => Json | null;
}

export function repositoryLinks(world: World): RepositoryLinks {
  return world.part("repository-links", (): RepositoryLinks => ({ pushed: [] }));
}

export function announcePush(world: World, push: Push): void {
  if (push.before === push.after) return;
  for (const listener of repositoryLinks(world).pushed) listener(world, push);
}

/** The repository of a project; made empty on first use. */
export function repositoryOf(world: World, project: Project): Repository {
  const all = world.part("repositories", () => new Map<number, Repository>());
  const known = all.get(project.id);
  if (known) return known;
  const repository: Repository = { git: createGitStore(), protectedBranches: [], protectedTags: [] };
  all.set(project.id, repository);
  return repository;
}

export interface Opened {
  readonly world: World;
  readonly project: Project;
  readonly repository: Repository;
  readonly git: GitStore;
}

/**
 * The repository that the path names.
 * @throws 404 where the project is hidden; 401/403 where the caller may not read its code, or is below `role`.
 */
export function openRepository(request: Request, role: number = ROLE.none): Opened {
  const project = findProject(request, role);
  const level = projectLevel(request.world, request.user, project);
  if (project.visibility === "private" && level < ROLE.reporter) throw forbidden();
  const repository = repositoryOf(request.world, project);
  return { world: request.world, project, repository, git: repository.git };
}

/** The commit that a ref names; the default branch where it is absent. @throws 404 */
export function requireCommit({ git, project }: Opened, ref: string | undefined, what = "Commit"): GitCommit {
  const commit = resolveRef(git, ref ?? "HEAD", project.default_branch ?? undefined);
  if (!commit) throw notFound(what);
  return commit;
}

function fits(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}

export function protectionsOf(repository: Repository, branch: string): ProtectedBranch[] {
  return repository.protectedBranches.filter((row) => fits(row.name, branch));
}

export function tagProtectionsOf(repository: Repository, tag: string): ProtectedTag[] {
  return repository.protectedTags.filter((row) => fits(row.name, tag));
}

export function allows(rules: readonly AccessRule[], user_id: number | undefined, level: number): boolean {
  return rules.some(
    (rule) => (user_id !== undefined && rule.user_id === user_id) || (Boolean(rule.access_level) && level >= (rule.access_level ?? 99)),
  );
}

function may(world: World, project: Project, user: User | undefined, branch: string, what: "push" | "merge"): boolean {
  const level = projectLevel(world, user, project);
  if (!user || level < ROLE.developer) return false;
  const rules = protectionsOf(repositoryOf(world, project), branch);
  return rules.length === 0 || rules.some((rule) => allows(rule[what], user.id, level));
}

export const mayPush = (world: World, project: Project, user: User | undefined, branch: string) =>
  may(world, project, user, branch, "push");
export const mayMerge = (world: World, project: Project, user: User | undefined, branch: string) =>
  may(world, project, user, branch, "merge") || may(world, project, user, branch, "push");

/** @throws 403 with GitLab's words where the caller may not push to the branch. */
export function requirePush(request: Request, project: Project, branch: string): void {
  if (!mayPush(request.world, project, request.user, branch)) throw forbidden("You are not allowed to push into this branch");
}

/** @throws 400 on a name that git would refuse. */
export function checkRefName(name: string, what: string): void {
  const bad = name === "" || /^[-/]|[/.]$|\.\.|\/\/|@\{|[\s~^:?*[\\]|\.lock$/.test(name);
  if (bad) throw failure(400, `${what} name is invalid`);
}
