import { findProject, groupLevel, lookUpGroup, oldPaths, projectLevel, requireUser } from "./access.ts";
import { projectBasic, projectFull } from "./entities-projects.ts";
import { failure, forbidden, invalid, notFound } from "./errors.ts";
import { flag, oneOf, required, text, texts } from "./input.ts";
import { removeProject } from "./project-removal.ts";
import { accepted, created, del, get, ok, post, put } from "./reply.ts";
import { type Behaviour, type Project, type Reply, type Request, ROLE, type User, VISIBILITIES, type World } from "./types.ts";
import { findUser } from "./users.ts";

/** Path of the namespace that a new project goes into, checked. */
function namespaceFor(request: Request, user: User): string {
  const key = text(request.input, "namespace_id") ?? text(request.input, "namespace") ?? text(request.input, "namespace_path");
  if (key === undefined || key === user.username || key === String(1_000 + user.id)) return user.username;
  const group = lookUpGroup(request.world, key);
  if (!group) throw invalid({ namespace: ["is not valid"] });
  if (groupLevel(request.world, user, group) < ROLE.developer) throw invalid({ namespace: ["is not valid"] });
  return group.full_path;
}

const SETTINGS = new Set([
  "id",
  "name",
  "path",
  "namespace_id",
  "namespace",
  "namespace_path",
  "description",
  "visibility",
  "default_branch",
  "topics",
  "tag_list",
  "initialize_with_readme",
  "import_url",
  "merge_method",
  "only_allow_merge_if_pipeline_succeeds",
  "only_allow_merge_if_all_discussions_are_resolved",
  "remove_source_branch_after_merge",
  "avatar",
  "mr_default_target_self",
]);

/** The settings that were sent, put on the project. */
function settle(request: Request, project: Project): void {
  const { input } = request;
  project.description = "description" in input ? (text(input, "description") ?? null) : project.description;
  project.visibility = oneOf(input, "visibility", VISIBILITIES) ?? project.visibility;
  project.topics = texts(input, "topics") ?? texts(input, "tag_list") ?? project.topics;
  project.merge_method = oneOf(input, "merge_method", ["merge", "rebase_merge", "ff"]) ?? project.merge_method;
  for (const name of [
    "only_allow_merge_if_pipeline_succeeds",
    "only_allow_merge_if_all_discussions_are_resolved",
    "remove_source_branch_after_merge",
  ] as const) {
    project[name] = flag(input, name) ?? project[name];
  }
  const shown = Object.keys(projectFull(request.world, project));
  for (const [name, value] of Object.entries(input)) {
    if (!SETTINGS.has(name) && shown.includes(name)) project.extra[name] = booleanOr(value);
  }
}

const booleanOr = (value: unknown) => (value === "true" ? true : value === "false" ? false : value);

/** A project with nothing in it. */
export function blankProject(world: World, namespace: string, path: string, creator: number): Project {
  return {
    id: world.nextId("project"),
    namespace,
    name: path,
    path,
    path_with_namespace: `${namespace}/${path}`,
    description: null,
    visibility: "private",
    archived: false,
    default_branch: null,
    creator_id: creator,
    created_at: world.now(),
    last_activity_at: world.now(),
    updated_at: world.now(),
    topics: [],
    starrers: [],
    forked_from_id: null,
    marked_for_deletion_on: null,
    merge_method: "merge",
    only_allow_merge_if_pipeline_succeeds: false,
    only_allow_merge_if_all_discussions_are_resolved: false,
    remove_source_branch_after_merge: true,
    extra: {},
  };
}

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^-+|-+$/g, "");

function checkFree(world: World, namespace: string, path: string): void {
  if (world.projects.some((row) => row.path_with_namespace.toLowerCase() === `${namespace}/${path}`.toLowerCase())) {
    throw invalid({
      "project_namespace.name": ["has already been taken"],
      name: ["has already been taken"],
      path: ["has already been taken"],
    });
  }
}

function create(request: Request, owner?: User): Reply {
  const user = owner ?? requireUser(request);
  const { world, input } = request;
  const name = text(input, "name") ?? text(input, "path");
  if (name === undefined) throw failure(400, { error: "name, path are missing, at least one parameter must be provided" });
  const path = text(input, "path") ?? slug(name);
  const namespace = owner ? owner.username : namespaceFor(request, user);
  if (path === "" || !/^[a-zA-Z0-9_][\w.-]*$/.test(path)) {
    throw invalid({ path: ["can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"] });
  }
  checkFree(world, namespace, path);
  const project = { ...blankProject(world, namespace, path, user.id), name };
  const readme = flag(input, "initialize_with_readme") === true;
  if (readme) project.default_branch = text(input, "default_branch") ?? "main";
  world.projects.push(project);
  settle(request, project);
  for (const hook of world.onProject) hook(project, { readme });
  return created(projectFull(world, project, user));
}

function update(request: Request): Reply {
  const project = findProject(request, ROLE.maintainer);
  const { input, world } = request;
  if (Object.keys(input).length === 0) throw failure(400, { error: "At least one parameter must be provided" });
  const path = text(input, "path");
  if (path !== undefined && path !== project.path) {
    checkFree(world, project.namespace, path);
    oldPaths(world).set(project.path_with_namespace.toLowerCase(), project.id);
    Object.assign(project, { path, path_with_namespace: `${project.namespace}/${path}` });
  }
  const name = text(input, "name");
  if (name === "") throw invalid({ name: ["can't be blank"] });
  project.name = name ?? project.name;
  const branch = text(input, "default_branch");
  if (branch !== undefined && branch !== project.default_branch) {
    if (world.hooks.git && !world.hooks.git.commit(project, branch))
      throw invalid({ base: [`Could not change HEAD: branch '${branch}' does not exist`] });
    project.default_branch = branch;
  }
  settle(request, project);
  project.updated_at = world.now();
  return ok(projectFull(world, project, request.user));
}

/** Sizes are made up, the count of commits is the repository's business. */
const STATISTICS = {
  commit_count: 0,
  storage_size: 4_194_304,
  repository_size: 3_145_728,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 1_048_576,
  pipeline_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
  container_registry_size: 0,
};

function one(request: Request): Reply {
  const project = findProject(request);
  const { world, user } = request;
  if (!user) return ok(projectBasic(world, project));
  const counted = flag(request.query, "statistics") === true && projectLevel(world, user, project) >= ROLE.reporter;
  const license = flag(request.query, "license") === true ? { license_url: null, license: null } : {};
  return ok({ ...projectFull(world, project, user), ...license, ...(counted ? { statistics: STATISTICS } : {}) });
}

const archive =
  (archived: boolean) =>
  (request: Request): Reply => {
    const project = findProject(request, ROLE.owner);
    project.archived = archived;
    return created(projectFull(request.world, project, request.user));
  };

const star =
  (on: boolean) =>
  (request: Request): Reply => {
    const user = requireUser(request);
    const project = findProject(request);
    if (project.starrers.includes(user.id) === on) return { status: 304 };
    project.starrers = on ? [...project.starrers, user.id] : project.starrers.filter((id) => id !== user.id);
    return created(projectFull(request.world, project, user));
  };

function fork(request: Request): Reply {
  const user = requireUser(request);
  const from = findProject(request);
  const { world, input } = request;
  const namespace = namespaceFor(request, user);
  const path = text(input, "path") ?? from.path;
  if (world.projects.some((row) => row.path_with_namespace === `${namespace}/${path}`)) {
    throw failure(409, ["Project namespace name has already been taken", "Name has already been taken", "Path has already been taken"]);
  }
  const copy: Project = {
    ...blankProject(world, namespace, path, user.id),
    name: text(input, "name") ?? from.name,
    description: text(input, "description") ?? from.description,
    visibility: oneOf(input, "visibility", VISIBILITIES) ?? from.visibility,
    default_branch: from.default_branch,
    forked_from_id: from.id,
  };
  world.projects.push(copy);
  for (const hook of world.onProject) hook(copy, { from, readme: false });
  return created({ ...projectFull(world, copy, user), import_status: "scheduled" });
}

function remove(request: Request): Reply {
  const project = findProject(request, ROLE.owner);
  const { world, input } = request;
  if (flag(input, "permanently_remove") === true) {
    if (project.marked_for_deletion_on === null) throw failure(400, "Project must be marked for deletion first.");
    if (text(input, "full_path") !== project.path_with_namespace)
      throw failure(400, "`full_path` is incorrect. You must enter the complete path for the project.");
    removeProject(world, project);
    return accepted();
  }
  if (project.marked_for_deletion_on !== null) throw failure(400, "Project has been already marked for deletion");
  project.marked_for_deletion_on = world.now().slice(0, 10);
  return accepted();
}

function restore(request: Request): Reply {
  const project = findProject(request, ROLE.owner);
  project.marked_for_deletion_on = null;
  return created(projectFull(request.world, project, request.user));
}

function transfer(request: Request): Reply {
  const user = requireUser(request);
  const project = findProject(request, ROLE.owner);
  required(request, "namespace");
  const group = lookUpGroup(request.world, text(request.input, "namespace") ?? "");
  const namespace = group?.full_path ?? namespaceFor(request, user);
  if (group && groupLevel(request.world, user, group) < ROLE.maintainer) throw notFound("Namespace");
  if (namespace !== project.namespace) checkFree(request.world, namespace, project.path);
  oldPaths(request.world).set(project.path_with_namespace.toLowerCase(), project.id);
  Object.assign(project, { namespace, path_with_namespace: `${namespace}/${project.path}` });
  return ok(projectFull(request.world, project, user));
}

function forkRelation(request: Request): Reply {
  const project = findProject(request, ROLE.owner);
  const from = findProject({ ...request, params: { project_id: request.params.forked_from_id ?? "" } });
  if (project.forked_from_id !== null) throw failure(409, "Project already forked");
  project.forked_from_id = from.id;
  return created(projectFull(request.world, project, request.user));
}

function unfork(request: Request): Reply {
  const project = findProject(request, ROLE.owner);
  if (project.forked_from_id === null) return { status: 304 };
  project.forked_from_id = null;
  return { status: 204 };
}

export const projectBehaviours: readonly Behaviour[] = [
  post("/projects", (request) => create(request)),
  post("/projects/user/{user_id}", (request) => {
    if (!requireUser(request).admin) throw forbidden();
    return create(request, findUser(request));
  }),
  get("/projects/{project_id}", one, { jobToken: true }),
  put("/projects/{project_id}", update),
  del("/projects/{project_id}", remove),
  post("/projects/{project_id}/restore", restore),
  post("/projects/{project_id}/archive", archive(true)),
  post("/projects/{project_id}/unarchive", archive(false)),
  post("/projects/{project_id}/star", star(true)),
  post("/projects/{project_id}/unstar", star(false)),
  post("/projects/{project_id}/fork", fork),
  post("/projects/{project_id}/fork/{forked_from_id}", forkRelation),
  del("/projects/{project_id}/fork", unfork),
  put("/projects/{project_id}/transfer", transfer),
];
