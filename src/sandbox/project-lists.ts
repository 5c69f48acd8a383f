import { findGroup, findProject, groupOf, projectLevel, projectsIn, visibleProjects } from "./access.ts";
import { userBasic, usersBasic } from "./entities.ts";
import { projectBasic, projectFull } from "./entities-projects.ts";
import { flag, integer, oneOf, text, texts } from "./input.ts";
import { ordered, paged } from "./paging.ts";
import { get } from "./reply.ts";
import { type Behaviour, type Project, type Reply, type Request, ROLE, type User, VISIBILITIES } from "./types.ts";
import { findUser } from "./users.ts";

const ORDERS: Readonly<Record<string, (row: Project) => string | number>> = {
  created_at: ({ created_at, id }) => `${created_at} ${String(id).padStart(9, "0")}`,
  id: ({ id }) => id,
  name: ({ name }) => name.toLowerCase(),
  path: ({ path }) => path.toLowerCase(),
  updated_at: ({ updated_at }) => updated_at,
  last_activity_at: ({ last_activity_at }) => last_activity_at,
  similarity: ({ id }) => id,
  star_count: ({ starrers }) => starrers.length,
  repository_size: ({ id }) => id,
  storage_size: ({ id }) => id,
};

/** The filters that all lists of projects share. */
function filtered(request: Request, projects: readonly Project[]): Project[] {
  const { query, user, world } = request;
  const level = (project: Project) => projectLevel(world, user && { ...user, admin: false }, project);
  const search = text(query, "search")?.toLowerCase();
  const visibility = oneOf(query, "visibility", VISIBILITIES);
  const archived = flag(query, "archived");
  const least = integer(query, "min_access_level");
  const topics = texts(query, "topic");
  const [after, before] = [integer(query, "id_after"), integer(query, "id_before")];
  const wide = flag(query, "search_namespaces") === true;
  return projects.filter(
    (project) =>
      (flag(query, "membership") !== true || level(project) > ROLE.none) &&
      (flag(query, "owned") !== true || level(project) >= ROLE.owner) &&
      (flag(query, "starred") !== true || (user !== undefined && project.starrers.includes(user.id))) &&
      (least === undefined || level(project) >= least) &&
      (visibility === undefined || project.visibility === visibility) &&
      (archived === undefined || project.archived === archived) &&
      (after === undefined || project.id > after) &&
      (before === undefined || project.id < before) &&
      (!topics || topics.every((topic) => project.topics.includes(topic))) &&
      (!search ||
        [project.name, project.path, project.description ?? "", wide ? project.path_with_namespace : ""].some((value) =>
          value.toLowerCase().includes(search),
        )),
  );
}

/** A page of projects. Members see all there is, others the public face; `simple` cuts it short. */
function listOf(request: Request, projects: readonly Project[]): Reply {
  const show = (project: Project) =>
    flag(request.query, "simple") === true || !request.user
      ? projectBasic(request.world, project)
      : projectFull(request.world, project, request.user);
  const rows = ordered(request.query, filtered(request, projects), ORDERS);
  return paged(request, rows, show, { keyset: { key: ({ id }) => id, parameter: "id_after" } });
}

function listInGroup(request: Request): Reply {
  const group = findGroup(request);
  return listOf(request, projectsIn(request, group, flag(request.query, "include_subgroups") === true));
}

function listOfUser(request: Request): Reply {
  const user = findUser(request, byName(request));
  return listOf(
    request,
    visibleProjects(request).filter(({ namespace }) => namespace === user.username),
  );
}

/** These routes take a user's name too. */
const byName = (request: Request) => {
  const key = request.params.user_id ?? "";
  return String(request.world.users.find(({ username }) => username === key)?.id ?? key);
};

function usersOf(request: Request): Reply {
  const project = findProject(request);
  const search = text(request.query, "search")?.toLowerCase();
  const rows = request.world.users
    .filter((user) => projectLevel(request.world, { ...user, admin: false }, project) > ROLE.none)
    .filter(({ username, name }) => !search || `${username} ${name}`.toLowerCase().includes(search));
  return paged(
    request,
    usersBasic(
      request.world,
      rows.map(({ id }) => id),
    ),
    (user) => user,
  );
}

function starrers(request: Request): Reply {
  const project = findProject(request);
  return paged(request, project.starrers, (id) => ({ starred_since: project.created_at, user: userBasic(request.world, id) }));
}

function forks(request: Request): Reply {
  const project = findProject(request);
  return listOf(
    request,
    visibleProjects(request).filter(({ forked_from_id }) => forked_from_id === project.id),
  );
}

function ancestors(request: Request): Reply {
  const group = groupOf(request.world, findProject(request));
  const rows = group ? request.world.groups.filter(({ full_path }) => `${group.full_path}/`.startsWith(`${full_path}/`)) : [];
  return paged(request, rows, ({ id, name, full_name, full_path, path }) => ({
    id,
    name,
    avatar_url: null,
    web_url: `${request.world.url}/groups/${full_path}`,
    full_name,
    full_path,
    path,
  }));
}

const of = (pick: (request: Request, user: User) => Project[]) => (request: Request) =>
  listOf(request, pick(request, findUser(request, byName(request))));

export const projectListBehaviours: readonly Behaviour[] = [
  get("/projects", (request) => listOf(request, visibleProjects(request))),
  get("/groups/{group_id}/projects", listInGroup),
  get("/users/{user_id}/projects", listOfUser),
  get(
    "/users/{user_id}/starred_projects",
    of((request, user) => visibleProjects(request).filter(({ starrers: ids }) => ids.includes(user.id))),
  ),
  get(
    "/users/{user_id}/contributed_projects",
    of((request, user) => {
      const ids = new Set(request.world.events.filter(({ author_id }) => author_id === user.id).map(({ project_id }) => project_id));
      return visibleProjects(request).filter(({ id }) => ids.has(id));
    }),
  ),
  get("/projects/{project_id}/starrers", starrers),
  get("/projects/{project_id}/forks", forks),
  get("/projects/{project_id}/users", usersOf),
  get("/projects/{project_id}/groups", ancestors),
];
