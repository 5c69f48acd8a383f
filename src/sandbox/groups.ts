import { canSeeGroup, findGroup, groupLevel, lookUpGroup, oldPaths, projectsIn, requireUser } from "./access.ts";
import { groupJson, namespaceBasic, projectFull } from "./entities-projects.ts";
import { failure, forbidden, invalid, notFound } from "./errors.ts";
import { flag, integer, integers, oneOf, required, text } from "./input.ts";
import { ordered, paged } from "./paging.ts";
import { removeProject } from "./project-removal.ts";
import { accepted, created, del, get, ok, post, put } from "./reply.ts";
import { type Behaviour, type Group, type Json, type Reply, type Request, ROLE, type User, VISIBILITIES } from "./types.ts";

const ORDERS: Readonly<Record<string, (row: Group) => string | number>> = {
  name: ({ name }) => name.toLowerCase(),
  path: ({ path }) => path.toLowerCase(),
  id: ({ id }) => id,
  similarity: ({ id }) => id,
};

function listOf(request: Request, groups: readonly Group[]): Reply {
  const { query, world, user } = request;
  const search = text(query, "search")?.toLowerCase();
  const level = (group: Group) => groupLevel(world, user && { ...user, admin: false }, group);
  const least = integer(query, "min_access_level");
  const skip = integers(query, "skip_groups") ?? [];
  const visibility = oneOf(query, "visibility", VISIBILITIES);
  const rows = groups.filter(
    (group) =>
      canSeeGroup(world, user, group) &&
      !skip.includes(group.id) &&
      (flag(query, "owned") !== true || level(group) >= ROLE.owner) &&
      (flag(query, "top_level_only") !== true || group.parent_id === null) &&
      (least === undefined || level(group) >= least) &&
      (visibility === undefined || group.visibility === visibility) &&
      (!search || `${group.name} ${group.path}`.toLowerCase().includes(search)),
  );
  const keyset = { key: ORDERS.name ?? (({ id }: Group) => id), defaultOrder: "name", sort: "asc" as const };
  return paged(request, ordered(query, rows, ORDERS, "asc"), (group) => groupJson(world, group), { keyset });
}

const children =
  (deep: boolean) =>
  (request: Request): Reply => {
    const group = findGroup(request);
    const below = request.world.groups.filter(({ parent_id, full_path }) =>
      deep ? full_path.startsWith(`${group.full_path}/`) : parent_id === group.id,
    );
    return listOf(request, below);
  };

function one(request: Request): Reply {
  const group = findGroup(request);
  const { world, user } = request;
  const shown: Json = { ...groupJson(world, group), shared_with_groups: [], prevent_sharing_groups_outside_hierarchy: false };
  if (flag(request.query, "with_projects") !== false) {
    shown.projects = projectsIn(request, group, false).map((project) => projectFull(world, project, user));
    shown.shared_projects = [];
  }
  return ok(shown);
}

function create(request: Request): Reply {
  const user = requireUser(request);
  const { world, input } = request;
  required(request, "name", "path");
  const [name = "", path = ""] = [text(input, "name"), text(input, "path")];
  const above = text(input, "parent_id");
  const parent = above ? lookUpGroup(world, above) : undefined;
  if (above && (!parent || !canSeeGroup(world, user, parent))) throw notFound("Group");
  if (parent && groupLevel(world, user, parent) < ROLE.maintainer) throw forbidden();
  if (!/^[a-zA-Z0-9_][\w.-]*$/.test(path))
    throw failure(400, `Failed to save group {:path=>["can only include non-accented letters, digits, '_', '-' and '.'."]}`);
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  if (lookUpGroup(world, full_path) || world.users.some(({ username }) => username === full_path)) {
    throw failure(400, `Failed to save group {:path=>["has already been taken"]}`);
  }
  const group: Group = {
    id: world.nextId("group"),
    parent_id: parent?.id ?? null,
    name,
    path,
    full_path,
    full_name: parent ? `${parent.full_name} / ${name}` : name,
    description: text(input, "description") ?? "",
    visibility: oneOf(input, "visibility", VISIBILITIES) ?? parent?.visibility ?? "private",
    created_at: world.now(),
    extra: {},
  };
  world.groups.push(group);
  own(request, group, user);
  return created({ ...groupJson(world, group), projects: [], shared_projects: [] });
}

function own(request: Request, group: Group, user: User): void {
  const { world } = request;
  world.members.push({
    source: "group",
    source_id: group.id,
    user_id: user.id,
    access_level: ROLE.owner,
    created_at: world.now(),
    created_by_id: user.id,
    expires_at: null,
  });
}

const FIXED = new Set(["id", "full_path", "full_name", "web_url", "created_at", "parent_id", "name", "path", "description", "visibility"]);

function update(request: Request): Reply {
  const group = findGroup(request, ROLE.owner);
  const { world, input } = request;
  const name = text(input, "name");
  if (name === "") throw invalid({ name: ["can't be blank"] });
  group.name = name ?? group.name;
  group.description = text(input, "description") ?? group.description;
  group.visibility = oneOf(input, "visibility", VISIBILITIES) ?? group.visibility;
  const shown = Object.keys(groupJson(world, group));
  for (const [key, value] of Object.entries(input)) if (shown.includes(key) && !FIXED.has(key)) group.extra[key] = value;
  const path = text(input, "path");
  if (path !== undefined && path !== group.path) rename(request, group, path);
  return ok(groupJson(world, group));
}

function rename(request: Request, group: Group, path: string): void {
  const before = group.full_path;
  const after = [...before.split("/").slice(0, -1), path].join("/");
  const moved = (full: string) => (full === before || full.startsWith(`${before}/`) ? after + full.slice(before.length) : full);
  for (const row of request.world.groups) row.full_path = moved(row.full_path);
  for (const row of request.world.projects) {
    if (moved(row.namespace) !== row.namespace) oldPaths(request.world).set(row.path_with_namespace.toLowerCase(), row.id);
    row.namespace = moved(row.namespace);
    row.path_with_namespace = `${row.namespace}/${row.path}`;
  }
  group.path = path;
}

function remove(request: Request): Reply {
  const group = findGroup(request, ROLE.owner);
  const { world } = request;
  const inside = (full: string) => full === group.full_path || full.startsWith(`${group.full_path}/`);
  if (flag(request.input, "permanently_remove") !== true && typeof group.extra.marked_for_deletion_on !== "string") {
    group.extra.marked_for_deletion_on = world.now().slice(0, 10);
    return accepted();
  }
  for (const project of world.projects.filter(({ namespace }) => inside(namespace))) removeProject(world, project);
  for (const row of world.groups.filter(({ full_path }) => inside(full_path))) world.groups.splice(world.groups.indexOf(row), 1);
  return accepted();
}

function namespaces(request: Request): Json[] {
  const user = requireUser(request);
  const search = text(request.query, "search")?.toLowerCase();
  const groups = request.world.groups.filter((group) => groupLevel(request.world, user, group) > ROLE.none);
  return [user.username, ...groups.map(({ full_path }) => full_path)]
    .map((path) => namespaceJson(request, path))
    .filter((row) => !search || `${row.name} ${row.full_path}`.toLowerCase().includes(search))
    .filter((row) => flag(request.query, "owned_only") !== true || row.owned === true);
}

function namespaceJson(request: Request, path: string): Json {
  const { world, user } = request;
  const group = lookUpGroup(world, path);
  const members = world.members.filter((row) => row.source === "group" && row.source_id === group?.id).length;
  return {
    ...namespaceBasic(world, path),
    ...(group
      ? {
          members_count_with_descendants: members,
          root_repository_size: 0,
          projects_count: world.projects.filter(({ namespace }) => namespace === path).length,
        }
      : {}),
    billable_members_count: Math.max(1, members),
    seats_in_use: Math.max(1, members),
    max_seats_used: Math.max(1, members),
    plan: "ultimate",
    trial_ends_on: null,
    trial: false,
    owned: group ? groupLevel(world, user, group) >= ROLE.owner : path === user?.username,
  };
}

function oneNamespace(request: Request): Reply {
  const key = request.params.namespace_id ?? "";
  const row = namespaces({ ...request, query: {} }).find(({ id, full_path }) => String(id) === key || full_path === key);
  if (!row) throw notFound("Namespace");
  return ok(row);
}

function exists(request: Request): Reply {
  requireUser(request);
  const key = request.params.namespace_id ?? "";
  const taken =
    request.world.groups.some(({ path, parent_id }) => path === key && parent_id === null) ||
    request.world.users.some(({ username }) => username === key);
  return ok({ exists: taken, suggests: taken ? [`${key}1`] : [] });
}

export const groupBehaviours: readonly Behaviour[] = [
  get("/groups", (request) => listOf(request, request.world.groups)),
  post("/groups", create),
  get("/groups/{group_id}", one),
  put("/groups/{group_id}", update),
  del("/groups/{group_id}", remove),
  get("/groups/{group_id}/subgroups", children(false)),
  get("/groups/{group_id}/descendant_groups", children(true)),
  get("/namespaces", (request) => paged(request, namespaces(request), (row) => row)),
  get("/namespaces/{namespace_id}", oneNamespace),
  get("/namespaces/{namespace_id}/exists", exists),
];
