import { findGroup, findProject, projectsIn, requireUser } from "./access.ts";
import { userBasic } from "./entities.ts";
import { milestoneJson, milestonesOf } from "./entities-planning.ts";
import { failure, notFound } from "./errors.ts";
import { integer, oneOf, required, text, texts } from "./input.ts";
import { ordered, paged } from "./paging.ts";
import { created, del, get, ok, post, put } from "./reply.ts";
import { type Behaviour, type Json, type Project, type Reply, type Request, ROLE, type World } from "./types.ts";

export interface ReleaseLink {
  id: number;
  name: string;
  url: string;
  link_type: string;
  filepath: string | null;
}

export interface Release {
  project_id: number;
  tag_name: string;
  name: string;
  description: string;
  author_id: number;
  created_at: string;
  released_at: string;
  milestones: string[];
  links: ReleaseLink[];
  evidences: number;
}

export const releasesOf = (world: World) => world.part<Release[]>("releases", () => []);

const inProject = (world: World, project: Project) => releasesOf(world).filter(({ project_id }) => project_id === project.id);

function linkJson(world: World, project: Project, release: Release, link: ReleaseLink): Json {
  const direct = link.filepath
    ? `${world.url}/${project.path_with_namespace}/-/releases/${release.tag_name}/downloads${link.filepath}`
    : link.url;
  return { id: link.id, name: link.name, url: link.url, direct_asset_url: direct, link_type: link.link_type };
}

function sources(base: string, project: Project, tag: string): Json[] {
  return ["zip", "tar.gz", "tar.bz2", "tar"].map((format) => ({
    format,
    url: `${base}/-/archive/${tag}/${project.path}-${tag}.${format}`,
  }));
}

export function releaseJson(world: World, project: Project, release: Release): Json {
  const base = `${world.url}/${project.path_with_namespace}`;
  const tag = encodeURIComponent(release.tag_name);
  const links = release.links.map((link) => linkJson(world, project, release, link));
  return {
    name: release.name,
    tag_name: release.tag_name,
    description: release.description,
    created_at: release.created_at,
    released_at: release.released_at,
    upcoming_release: release.released_at > world.now(),
    author: userBasic(world, release.author_id),
    commit: world.hooks.git?.commit(project, release.tag_name) ?? null,
    milestones: milestonesOf(world, project)
      .filter(({ title }) => release.milestones.includes(title))
      .map((row) => milestoneJson(world, row)),
    commit_path: `/${project.path_with_namespace}/-/tags/${tag}`,
    tag_path: `/${project.path_with_namespace}/-/tags/${tag}`,
    assets: { count: links.length + 4, sources: sources(base, project, release.tag_name), links },
    evidences: Array.from({ length: release.evidences }, (_, at) => ({
      sha: "0".repeat(63) + String(at),
      filepath: `${base}/-/releases/${tag}/evidences/${at + 1}.json`,
      collected_at: release.released_at,
    })),
    _links: {
      closed_issues_url: `${base}/-/issues?release_tag=${tag}&scope=all&state=closed`,
      closed_merge_requests_url: `${base}/-/merge_requests?release_tag=${tag}&scope=all&state=closed`,
      edit_url: `${base}/-/releases/${tag}/edit`,
      merged_merge_requests_url: `${base}/-/merge_requests?release_tag=${tag}&scope=all&state=merged`,
      opened_issues_url: `${base}/-/issues?release_tag=${tag}&scope=all&state=opened`,
      opened_merge_requests_url: `${base}/-/merge_requests?release_tag=${tag}&scope=all&state=opened`,
      self: `${base}/-/releases/${tag}`,
    },
  };
}

const ORDERS = { released_at: (row: Release) => row.released_at, created_at: (row: Release) => row.created_at };

function one(request: Request, role: number = ROLE.none): { project: Project; release: Release } {
  const project = findProject(request, role);
  const release = inProject(request.world, project).find(({ tag_name }) => tag_name === request.params.tag_name);
  if (!release) throw notFound();
  return { project, release };
}

const show = ({ world }: Request, project: Project, release: Release) => releaseJson(world, project, release);

function readLinks(request: Request): ReleaseLink[] {
  const assets = request.input.assets as { links?: Json[] } | undefined;
  return (assets?.links ?? []).map((link) => readLink(request, link));
}

const TYPES = ["other", "runbook", "image", "package"] as const;

function readLink(request: Request, sent: Readonly<Json>): ReleaseLink {
  const path = text(sent, "direct_asset_path") ?? text(sent, "filepath");
  return {
    id: request.world.nextId("release-link"),
    name: text(sent, "name") ?? "",
    url: text(sent, "url") ?? "",
    link_type: oneOf(sent, "link_type", TYPES) ?? "other",
    filepath: path ?? null,
  };
}

function checkMilestones(request: Request, project: Project, titles: readonly string[]): void {
  const known = milestonesOf(request.world, project).map(({ title }) => title);
  const unknown = titles.filter((title) => !known.includes(title));
  if (unknown.length > 0) throw failure(400, `Milestone(s) not found: ${unknown.join(", ")}`);
}

/** The tag of a new release: there already, or made from `ref`. */
function requireTag(request: Request, project: Project, tag: string): void {
  const { git } = request.world.hooks;
  if (git?.tag(project, tag)) return;
  const ref = text(request.input, "ref");
  if (!ref) throw failure(422, "Ref is not specified");
  const user = requireUser(request);
  const made = git?.createTag(project, tag, ref, text(request.input, "tag_message") ?? null, user);
  if (!made) throw failure(422, `Target ${ref} is invalid`);
}

function create(request: Request): Reply {
  const project = findProject(request, ROLE.developer);
  required(request, "tag_name");
  const { world, input } = request;
  const tag = text(input, "tag_name") ?? "";
  if (inProject(world, project).some(({ tag_name }) => tag_name === tag)) throw failure(409, "Release already exists");
  const milestones = texts(input, "milestones") ?? [];
  checkMilestones(request, project, milestones);
  requireTag(request, project, tag);
  const release: Release = {
    project_id: project.id,
    tag_name: tag,
    name: text(input, "name") ?? tag,
    description: text(input, "description") ?? "",
    author_id: requireUser(request).id,
    created_at: world.now(),
    released_at: text(input, "released_at") ?? world.now(),
    milestones,
    links: readLinks(request),
    evidences: 1,
  };
  releasesOf(world).push(release);
  return created(show(request, project, release));
}

function update(request: Request): Reply {
  const { project, release } = one(request, ROLE.developer);
  const { input } = request;
  const milestones = texts(input, "milestones");
  if (milestones) checkMilestones(request, project, milestones);
  Object.assign(release, {
    name: text(input, "name") ?? release.name,
    description: text(input, "description") ?? release.description,
    released_at: text(input, "released_at") ?? release.released_at,
    milestones: milestones ?? release.milestones,
  });
  return ok(show(request, project, release));
}

function remove(request: Request): Reply {
  const { project, release } = one(request, ROLE.developer);
  const json = show(request, project, release);
  releasesOf(request.world).splice(releasesOf(request.world).indexOf(release), 1);
  return ok(json);
}

function latest(request: Request): Reply {
  const project = findProject(request);
  const [newest] = ordered({}, inProject(request.world, project), ORDERS);
  if (!newest) throw notFound();
  const rest = request.params.suffix_path ? `/${request.params.suffix_path}` : "";
  const location = `${request.world.url}/api/v4/projects/${project.id}/releases/${encodeURIComponent(newest.tag_name)}${rest}`;
  return { status: 302, json: location, headers: { location } };
}

function ofGroup(request: Request): Reply {
  const projects = projectsIn(request, findGroup(request));
  const rows = projects.flatMap((project) => inProject(request.world, project).map((release) => ({ project, release })));
  rows.sort((a, b) => b.release.released_at.localeCompare(a.release.released_at));
  return paged(request, rows, ({ project, release }) => show(request, project, release));
}

function link(request: Request, role: number = ROLE.none): { project: Project; release: Release; at: ReleaseLink } {
  const { project, release } = one(request, role);
  const at = release.links.find(({ id }) => id === integer(request.params, "link_id"));
  if (!at) throw notFound();
  return { project, release, at };
}

function addLink(request: Request): Reply {
  const { project, release } = one(request, ROLE.developer);
  required(request, "name", "url");
  const made = readLink(request, request.input);
  if (!/^(https?|ftp):\/\//.test(made.url)) throw failure(400, { url: ["is blocked: Only allowed schemes are http, https, ftp"] });
  if (release.links.some(({ name }) => name === made.name)) throw failure(400, { name: ["has already been taken"] });
  release.links.push(made);
  return created(linkJson(request.world, project, release, made));
}

function updateLink(request: Request): Reply {
  const { project, release, at } = link(request, ROLE.developer);
  const sent = readLink(request, { name: at.name, url: at.url, link_type: at.link_type, filepath: at.filepath, ...request.input });
  Object.assign(at, { ...sent, id: at.id });
  return ok(linkJson(request.world, project, release, at));
}

function removeLink(request: Request): Reply {
  const { project, release, at } = link(request, ROLE.developer);
  release.links.splice(release.links.indexOf(at), 1);
  return ok(linkJson(request.world, project, release, at));
}

const BASE = "/projects/{project_id}/releases";
const ONE = `${BASE}/{tag_name}`;

export const releaseBehaviours: readonly Behaviour[] = [
  get(BASE, (request) => {
    const project = findProject(request);
    return paged(request, ordered(request.query, inProject(request.world, project), ORDERS), (row) => show(request, project, row));
  }),
  get("/groups/{group_id}/releases", ofGroup),
  post(BASE, create),
  get(`${BASE}/permalink/latest`, latest),
  get(`${BASE}/permalink/latest/{suffix_path*}`, latest),
  get(ONE, (request) => {
    const { project, release } = one(request);
    return ok(show(request, project, release));
  }),
  put(ONE, update),
  del(ONE, remove),
  post(`${ONE}/evidence`, (request) => {
    const { project, release } = one(request, ROLE.developer);
    release.evidences += 1;
    return created(show(request, project, release));
  }),
  get(`${ONE}/assets/links`, (request) => {
    const { project, release } = one(request);
    return paged(request, release.links, (row) => linkJson(request.world, project, release, row));
  }),
  post(`${ONE}/assets/links`, addLink),
  get(`${ONE}/assets/links/{link_id}`, (request) => {
    const { project, release, at } = link(request);
    return ok(linkJson(request.world, project, release, at));
  }),
  put(`${ONE}/assets/links/{link_id}`, updateLink),
  del(`${ONE}/assets/links/{link_id}`, removeLink),
];
