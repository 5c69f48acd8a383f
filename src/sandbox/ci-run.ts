import { type CiConfig, type JobConfig, placed, readConfig, variablesOf } from "./ci-config.ts";
import { jobLog } from "./ci-logs.ts";
import {
  ACTIVE,
  type Artifact,
  ciOf,
  type Job,
  jobsOf,
  type Pipeline,
  pipelinesOf,
  projectOf,
  type Status,
  type Variable,
} from "./ci-state.ts";
import { readFile } from "./git.ts";
import { repositoryOf } from "./repository-state.ts";
import type { Project, User, World } from "./types.ts";

export interface PipelineDraft {
  readonly ref: string;
  readonly sha: string;
  readonly tag: boolean;
  readonly source: string;
  readonly user: User;
  readonly before?: string;
  readonly variables?: readonly Variable[];
  readonly schedule?: number;
  /** File and bridge of a child pipeline. */
  readonly file?: string;
  readonly parent?: Pipeline;
}

const NO_SHA = "0".repeat(40);
const FILE = ".gitlab-ci.yml";

/** The pipeline file at a commit; nothing where there is none. */
export function configAt(world: World, project: Project, sha: string, path = FILE): CiConfig | undefined {
  const { git } = repositoryOf(world, project);
  const commit = git.commits.get(sha);
  const file = commit && readFile(git, commit, path);
  return file && readConfig(file.content.toString());
}

function newJob(world: World, pipeline: Pipeline, config: JobConfig, place: { when: string; allow_failure: boolean }): Job {
  const id = world.nextId("job");
  const job: Job = {
    id,
    project_id: pipeline.project_id,
    pipeline_id: pipeline.id,
    name: config.name,
    stage: config.stage,
    status: "created",
    allow_failure: place.allow_failure || place.when === "manual",
    manual: place.when === "manual",
    tag_list: config.tags,
    created_at: world.now(),
    started_at: null,
    finished_at: null,
    erased_at: null,
    duration: null,
    queued_duration: null,
    coverage: null,
    failure_reason: null,
    user_id: pipeline.user_id,
    artifacts: [],
    artifacts_expire_at: null,
    log: () => jobLog(job, config.script),
    retried: false,
    bridge: config.trigger !== null,
    downstream_id: null,
    resource_group: config.resource_group,
  };
  return job;
}

/** A pipeline with nothing in it yet. */
export function newPipeline(world: World, project: Project, draft: PipelineDraft, config: CiConfig): Pipeline {
  const wrong = config.errors.length > 0;
  return {
    id: world.nextId("pipeline"),
    iid: world.nextId(`pipeline-iid-${project.id}`),
    project_id: project.id,
    name: config.name,
    sha: draft.sha,
    before_sha: draft.before ?? NO_SHA,
    ref: draft.ref,
    tag: draft.tag,
    status: wrong ? "failed" : "created",
    source: draft.source,
    yaml_errors: wrong ? config.errors.join("; ") : null,
    user_id: draft.user.id,
    created_at: world.now(),
    updated_at: world.now(),
    started_at: null,
    finished_at: wrong ? world.now() : null,
    duration: null,
    queued_duration: null,
    coverage: null,
    variables: draft.variables ?? [],
    stages: config.stages,
    parent_id: draft.parent?.id ?? null,
    schedule_id: draft.schedule ?? null,
    tests: [],
  };
}

/** Makes a pipeline from the commit's file. Nothing where there is no file, or no job for this ref. */
export function startPipeline(world: World, project: Project, draft: PipelineDraft): Pipeline | undefined {
  const config = configAt(world, project, draft.sha, draft.file ?? FILE);
  if (!config) return undefined;
  const values = variablesOf({ ...draft, defaultBranch: project.default_branch }, draft.variables ?? []);
  const jobs =
    config.errors.length > 0
      ? []
      : config.jobs.flatMap((job) => {
          const place = placed(job, values);
          return place ? [{ job, place }] : [];
        });
  if (jobs.length === 0 && config.errors.length === 0) return undefined;
  const pipeline = newPipeline(world, project, draft, config);
  const state = ciOf(world);
  state.pipelines.push(pipeline);
  for (const stage of config.stages) {
    state.jobs.push(...jobs.filter(({ job }) => job.stage === stage).map(({ job, place }) => newJob(world, pipeline, job, place)));
  }
  advance(world, pipeline);
  return pipeline;
}

/** Jobs that count: the newest of each name. */
export const currentJobs = (world: World, pipeline: Pipeline) => jobsOf(world, pipeline).filter(({ retried }) => !retried);

const passed = (job: Job) =>
  job.status === "success" || job.status === "skipped" || (job.allow_failure && ["failed", "manual", "canceled"].includes(job.status));

function openStage(world: World, pipeline: Pipeline, jobs: readonly Job[]): void {
  for (const job of jobs.filter(({ status }) => status === "created")) {
    if (job.manual) job.status = "manual";
    else if (job.bridge) startBridge(world, pipeline, job);
    else job.status = "pending";
  }
}

/** A trigger job starts its child pipeline, and ends with it. */
function startBridge(world: World, pipeline: Pipeline, job: Job): void {
  const project = projectOf(world, pipeline.project_id);
  const config = configAt(world, project, pipeline.sha, fileOf(world, pipeline))?.jobs.find(({ name }) => name === job.name);
  const user = world.users.find(({ id }) => id === pipeline.user_id);
  job.status = "running";
  job.started_at = world.now();
  const file = config?.trigger;
  const child =
    user && file
      ? startPipeline(world, project, { ...pipeline, source: "parent_pipeline", user, file, parent: pipeline, before: pipeline.before_sha })
      : undefined;
  job.downstream_id = child?.id ?? null;
  if (child) childFiles(world).set(child.id, file ?? FILE);
  if (!child) Object.assign(job, { status: "failed", failure_reason: "downstream_pipeline_creation_failed", finished_at: world.now() });
  else if (!config?.depend) Object.assign(job, { status: "success", finished_at: world.now() });
}

/** Which file a child pipeline was read from. */
const childFiles = (world: World) => world.part("ci-child-files", () => new Map<number, string>());
const fileOf = (world: World, pipeline: Pipeline) => childFiles(world).get(pipeline.id) ?? FILE;

function statusOf(jobs: readonly Job[]): Status {
  const counted = jobs.filter((job) => !(job.allow_failure && ["failed", "canceled", "manual"].includes(job.status)));
  const has = (...wanted: Status[]) => counted.some(({ status }) => wanted.includes(status));
  if (has("running")) return "running";
  if (has("pending", "preparing", "waiting_for_resource")) return jobs.some(({ started_at }) => started_at) ? "running" : "pending";
  if (has("failed")) return "failed";
  if (has("canceled")) return "canceled";
  if (has("manual")) return "manual";
  if (has("created")) return "created";
  return jobs.length > 0 && jobs.every(({ status }) => status === "skipped") ? "skipped" : "success";
}

/** Opens the stages that may run now, and gives the pipeline the status of its jobs. */
export function advance(world: World, pipeline: Pipeline): void {
  const jobs = currentJobs(world, pipeline);
  let blocked = false;
  for (const stage of pipeline.stages) {
    const here = jobs.filter((job) => job.stage === stage);
    if (blocked) continue;
    openStage(world, pipeline, here);
    if (here.some(({ status, allow_failure }) => (status === "failed" || status === "canceled") && !allow_failure)) {
      const done = here.every(({ status }) => !ACTIVE.includes(status));
      if (done) for (const job of jobs.filter(({ status }) => status === "created")) job.status = "skipped";
      blocked = true;
    } else if (here.some((job) => !passed(job))) blocked = true;
  }
  settle(world, pipeline, jobs);
}

function settle(world: World, pipeline: Pipeline, jobs: readonly Job[]): void {
  if (jobs.length === 0) return;
  const before = pipeline.status;
  const status = statusOf(jobs);
  const over = !ACTIVE.includes(status);
  if (status === "running") pipeline.started_at ??= world.now();
  Object.assign(pipeline, { status, updated_at: world.now() });
  if (!over || !ACTIVE.includes(before)) return;
  pipeline.finished_at = world.now();
  pipeline.duration = Math.max(
    0,
    Math.round((Date.parse(pipeline.finished_at) - Date.parse(pipeline.started_at ?? pipeline.created_at)) / 1000),
  );
  endBridge(world, pipeline);
  for (const listener of ciOf(world).finished) listener(world, pipeline);
}

function endBridge(world: World, pipeline: Pipeline): void {
  const bridge = ciOf(world).jobs.find((job) => job.downstream_id === pipeline.id && job.status === "running");
  const parent = ciOf(world).pipelines.find(({ id }) => id === bridge?.pipeline_id);
  if (!bridge || !parent) return;
  const failure_reason = pipeline.status === "failed" ? "unknown_failure" : null;
  Object.assign(bridge, { status: pipeline.status, finished_at: world.now(), failure_reason });
  advance(world, parent);
}

/** What a job leaves behind: two small files in each folder that its configuration names, or the file itself. */
export function artifactsOf(config: JobConfig | undefined): Artifact[] {
  const paths = (config?.artifacts ?? []).flatMap((path) => (path.endsWith("/") ? [`${path}server.js`, `${path}app.js`] : [path]));
  return paths.map((path) => ({ file_type: "archive", path, content: Buffer.from(`// ${path}, made by ${config?.name}\n`) }));
}

const WEEK = 7 * 86_400_000;

function keepArtifacts(world: World, pipeline: Pipeline, job: Job): void {
  const config = configAt(world, projectOf(world, pipeline.project_id), pipeline.sha, fileOf(world, pipeline));
  job.artifacts = artifactsOf(config?.jobs.find(({ name }) => name === job.name));
  if (job.artifacts.length > 0) job.artifacts_expire_at = new Date(Date.parse(world.now()) + WEEK).toISOString();
}

/** A runner takes a job. */
export function startJob(world: World, job: Job): void {
  Object.assign(job, { status: "running", started_at: world.now(), queued_duration: 1 });
  const pipeline = ciOf(world).pipelines.find(({ id }) => id === job.pipeline_id);
  if (pipeline) advance(world, pipeline);
}

/** A job comes to its end, and what waited for it begins. */
export function finishJob(world: World, job: Job, status: "success" | "failed" | "canceled"): void {
  job.started_at ??= world.now();
  const seconds = Math.max(0, Math.round((Date.parse(world.now()) - Date.parse(job.started_at)) / 1000));
  Object.assign(job, { status, finished_at: world.now(), duration: seconds, queued_duration: job.queued_duration ?? 0 });
  job.failure_reason = status === "failed" ? (job.failure_reason ?? "script_failure") : null;
  const pipeline = ciOf(world).pipelines.find(({ id }) => id === job.pipeline_id);
  if (!pipeline) return;
  if (status === "success") keepArtifacts(world, pipeline, job);
  advance(world, pipeline);
}

/** Brings a pipeline to its end as its runners would: every job succeeds, or the first open one fails. */
export function finishPipeline(world: World, id: number, status: "success" | "failed" = "success"): Pipeline {
  const pipeline = ciOf(world).pipelines.find((row) => row.id === id);
  if (!pipeline) throw new Error(`no pipeline ${id}`);
  for (let round = 0; round < 1000; round++) {
    const job = currentJobs(world, pipeline).find((row) => row.status === "running" || row.status === "pending");
    if (!job) break;
    if (job.bridge && job.downstream_id !== null) finishPipeline(world, job.downstream_id, status);
    else finishJob(world, job, status);
  }
  return pipeline;
}

/** Stops what is not over yet. */
export function cancelPipeline(world: World, pipeline: Pipeline): void {
  for (const job of currentJobs(world, pipeline).filter((row) => ACTIVE.includes(row.status))) {
    const child = ciOf(world).pipelines.find(({ id }) => id === job.downstream_id);
    if (child) cancelPipeline(world, child);
    if (ACTIVE.includes(job.status)) Object.assign(job, { status: "canceled", finished_at: world.now() });
  }
  advance(world, pipeline);
}

/** Puts a fresh job in the place of one that is over. */
export function retryJob(world: World, job: Job, user: User): Job {
  const id = world.nextId("job");
  const fresh: Job = {
    ...job,
    id,
    status: "pending",
    created_at: world.now(),
    started_at: null,
    finished_at: null,
    duration: null,
    queued_duration: null,
    failure_reason: null,
    artifacts: [],
    user_id: user.id,
    log: () => jobLog(fresh, []),
  };
  job.retried = true;
  ciOf(world).jobs.push(fresh);
  const pipeline = ciOf(world).pipelines.find((row) => row.id === job.pipeline_id);
  if (!pipeline) return fresh;
  for (const later of currentJobs(world, pipeline)) if (later.status === "skipped") later.status = "created";
  pipeline.finished_at = null;
  pipeline.status = "running";
  advance(world, pipeline);
  return fresh;
}

/** The newest pipeline of a ref. */
export function latestPipeline(world: World, project: Project, ref: string): Pipeline | undefined {
  return pipelinesOf(world, project).find((row) => row.ref === ref);
}
