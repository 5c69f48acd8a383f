import { createHash } from "node:crypto";
import { badParams, failure, notFound } from "./errors.ts";
import { type GitCommit, type GitEntry, readFile } from "./git.ts";
import { blame, lastCommitFor } from "./git-history.ts";
import { flag, integer, oneOf, required, text } from "./input.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { gitDate } from "./repository-json.ts";
import { mayPush, type Opened, openRepository, requireCommit } from "./repository-state.ts";
import { type CommitDraft, commitFiles, type FileAction } from "./repository-write.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User } from "./types.ts";

interface Found {
  readonly opened: Opened;
  readonly commit: GitCommit;
  readonly path: string;
  readonly file: GitEntry & { content: Buffer };
}

function findFile(request: Request): Found {
  const opened = openRepository(request);
  const path = request.params.file_path ?? "";
  const commit = requireCommit(opened, text(request.query, "ref"));
  const file = readFile(opened.git, commit, path);
  if (!file) throw notFound("File");
  return { opened, commit, path, file };
}

function metadata(request: Request, { opened, commit, path, file }: Found): Json {
  return {
    file_name: path.split("/").at(-1),
    file_path: path,
    size: file.content.length,
    encoding: "base64",
    content_sha256: createHash("sha256").update(file.content).digest("hex"),
    ref: text(request.query, "ref") ?? opened.project.default_branch,
    blob_id: file.id,
    commit_id: commit.id,
    last_commit_id: lastCommitFor(opened.git, commit, path).id,
    execute_filemode: file.mode === "100755",
  };
}

function headersOf(values: Readonly<Json>): Record<string, string> {
  const name = (key: string) =>
    `X-Gitlab-${key
      .split("_")
      .map((part) => part[0]?.toUpperCase() + part.slice(1))
      .join("-")}`;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [name(key), encodeURI(String(value))]));
}

function getFile(request: Request): Reply {
  if (text(request.query, "ref") === undefined) throw badParams("ref is missing");
  const found = findFile(request);
  const values = metadata(request, found);
  return { status: 200, json: { ...values, content: found.file.content.toString("base64") }, headers: headersOf(values) };
}

function headFile(request: Request): Reply {
  return { status: 200, headers: headersOf(metadata(request, findFile(request))), json: "" };
}

function rawFile(request: Request): Reply {
  const found = findFile(request);
  const binary = found.file.content.includes(0);
  return {
    status: 200,
    bytes: found.file.content,
    type: binary ? "application/octet-stream" : "text/plain",
    headers: { ...headersOf(metadata(request, found)), "Content-Disposition": `inline; filename="${found.path.split("/").at(-1)}"` },
  };
}

function blameFile(request: Request): Reply {
  if (text(request.query, "ref") === undefined) throw badParams("ref is missing");
  const found = findFile(request);
  const range = (request.query.range ?? {}) as Json;
  const [from, to] = [integer(range, "start") ?? 1, integer(range, "end") ?? Number.POSITIVE_INFINITY];
  if (from > to) throw failure(400, "range[start] must be less than or equal to range[end]");
  let at = 0;
  const ranges = blame(found.opened.git, found.commit, found.path).map(({ commit, lines }) => {
    const kept = lines.filter((_, index) => at + index + 1 >= from && at + index + 1 <= to);
    at += lines.length;
    return { commit, lines: kept };
  });
  const json = ranges.filter(({ lines }) => lines.length > 0).map(({ commit, lines }) => ({ commit: blameCommit(commit), lines }));
  return { status: 200, json, headers: headersOf(metadata(request, found)) };
}

const blameCommit = (commit: GitCommit): Json => ({
  id: commit.id,
  parent_ids: commit.parents,
  message: commit.message,
  authored_date: gitDate(commit.author.date),
  author_name: commit.author.name,
  author_email: commit.author.email,
  committed_date: gitDate(commit.committer.date),
  committer_name: commit.committer.name,
  committer_email: commit.committer.email,
});

function draftOf(request: Request, action: FileAction): CommitDraft {
  const value = (name: string) => text(request.input, name);
  const optional = (name: "start_branch" | "author_name" | "author_email") => (value(name) ? { [name]: value(name) } : {});
  return {
    branch: value("branch") ?? "",
    message: value("commit_message") ?? "",
    actions: [action],
    ...optional("start_branch"),
    ...optional("author_name"),
    ...optional("author_email"),
  };
}

/** The files routes answer 400 on a protected branch, where the commits route answers 403. */
function writeFile(request: Request, kind: "create" | "update" | "delete"): CommitDraft {
  const opened = openRepository(request, ROLE.developer);
  required(request, "branch", "commit_message", ...(kind === "delete" ? [] : ["content"]));
  oneOf(request.input, "encoding", ["base64", "text"]);
  const { input } = request;
  const mode = flag(input, "execute_filemode");
  const draft = draftOf(request, {
    action: kind,
    file_path: request.params.file_path ?? "",
    ...(kind === "delete" ? {} : { content: text(input, "content") ?? "", encoding: text(input, "encoding") ?? "text" }),
    ...(text(input, "last_commit_id") ? { last_commit_id: text(input, "last_commit_id") ?? "" } : {}),
    ...(mode === undefined ? {} : { execute_filemode: mode }),
  });
  if (!mayPush(opened.world, opened.project, request.user, draft.branch))
    throw failure(400, "You are not allowed to push into this branch");
  commitFiles(opened, draft, request.user as User);
  return draft;
}

const fileReply = (request: Request, draft: CommitDraft) => ({ file_path: request.params.file_path, branch: draft.branch });

const FILE = "/projects/{project_id}/repository/files/{file_path}";
const head = (path: string): Behaviour => ({ method: "HEAD", path, run: headFile });

export const fileBehaviours: readonly Behaviour[] = [
  get(FILE, getFile, { scopes: ["read_repository"] }),
  head(FILE),
  get(`${FILE}/raw`, rawFile, { scopes: ["read_repository"], jobToken: true }),
  get(`${FILE}/blame`, blameFile, { scopes: ["read_repository"] }),
  head(`${FILE}/blame`),
  post(FILE, (request) => created(fileReply(request, writeFile(request, "create")))),
  put(FILE, (request) => ok(fileReply(request, writeFile(request, "update")))),
  del(FILE, (request) => {
    writeFile(request, "delete");
    return noContent();
  }),
];
