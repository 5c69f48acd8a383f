import { canSeeProject, findProject, lookUpProject, projectLevel, requireUser } from "./access.ts";
import { emojiRows } from "./emoji.ts";
import { userBasic } from "./entities.ts";
import { badParams, forbidden, invalid, notFound } from "./errors.ts";
import { oneOf, required, text } from "./input.ts";
import { noteRows } from "./notes.ts";
import type { Noteable } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, plain, post, put } from "./reply.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, VISIBILITIES, type Visibility, type World } from "./types.ts";

interface Snippet {
  readonly id: number;
  readonly project_id: number | null;
  readonly author_id: number;
  title: string;
  description: string | null;
  visibility: Visibility;
  files: { path: string; content: string }[];
  readonly created_at: string;
  updated_at: string;
}

const snippetsOf = (world: World) =>
  world.part<Snippet[]>("snippets", () => [
    {
      id: world.nextId("snippet"),
      project_id: 101,
      author_id: 7,
      title: "Count sessions",
      description: "For #18",
      visibility: "private",
      files: [{ path: "sessions.sh", content: "curl -s localhost:3000/metrics | grep sessions_total\n" }],
      created_at: "2026-10-22T09:00:00.000Z",
      updated_at: "2026-10-22T09:00:00.000Z",
    },
  ]);

function sees(request: Request, snippet: Snippet): boolean {
  const { world, user } = request;
  const project = lookUpProject(world, String(snippet.project_id));
  if (project)
    return canSeeProject(world, user, project) && (snippet.visibility !== "private" || projectLevel(world, user, project) > ROLE.none);
  return (
    snippet.visibility === "public" ||
    user?.admin === true ||
    snippet.author_id === user?.id ||
    (snippet.visibility === "internal" && user !== undefined)
  );
}

/** Snippets of the project that the route names, or those of nobody's project. */
function here(request: Request): Snippet[] {
  const project = request.params.project_id === undefined ? null : findProject(request).id;
  return snippetsOf(request.world).filter((row) => row.project_id === project && sees(request, row));
}

function one(request: Request): Snippet {
  const found = here(request).find(({ id }) => String(id) === request.params.snippet_id);
  if (!found) throw notFound("Snippet");
  return found;
}

function own(request: Request): Snippet {
  const snippet = one(request);
  const user = requireUser(request);
  const project = lookUpProject(request.world, String(snippet.project_id));
  const level = project ? projectLevel(request.world, user, project) : ROLE.none;
  if (snippet.author_id !== user.id && !user.admin && level < ROLE.maintainer) throw forbidden();
  return snippet;
}

function snippetJson(world: World, snippet: Snippet): Json {
  const project = lookUpProject(world, String(snippet.project_id));
  const web = `${world.url}/${project ? `${project.path_with_namespace}/` : ""}-/snippets/${snippet.id}`;
  return {
    id: snippet.id,
    title: snippet.title,
    description: snippet.description,
    visibility: snippet.visibility,
    author: userBasic(world, snippet.author_id),
    created_at: snippet.created_at,
    updated_at: snippet.updated_at,
    project_id: snippet.project_id,
    web_url: web,
    raw_url: `${web}/raw`,
    imported: false,
    imported_from: "none",
    repository_storage: "default",
    file_name: snippet.files[0]?.path ?? null,
    files: snippet.files.map(({ path }) => ({ path, raw_url: `${web}/raw/main/${path}` })),
  };
}

function filesOf(request: Request): Snippet["files"] {
  const { files } = request.input;
  if (Array.isArray(files)) {
    return files.map((file: Json) => ({ path: text(file, "file_path") ?? "", content: text(file, "content") ?? "" }));
  }
  const content = text(request.input, "content");
  if (content === undefined) throw badParams("files, content are missing, exactly one parameter must be provided");
  return [{ path: text(request.input, "file_name") ?? "snippetfile1.txt", content }];
}

function create(request: Request): Reply {
  const user = requireUser(request);
  const project = request.params.project_id === undefined ? null : findProject(request, ROLE.reporter);
  required(request, "title");
  const title = text(request.input, "title") ?? "";
  if (title === "") throw invalid({ title: ["can't be blank"] });
  const snippet: Snippet = {
    id: request.world.nextId("snippet"),
    project_id: project?.id ?? null,
    author_id: user.id,
    title,
    description: text(request.input, "description") ?? null,
    visibility: oneOf(request.input, "visibility", VISIBILITIES) ?? "private",
    files: filesOf(request),
    created_at: request.world.now(),
    updated_at: request.world.now(),
  };
  snippetsOf(request.world).push(snippet);
  return created(snippetJson(request.world, snippet));
}

/** Changes, adds, renames or drops single files, as `files[].action` says. */
function changeFiles(snippet: Snippet, changes: readonly Json[]): void {
  for (const change of changes) {
    const path = text(change, "file_path") ?? "";
    const before = text(change, "previous_path") ?? path;
    const at = snippet.files.findIndex((file) => file.path === before);
    const action = text(change, "action");
    if (action === "create") snippet.files.push({ path, content: text(change, "content") ?? "" });
    else if (at < 0) throw invalid({ base: [`File ${before} does not exist`] });
    else if (action === "delete") snippet.files.splice(at, 1);
    else snippet.files[at] = { path, content: text(change, "content") ?? snippet.files[at]?.content ?? "" };
  }
}

function update(request: Request): Reply {
  const snippet = own(request);
  const { input } = request;
  snippet.title = text(input, "title") ?? snippet.title;
  snippet.description = text(input, "description") ?? snippet.description;
  snippet.visibility = oneOf(input, "visibility", VISIBILITIES) ?? snippet.visibility;
  if (Array.isArray(input.files)) changeFiles(snippet, input.files as Json[]);
  const [content, [first]] = [text(input, "content"), snippet.files];
  if (content !== undefined && first) first.content = content;
  snippet.updated_at = request.world.now();
  return ok(snippetJson(request.world, snippet));
}

function remove(request: Request): Reply {
  const snippet = own(request);
  snippetsOf(request.world).splice(snippetsOf(request.world).indexOf(snippet), 1);
  return noContent();
}

function rawFile(request: Request): Reply {
  const file = one(request).files.find(({ path }) => path === request.params.file_path);
  if (!file) throw notFound("File");
  return plain(file.content);
}

const target = (request: Request): Noteable => {
  const snippet = one(request);
  return { type: "Snippet", id: snippet.id, iid: null, project_id: snippet.project_id };
};

const listOf = (request: Request, rows: readonly Snippet[]) =>
  paged(request, [...rows].reverse(), (row) => snippetJson(request.world, row));

const rows = (base: string): Behaviour[] => [
  post(`${base}/snippets`, create),
  get(`${base}/snippets/{snippet_id}`, (request) => ok(snippetJson(request.world, one(request)))),
  put(`${base}/snippets/{snippet_id}`, update),
  del(`${base}/snippets/{snippet_id}`, remove),
  get(`${base}/snippets/{snippet_id}/raw`, (request) => plain(one(request).files[0]?.content ?? "")),
  get(`${base}/snippets/{snippet_id}/files/{ref}/{file_path}/raw`, rawFile),
];

export const snippetBehaviours: readonly Behaviour[] = [
  ...rows("/projects/{project_id}"),
  ...rows(""),
  get("/projects/{project_id}/snippets", (request) => listOf(request, here(request))),
  get("/snippets", (request) => {
    const user = requireUser(request);
    return listOf(
      request,
      here(request).filter(({ author_id }) => author_id === user.id),
    );
  }),
  get("/snippets/public", (request) =>
    listOf(
      request,
      here(request).filter(({ visibility }) => visibility === "public"),
    ),
  ),
  get("/snippets/all", (request) =>
    listOf(
      request,
      snippetsOf(request.world).filter((row) => sees(request, row)),
    ),
  ),
  ...noteRows({
    path: "/projects/{project_id}/snippets/{snippet_id}",
    find: (request) => ({ target: target(request) }),
    resolvable: false,
  }),
  ...emojiRows("/projects/{project_id}/snippets/{snippet_id}", target),
];
