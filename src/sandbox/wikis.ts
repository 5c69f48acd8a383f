import { findGroup, findProject } from "./access.ts";
import { isUpload } from "./body.ts";
import { badParams, failure, notFound } from "./errors.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { created, del, get, noContent, ok, post, put, without } from "./reply.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE } from "./types.ts";

/** Pages of the route's project or group. @throws 404, 403 */
function pagesOf(request: Request, role: number = ROLE.none): Json[] {
  const inProject = request.params.project_id !== undefined;
  const { id } = inProject ? findProject(request, role) : findGroup(request, role);
  const key = `/${inProject ? "projects" : "groups"}/${id}/wikis`;
  const pages = request.world.tables.get(key) ?? [];
  request.world.tables.set(key, pages);
  return pages;
}

const slugOf = (title: string) => title.trim().replace(/\s+/g, "-");

function one(request: Request, role: number = ROLE.none): { page: Json; pages: Json[] } {
  const pages = pagesOf(request, role);
  const page = pages.find(({ slug }) => slug === request.params.slug);
  if (!page) throw notFound("Wiki Page");
  return { page, pages };
}

const FORMATS = ["markdown", "rdoc", "asciidoc", "org"] as const;

function list(request: Request): Reply {
  const whole = flag(request.query, "with_content") === true;
  return ok(pagesOf(request).map((page) => (whole ? page : without(page, "content", "encoding"))));
}

function create(request: Request): Reply {
  const pages = pagesOf(request, ROLE.developer);
  required(request, "title", "content");
  const title = text(request.input, "title") ?? "";
  const slug = slugOf(title);
  if (pages.some((page) => page.slug === slug)) throw failure(422, "Duplicate page: A page with that title already exists");
  const page = {
    format: oneOf(request.input, "format", FORMATS) ?? "markdown",
    slug,
    title,
    content: text(request.input, "content") ?? "",
    encoding: "UTF-8",
    front_matter: {},
    wiki_page_meta_id: request.world.nextId("wiki-page"),
  };
  pages.push(page);
  return created(page);
}

function update(request: Request): Reply {
  const { page } = one(request, ROLE.developer);
  const [title, content] = [text(request.input, "title"), text(request.input, "content")];
  if (title === undefined && content === undefined && request.input.format === undefined) {
    throw badParams("title, content, format are missing, at least one parameter must be provided");
  }
  Object.assign(page, {
    title: title ?? page.title,
    slug: title === undefined ? page.slug : slugOf(title),
    content: content ?? page.content,
    format: oneOf(request.input, "format", FORMATS) ?? page.format,
  });
  return ok(page);
}

function remove(request: Request): Reply {
  const { page, pages } = one(request, ROLE.maintainer);
  pages.splice(pages.indexOf(page), 1);
  return noContent();
}

function attach(request: Request): Reply {
  pagesOf(request, ROLE.developer);
  required(request, "file");
  const { file } = request.input;
  if (!isUpload(file)) throw badParams("file is invalid");
  const path = `uploads/${String(request.world.nextId("wiki-upload")).padStart(32, "0")}/${file.filename}`;
  const name = file.filename.replace(/\.[^.]+$/, "");
  return created({
    file_name: file.filename,
    file_path: path,
    branch: text(request.input, "branch") ?? "main",
    link: { url: path, markdown: `[${name}](${path})` },
  });
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/wikis`, list),
  post(`${base}/wikis`, create),
  post(`${base}/wikis/attachments`, attach),
  get(`${base}/wikis/{slug}`, (request) => ok(one(request).page)),
  put(`${base}/wikis/{slug}`, update),
  del(`${base}/wikis/{slug}`, remove),
];

export const wikiBehaviours: readonly Behaviour[] = [...rows("/projects/{project_id}"), ...rows("/groups/{group_id}")];
