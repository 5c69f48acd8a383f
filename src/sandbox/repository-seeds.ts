import { lookUpProject } from "./access.ts";
import { fixture } from "./fixtures.ts";
import { type GitEntry, type GitStore, putBlob, putCommit, putTag, resolveRef, type Signature, type Snapshot, snapshotOf } from "./git.ts";
import { mergeBase } from "./git-history.ts";
import { mergeSnapshots } from "./git-merge.ts";
import { commitJson, tagJson } from "./repository-json.ts";
import { accessRule, protectBranch } from "./repository-protection.ts";
import { type Opened, repositoryOf } from "./repository-state.ts";
import { commitFiles, signatureOf } from "./repository-write.ts";
import { type Project, ROLE, type User, type World } from "./types.ts";

interface SeedCommit {
  readonly key: string;
  readonly branch: string;
  readonly author: string;
  readonly date: string;
  readonly message: string;
  /** Key of the commit that a new branch starts at. */
  readonly start?: string;
  /** Branch that is merged in. */
  readonly merge?: string;
  readonly files?: Readonly<Record<string, readonly string[] | { readonly base64: string }>>;
  /** Pairs of old and new text; the old one must be there exactly once. */
  readonly edits?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
  readonly mode?: Readonly<Record<string, string>>;
}

interface SeedRepository {
  readonly project: string;
  readonly default_branch: string;
  readonly commits: readonly SeedCommit[];
  readonly tags: readonly {
    readonly name: string;
    readonly at: string;
    readonly message: string;
    readonly by: string;
    readonly date: string;
  }[];
  readonly protected: readonly { readonly name: string; readonly push: number; readonly merge: number }[];
  readonly protected_tags: readonly string[];
  /** Branches that were deleted after their merge. */
  readonly drop: readonly string[];
}

/** Ids of the seeded commits by project path and key, for the seeds of merge requests and pipelines. */
export function seededCommits(world: World): Map<string, string> {
  return world.part("seeded-commits", () => new Map<string, string>());
}

function personOf(world: World, username: string, date: string): Signature {
  const user = world.users.find((row) => row.username === username);
  return user ? signatureOf(user, date) : { name: username, email: `${username}@acme.example.com`, date };
}

function edited(text: string, pairs: readonly (readonly [string, string])[], where: string): string {
  return pairs.reduce((now, [before, after]) => {
    if (now.split(before).length !== 2) throw new Error(`seed edit of ${where} does not fit: ${before}`);
    return now.replace(before, () => after);
  }, text);
}

function withChanges(git: GitStore, start: Snapshot, row: SeedCommit): Snapshot {
  const files = new Map<string, GitEntry>(start);
  for (const [path, content] of Object.entries(row.files ?? {})) {
    const bytes = "base64" in content ? Buffer.from(content.base64, "base64") : Buffer.from(content.join("\n"));
    files.set(path, { mode: row.mode?.[path] ?? "100644", id: putBlob(git, bytes) });
  }
  for (const [path, pairs] of Object.entries(row.edits ?? {})) {
    const entry = files.get(path);
    const text = (entry && git.blobs.get(entry.id)?.toString()) ?? "";
    files.set(path, { mode: entry?.mode ?? "100644", id: putBlob(git, Buffer.from(edited(text, pairs, `${row.key} ${path}`))) });
  }
  return files;
}

function seedCommit(world: World, git: GitStore, row: SeedCommit, ids: Map<string, string>): string {
  const author = personOf(world, row.author, row.date);
  const tip = row.start ? ids.get(row.start) : git.branches.get(row.branch);
  const start = tip ? git.commits.get(tip) : undefined;
  const other = row.merge ? git.commits.get(git.branches.get(row.merge) ?? "") : undefined;
  const parents = [start, other].flatMap((commit) => (commit ? [commit.id] : []));
  if (!start || !other) {
    return putCommit(git, { snapshot: withChanges(git, snapshotOf(git, start), row), parents, author, message: row.message }).id;
  }
  const base = snapshotOf(git, mergeBase(git, start.id, other.id));
  const { snapshot, conflicts } = mergeSnapshots(git, base, snapshotOf(git, start), snapshotOf(git, other));
  if (conflicts.length > 0) throw new Error(`seed merge ${row.key} conflicts in ${conflicts.join(", ")}`);
  return putCommit(git, { snapshot, parents, author, message: row.message }).id;
}

function seedOne(world: World, project: Project, seed: SeedRepository): void {
  const repository = repositoryOf(world, project);
  const { git } = repository;
  const ids = new Map<string, string>();
  for (const row of seed.commits) {
    const id = seedCommit(world, git, row, ids);
    ids.set(row.key, id);
    seededCommits(world).set(`${seed.project} ${row.key}`, id);
    git.branches.set(row.branch, id);
  }
  for (const branch of seed.drop) git.branches.delete(branch);
  for (const tag of seed.tags) putTag(git, tag.name, ids.get(tag.at) ?? "", tag.message, personOf(world, tag.by, tag.date));
  for (const row of seed.protected) {
    protectBranch(world, { repository }, row.name, { push: [accessRule(world, row.push)], merge: [accessRule(world, row.merge)] });
  }
  for (const name of seed.protected_tags) repository.protectedTags.push({ name, create: [accessRule(world, ROLE.maintainer)] });
  project.default_branch = seed.default_branch;
}

const openFor = (world: World, project: Project): Opened => {
  const repository = repositoryOf(world, project);
  return { world, project, repository, git: repository.git };
};

/** A first commit with a README, as a new project gets it when it asks for one. */
function startRepository(world: World, project: Project, user: User): void {
  const content = `# ${project.name}\n\n${project.description ?? ""}\n`;
  const branch = project.default_branch ?? "main";
  const actions = [{ action: "create", file_path: "README.md", content }];
  commitFiles(openFor(world, project), { branch, message: "Initial commit", actions }, user);
  project.default_branch = branch;
  protectBranch(world, { repository: repositoryOf(world, project) }, branch);
}

function forkRepository(world: World, from: Project, to: Project): void {
  const [source, target] = [repositoryOf(world, from), repositoryOf(world, to)];
  for (const name of ["blobs", "snapshots", "commits", "branches", "tags"] as const) {
    for (const [key, value] of source.git[name]) (target.git[name] as Map<string, unknown>).set(key, value);
  }
  to.default_branch = from.default_branch;
}

function setHooks(world: World): void {
  world.hooks.git = {
    commit: (project, ref) => {
      const commit = resolveRef(repositoryOf(world, project).git, ref, project.default_branch ?? undefined);
      return commit && commitJson(world, project, commit);
    },
    tag: (project, name) => {
      const opened = openFor(world, project);
      const tag = opened.git.tags.get(name);
      return tag && tagJson(opened, tag);
    },
    createTag: (project, name, ref, message, author) => {
      const opened = openFor(world, project);
      const commit = resolveRef(opened.git, ref, project.default_branch ?? undefined);
      if (!commit) return undefined;
      return tagJson(opened, putTag(opened.git, name, commit.id, message ?? "", message ? signatureOf(author, world.now()) : undefined));
    },
  };
  world.onProject.push((project, { from, readme }) => {
    const user = world.users.find(({ id }) => id === project.creator_id);
    if (from) forkRepository(world, from, project);
    else if (readme && user) startRepository(world, project, user);
  });
}

/** Fills the repositories of the seeded projects, and lets the rest of the world ask for commits and tags. */
export function seedRepository(world: World): void {
  setHooks(world);
  for (const seed of fixture<SeedRepository[]>("repository")) {
    const project = lookUpProject(world, seed.project);
    if (project) seedOne(world, project, seed);
  }
  for (const project of world.projects) {
    const user = world.users.find(({ id }) => id === project.creator_id);
    const bare = repositoryOf(world, project).git.commits.size === 0;
    if (project.default_branch !== null && bare && user) startRepository(world, project, user);
  }
}
