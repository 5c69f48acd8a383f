import { lookUpProject } from "./access.ts";
import { type JobConfig, placed, variablesOf } from "./ci-config.ts";
import { jobLog } from "./ci-logs.ts";
import { SEEDED_LOGS } from "./ci-logs-seeds.ts";
import { artifactsOf, configAt, newPipeline, startPipeline } from "./ci-run.ts";
import {
  ACTIVE,
  ciOf,
  type Job,
  type Pipeline,
  pipelineBasic,
  pipelineFor,
  type Status,
  type TestSuite,
  type Variable,
} from "./ci-state.ts";
import { fixture } from "./fixtures.ts";
import { seededCommits } from "./repository-seeds.ts";
import { repositoryLinks, repositoryOf } from "./repository-state.ts";
import type { Project, User, World } from "./types.ts";

interface Outcome {
  readonly status: Status;
  readonly reason?: string;
  /** Name of a seeded log. */
  readonly log?: string;
  readonly seconds?: number;
  readonly child?: { readonly outcomes?: Readonly<Record<string, Outcome>> };
}

interface SeedPipeline {
  readonly project: string;
  /** Key of a seeded commit. */
  readonly commit: string;
  readonly ref: string;
  readonly tag?: boolean;
  readonly source: string;
  readonly by: string;
  readonly at: string;
  readonly status: Status;
  readonly schedule?: string;
  readonly outcomes?: Readonly<Record<string, Outcome>>;
}

interface Owned {
  readonly id: number;
  readonly project: string;
  readonly description: string;
  readonly owner: string;
  readonly created: string;
}

interface Seeds {
  readonly schedules: readonly (Owned & {
    readonly ref: string;
    readonly cron: string;
    readonly cron_timezone: string;
    readonly active: boolean;
    readonly variables: Variable[];
  })[];
  readonly triggers: readonly Owned[];
  readonly resource_groups: readonly {
    readonly id: number;
    readonly project: string;
    readonly key: string;
    readonly process_mode: string;
    readonly created: string;
  }[];
  readonly pipelines: readonly SeedPipeline[];
}

const plus = (date: string, seconds: number) => new Date(Date.parse(date) + seconds * 1000).toISOString();
const userOf = (world: World, username: string): User | undefined => world.users.find((user) => user.username === username);

const SECONDS: Readonly<Record<string, number>> = {
  build: 64,
  lint: 38,
  "unit-tests": 171,
  audit: 9,
  e2e: 143,
  "docker-image": 92,
  "deploy-staging": 155,
};

interface Run {
  readonly world: World;
  readonly project: Project;
  readonly seed: SeedPipeline;
  readonly user: User;
  readonly sha: string;
}

function seedJob(run: Run, pipeline: Pipeline, config: JobConfig, outcome: Outcome, from: string, allowFailure: boolean): Job {
  const { world } = run;
  const seconds = outcome.seconds ?? SECONDS[config.name] ?? 30;
  const started = ["running", "success", "failed", "canceled"].includes(outcome.status);
  const over = started && outcome.status !== "running";
  const log = outcome.log === undefined ? undefined : SEEDED_LOGS[outcome.log];
  const job: Job = {
    id: world.nextId("job"),
    project_id: pipeline.project_id,
    pipeline_id: pipeline.id,
    name: config.name,
    stage: config.stage,
    status: outcome.status,
    allow_failure: allowFailure,
    manual: config.when === "manual",
    tag_list: config.tags,
    created_at: pipeline.created_at,
    started_at: started ? from : null,
    finished_at: over ? plus(from, seconds) : null,
    erased_at: null,
    duration: over ? seconds : null,
    queued_duration: started ? 2.4 : null,
    coverage: config.name === "unit-tests" && over ? 86.4 : null,
    failure_reason: outcome.status === "failed" ? (outcome.reason ?? (config.trigger ? "unknown_failure" : "script_failure")) : null,
    user_id: pipeline.user_id,
    artifacts: over ? artifactsOf(config) : [],
    artifacts_expire_at: over && config.artifacts.length > 0 ? plus(from, 7 * 86_400) : null,
    log: () => (log ? remembered(job, log) : jobLog(job, config.script)),
    retried: false,
    bridge: config.trigger !== null,
    downstream_id: null,
    resource_group: config.resource_group,
  };
  ciOf(world).jobs.push(job);
  if (config.trigger && started) seedChild(run, pipeline, job, config.trigger, outcome);
  return job;
}

const written = new WeakMap<Job, string>();

/** Long logs are written once; lists ask for their size again and again. */
function remembered(job: Job, write: (job: Job) => string): string {
  const text = written.get(job) ?? write(job);
  written.set(job, text);
  return text;
}

function seedChild(run: Run, parent: Pipeline, bridge: Job, file: string, outcome: Outcome): void {
  const at = bridge.started_at ?? parent.created_at;
  const child = seedJobs(run, file, outcome.child?.outcomes ?? {}, outcome.status, plus(at, 1), parent);
  bridge.downstream_id = child.id;
}

/** A pipeline with the jobs of its file, each with the outcome that the seeds name, or success. */
function seedJobs(
  run: Run,
  file: string,
  outcomes: Readonly<Record<string, Outcome>>,
  status: Status,
  at: string,
  parent?: Pipeline,
): Pipeline {
  const { world, project, seed, user, sha } = run;
  const config = configAt(world, project, sha, file) ?? {
    stages: [],
    jobs: [],
    errors: ["Missing CI config file"],
    warnings: [],
    name: null,
  };
  const source = parent ? "parent_pipeline" : seed.source;
  const draft = { ref: seed.ref, sha, tag: seed.tag ?? false, source, user, ...(parent ? { parent } : {}) };
  const schedule = ciOf(world).schedules.find((row) => row.project_id === project.id && row.description === seed.schedule);
  const pipeline: Pipeline = {
    ...newPipeline(world, project, draft, config),
    created_at: at,
    updated_at: at,
    status,
    schedule_id: schedule?.id ?? null,
    variables: parent ? [] : (schedule?.variables ?? []),
  };
  ciOf(world).pipelines.push(pipeline);
  const values = variablesOf({ ...draft, defaultBranch: project.default_branch }, pipeline.variables);
  let from = plus(at, 5);
  for (const stage of config.stages) {
    const here = config.errors.length > 0 ? [] : config.jobs.filter((job) => job.stage === stage);
    const made = here.flatMap((job) => {
      const place = placed(job, values);
      return place ? [seedJob(run, pipeline, job, outcomes[job.name] ?? { status: "success" }, from, place.allow_failure)] : [];
    });
    const ends = made.flatMap(({ finished_at }) => finished_at ?? []);
    from = ends.length > 0 ? plus(ends.sort().at(-1) ?? from, 2) : from;
  }
  close(pipeline, from);
  return pipeline;
}

function close(pipeline: Pipeline, end: string): void {
  pipeline.started_at = pipeline.yaml_errors ? null : plus(pipeline.created_at, 5);
  pipeline.queued_duration = pipeline.yaml_errors ? null : 5;
  if (ACTIVE.includes(pipeline.status)) return;
  const finished = pipeline.yaml_errors ? pipeline.created_at : end;
  Object.assign(pipeline, { finished_at: finished, updated_at: finished });
  if (pipeline.started_at) pipeline.duration = Math.round((Date.parse(finished) - Date.parse(pipeline.started_at)) / 1000);
}

/** What the test job of a pipeline reported. */
function testsOf(world: World, pipeline: Pipeline): TestSuite[] {
  const job = ciOf(world).jobs.find((row) => row.pipeline_id === pipeline.id && row.name === "unit-tests" && row.finished_at);
  if (!job) return [];
  const failed = job.status === "failed";
  const row = (file: string, name: string, bad = false) => ({
    status: bad ? ("failed" as const) : ("success" as const),
    name,
    classname: file,
    file,
    execution_time: 0.004,
    system_output: bad ? "AssertionError: expected 2 to be 3 // Object.is equality" : null,
    stack_trace: null,
  });
  const cases = [
    row("test/cart.test.ts", "adding twice adds up"),
    row("test/cart.test.ts", "a line can be removed"),
    row("test/money.test.ts", "adds only the same currency"),
    row("test/money.test.ts", "rounds half cents to even", failed),
    row("test/session.test.ts", "a cookie comes back"),
  ];
  return [{ name: "unit-tests", build_id: job.id, cases }];
}

function seedPipeline(world: World, seed: SeedPipeline): void {
  const project = lookUpProject(world, seed.project);
  const sha = seededCommits(world).get(`${seed.project} ${seed.commit}`);
  const user = userOf(world, seed.by);
  if (!project || !sha || !user) return;
  const pipeline = seedJobs({ world, project, seed, user, sha }, ".gitlab-ci.yml", seed.outcomes ?? {}, seed.status, seed.at);
  Object.assign(pipeline, { tests: testsOf(world, pipeline) });
}

function seedSettings(world: World, seeds: Seeds): void {
  const state = ciOf(world);
  const place = (row: { readonly project: string }) => lookUpProject(world, row.project)?.id;
  for (const row of seeds.schedules) {
    const project_id = place(row);
    if (project_id === undefined) continue;
    const { id, description, ref, cron, cron_timezone, active } = row;
    const owner_id = userOf(world, row.owner)?.id ?? 1;
    state.schedules.push({
      id,
      project_id,
      description,
      ref,
      cron,
      cron_timezone,
      active,
      owner_id,
      created_at: row.created,
      updated_at: row.created,
      variables: row.variables,
    });
    world.usedId("pipeline-schedule", id);
  }
  for (const { id, description, owner, created, ...row } of seeds.triggers) {
    const project_id = place(row);
    if (project_id === undefined) continue;
    const owner_id = userOf(world, owner)?.id ?? 1;
    state.triggers.push({
      id,
      project_id,
      description,
      token: `glptt-sandbox-trigger-${id}`,
      owner_id,
      created_at: created,
      updated_at: created,
      last_used: null,
    });
    world.usedId("trigger", id);
  }
  for (const { id, key, process_mode, created, ...row } of seeds.resource_groups) {
    const project_id = place(row);
    if (project_id !== undefined)
      state.resourceGroups.push({ id, project_id, key, process_mode, created_at: created, updated_at: created });
  }
}

/** Pushes start pipelines from now on, and commits know their last one. */
function followPushes(world: World): void {
  const links = repositoryLinks(world);
  links.pushed.push((where, push) => {
    if (push.after === undefined) return;
    const { project, ref, tag, user, before, after } = push;
    const message = repositoryOf(where, project).git.commits.get(after)?.message ?? "";
    if (/\[(ci skip|skip ci)\]/i.test(message)) return;
    startPipeline(where, project, { ref, tag, user, sha: after, source: "push", ...(before ? { before } : {}) });
  });
  links.lastPipeline = (where, project, sha) => {
    const pipeline = pipelineFor(where, project, sha);
    return pipeline && pipelineBasic(where, pipeline);
  };
}

/** The seeded pipelines, schedules and triggers. Runs after the repositories are filled. */
export function seedCi(world: World): void {
  const seeds = fixture<Seeds>("ci");
  world.usedId("pipeline", 4810);
  world.usedId("job", 93_200);
  seedSettings(world, seeds);
  for (const seed of seeds.pipelines) seedPipeline(world, seed);
  followPushes(world);
}
