import { createHash } from "node:crypto";
import { lookUpGroup, lookUpProject } from "./access.ts";
import { readConfig } from "./ci-config.ts";
import { jobJson, pipelineFull, triggerJson } from "./ci-json.ts";
import { ciProject, runFor } from "./ci-pipelines.ts";
import { configAt } from "./ci-run.ts";
import { ciOf, type Trigger } from "./ci-state.ts";
import { groupJson, projectBasic } from "./entities-projects.ts";
import { failure, notFound } from "./errors.ts";
import { readFile, resolveRef } from "./git.ts";
import { flag, integer, oneOf, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, patch, post, put } from "./reply.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User, type World } from "./types.ts";

function lintResult(content: string, withJobs: boolean): Json {
  const config = readConfig(content);
  const jobs = config.jobs.map((job) => ({
    name: job.name,
    stage: job.stage,
    before_script: [],
    script: job.script,
    after_script: [],
    tag_list: job.tags,
    only: job.rules.length > 0 ? null : { refs: ["branches", "tags"] },
    except: null,
    environment: job.environment,
    when: job.when,
    allow_failure: job.allow_failure,
    needs: null,
  }));
  const valid = config.errors.length === 0;
  return {
    valid,
    errors: config.errors,
    warnings: config.warnings,
    merged_yaml: valid ? content : null,
    includes: [],
    ...(withJobs ? { jobs } : {}),
  };
}

function lint(request: Request): Reply {
  ciProject(request, ROLE.developer);
  required(request, "content");
  return ok(lintResult(text(request.input, "content") ?? "", flag(request.input, "include_jobs") ?? false));
}

function lintProject(request: Request): Reply {
  const project = ciProject(request, ROLE.reporter);
  const { git } = repositoryOf(request.world, project);
  const ref = text(request.query, "content_ref") ?? text(request.query, "sha") ?? "HEAD";
  const commit = resolveRef(git, ref, project.default_branch ?? undefined);
  if (!commit) throw notFound("Commit");
  const file = readFile(git, commit, ".gitlab-ci.yml");
  if (!file || !configAt(request.world, project, commit.id)) {
    return ok({ valid: false, errors: ["Please provide content of .gitlab-ci.yml"], warnings: [], merged_yaml: null, includes: [] });
  }
  return ok(lintResult(file.content.toString(), flag(request.query, "include_jobs") ?? false));
}

function findTrigger(request: Request): Trigger {
  const project = ciProject(request, ROLE.maintainer);
  const trigger = ciOf(request.world).triggers.find((row) => row.project_id === project.id && String(row.id) === request.params.trigger_id);
  if (!trigger) throw notFound("Trigger");
  return trigger;
}

function createTrigger(request: Request): Reply {
  const project = ciProject(request, ROLE.maintainer);
  required(request, "description");
  const { world } = request;
  const id = world.nextId("trigger");
  const token = `glptt-${createHash("sha1").update(`trigger ${id}`).digest("hex")}`;
  const description = text(request.input, "description") ?? "";
  const trigger: Trigger = {
    id,
    project_id: project.id,
    description,
    token,
    owner_id: (request.user as User).id,
    created_at: world.now(),
    updated_at: world.now(),
    last_used: null,
  };
  ciOf(world).triggers.push(trigger);
  return created(triggerJson(world, trigger, request.user?.id));
}

function updateTrigger(request: Request): Reply {
  const trigger = findTrigger(request);
  trigger.description = text(request.input, "description") ?? trigger.description;
  trigger.updated_at = request.world.now();
  return ok(triggerJson(request.world, trigger, request.user?.id));
}

function deleteTrigger(request: Request): Reply {
  const trigger = findTrigger(request);
  const { triggers } = ciOf(request.world);
  triggers.splice(triggers.indexOf(trigger), 1);
  return noContent();
}

/** Starts a pipeline by a trigger's token alone. */
function fire(request: Request): Reply {
  const { world } = request;
  const project = lookUpProject(world, request.params.project_id ?? "");
  const missing = ["ref", "token"].filter((name) => text(request.input, name) === undefined && request.params[name] === undefined);
  if (missing.length > 0) throw failure(400, missing.map((name) => `${name} is missing`).join(", "));
  const trigger = ciOf(world).triggers.find((row) => row.project_id === project?.id && row.token === text(request.input, "token"));
  const owner = world.users.find(({ id }) => id === trigger?.owner_id);
  if (!project || !trigger || !owner) throw notFound();
  const sent = (request.input.variables ?? {}) as Json;
  const variables = Object.entries(sent).map(([key, value]) => ({ key, value: String(value), variable_type: "env_var" }));
  trigger.last_used = world.now();
  const pipeline = runFor(request, project, request.params.ref ?? text(request.input, "ref") ?? "", "trigger", owner, variables);
  return created(pipelineFull(world, pipeline));
}

function scopeOf(world: World, projectId: number) {
  const { tokenScopes } = ciOf(world);
  const known = tokenScopes.get(projectId) ?? { inbound_enabled: true, projects: [], groups: [] };
  tokenScopes.set(projectId, known);
  return known;
}

function setScope(request: Request): Reply {
  const project = ciProject(request, ROLE.maintainer);
  required(request, "enabled");
  scopeOf(request.world, project.id).inbound_enabled = flag(request.input, "enabled") ?? true;
  return noContent();
}

function allowList(kind: "projects" | "groups"): Behaviour[] {
  const one = kind === "projects" ? "project" : "group";
  const path = `/projects/{project_id}/job_token_scope/${kind === "projects" ? "allowlist" : "groups_allowlist"}`;
  const add = (request: Request): Reply => {
    const project = ciProject(request, ROLE.maintainer);
    required(request, `target_${one}_id`);
    const id = integer(request.input, `target_${one}_id`) ?? 0;
    const target = kind === "projects" ? lookUpProject(request.world, String(id)) : lookUpGroup(request.world, String(id));
    if (!target) throw notFound(kind === "projects" ? "Project" : "Group");
    const list = scopeOf(request.world, project.id)[kind];
    if (list.includes(id)) throw failure(422, "Target project is already in the job token scope");
    list.push(id);
    return created({ source_project_id: project.id, [`target_${one}_id`]: id });
  };
  const remove = (request: Request): Reply => {
    const project = ciProject(request, ROLE.maintainer);
    const list = scopeOf(request.world, project.id)[kind];
    const at = list.findIndex((id) => String(id) === request.params[`target_${one}_id`]);
    if (at < 0) throw notFound();
    list.splice(at, 1);
    return noContent();
  };
  const list = (request: Request): Reply => {
    const project = ciProject(request, ROLE.maintainer);
    const { world } = request;
    const ids = scopeOf(world, project.id)[kind];
    if (kind === "groups")
      return paged(
        request,
        world.groups.filter(({ id }) => ids.includes(id)),
        (group) => groupJson(world, group),
      );
    return paged(
      request,
      world.projects.filter(({ id }) => id === project.id || ids.includes(id)),
      (row) => projectBasic(world, row),
    );
  };
  return [get(path, list), post(path, add), del(`${path}/{target_${one}_id}`, remove)];
}

function findResourceGroup(request: Request, role: number = ROLE.none) {
  const project = ciProject(request, role);
  const group = ciOf(request.world).resourceGroups.find((row) => row.project_id === project.id && row.key === request.params.key);
  if (!group) throw notFound("Resource Group");
  return group;
}

const resourceGroupJson = ({ id, key, process_mode, created_at, updated_at }: ReturnType<typeof findResourceGroup>): Json => ({
  id,
  key,
  process_mode,
  created_at,
  updated_at,
});

function updateResourceGroup(request: Request): Reply {
  const group = findResourceGroup(request, ROLE.developer);
  group.process_mode =
    oneOf(request.input, "process_mode", ["unordered", "oldest_first", "newest_first", "newest_ready_first"]) ?? group.process_mode;
  group.updated_at = request.world.now();
  return ok(resourceGroupJson(group));
}

const waiting = (request: Request) => {
  const group = findResourceGroup(request);
  return ciOf(request.world).jobs.filter((job) => job.project_id === group.project_id && job.resource_group === group.key);
};

function currentJob(request: Request): Reply {
  const job = waiting(request).find(({ status }) => status === "running");
  if (!job) throw notFound();
  return ok(jobJson(request.world, job));
}

const LINT = "/projects/{project_id}/ci/lint";
const TRIGGERS = "/projects/{project_id}/triggers";
const SCOPE = "/projects/{project_id}/job_token_scope";
const RESOURCES = "/projects/{project_id}/resource_groups";

export const ciSettingBehaviours: readonly Behaviour[] = [
  get(LINT, lintProject),
  post(LINT, lint),
  get(TRIGGERS, (request) => {
    const project = ciProject(request, ROLE.maintainer);
    const rows = ciOf(request.world).triggers.filter((row) => row.project_id === project.id);
    return paged(request, rows, (row) => triggerJson(request.world, row, request.user?.id));
  }),
  post(TRIGGERS, createTrigger),
  get(`${TRIGGERS}/{trigger_id}`, (request) => ok(triggerJson(request.world, findTrigger(request), request.user?.id))),
  put(`${TRIGGERS}/{trigger_id}`, updateTrigger),
  del(`${TRIGGERS}/{trigger_id}`, deleteTrigger),
  post("/projects/{project_id}/trigger/pipeline", fire, { open: true }),
  post("/projects/{project_id}/ref/{ref}/trigger/pipeline", fire, { open: true }),
  get(SCOPE, (request) => {
    const project = ciProject(request, ROLE.maintainer);
    return ok({ inbound_enabled: scopeOf(request.world, project.id).inbound_enabled, outbound_enabled: false });
  }),
  patch(SCOPE, setScope),
  ...allowList("projects"),
  ...allowList("groups"),
  get(RESOURCES, (request) => {
    const project = ciProject(request);
    return paged(
      request,
      ciOf(request.world).resourceGroups.filter((row) => row.project_id === project.id),
      resourceGroupJson,
    );
  }),
  get(`${RESOURCES}/{key}`, (request) => ok(resourceGroupJson(findResourceGroup(request)))),
  put(`${RESOURCES}/{key}`, updateResourceGroup),
  get(`${RESOURCES}/{key}/current_job`, currentJob),
  get(`${RESOURCES}/{key}/upcoming_jobs`, (request) =>
    paged(
      request,
      waiting(request).filter(({ status }) => status === "waiting_for_resource"),
      (job) => jobJson(request.world, job),
    ),
  ),
];
