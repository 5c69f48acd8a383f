import {
  ciOf,
  type Job,
  type Pipeline,
  pipelineBasic,
  pipelineUrl,
  projectOf,
  type Schedule,
  type TestSuite,
  type Trigger,
} from "./ci-state.ts";
import { userBasic, userPublic } from "./entities.ts";
import { resolveRef } from "./git.ts";
import { commitJson } from "./repository-json.ts";
import { repositoryOf } from "./repository-state.ts";
import type { Json, World } from "./types.ts";

function detailedStatus(world: World, pipeline: Pipeline): Json {
  const allowed = ciOf(world).jobs.some(
    (job) => job.pipeline_id === pipeline.id && job.allow_failure && job.status === "failed" && !job.retried,
  );
  const warned = pipeline.status === "success" && allowed;
  const words = warned ? "Warning" : `${pipeline.status[0]?.toUpperCase()}${pipeline.status.slice(1)}`;
  const label = warned ? "passed with warnings" : pipeline.status === "success" ? "passed" : pipeline.status;
  return {
    icon: warned ? "status_warning" : `status_${pipeline.status}`,
    text: pipeline.status === "success" && !warned ? "Passed" : words,
    label,
    group: warned ? "success-with-warnings" : pipeline.status,
    tooltip: label,
    has_details: true,
    details_path: pipelineUrl(world, pipeline).slice(world.url.length),
    illustration: null,
    favicon: `${world.url}/assets/ci_favicons/favicon_status_${pipeline.status}.png`,
  };
}

export function pipelineFull(world: World, pipeline: Pipeline): Json {
  const commit = repositoryOf(world, projectOf(world, pipeline.project_id)).git.commits.get(pipeline.sha);
  return {
    ...pipelineBasic(world, pipeline),
    name: pipeline.name,
    before_sha: pipeline.before_sha,
    tag: pipeline.tag,
    yaml_errors: pipeline.yaml_errors,
    user: userBasic(world, pipeline.user_id),
    started_at: pipeline.started_at,
    finished_at: pipeline.finished_at,
    committed_at: commit?.committer.date ?? null,
    duration: pipeline.duration,
    queued_duration: pipeline.queued_duration,
    coverage: pipeline.coverage,
    detailed_status: detailedStatus(world, pipeline),
    archived: false,
  };
}

const RUNNER = {
  id: 7,
  description: "shared-runner-1",
  ip_address: "10.0.4.17",
  active: true,
  paused: false,
  is_shared: true,
  runner_type: "instance_type",
  name: "gitlab-runner",
  online: true,
  status: "online",
};

function artifactFields(job: Job): Json {
  const archive = job.artifacts.filter((file) => file.file_type === "archive");
  const size = archive.reduce((sum, file) => sum + file.content.length, 0);
  const log =
    job.started_at && !job.bridge
      ? [{ file_type: "trace", size: Buffer.byteLength(job.log()), filename: "job.log", file_format: null }]
      : [];
  const packed = archive.length > 0 ? [{ file_type: "archive", size, filename: "artifacts.zip", file_format: "zip" }] : [];
  return {
    ...(archive.length > 0 ? { artifacts_file: { filename: "artifacts.zip", size } } : {}),
    artifacts: [...packed, ...log],
    artifacts_expire_at: job.artifacts_expire_at,
  };
}

function jobCommon(world: World, job: Job): Json {
  const pipeline = ciOf(world).pipelines.find(({ id }) => id === job.pipeline_id);
  const project = projectOf(world, job.project_id);
  const commit = pipeline && resolveRef(repositoryOf(world, project).git, pipeline.sha);
  const user = world.users.find(({ id }) => id === job.user_id);
  return {
    id: job.id,
    status: job.status,
    stage: job.stage,
    name: job.name,
    ref: pipeline?.ref ?? null,
    tag: pipeline?.tag ?? false,
    coverage: job.coverage,
    allow_failure: job.allow_failure,
    created_at: job.created_at,
    started_at: job.started_at,
    finished_at: job.finished_at,
    erased_at: job.erased_at,
    duration: job.duration,
    queued_duration: job.queued_duration,
    user: user ? userPublic(world, user) : null,
    commit: commit ? commitJson(world, project, commit) : null,
    pipeline: pipeline ? pipelineBasic(world, pipeline) : null,
    ...(job.failure_reason ? { failure_reason: job.failure_reason } : {}),
    web_url: `${world.url}/${project.path_with_namespace}/-/jobs/${job.id}`,
    project: { ci_job_token_scope_enabled: false },
  };
}

export function jobJson(world: World, job: Job): Json {
  return {
    ...jobCommon(world, job),
    ...artifactFields(job),
    runner: job.started_at ? RUNNER : null,
    runner_manager: null,
    archived: false,
    tag_list: job.tag_list,
  };
}

export function bridgeJson(world: World, job: Job): Json {
  const child = ciOf(world).pipelines.find(({ id }) => id === job.downstream_id);
  return { ...jobCommon(world, job), downstream_pipeline: child ? pipelineBasic(world, child) : null };
}

/** The next time that a cron line fits, at minute steps within a year. */
export function nextRun(cron: string, from: string): string | null {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  const fits = (field: string, value: number) =>
    field.split(",").some((part) => {
      const [range = "*", step = "1"] = part.split("/");
      const [low, high] = range === "*" ? [0, 59] : [Number(range.split("-")[0]), Number(range.split("-")[1] ?? range.split("-")[0])];
      return value >= low && value <= high && (value - low) % Number(step) === 0;
    });
  const start = Math.floor(Date.parse(from) / 60_000) + 1;
  const dayFits = (at: Date) =>
    [at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCDay()].every((value, index) => fits(fields[index + 2] ?? "*", value));
  for (let minute = start; minute < start + 366 * 1440; ) {
    const at = new Date(minute * 60_000);
    if (!dayFits(at)) minute += 1440 - (minute % 1440);
    else if (fits(fields[1] ?? "*", at.getUTCHours()) && fits(fields[0] ?? "*", at.getUTCMinutes())) return at.toISOString();
    else minute += 1;
  }
  return null;
}

export function scheduleJson(world: World, schedule: Schedule): Json {
  return {
    id: schedule.id,
    description: schedule.description,
    ref: schedule.ref.startsWith("refs/") ? schedule.ref : `refs/heads/${schedule.ref}`,
    cron: schedule.cron,
    cron_timezone: schedule.cron_timezone,
    next_run_at: schedule.active ? nextRun(schedule.cron, world.now()) : null,
    active: schedule.active,
    created_at: schedule.created_at,
    updated_at: schedule.updated_at,
    owner: userBasic(world, schedule.owner_id),
    inputs: [],
  };
}

export function scheduleFull(world: World, schedule: Schedule, withValues: boolean): Json {
  const last = ciOf(world)
    .pipelines.filter((row) => row.schedule_id === schedule.id)
    .sort((a, b) => b.id - a.id)[0];
  return {
    ...scheduleJson(world, schedule),
    last_pipeline: last ? { id: last.id, sha: last.sha, ref: last.ref, status: last.status } : null,
    ...(withValues ? { variables: schedule.variables } : {}),
  };
}

export function triggerJson(world: World, trigger: Trigger, viewer: number | undefined): Json {
  return {
    id: trigger.id,
    token: viewer === trigger.owner_id ? trigger.token : trigger.token.slice(0, 4),
    description: trigger.description,
    created_at: trigger.created_at,
    updated_at: trigger.updated_at,
    last_used: trigger.last_used,
    expires_at: null,
    owner: userBasic(world, trigger.owner_id),
  };
}

function suiteCounts(suite: TestSuite): Record<string, number> {
  const count = (status: string) => suite.cases.filter((row) => row.status === status).length;
  const time = Number(suite.cases.reduce((sum, row) => sum + row.execution_time, 0).toFixed(3));
  return {
    total_time: time,
    total_count: suite.cases.length,
    success_count: count("success"),
    failed_count: count("failed"),
    skipped_count: count("skipped"),
    error_count: count("error"),
  };
}

const sumOf = (suites: readonly TestSuite[], name: string) =>
  Number(suites.reduce((sum, suite) => sum + (suiteCounts(suite)[name] ?? 0), 0).toFixed(3));

export function testReport(suites: readonly TestSuite[]): Json {
  const names = ["total_time", "total_count", "success_count", "failed_count", "skipped_count", "error_count"];
  const shown = suites.map((suite) => ({
    name: suite.name,
    ...suiteCounts(suite),
    suite_error: null,
    test_cases: suite.cases.map((row) => ({ ...row, recent_failures: null })),
  }));
  return { ...Object.fromEntries(names.map((name) => [name, sumOf(suites, name)])), test_suites: shown };
}

export function testSummary(suites: readonly TestSuite[]): Json {
  const total = {
    time: "total_time",
    count: "total_count",
    success: "success_count",
    failed: "failed_count",
    skipped: "skipped_count",
    error: "error_count",
  };
  return {
    total: { ...Object.fromEntries(Object.entries(total).map(([key, name]) => [key, sumOf(suites, name)])), suite_error: null },
    test_suites: suites.map((suite) => ({ name: suite.name, ...suiteCounts(suite), build_ids: [suite.build_id], suite_error: null })),
  };
}
