import { type GitCommit, type GitStore, readFile, type Snapshot, snapshotOf } from "./git.ts";
import { editScript, splitLines } from "./git-diff.ts";

/** The commit and everything before it. */
export function ancestors(git: GitStore, from: string): Set<string> {
  const seen = new Set<string>();
  const queue = [from];
  while (queue.length > 0) {
    const id = queue.pop();
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    queue.push(...(git.commits.get(id)?.parents ?? []));
  }
  return seen;
}

export function isAncestor(git: GitStore, older: string, newer: string): boolean {
  return ancestors(git, newer).has(older);
}

/** Newest first by commit date; a child always stands before its parents. */
export function logOf(git: GitStore, from: string, without: ReadonlySet<string> = new Set()): GitCommit[] {
  const reachable = [...ancestors(git, from)].filter((id) => !without.has(id));
  const waiting = new Map(reachable.map((id) => [id, 0]));
  for (const id of reachable) {
    for (const parent of git.commits.get(id)?.parents ?? []) if (waiting.has(parent)) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  }
  const ready = reachable.filter((id) => waiting.get(id) === 0);
  const out: GitCommit[] = [];
  while (ready.length > 0) {
    ready.sort((a, b) => dateOf(git, b) - dateOf(git, a) || (a < b ? -1 : 1));
    const id = ready.shift() ?? "";
    const commit = git.commits.get(id);
    if (!commit) continue;
    out.push(commit);
    for (const parent of commit.parents) {
      if (!waiting.has(parent)) continue;
      const left = (waiting.get(parent) ?? 1) - 1;
      waiting.set(parent, left);
      if (left === 0) ready.push(parent);
    }
  }
  return out;
}

const dateOf = (git: GitStore, id: string) => Date.parse(git.commits.get(id)?.committer.date ?? "");

/** The newest commit that all of them have in common. */
export function mergeBase(git: GitStore, ...ids: readonly string[]): GitCommit | undefined {
  const [first, ...rest] = ids;
  if (first === undefined) return undefined;
  const sets = rest.map((id) => ancestors(git, id));
  const common = [...ancestors(git, first)].filter((id) => sets.every((set) => set.has(id)));
  const inner = new Set(common.flatMap((id) => git.commits.get(id)?.parents ?? []));
  const best = common.filter((id) => !inner.has(id)).sort((a, b) => dateOf(git, b) - dateOf(git, a))[0];
  return best === undefined ? undefined : git.commits.get(best);
}

function underPath(snapshot: Snapshot, path: string): string {
  const exact = snapshot.get(path);
  if (exact) return `${exact.mode} ${exact.id}`;
  const prefix = `${path.replace(/\/$/, "")}/`;
  return [...snapshot]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, entry]) => `${name} ${entry.mode} ${entry.id}`)
    .join("\n");
}

/** Whether the commit changed something at or below `path`, compared with every parent. */
export function touches(git: GitStore, commit: GitCommit, path: string): boolean {
  const now = underPath(snapshotOf(git, commit), path);
  if (commit.parents.length === 0) return now !== "";
  return commit.parents.every((id) => underPath(snapshotOf(git, git.commits.get(id)), path) !== now);
}

/** The last commit that changed `path`, seen from `from`. */
export function lastCommitFor(git: GitStore, from: GitCommit, path: string): GitCommit {
  return logOf(git, from.id).find((commit) => touches(git, commit, path)) ?? from;
}

export interface BlameRange {
  readonly commit: GitCommit;
  readonly lines: readonly string[];
}

function carry(before: readonly string[], owners: readonly GitCommit[], after: readonly string[], by: GitCommit): GitCommit[] {
  return editScript(before, after).flatMap((edit) => {
    if (edit.kind === "remove") return [];
    return [edit.kind === "keep" ? (owners[edit.oldLine] ?? by) : by];
  });
}

const linesAt = (git: GitStore, commit: GitCommit, path: string) => splitLines(readFile(git, commit, path)?.content.toString() ?? "");

/** Who last changed each line of a file, in ranges of neighbours. */
export function blame(git: GitStore, from: GitCommit, path: string): BlameRange[] {
  const known = new Map<string, GitCommit[]>();
  for (const commit of logOf(git, from.id).reverse()) {
    const now = linesAt(git, commit, path);
    const parents = commit.parents.flatMap((id) => git.commits.get(id) ?? []);
    const own = now.map(() => commit);
    const views = parents.map((parent) => carry(linesAt(git, parent, path), known.get(parent.id) ?? [], now, commit));
    known.set(
      commit.id,
      views.reduce((best, view) => best.map((owner, index) => (owner === commit ? (view[index] ?? owner) : owner)), own),
    );
  }
  const owners = known.get(from.id) ?? [];
  const ranges: { commit: GitCommit; lines: string[] }[] = [];
  linesAt(git, from, path).forEach((text, index) => {
    const commit = owners[index] ?? from;
    const last = ranges[ranges.length - 1];
    if (last?.commit === commit) last.lines.push(text.replace(/\n$/, ""));
    else ranges.push({ commit, lines: [text.replace(/\n$/, "")] });
  });
  return ranges;
}
