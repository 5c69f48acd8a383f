import { requireRole } from "./access.ts";
import { jobJson } from "./ci-json.ts";
import { ciProject, jobScope, notPlayable } from "./ci-pipelines.ts";
import { advance, finishJob, retryJob } from "./ci-run.ts";
import { ACTIVE, ciOf, type Job, pipelinesOf } from "./ci-state.ts";
import { forbidden, notFound, unauthorized } from "./errors.ts";
import { required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { accepted, binary, created, del, get, noContent, ok, plain, post } from "./reply.ts";
import { zipOf } from "./repository-tar.ts";
import { type Behaviour, type Project, type Reply, type Request, ROLE, type User } from "./types.ts";

function findJob(request: Request, role: number = ROLE.none): { project: Project; job: Job } {
  const project = ciProject(request, role);
  const job = ciOf(request.world).jobs.find(
    (row) => row.project_id === project.id && String(row.id) === request.params.job_id && !row.bridge,
  );
  if (!job) throw notFound();
  return { project, job };
}

function list(request: Request): Reply {
  const project = ciProject(request);
  const scope = jobScope(request);
  const jobs = ciOf(request.world)
    .jobs.filter((job) => job.project_id === project.id && !job.bridge && (!scope || scope.includes(job.status)))
    .sort((a, b) => b.id - a.id);
  return paged(request, jobs, (job) => jobJson(request.world, job), { keyset: { key: (job) => job.id }, uncounted: true });
}

function trace(request: Request): Reply {
  const { job } = findJob(request);
  return plain(job.started_at && !job.erased_at ? job.log() : "");
}

function retry(request: Request): Reply {
  const { job } = findJob(request, ROLE.developer);
  if (job.retried || ACTIVE.includes(job.status) || job.status === "manual" || job.status === "skipped")
    throw forbidden("Job is not retryable");
  return created(jobJson(request.world, retryJob(request.world, job, request.user as User)));
}

function play(request: Request): Reply {
  const { job } = findJob(request, ROLE.developer);
  if (job.status !== "manual" && job.status !== "scheduled") throw notPlayable();
  job.status = "pending";
  job.user_id = (request.user as User).id;
  const pipeline = ciOf(request.world).pipelines.find(({ id }) => id === job.pipeline_id);
  if (pipeline) advance(request.world, pipeline);
  return ok(jobJson(request.world, job));
}

function cancel(request: Request): Reply {
  const { job } = findJob(request, ROLE.developer);
  if (!ACTIVE.includes(job.status)) throw forbidden("Job is not cancelable");
  finishJob(request.world, job, "canceled");
  return created(jobJson(request.world, job));
}

/** Maintainers erase what they like, developers what they started themselves. */
function erase(request: Request): Reply {
  const { job, project } = findJob(request, ROLE.developer);
  if (job.user_id !== request.user?.id) requireRole(request, project, ROLE.maintainer);
  if (ACTIVE.includes(job.status) || job.erased_at) throw forbidden("Job is not erasable!");
  job.erased_at = request.world.now();
  job.artifacts = [];
  job.log = () => "";
  return created(jobJson(request.world, job));
}

const archive = (job: Job) => job.artifacts.filter(({ file_type }) => file_type === "archive");

function zipped(job: Job): Reply {
  const files = archive(job);
  if (files.length === 0) throw notFound();
  return binary(zipOf(files), "application/octet-stream", { "Content-Disposition": 'attachment; filename="artifacts.zip"' });
}

function oneFile(job: Job, path: string): Reply {
  const file = archive(job).find((row) => row.path === decodeURIComponent(path));
  if (!file) throw notFound();
  return binary(file.content, "application/octet-stream", { "Content-Disposition": `attachment; filename="${path.split("/").at(-1)}"` });
}

function dropArtifacts(request: Request): Reply {
  const { job } = findJob(request, ROLE.maintainer);
  job.artifacts = [];
  return noContent();
}

function dropAll(request: Request): Reply {
  const project = ciProject(request, ROLE.maintainer);
  for (const job of ciOf(request.world).jobs) if (job.project_id === project.id && job.artifacts_expire_at) job.artifacts = [];
  return accepted();
}

function keep(request: Request): Reply {
  const { job } = findJob(request, ROLE.developer);
  if (archive(job).length === 0) throw notFound();
  job.artifacts_expire_at = null;
  return ok(jobJson(request.world, job));
}

function artifactTree(request: Request): Reply {
  const { job } = findJob(request);
  const files = archive(job);
  if (files.length === 0) throw notFound();
  const base = (text(request.query, "path") ?? "").replace(/\/$/, "");
  const inside = files.filter(({ path }) => base === "" || path.startsWith(`${base}/`));
  const names = new Map<string, { name: string; path: string; type: string; size?: number; mode: string }>();
  for (const file of inside) {
    const rest = base === "" ? file.path : file.path.slice(base.length + 1);
    const [name = ""] = rest.split("/");
    const path = base === "" ? name : `${base}/${name}`;
    if (rest.includes("/")) names.set(name, { name, path: `${path}/`, type: "directory", mode: "040755" });
    else names.set(name, { name, path, type: "file", size: file.content.length, mode: "100644" });
  }
  return paged(request, [...names.values()], (row) => row);
}

/** The newest successful job of a name on a branch or tag. */
function jobByRef(request: Request): Job {
  const project = ciProject(request);
  required(request, "job");
  const pipelines = pipelinesOf(request.world, project).filter((row) => row.ref === request.params.ref_name && row.status === "success");
  const found = pipelines.flatMap((pipeline) => ciOf(request.world).jobs.filter((job) => job.pipeline_id === pipeline.id && !job.retried));
  const job = found.find((row) => row.name === text(request.query, "job") && archive(row).length > 0);
  if (!job) throw notFound();
  return job;
}

function current(request: Request): Reply {
  const job = ciOf(request.world).jobs.find(({ id }) => request.token?.kind === "job" && id === request.token.job_id);
  if (!job) throw unauthorized();
  return ok(jobJson(request.world, job));
}

const ALL = "/projects/{project_id}/jobs";
const ONE = `${ALL}/{job_id}`;

export const jobBehaviours: readonly Behaviour[] = [
  get("/job", current, { jobToken: true }),
  get(
    "/job/allowed_agents",
    (request) => {
      const { id } = current(request).json as { id: number };
      return ok({ allowed_agents: [], job: { id }, pipeline: null, project: null, user: null });
    },
    { jobToken: true },
  ),
  get(ALL, list),
  get(ONE, (request) => ok(jobJson(request.world, findJob(request).job))),
  get(`${ONE}/trace`, trace),
  post(`${ONE}/retry`, retry),
  post(`${ONE}/play`, play),
  post(`${ONE}/cancel`, cancel),
  post(`${ONE}/erase`, erase),
  get(`${ONE}/artifacts`, (request) => zipped(findJob(request).job), { jobToken: true }),
  get(`${ONE}/artifacts/tree`, artifactTree),
  get(`${ONE}/artifacts/{artifact_path*}`, (request) => oneFile(findJob(request).job, request.params.artifact_path ?? ""), {
    jobToken: true,
  }),
  post(`${ONE}/artifacts/keep`, keep),
  del(`${ONE}/artifacts`, dropArtifacts),
  del("/projects/{project_id}/artifacts", dropAll),
  get(`${ALL}/artifacts/{ref_name}/download`, (request) => zipped(jobByRef(request)), { jobToken: true }),
  get(`${ALL}/artifacts/{ref_name}/raw/{artifact_path*}`, (request) => oneFile(jobByRef(request), request.params.artifact_path ?? ""), {
    jobToken: true,
  }),
];
