import { failure } from "./errors.ts";
import {
  type GitCommit,
  type GitEntry,
  type GitStore,
  putBlob,
  putCommit,
  resolveRef,
  type Signature,
  type Snapshot,
  snapshotOf,
} from "./git.ts";
import { lastCommitFor } from "./git-history.ts";
import { announcePush, checkRefName, type Opened } from "./repository-state.ts";
import type { Project, User, World } from "./types.ts";

export interface FileAction {
  readonly action: string;
  readonly file_path: string;
  readonly previous_path?: string;
  readonly content?: string;
  readonly encoding?: string;
  readonly last_commit_id?: string;
  readonly execute_filemode?: boolean;
}

export interface CommitDraft {
  readonly branch: string;
  readonly message: string;
  readonly actions: readonly FileAction[];
  readonly start_branch?: string;
  readonly start_sha?: string;
  readonly force?: boolean;
  readonly author_name?: string;
  readonly author_email?: string;
}

const refuse = (text: string) => failure(400, text);

function checkPath(path: string): void {
  if (
    path === "" ||
    path.startsWith("/") ||
    path.split("/").some((part) => part === ".." || part === "." || part === "" || part === ".git")
  ) {
    throw refuse(`invalid path: '${path}'`);
  }
}

function bytesOf(action: FileAction): Buffer {
  return Buffer.from(action.content ?? "", action.encoding === "base64" ? "base64" : "utf8");
}

const modeOf = (action: FileAction, old: GitEntry | undefined) => {
  if (action.execute_filemode === undefined) return old?.mode ?? "100644";
  return action.execute_filemode ? "100755" : "100644";
};

function checkFresh(git: GitStore, head: GitCommit | undefined, action: FileAction, path: string): void {
  if (!action.last_commit_id || !head) return;
  const wanted = resolveRef(git, action.last_commit_id);
  if (lastCommitFor(git, head, path).id !== wanted?.id) {
    throw refuse(`The file has changed since you started editing it: ${path}`);
  }
}

function existing(files: Map<string, GitEntry>, path: string): GitEntry {
  const entry = files.get(path);
  if (!entry) throw refuse("A file with this name doesn't exist");
  return entry;
}

function create(git: GitStore, files: Map<string, GitEntry>, action: FileAction): void {
  const path = action.file_path;
  if (files.has(path)) throw refuse("A file with this name already exists");
  if ([...files.keys()].some((name) => name.startsWith(`${path}/`))) throw refuse("A directory with this name already exists");
  files.set(path, { mode: modeOf(action, undefined), id: putBlob(git, bytesOf(action)) });
}

/** Applies the actions one after the other. @throws 400 where one does not fit; nothing is stored then. */
export function applyActions(git: GitStore, start: Snapshot, head: GitCommit | undefined, actions: readonly FileAction[]): Snapshot {
  const files = new Map(start);
  for (const action of actions) {
    const path = action.file_path;
    checkPath(path);
    if (action.action === "create") {
      create(git, files, action);
      continue;
    }
    const from = action.action === "move" ? (action.previous_path ?? "") : path;
    const old = existing(files, from);
    checkFresh(git, head, action, from);
    if (action.action === "delete") files.delete(path);
    else if (action.action === "chmod") files.set(path, { ...old, mode: modeOf(action, old) });
    else if (action.action === "update") files.set(path, { mode: modeOf(action, old), id: putBlob(git, bytesOf(action)) });
    else {
      if (files.has(path)) throw refuse("A file with this name already exists");
      files.delete(from);
      files.set(path, { mode: modeOf(action, old), id: action.content === undefined ? old.id : putBlob(git, bytesOf(action)) });
    }
  }
  return files;
}

export const signatureOf = (user: User, date: string): Signature => ({ name: user.name, email: user.email, date });

function startOf({ git, project }: Opened, draft: CommitDraft): GitCommit | undefined {
  const tip = git.branches.get(draft.branch);
  const given = draft.start_sha ?? draft.start_branch;
  if (given !== undefined && given !== draft.branch) {
    if (tip && !draft.force) {
      throw refuse(`A branch called '${draft.branch}' already exists. Switch to that branch in order to make changes`);
    }
    const start = draft.start_sha ? resolveRef(git, draft.start_sha) : git.commits.get(git.branches.get(given) ?? "");
    if (!start) throw refuse(draft.start_sha ? `Cannot find start_sha '${given}'` : `Invalid reference name: ${given}`);
    return start;
  }
  if (!tip && git.commits.size > 0) throw refuse("You can only create or edit files when you are on a branch");
  if (!tip && project.default_branch === null) project.default_branch = draft.branch;
  return tip ? git.commits.get(tip) : undefined;
}

/** Makes a commit, moves the branch and tells the listeners. @throws 400 with GitLab's words. */
export function commitFiles(opened: Opened, draft: CommitDraft, user: User): GitCommit {
  const { world, git } = opened;
  checkRefName(draft.branch, "Branch");
  const start = startOf(opened, draft);
  const snapshot = applyActions(git, snapshotOf(git, start), start, draft.actions);
  const committer = signatureOf(user, world.now());
  const author = {
    ...committer,
    ...(draft.author_name ? { name: draft.author_name } : {}),
    ...(draft.author_email ? { email: draft.author_email } : {}),
  };
  const commit = putCommit(git, { snapshot, parents: start ? [start.id] : [], author, committer, message: draft.message });
  moveBranch(opened.world, opened.project, git, draft.branch, commit.id, user);
  return commit;
}

/** Points a branch somewhere and tells the listeners. */
export function moveBranch(world: World, project: Project, git: GitStore, branch: string, to: string | undefined, user: User): void {
  const before = git.branches.get(branch);
  if (to === undefined) git.branches.delete(branch);
  else git.branches.set(branch, to);
  announcePush(world, {
    project,
    ref: branch,
    tag: false,
    user,
    source: "push",
    ...(before ? { before } : {}),
    ...(to ? { after: to } : {}),
  });
}
