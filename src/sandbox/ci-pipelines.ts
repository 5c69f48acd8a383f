import { findProject, projectLevel } from "./access.ts";
import { bridgeJson, jobJson, pipelineFull, testReport, testSummary } from "./ci-json.ts";
import { cancelPipeline, configAt, currentJobs, latestPipeline, retryJob, startPipeline } from "./ci-run.ts";
import { ciOf, jobsOf, type Pipeline, pipelineBasic, pipelinesOf, type Status, type Variable } from "./ci-state.ts";
import { badParams, failure, forbidden, invalid, notFound } from "./errors.ts";
import { resolveRef } from "./git.ts";
import { flag, oneOf, required, text, texts } from "./input.ts";
import { ordered, paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { mayMerge, mayPush, repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Json, type Project, type Reply, type Request, ROLE, type User } from "./types.ts";

/** The project, where the caller may see its pipelines. */
export function ciProject(request: Request, role: number = ROLE.none): Project {
  const project = findProject(request, role);
  const level = projectLevel(request.world, request.user, project);
  if (project.visibility === "private" && level < ROLE.reporter) throw forbidden();
  return project;
}

export function findPipeline(request: Request, role: number = ROLE.none): { project: Project; pipeline: Pipeline } {
  const project = ciProject(request, role);
  const pipeline = ciOf(request.world).pipelines.find(
    (row) => row.project_id === project.id && String(row.id) === request.params.pipeline_id,
  );
  if (!pipeline) throw notFound("Pipeline");
  return { project, pipeline };
}

export const STATUSES: readonly Status[] = [
  "created",
  "waiting_for_resource",
  "preparing",
  "pending",
  "running",
  "success",
  "failed",
  "canceled",
  "skipped",
  "manual",
  "scheduled",
];

type Test = (row: Pipeline) => boolean;

function timeTests(request: Request): Test[] {
  return (["updated_after", "updated_before", "created_after", "created_before"] as const).flatMap((name) => {
    const value = text(request.query, name);
    if (!value) return [];
    const at = Date.parse(value);
    if (Number.isNaN(at)) throw badParams(`${name} is invalid`);
    const date = (row: Pipeline) => Date.parse(name.startsWith("updated") ? row.updated_at : row.created_at);
    return [(row: Pipeline) => (name.endsWith("after") ? date(row) >= at : date(row) <= at)];
  });
}

function scopeTest(request: Request, project: Project): Test | undefined {
  const scope = oneOf(request.query, "scope", ["running", "pending", "finished", "branches", "tags"]);
  const { git } = repositoryOf(request.world, project);
  if (scope === "running" || scope === "pending") return (row) => row.status === scope;
  if (scope === "finished") return (row) => ["success", "failed", "canceled"].includes(row.status);
  if (scope === "branches" || scope === "tags") {
    return (row) =>
      row.tag === (scope === "tags") &&
      (row.tag ? git.tags : git.branches).has(row.ref) &&
      latestPipeline(request.world, project, row.ref) === row;
  }
  return undefined;
}

function list(request: Request): Reply {
  const project = ciProject(request);
  const { query, world } = request;
  const status = oneOf(query, "status", STATUSES);
  const wanted = { ref: text(query, "ref"), sha: text(query, "sha"), source: text(query, "source"), name: text(query, "name") };
  const username = text(query, "username");
  const author = username ? world.users.find((user) => user.username === username)?.id : undefined;
  const faulty = flag(query, "yaml_errors");
  const all =
    wanted.source === "parent_pipeline"
      ? ciOf(world).pipelines.filter((row) => row.project_id === project.id)
      : pipelinesOf(world, project);
  const tests: (Test | undefined)[] = [
    ...timeTests(request),
    scopeTest(request, project),
    status ? (row) => row.status === status : undefined,
    wanted.ref ? (row) => row.ref === wanted.ref : undefined,
    wanted.sha ? (row) => row.sha.startsWith(wanted.sha ?? "") : undefined,
    wanted.source ? (row) => row.source === wanted.source : undefined,
    wanted.name ? (row) => row.name === wanted.name : undefined,
    username ? (row) => row.user_id === author : undefined,
    faulty === undefined ? undefined : (row) => (row.yaml_errors !== null) === faulty,
  ];
  const active = tests.filter((test) => test !== undefined);
  const orders = {
    id: (row: Pipeline) => row.id,
    status: (row: Pipeline) => row.status,
    ref: (row: Pipeline) => row.ref,
    updated_at: (row: Pipeline) => `${row.updated_at} ${row.id}`,
    user_id: (row: Pipeline) => row.user_id,
  };
  const rows = ordered(
    query,
    all.filter((row) => active.every((test) => test(row))),
    orders,
  );
  return paged(request, rows, (row) => pipelineBasic(world, row));
}

function latest(request: Request): Reply {
  const project = ciProject(request);
  const { git } = repositoryOf(request.world, project);
  const ref = text(request.query, "ref") ?? project.default_branch ?? "";
  const tip = resolveRef(git, ref);
  const pipeline =
    tip &&
    (pipelinesOf(request.world, project).find((row) => row.ref === ref && row.sha === tip.id) ??
      latestPipeline(request.world, project, ref));
  if (!pipeline) throw notFound("Pipeline");
  return ok(pipelineFull(request.world, pipeline));
}

/** `variables` as a list of objects. @throws 400 where it is none. */
export function variablesFrom(request: Request): Variable[] {
  const sent = request.input.variables;
  if (sent === undefined || sent === null) return [];
  if (!Array.isArray(sent)) throw badParams("variables is invalid");
  return (sent as Json[]).map((row) => {
    const key = text(row, "key");
    if (key === undefined) throw badParams("variables[0][key] is missing");
    return { key, value: text(row, "value") ?? "", variable_type: text(row, "variable_type") ?? "env_var" };
  });
}

/** Starts a pipeline for a branch or tag as asked. @throws 400 in GitLab's words where there is nothing to run. */
export function runFor(
  request: Request,
  project: Project,
  ref: string,
  source: string,
  user: User,
  variables: readonly Variable[],
  schedule?: number,
): Pipeline {
  const { world } = request;
  const { git } = repositoryOf(world, project);
  const short = ref.replace(/^refs\/(heads|tags)\//, "");
  const tag = !git.branches.has(short) && git.tags.has(short);
  const sha = git.branches.get(short) ?? git.tags.get(short)?.commit;
  if (!sha) throw invalid({ base: ["Reference not found"] });
  if (!mayPush(world, project, user, short) && !mayMerge(world, project, user, short) && !tag) {
    throw invalid({
      base: [
        "You do not have sufficient permission to run a pipeline on '" +
          short +
          "'. Please select a different branch or contact your administrator for assistance.",
      ],
    });
  }
  const config = configAt(world, project, sha);
  if (!config) throw invalid({ base: ["Missing CI config file"] });
  if (config.errors.length > 0) throw invalid({ base: config.errors });
  const pipeline = startPipeline(world, project, {
    ref: short,
    sha,
    tag,
    source,
    user,
    variables,
    ...(schedule === undefined ? {} : { schedule }),
  });
  if (!pipeline)
    throw invalid({
      base: [
        "Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.",
      ],
    });
  return pipeline;
}

/** Inputs are taken as they come; the pipeline files here declare none. @throws 400 where they are no object. */
function checkInputs(request: Request): void {
  const sent = request.input.inputs;
  if (sent !== undefined && sent !== null && (typeof sent !== "object" || Array.isArray(sent))) throw badParams("inputs is invalid");
}

function create(request: Request): Reply {
  const project = ciProject(request, ROLE.developer);
  required(request, "ref");
  checkInputs(request);
  const pipeline = runFor(request, project, text(request.input, "ref") ?? "", "api", request.user as User, variablesFrom(request));
  return created(pipelineFull(request.world, pipeline));
}

function retry(request: Request): Reply {
  const { pipeline } = findPipeline(request, ROLE.developer);
  const user = request.user as User;
  for (const job of currentJobs(request.world, pipeline)) {
    if ((job.status === "failed" || job.status === "canceled") && !job.bridge) retryJob(request.world, job, user);
  }
  return created(pipelineFull(request.world, pipeline));
}

function cancel(request: Request): Reply {
  const { pipeline } = findPipeline(request, ROLE.developer);
  cancelPipeline(request.world, pipeline);
  return created(pipelineFull(request.world, pipeline));
}

function remove(request: Request): Reply {
  const { pipeline } = findPipeline(request, ROLE.owner);
  const state = ciOf(request.world);
  state.pipelines.splice(state.pipelines.indexOf(pipeline), 1);
  for (const job of jobsOf(request.world, pipeline)) state.jobs.splice(state.jobs.indexOf(job), 1);
  return noContent();
}

function rename(request: Request): Reply {
  const { pipeline } = findPipeline(request, ROLE.developer);
  required(request, "name");
  pipeline.name = text(request.input, "name") ?? null;
  return ok(pipelineFull(request.world, pipeline));
}

/** `scope[]` of job lists. @throws 400 on a status that does not exist. */
export function jobScope(request: Request): Status[] | undefined {
  const asked = texts(request.query, "scope");
  if (!asked || asked.length === 0) return undefined;
  const bad = asked.find((status) => !STATUSES.some((known) => known === status));
  if (bad !== undefined) throw badParams("scope does not have a valid value");
  return asked as Status[];
}

function pipelineJobs(request: Request, bridges: boolean): Reply {
  const { pipeline } = findPipeline(request);
  const scope = jobScope(request);
  const everything = flag(request.query, "include_retried") ?? false;
  const jobs = jobsOf(request.world, pipeline)
    .filter((job) => job.bridge === bridges && (everything || !job.retried) && (!scope || scope.includes(job.status)))
    .sort((a, b) => b.id - a.id);
  return paged(request, jobs, (job) => (bridges ? bridgeJson(request.world, job) : jobJson(request.world, job)));
}

const ALL = "/projects/{project_id}/pipelines";
const ONE = `${ALL}/{pipeline_id}`;

export const pipelineBehaviours: readonly Behaviour[] = [
  get(ALL, list),
  get(`${ALL}/latest`, latest),
  post("/projects/{project_id}/pipeline", create),
  get(ONE, (request) => ok(pipelineFull(request.world, findPipeline(request).pipeline))),
  del(ONE, remove),
  post(`${ONE}/retry`, retry),
  post(`${ONE}/cancel`, cancel),
  put(`${ONE}/metadata`, rename),
  get(`${ONE}/variables`, (request) => {
    const { pipeline } = findPipeline(request, ROLE.developer);
    return paged(request, pipeline.variables, (row) => ({ ...row, raw: false }));
  }),
  get(`${ONE}/test_report`, (request) => ok(testReport(findPipeline(request).pipeline.tests))),
  get(`${ONE}/test_report_summary`, (request) => ok(testSummary(findPipeline(request).pipeline.tests))),
  get(`${ONE}/jobs`, (request) => pipelineJobs(request, false)),
  get(`${ONE}/bridges`, (request) => pipelineJobs(request, true)),
];

/** For answers that say no with a status of their own. */
export const notPlayable = () => failure(400, "400 Bad request - Unplayable Job");
