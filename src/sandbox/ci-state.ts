import type { Json, Project, World } from "./types.ts";

export type Status =
  | "created"
  | "waiting_for_resource"
  | "preparing"
  | "pending"
  | "running"
  | "success"
  | "failed"
  | "canceled"
  | "skipped"
  | "manual"
  | "scheduled";

/** Statuses that can still change by themselves. */
export const ACTIVE: readonly Status[] = ["created", "waiting_for_resource", "preparing", "pending", "running"];

export interface Artifact {
  readonly file_type: string;
  /** Path inside the archive. */
  readonly path: string;
  readonly content: Buffer;
}

export interface Job {
  readonly id: number;
  readonly project_id: number;
  readonly pipeline_id: number;
  readonly name: string;
  readonly stage: string;
  status: Status;
  readonly allow_failure: boolean;
  /** Runs only when somebody starts it. */
  readonly manual: boolean;
  readonly tag_list: readonly string[];
  readonly created_at: string;
  started_at: string | null;
  finished_at: string | null;
  erased_at: string | null;
  duration: number | null;
  queued_duration: number | null;
  coverage: number | null;
  failure_reason: string | null;
  user_id: number;
  artifacts: Artifact[];
  artifacts_expire_at: string | null;
  /** Made when it is read: some logs are long. */
  log: () => string;
  /** A newer job of the same name took its place. */
  retried: boolean;
  /** A trigger job; its log and artifacts stay empty. */
  readonly bridge: boolean;
  downstream_id: number | null;
  readonly resource_group: string | null;
}

export interface Variable {
  key: string;
  value: string;
  variable_type: string;
  raw?: boolean;
}

export interface Pipeline {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  name: string | null;
  readonly sha: string;
  readonly before_sha: string;
  readonly ref: string;
  readonly tag: boolean;
  status: Status;
  readonly source: string;
  readonly yaml_errors: string | null;
  readonly user_id: number;
  readonly created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  duration: number | null;
  queued_duration: number | null;
  coverage: string | null;
  readonly variables: readonly Variable[];
  readonly stages: readonly string[];
  /** A child belongs to a bridge of this pipeline; it is not in the project's list. */
  readonly parent_id: number | null;
  readonly schedule_id: number | null;
  readonly tests: readonly TestSuite[];
}

export interface TestCase {
  readonly status: "success" | "failed" | "skipped" | "error";
  readonly name: string;
  readonly classname: string;
  readonly file: string;
  readonly execution_time: number;
  readonly system_output: string | null;
  readonly stack_trace: string | null;
}

export interface TestSuite {
  readonly name: string;
  readonly build_id: number;
  readonly cases: readonly TestCase[];
}

export interface Schedule {
  readonly id: number;
  readonly project_id: number;
  description: string;
  ref: string;
  cron: string;
  cron_timezone: string;
  active: boolean;
  owner_id: number;
  readonly created_at: string;
  updated_at: string;
  variables: Variable[];
}

export interface Trigger {
  readonly id: number;
  readonly project_id: number;
  description: string;
  readonly token: string;
  readonly owner_id: number;
  readonly created_at: string;
  updated_at: string;
  last_used: string | null;
}

export interface CiState {
  readonly pipelines: Pipeline[];
  readonly jobs: Job[];
  readonly schedules: Schedule[];
  readonly triggers: Trigger[];
  /** Told when a pipeline has come to its end. */
  readonly finished: ((world: World, pipeline: Pipeline) => void)[];
  /** Settings of the job token, by project. */
  readonly tokenScopes: Map<number, { inbound_enabled: boolean; projects: number[]; groups: number[] }>;
  readonly resourceGroups: {
    readonly id: number;
    readonly project_id: number;
    readonly key: string;
    process_mode: string;
    readonly created_at: string;
    updated_at: string;
  }[];
}

export function ciOf(world: World): CiState {
  return world.part(
    "ci",
    (): CiState => ({ pipelines: [], jobs: [], schedules: [], triggers: [], finished: [], tokenScopes: new Map(), resourceGroups: [] }),
  );
}

/** Newest first, children left out. */
export function pipelinesOf(world: World, project: Project): Pipeline[] {
  return ciOf(world)
    .pipelines.filter((row) => row.project_id === project.id && row.parent_id === null)
    .sort((a, b) => b.id - a.id);
}

/** The newest pipeline of a commit. */
export function pipelineFor(world: World, project: Project, sha: string): Pipeline | undefined {
  return pipelinesOf(world, project).find((row) => row.sha === sha);
}

export const jobsOf = (world: World, pipeline: Pipeline): Job[] => ciOf(world).jobs.filter((job) => job.pipeline_id === pipeline.id);

export function projectOf(world: World, id: number): Project {
  const project = world.projects.find((row) => row.id === id);
  if (!project) throw new Error(`no project ${id}`);
  return project;
}

export const pipelineUrl = (world: World, pipeline: Pipeline) =>
  `${world.url}/${projectOf(world, pipeline.project_id).path_with_namespace}/-/pipelines/${pipeline.id}`;

/** A pipeline as it stands in lists. */
export function pipelineBasic(world: World, pipeline: Pipeline): Json {
  return {
    id: pipeline.id,
    iid: pipeline.iid,
    project_id: pipeline.project_id,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: pipeline.status,
    source: pipeline.source,
    created_at: pipeline.created_at,
    updated_at: pipeline.updated_at,
    web_url: pipelineUrl(world, pipeline),
  };
}
