import { failure, notFound } from "./errors.ts";
import { type GitCommit, type GitStore, listTree, resolveRef, snapshotOf, type TreeItem } from "./git.ts";
import { diffSnapshots } from "./git-diff.ts";
import { isAncestor, logOf, mergeBase } from "./git-history.ts";
import { flag, oneOf, required, text, texts } from "./input.ts";
import { paged } from "./paging.ts";
import { binary, get, ok, post, put } from "./reply.ts";
import { commitJson, titleOf, trailersOf, webUrl } from "./repository-json.ts";
import { type Opened, openRepository, requireCommit, requirePush } from "./repository-state.ts";
import { gzip, tarOf, zipOf } from "./repository-tar.ts";
import { commitFiles } from "./repository-write.ts";
import { type Behaviour, type Reply, type Request, ROLE, type User } from "./types.ts";

function tree(request: Request): Reply {
  const opened = openRepository(request);
  const path = text(request.input, "path") ?? "";
  const commit = resolveRef(opened.git, text(request.input, "ref") ?? "HEAD", opened.project.default_branch ?? undefined);
  if (!commit) throw notFound("Tree");
  const items = listTree(snapshotOf(opened.git, commit), path, flag(request.input, "recursive") ?? false);
  if (!items) throw notFound("invalid revision or path");
  return text(request.input, "pagination") === "keyset" ? treeKeyset(request, items) : paged(request, items, (item) => item);
}

/** Names the last item shown. Its path, not its id: files of the same content share one id. */
const pageToken = (item: TreeItem): string => Buffer.from(JSON.stringify({ file_name: item.path })).toString("base64");

/** Keyset paging of a tree keeps the tree's own order; `page_token` leads on. */
function treeKeyset(request: Request, items: readonly TreeItem[]): Reply {
  const place = new Map(items.map((item, index) => [item, index]));
  const token = text(request.input, "page_token");
  const start = token ? items.findIndex((item) => pageToken(item) === token) + 1 : 0;
  if (token && start === 0) throw failure(404, "404 invalid page token Not Found");
  const rest = items.slice(start);
  const size = Math.min(Number(text(request.input, "per_page") ?? 20) || 20, 100);
  const shown = rest.slice(0, size);
  const last = shown.at(-1);
  const query = new URLSearchParams(Object.entries(request.query).map(([name, value]): [string, string] => [name, String(value)]));
  if (last) query.set("page_token", pageToken(last));
  query.set("per_page", String(size));
  const link = `<${request.world.url}/api/v4${request.path}?${query}>; rel="next"`;
  const more = last !== undefined && (place.get(last) ?? 0) < items.length - 1;
  return {
    status: 200,
    json: shown,
    headers: { "x-per-page": String(size), ...(more ? { link, "x-next-page-token": pageToken(last) } : {}) },
  };
}

function findBlob(request: Request): { id: string; content: Buffer } {
  const { git } = openRepository(request);
  const id = request.params.sha ?? "";
  const content = git.blobs.get(id);
  if (!content) throw notFound("Blob");
  return { id, content };
}

function blob(request: Request): Reply {
  const { id, content } = findBlob(request);
  return ok({ size: content.length, encoding: "base64", content: content.toString("base64"), sha: id });
}

function rawBlob(request: Request): Reply {
  const { content } = findBlob(request);
  return binary(content, content.includes(0) ? "application/octet-stream" : "text/plain");
}

function compare(request: Request): Reply {
  required(request, "from", "to");
  const opened = openRepository(request);
  const { git, world, project } = opened;
  const from = requireCommit(opened, text(request.input, "from"), "Ref");
  const to = requireCommit(opened, text(request.input, "to"), "Ref");
  const base = flag(request.input, "straight") ? from : (mergeBase(git, from.id, to.id) ?? from);
  const hidden = new Set(logOf(git, from.id).map(({ id }) => id));
  const commits = logOf(git, to.id, hidden);
  const json = (commit: GitCommit) => commitJson(world, project, commit);
  return ok({
    commit: commits[0] ? json(commits[0]) : null,
    commits: [...commits].reverse().map(json),
    diffs: diffSnapshots(git, snapshotOf(git, base), snapshotOf(git, to)),
    compare_timeout: false,
    compare_same_ref: from.id === to.id,
    web_url: webUrl(world, project, `/-/compare/${from.id}${flag(request.input, "straight") ? ".." : "..."}${to.id}`),
  });
}

function mergeBaseOf(request: Request): Reply {
  const opened = openRepository(request);
  const refs = texts(request.input, "refs") ?? [];
  if (refs.length < 2) throw failure(400, "400 Bad request - Provide at least 2 refs");
  const commits = refs.map((ref) => {
    const commit = resolveRef(opened.git, ref);
    if (!commit) throw failure(400, `400 Bad request - Could not find ref: ${ref}`);
    return commit.id;
  });
  const base = mergeBase(opened.git, ...commits);
  if (!base) throw notFound("Merge Base");
  return ok(commitJson(opened.world, opened.project, base));
}

const FORMATS = ["tar.gz", "tgz", "tar", "zip"] as const;

function archive(request: Request): Reply {
  const opened = openRepository(request);
  const format = /\.(tar\.gz|tgz|tar|zip)$/.exec(request.path)?.[1] ?? oneOf(request.input, "format", FORMATS) ?? "tar.gz";
  const commit = resolveRef(opened.git, text(request.input, "sha") ?? "HEAD", opened.project.default_branch ?? undefined);
  if (!commit) throw notFound("File");
  const under = text(request.input, "path");
  const name = `${opened.project.path}-${text(request.input, "sha") ?? opened.project.default_branch}-${commit.id}`.replaceAll("/", "-");
  const files = [...snapshotOf(opened.git, commit)].flatMap(([path, entry]) => {
    const content = opened.git.blobs.get(entry.id);
    if (!content || (under && path !== under && !path.startsWith(`${under}/`))) return [];
    return [{ path: `${name}/${path}`, mode: entry.mode, content }];
  });
  const tar = () => tarOf(files, commit.committer.date);
  const bytes = format === "zip" ? zipOf(files) : format === "tar" ? tar() : gzip(tar());
  return binary(bytes, "application/octet-stream", { "Content-Disposition": `attachment; filename="${name}.${format}"` });
}

function contributors(request: Request): Reply {
  const opened = openRepository(request);
  const tip = requireCommit(opened, text(request.input, "ref"));
  const byMail = new Map<string, { name: string; email: string; commits: number; additions: number; deletions: number }>();
  for (const commit of logOf(opened.git, tip.id)) {
    if (commit.parents.length > 1) continue;
    const { email, name } = commit.author;
    const row = byMail.get(email) ?? { name, email, commits: 0, additions: 0, deletions: 0 };
    byMail.set(email, { ...row, commits: row.commits + 1 });
  }
  const by = oneOf(request.input, "order_by", ["name", "email", "commits"]) ?? "commits";
  const sort = oneOf(request.input, "sort", ["asc", "desc"]) ?? "asc";
  const rows = [...byMail.values()].sort((a, b) => (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0) * (sort === "asc" ? 1 : -1));
  return paged(request, rows, (row) => row);
}

function previousTag(git: GitStore, to: GitCommit): string | undefined {
  const older = [...git.tags.values()].filter((tag) => tag.commit !== to.id && isAncestor(git, tag.commit, to.id));
  return older.sort((a, b) => dateOf(git, b.commit) - dateOf(git, a.commit))[0]?.commit;
}

const dateOf = (git: GitStore, id: string) => Date.parse(git.commits.get(id)?.committer.date ?? "");

const HEADINGS: Readonly<Record<string, string>> = { feature: "New features", bug: "Bug fixes", fixed: "Bug fixes", added: "New features" };

/** Release notes from the commits that carry a `Changelog:` trailer, grouped by its value. */
function changelogText(opened: Opened, request: Request): string {
  const { git, world, project } = opened;
  const version = text(request.input, "version") ?? "";
  const trailer = text(request.input, "trailer") ?? "Changelog";
  const to = requireCommit(opened, text(request.input, "to"));
  const from = text(request.input, "from") ? requireCommit(opened, text(request.input, "from")).id : previousTag(git, to);
  if (!from)
    throw failure(
      422,
      "Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead",
    );
  const hidden = new Set(logOf(git, from).map(({ id }) => id));
  const groups = new Map<string, string[]>();
  for (const commit of logOf(git, to.id, hidden)) {
    const kind = trailersOf(commit.message)[trailer];
    if (!kind) continue;
    const link = webUrl(world, project, `/-/commit/${commit.id}`);
    groups.set(kind, [...(groups.get(kind) ?? []), `- [${titleOf(commit)}](${link})`]);
  }
  const sections = [...groups].map(
    ([kind, lines]) => `### ${HEADINGS[kind] ?? kind} (${lines.length} change${lines.length === 1 ? "" : "s"})\n\n${lines.join("\n")}\n`,
  );
  const date = (text(request.input, "date") ?? world.now()).slice(0, 10);
  return `## ${version} (${date})\n\n${sections.length > 0 ? sections.join("\n") : "No changes.\n"}`;
}

function getChangelog(request: Request): Reply {
  required(request, "version");
  return ok({ notes: changelogText(openRepository(request), request) });
}

function addChangelog(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  required(request, "version");
  const branch = text(request.input, "branch") ?? opened.project.default_branch ?? "";
  requirePush(request, opened.project, branch);
  const path = text(request.input, "file") ?? "CHANGELOG.md";
  const tip = requireCommit(opened, branch, "Branch");
  const old = opened.git.blobs.get(snapshotOf(opened.git, tip).get(path)?.id ?? "");
  const content = `${changelogText(opened, request)}\n${old?.toString() ?? ""}`;
  const message = text(request.input, "message") ?? `Add changelog for version ${text(request.input, "version")}`;
  commitFiles(
    opened,
    { branch, message, actions: [{ action: old ? "update" : "create", file_path: path, content }] },
    request.user as User,
  );
  return ok(200);
}

function updateSubmodule(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  required(request, "commit_sha", "branch");
  requirePush(request, opened.project, text(request.input, "branch") ?? "");
  throw failure(400, "Invalid submodule path");
}

function health(request: Request): Reply {
  const { git } = openRepository(request, ROLE.maintainer);
  const size = [...git.blobs.values()].reduce((sum, content) => sum + content.length, 0);
  const counts = { loose_count: git.branches.size + git.tags.size, packed_size: 0, reference_backend: "REFERENCE_BACKEND_FILES" };
  return ok({ size, references: counts, objects: { size, recent_size: size, stale_size: 0, packfile_count: 1 }, alternates: null });
}

const BASE = "/projects/{project_id}/repository";

export const treeBehaviours: readonly Behaviour[] = [
  get(`${BASE}/tree`, tree, { scopes: ["read_repository"] }),
  get(`${BASE}/blobs/{sha}`, blob),
  get(`${BASE}/blobs/{sha}/raw`, rawBlob),
  get(`${BASE}/compare`, compare),
  get(`${BASE}/merge_base`, mergeBaseOf),
  get(`${BASE}/archive`, archive, { scopes: ["read_repository"] }),
  ...FORMATS.map((format) => get(`${BASE}/archive.${format}`, archive, { scopes: ["read_repository"] })),
  get(`${BASE}/contributors`, contributors),
  get(`${BASE}/changelog`, getChangelog),
  post(`${BASE}/changelog`, addChangelog),
  put(`${BASE}/submodules/{submodule}`, updateSubmodule),
  get(`${BASE}/health`, health),
];
