import { ApiFailure, failure, forbidden, notFound, unauthorized } from "./errors.ts";
import { sharesOf } from "./shares.ts";
import { type Group, type Project, type Request, ROLE, type User, type World } from "./types.ts";

/** A user that must be there. @throws 401 to the anonymous. */
export function requireUser(request: Request): User {
  if (!request.user) throw unauthorized();
  return request.user;
}

/** @throws 401 or 403 to all but administrators. */
export function requireAdmin(request: Request): User {
  const user = requireUser(request);
  if (!user.admin) throw forbidden();
  return user;
}

/** A group and the groups above it, the nearest first. */
export function ancestry(world: World, group: Group | undefined): Group[] {
  const chain: Group[] = [];
  for (let at = group; at; at = world.groups.find(({ id }) => id === at?.parent_id)) chain.push(at);
  return chain;
}

export function groupOf(world: World, project: Project): Group | undefined {
  return world.groups.find((group) => group.full_path === project.namespace);
}

function directLevel(world: World, source: "project" | "group", id: number, user: User): number {
  const member = world.members.find((row) => row.source === source && row.source_id === id && row.user_id === user.id);
  return member?.access_level ?? ROLE.none;
}

/** The user's role in a group, inherited ones counted. Administrators count as owners. */
export function groupLevel(world: World, user: User | undefined, group: Group): number {
  if (!user) return ROLE.none;
  if (user.admin) return ROLE.owner;
  return Math.max(...ancestry(world, group).map((above) => directLevel(world, "group", above.id, user)));
}

/** The user's role through the groups that the project is shared with. */
function sharedLevel(world: World, user: User, project: Project): number {
  const levels = sharesOf(world, project).map(({ group_id, group_access }) => {
    const group = world.groups.find(({ id }) => id === group_id);
    return group ? Math.min(groupLevel(world, user, group), group_access) : ROLE.none;
  });
  return Math.max(ROLE.none, ...levels);
}

/** The user's role in a project, inherited and shared ones counted. */
export function projectLevel(world: World, user: User | undefined, project: Project): number {
  if (!user) return ROLE.none;
  if (user.admin || project.namespace === user.username) return ROLE.owner;
  const group = groupOf(world, project);
  const inherited = group ? groupLevel(world, user, group) : ROLE.none;
  return Math.max(directLevel(world, "project", project.id, user), inherited, sharedLevel(world, user, project));
}

export function canSeeProject(world: World, user: User | undefined, project: Project): boolean {
  if (project.visibility === "public" || projectLevel(world, user, project) > ROLE.none) return true;
  return project.visibility === "internal" && user !== undefined;
}

export function canSeeGroup(world: World, user: User | undefined, group: Group): boolean {
  if (group.visibility === "public" || groupLevel(world, user, group) > ROLE.none) return true;
  if (group.visibility === "internal" && user) return true;
  const inside = `${group.full_path}/`;
  return (
    user !== undefined &&
    world.projects.some((project) => `${project.namespace}/`.startsWith(inside) && projectLevel(world, user, project) > 0)
  );
}

const named = (key: string, row: { id: number }, path: string) => String(row.id) === key || path.toLowerCase() === key.toLowerCase();

/** The project with this id or full path, seen or not. */
export function lookUpProject(world: World, key: string): Project | undefined {
  return world.projects.find((project) => named(key, project, project.path_with_namespace));
}

export function lookUpGroup(world: World, key: string): Group | undefined {
  return world.groups.find((group) => named(key, group, group.full_path));
}

/** Paths that projects once had. */
export const oldPaths = (world: World) => world.part("old-paths", () => new Map<string, number>());

function movedProject(world: World, key: string): Project | undefined {
  const id = oldPaths(world).get(key.toLowerCase());
  return world.projects.find((project) => project.id === id);
}

/** Reads are led to the project's number; a write is refused, since its body would get lost on the way. */
function moved(request: Request, project: Project): ApiFailure {
  if (request.method !== "GET" && request.method !== "HEAD") return failure(405, "Non GET methods are not allowed for moved projects");
  const path = request.path.replace(/^\/projects\/[^/]+/, `/projects/${project.id}`);
  const query = new URLSearchParams(
    Object.entries(request.query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  const location = `${request.world.url}/api/v4${path}${query ? `?${query}` : ""}`;
  return new ApiFailure(301, { message: `This resource has been moved permanently to ${location}.` }, { location });
}

/**
 * The project that `{project_id}` names, by id or full path.
 * @throws 404 where it is absent or hidden; 401/403 where the caller's role is below `role`.
 */
export function findProject(request: Request, role: number = ROLE.none): Project {
  const key = request.params.project_id ?? "";
  const project = lookUpProject(request.world, key) ?? movedProject(request.world, key);
  if (!project || !canSeeProject(request.world, request.user, project)) throw notFound("Project");
  if (!lookUpProject(request.world, key)) throw moved(request, project);
  requireRole(request, project, role);
  return project;
}

/** @throws 401/403 where the caller's role in the project is below `role`. */
export function requireRole(request: Request, project: Project, role: number): void {
  if (role === ROLE.none) return;
  const user = requireUser(request);
  if (projectLevel(request.world, user, project) < role) throw forbidden();
}

export function findGroup(request: Request, role: number = ROLE.none): Group {
  const group = lookUpGroup(request.world, request.params.group_id ?? "");
  if (!group || !canSeeGroup(request.world, request.user, group)) throw notFound("Group");
  if (role > ROLE.none && groupLevel(request.world, requireUser(request), group) < role) throw forbidden();
  return group;
}

/** All projects that the caller may see. */
export function visibleProjects(request: Request): Project[] {
  return request.world.projects.filter((project) => canSeeProject(request.world, request.user, project));
}

/** Projects of a group, those of its subgroups included unless told otherwise. */
export function projectsIn(request: Request, group: Group, deep = true): Project[] {
  const inside = `${group.full_path}/`;
  return visibleProjects(request).filter(({ namespace }) => namespace === group.full_path || (deep && `${namespace}/`.startsWith(inside)));
}
