import { ciProject } from "./ci-pipelines.ts";
import { ciOf, type Job, pipelinesOf } from "./ci-state.ts";
import { userBasic } from "./entities.ts";
import { badParams, notFound } from "./errors.ts";
import { resolveRef } from "./git.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, get, post } from "./reply.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User, type World } from "./types.ts";

/** A status that something outside has reported for a commit. */
interface Reported {
  readonly id: number;
  readonly project_id: number;
  readonly sha: string;
  ref: string;
  status: string;
  readonly name: string;
  target_url: string | null;
  description: string | null;
  readonly created_at: string;
  author_id: number;
}

const reported = (world: World) => world.part("commit-statuses", (): Reported[] => []);

function reportedJson(world: World, row: Reported): Json {
  const done = ["success", "failed", "canceled"].includes(row.status);
  return {
    id: row.id,
    sha: row.sha,
    ref: row.ref,
    status: row.status,
    name: row.name,
    target_url: row.target_url,
    description: row.description,
    created_at: row.created_at,
    started_at: row.status === "pending" ? null : row.created_at,
    finished_at: done ? row.created_at : null,
    allow_failure: false,
    coverage: null,
    pipeline_id: null,
    author: userBasic(world, row.author_id),
  };
}

function jobStatus(world: World, sha: string, ref: string, job: Job): Json {
  const { id, status, name, created_at, started_at, finished_at, allow_failure, coverage, pipeline_id } = job;
  const common = {
    id,
    sha,
    ref,
    status,
    name,
    target_url: null,
    description: null,
    created_at,
    started_at,
    finished_at,
    allow_failure,
    coverage,
  };
  return { ...common, pipeline_id, author: userBasic(world, job.user_id) };
}

function list(request: Request): Reply {
  const { world, query } = request;
  const project = ciProject(request);
  const commit = resolveRef(repositoryOf(world, project).git, request.params.sha ?? "");
  if (!commit) throw notFound("Commit");
  const [ref, stage, name] = [text(query, "ref"), text(query, "stage"), text(query, "name")];
  const everything = flag(query, "all") ?? false;
  const jobs = pipelinesOf(world, project)
    .filter((pipeline) => pipeline.sha === commit.id && (!ref || pipeline.ref === ref))
    .flatMap((pipeline) =>
      ciOf(world)
        .jobs.filter((job) => job.pipeline_id === pipeline.id && (everything || !job.retried) && (!stage || job.stage === stage))
        .map((job) => jobStatus(world, commit.id, pipeline.ref, job)),
    );
  const own = reported(world).filter(
    (row) => row.project_id === project.id && row.sha === commit.id && (!ref || row.ref === ref) && !stage,
  );
  const rows = [...jobs, ...own.map((row) => reportedJson(world, row))].filter((row) => !name || row.name === name);
  return paged(request, rows, (row) => row);
}

const STATES = ["pending", "running", "success", "failed", "canceled", "skipped"] as const;

function set(request: Request): Reply {
  const { world, input } = request;
  const project = ciProject(request, ROLE.developer);
  const commit = resolveRef(repositoryOf(world, project).git, request.params.sha ?? "");
  if (!commit) throw notFound("Commit");
  required(request, "state");
  const status = oneOf(input, "state", STATES);
  if (!status) throw badParams("state is missing");
  const name = text(input, "name") ?? text(input, "context") ?? "default";
  const known = reported(world).find((row) => row.project_id === project.id && row.sha === commit.id && row.name === name);
  const row: Reported = known ?? {
    id: world.nextId("job"),
    project_id: project.id,
    sha: commit.id,
    ref: text(input, "ref") ?? project.default_branch ?? "",
    status,
    name,
    target_url: null,
    description: null,
    created_at: world.now(),
    author_id: (request.user as User).id,
  };
  row.status = status;
  row.target_url = text(input, "target_url") ?? row.target_url;
  row.description = text(input, "description") ?? row.description;
  if (!known) reported(world).push(row);
  return created(reportedJson(world, row));
}

export const statusBehaviours: readonly Behaviour[] = [
  get("/projects/{project_id}/repository/commits/{sha}/statuses", list),
  post("/projects/{project_id}/statuses/{sha}", set),
];
