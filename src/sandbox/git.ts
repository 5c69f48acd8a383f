import { createHash } from "node:crypto";

/** One file in a snapshot. Mode `160000` is a submodule: its id is a commit, not a blob. */
export interface GitEntry {
  readonly mode: string;
  readonly id: string;
}

/** All files of one tree by full path. A snapshot is never changed once it is stored. */
export type Snapshot = ReadonlyMap<string, GitEntry>;

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** ISO 8601, UTC. */
  readonly date: string;
}

export interface GitCommit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

export interface GitTag {
  readonly name: string;
  /** Id of the commit it points at. */
  readonly commit: string;
  /** Own id where the tag is annotated, else the commit's. */
  readonly target: string;
  readonly message: string;
  readonly date?: string;
}

/** A repository in memory. Object ids are real git ids (sha1), so equal content gives equal ids on every start. */
export interface GitStore {
  readonly blobs: Map<string, Buffer>;
  readonly snapshots: Map<string, Snapshot>;
  readonly commits: Map<string, GitCommit>;
  /** Branch → commit id. */
  readonly branches: Map<string, string>;
  readonly tags: Map<string, GitTag>;
}

export function createGitStore(): GitStore {
  return { blobs: new Map(), snapshots: new Map(), commits: new Map(), branches: new Map(), tags: new Map() };
}

function objectId(type: string, content: Buffer): string {
  return createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
}

export function putBlob(git: GitStore, content: Buffer): string {
  const id = objectId("blob", content);
  if (!git.blobs.has(id)) git.blobs.set(id, content);
  return id;
}

export interface TreeItem {
  readonly id: string;
  readonly name: string;
  readonly type: "tree" | "blob" | "commit";
  readonly path: string;
  readonly mode: string;
}

interface Node {
  readonly files: Map<string, GitEntry>;
  readonly folders: Map<string, Node>;
}

function nest(snapshot: Snapshot): Node {
  const root: Node = { files: new Map(), folders: new Map() };
  for (const [path, entry] of snapshot) {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let node = root;
    for (const part of parts) {
      const next = node.folders.get(part) ?? { files: new Map(), folders: new Map() };
      node.folders.set(part, next);
      node = next;
    }
    node.files.set(name, entry);
  }
  return root;
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function hashNode(node: Node): string {
  const rows = [
    ...[...node.files].map(([name, entry]) => ({ name, key: name, mode: entry.mode, id: entry.id })),
    ...[...node.folders].map(([name, child]) => ({ name, key: `${name}/`, mode: "40000", id: hashNode(child) })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  return objectId("tree", Buffer.concat(rows.flatMap((row) => [Buffer.from(`${row.mode} ${row.name}\0`), Buffer.from(row.id, "hex")])));
}

export function putSnapshot(git: GitStore, snapshot: Snapshot): string {
  const id = hashNode(nest(snapshot));
  if (!git.snapshots.has(id)) git.snapshots.set(id, new Map([...snapshot].sort(([a], [b]) => (a < b ? -1 : 1))));
  return id;
}

/** Folder and file items below `path`, folders first; with `recursive` each folder is followed by what is in it. */
export function listTree(snapshot: Snapshot, path: string, recursive: boolean): TreeItem[] | undefined {
  let node: Node | undefined = nest(snapshot);
  for (const part of path.split("/").filter(Boolean)) node = node?.folders.get(part);
  return node && walk(node, path.replace(/^\/|\/$/g, ""), recursive);
}

function walk(node: Node, prefix: string, recursive: boolean): TreeItem[] {
  const at = (name: string) => (prefix ? `${prefix}/${name}` : name);
  const folders = [...node.folders]
    .map(([name, child]) => ({ name, child }))
    .sort(byName)
    .flatMap(({ name, child }): TreeItem[] => [
      { id: hashNode(child), name, type: "tree", path: at(name), mode: "040000" },
      ...(recursive ? walk(child, at(name), true) : []),
    ]);
  const files = [...node.files].map(
    ([name, entry]): TreeItem => ({
      id: entry.id,
      name,
      type: entry.mode === "160000" ? "commit" : "blob",
      path: at(name),
      mode: entry.mode,
    }),
  );
  return [...folders, ...files.sort(byName)];
}

const seconds = (date: string) => Math.floor(Date.parse(date) / 1000);
const line = (who: Signature) => `${who.name} <${who.email}> ${seconds(who.date)} +0000`;

export interface NewCommit {
  readonly snapshot: Snapshot;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer?: Signature;
  readonly message: string;
}

/** Stores a commit; moving a branch to it is the caller's. */
export function putCommit(git: GitStore, draft: NewCommit): GitCommit {
  const tree = putSnapshot(git, draft.snapshot);
  const committer = draft.committer ?? draft.author;
  const head = [`tree ${tree}`, ...draft.parents.map((parent) => `parent ${parent}`)];
  const text = [...head, `author ${line(draft.author)}`, `committer ${line(committer)}`, "", draft.message].join("\n");
  const id = objectId("commit", Buffer.from(text));
  const commit: GitCommit = { id, tree, parents: [...draft.parents], author: draft.author, committer, message: draft.message };
  git.commits.set(id, commit);
  return commit;
}

/** An annotated tag where a message is given, else a light one. */
export function putTag(git: GitStore, name: string, commit: string, message = "", tagger?: Signature): GitTag {
  const text = `object ${commit}\ntype commit\ntag ${name}\n${tagger ? `tagger ${line(tagger)}\n` : ""}\n${message}`;
  const target = message ? objectId("tag", Buffer.from(text)) : commit;
  const tag: GitTag = { name, commit, target, message, ...(tagger ? { date: tagger.date } : {}) };
  git.tags.set(name, tag);
  return tag;
}

function byPrefix(git: GitStore, prefix: string): GitCommit | undefined {
  const full = git.commits.get(prefix);
  if (full || !/^[0-9a-f]{7,39}$/.test(prefix)) return full;
  const hits = [...git.commits.keys()].filter((id) => id.startsWith(prefix));
  return hits.length === 1 && hits[0] ? git.commits.get(hits[0]) : undefined;
}

function byRefName(git: GitStore, name: string): GitCommit | undefined {
  const short = name.replace(/^refs\/(heads|tags)\//, "");
  const id = git.branches.get(short) ?? git.tags.get(short)?.commit;
  return id ? git.commits.get(id) : byPrefix(git, name.toLowerCase());
}

/** Commit of a branch, a tag, a full or short id; `~n` and `^` lead to first parents. */
export function resolveRef(git: GitStore, ref: string, fallback?: string): GitCommit | undefined {
  const [, name = "", suffix = ""] = /^(.*?)((?:~\d*|\^)*)$/s.exec(ref) ?? [];
  let commit = name === "HEAD" || name === "" ? fallback && byRefName(git, fallback) : byRefName(git, name);
  const steps = [...suffix.matchAll(/~(\d*)|\^/g)].reduce((sum, match) => sum + Number(match[1] || 1), 0);
  for (let step = 0; step < steps && commit; step++) commit = commit.parents[0] ? git.commits.get(commit.parents[0]) : undefined;
  return commit || undefined;
}

export function snapshotOf(git: GitStore, commit: GitCommit | undefined): Snapshot {
  return (commit && git.snapshots.get(commit.tree)) ?? new Map();
}

export function readFile(git: GitStore, commit: GitCommit, path: string): (GitEntry & { content: Buffer }) | undefined {
  const entry = snapshotOf(git, commit).get(path);
  const content = entry && git.blobs.get(entry.id);
  return entry && content ? { ...entry, content } : undefined;
}

export function isBinary(content: Buffer): boolean {
  return content.subarray(0, 8000).includes(0);
}
