import PQueue from "p-queue";
import type { Call, CallContext } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { tellingLines } from "./composite-log.ts";
import {
  attempt,
  type Composite,
  compact,
  type Fields,
  number,
  only,
  stopIfCancelled,
  text,
  toItems,
  toText,
  toValue,
} from "./composite-read.ts";
import { estimateJson } from "./tokens.ts";

/** Statuses of a pipeline that ran to an end. A skipped one never ran; a manual one waits. */
const FINISHED = new Set(["success", "failed", "canceled"]);

/** Reasons that lie in the machinery and not in the job's script. */
const RUNNER =
  /runner|stuck|scheduler|system|data_integrity|stale_schedule|api_failure|image_pull|no_matching|archived|quota|environment_creation|unmet_prerequisites/;

const MOST_LOGS = 6;
const DEPTH = 2;
const LINES = 25;
/** Tokens of an answer: what a caller can read at a glance. */
const MOST = 2_400;

interface Job {
  readonly job: Fields;
  readonly project: string;
  /** Id of the child pipeline that it belongs to; absent = the pipeline itself. */
  readonly pipeline?: number;
  lines?: readonly string[];
  /** Id of an earlier job whose log tells the same. */
  like?: number;
  readonly missing: string[];
}

interface Tree {
  readonly jobs: Job[];
  readonly children: Record<string, unknown>[];
  readonly missing: string[];
}

const read = (call: Call, id: string, params: Fields) => call.run(id, { ...params, full: true });

const idOf = (value: Fields): number => number(value, "id") ?? 0;

interface Chosen {
  readonly pipeline: Fields;
  readonly ref?: string;
  readonly newer?: Fields;
}

async function defaultBranch(call: Call, project: string): Promise<string> {
  const ref = text(toValue(await read(call, "project.get", { project_id: project })), "default_branch");
  if (ref !== undefined) return ref;
  throw new BridgeError(
    "not_found",
    `${project} has no default branch: its repository is empty.`,
    "Give ref or pipeline_id, if there is one.",
  );
}

/** The pipeline that was asked for: by its id, or the latest that finished on the branch. */
async function choosePipeline(call: Call, project: string): Promise<Chosen> {
  const given = call.params.pipeline_id;
  if (typeof given === "number")
    return { pipeline: toValue(await read(call, "pipeline.get", { project_id: project, pipeline_id: given })) };
  const ref = typeof call.params.ref === "string" ? call.params.ref : await defaultBranch(call, project);
  const recent = toItems(await read(call, "pipeline.list", { project_id: project, ref, limit: 20 }));
  const done = recent.find((pipeline) => FINISHED.has(text(pipeline, "status") ?? ""));
  const found = done ?? toItems(await read(call, "pipeline.list", { project_id: project, ref, scope: "finished", limit: 1 }))[0];
  if (!found) {
    const state = recent[0] ? `its latest is ${text(recent[0], "status")}` : "it has none";
    throw new BridgeError(
      "not_found",
      `No pipeline of ${ref} in ${project} has finished: ${state}.`,
      "Try again later, or give another ref or a pipeline_id.",
    );
  }
  const newer = recent.find((pipeline) => idOf(pipeline) > idOf(found));
  const pipeline = toValue(await read(call, "pipeline.get", { project_id: project, pipeline_id: idOf(found) }));
  return { pipeline: { ...found, ...pipeline }, ref, ...(newer ? { newer } : {}) };
}

/** Failed jobs of a pipeline and of its child pipelines, two levels down. */
async function collect(call: Call, project: string, id: number, depth: number, tree: Tree, allowed = false): Promise<void> {
  const where = { project_id: project, pipeline_id: id, limit: 100 };
  const jobs = await attempt("jobs", () => read(call, "pipeline.job_list", { ...where, scope: ["failed"] }), tree.missing);
  const child = depth > 0 ? { pipeline: id } : {};
  for (const job of toItems(jobs)) tree.jobs.push({ job: allowed ? { ...job, allow_failure: true } : job, project, ...child, missing: [] });
  const bridges = await attempt("child pipelines", () => read(call, "pipeline.bridge_list", where), tree.missing);
  for (const bridge of toItems(bridges)) await followBridge(call, project, bridge, depth, tree, allowed);
}

async function followBridge(call: Call, project: string, bridge: Fields, depth: number, tree: Tree, above: boolean): Promise<void> {
  const downstream = number(bridge, "downstream_pipeline.id");
  const status = text(bridge, "downstream_pipeline.status");
  const failed = text(bridge, "status") === "failed" || status === "failed";
  const allowed = above || bridge.allow_failure === true;
  if (!failed) return;
  if (downstream === undefined) {
    tree.jobs.push({ job: allowed ? { ...bridge, allow_failure: true } : bridge, project, missing: ["it started no pipeline"] });
    return;
  }
  tree.children.push(
    compact({
      id: downstream,
      status,
      started_by: text(bridge, "name"),
      web_url: text(bridge, "downstream_pipeline.web_url"),
      ...(allowed ? { allow_failure: true } : {}),
    }),
  );
  if (status !== "failed" || depth >= DEPTH) return;
  const other = number(bridge, "downstream_pipeline.project_id");
  await collect(call, other === undefined ? project : String(other), downstream, depth + 1, tree, allowed);
}

const isAllowed = ({ job }: Job) => job.allow_failure === true;
const isRunner = ({ job }: Job) => RUNNER.test(text(job, "failure_reason") ?? "");

/** Reads the logs of the jobs that tell most: failed scripts first, then what the runner did. */
async function readLogs(call: Call, context: CallContext, jobs: readonly Job[]): Promise<void> {
  const own = jobs.filter((job) => job.missing.length === 0);
  const chosen = [...own.filter((job) => !isRunner(job)), ...own.filter(isRunner)].slice(0, MOST_LOGS);
  const queue = new PQueue({ concurrency: 4 });
  let done = 0;
  const readOne = async (job: Job) => {
    stopIfCancelled(context);
    const where = { project_id: job.project, job_id: idOf(job.job) };
    const log = toText(await attempt("log", () => read(call, "job.log_get", where), job.missing));
    job.lines = tellingLines(log, LINES);
    context.progress?.({ progress: ++done, total: chosen.length, message: `log of ${text(job.job, "name") ?? "job"}` });
  };
  await Promise.all(chosen.map((job) => queue.add(() => readOne(job))));
  markAlike(chosen);
}

/** Shards of one job often fail with the same words: they are shown once. */
function markAlike(jobs: readonly Job[]): void {
  const first = new Map<string, number>();
  for (const job of jobs) {
    const words = (job.lines ?? []).join("\n");
    const earlier = first.get(words);
    if (words !== "" && earlier !== undefined) job.like = earlier;
    else first.set(words, idOf(job.job));
  }
}

function toJob(job: Job, lines: number): Record<string, unknown> {
  const shown = lines > 0 && job.lines?.length ? { log: strongest(job.lines, lines) } : {};
  const log = job.like === undefined ? shown : { log_like_job: job.like };
  const missing = job.missing.length > 0 ? { missing: job.missing.join("; ") } : {};
  const pipeline = job.pipeline === undefined ? {} : { pipeline: job.pipeline };
  return { ...only(job.job, ["id", "name", "stage", "failure_reason", "web_url"]), ...pipeline, ...log, ...missing };
}

/** Fewer lines of a log that was chosen already: chosen again, by the same signs. */
const strongest = (lines: readonly string[], max: number): readonly string[] =>
  lines.length <= max ? lines : tellingLines(lines.join("\n"), max);

function summarize(chosen: Chosen, hard: readonly Job[], tree: Tree): string {
  const { pipeline } = chosen;
  const status = text(pipeline, "status");
  const name = `Pipeline ${idOf(pipeline)}${text(pipeline, "ref") ? ` of ${text(pipeline, "ref")}` : ""}`;
  if (status === "success") return `${name} did not fail: it passed.`;
  if (status !== "failed") return `${name} did not fail: it is ${status}.`;
  if (text(pipeline, "yaml_errors")) return `${name} failed before any job ran: its configuration is not valid.`;
  const names = hard.map(({ job }) => text(job, "name"));
  const shown = names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");
  if (names.length > 0) return `${name} failed because of ${names.length === 1 ? "one job" : `${names.length} jobs`}: ${shown}.`;
  return tree.children.length > 0 ? `${name} failed because of a child pipeline.` : `${name} failed, but no failed job can be read.`;
}

const PIPELINE = ["id", "status", "ref", "sha", "source", "finished_at", "web_url", "yaml_errors"];

function toAnswer(chosen: Chosen, tree: Tree, lines: number, most: number): Fields {
  const { pipeline, newer } = chosen;
  const hard = tree.jobs.filter((job) => !isAllowed(job));
  const scripts = hard.filter((job) => !isRunner(job));
  const machinery = hard.filter(isRunner);
  const allowed = tree.jobs.filter(isAllowed);
  const part = (name: string, jobs: readonly unknown[]) => (jobs.length > 0 ? { [name]: jobs } : {});
  const left = [scripts, machinery, allowed].reduce((sum, jobs) => sum + Math.max(0, jobs.length - most), 0);
  return {
    summary: summarize(chosen, hard, tree),
    failed: text(pipeline, "status") === "failed",
    pipeline: only(pipeline, PIPELINE),
    ...(newer ? { newer: { ...only(newer, ["id", "status", "web_url"]), note: "not finished yet" } } : {}),
    ...part(
      "jobs",
      scripts.slice(0, most).map((job) => toJob(job, lines)),
    ),
    ...part(
      "runner_failures",
      machinery.slice(0, most).map((job) => toJob(job, Math.min(lines, 6))),
    ),
    ...part(
      "allowed_failures",
      allowed.slice(0, most).map((job) => toJob(job, 0)),
    ),
    ...part("child_pipelines", tree.children.slice(0, 10)),
    ...(left > 0 ? { more_failed_jobs: left } : {}),
    ...part("missing", tree.missing),
  };
}

/** The fullest answer that fits: fewer lines for each job first, then fewer jobs. */
function toSize(chosen: Chosen, tree: Tree, room: number): Fields {
  const sizes = [
    [LINES, 20],
    [16, 20],
    [10, 20],
    [6, 15],
    [4, 10],
    [2, 6],
    [0, 5],
  ] as const;
  const answers = sizes.map(
    ([lines, most]) =>
      () =>
        toAnswer(chosen, tree, lines, most),
  );
  let answer: Fields = {};
  for (const make of answers) {
    answer = make();
    if (estimateJson(answer) <= Math.min(MOST, room)) break;
  }
  return answer;
}

/** Why a pipeline failed, in one answer (TASKS.md, task 2). */
export const explainFailure: Composite = async (call, context, room) => {
  const project = String(call.params.project_id);
  const chosen = await choosePipeline(call, project);
  const tree: Tree = { jobs: [], children: [], missing: [] };
  const failed = text(chosen.pipeline, "status") === "failed";
  stopIfCancelled(context);
  if (failed && !text(chosen.pipeline, "yaml_errors")) {
    context.progress?.({ progress: 0, message: "failed jobs" });
    await collect(call, project, idOf(chosen.pipeline), 0, tree);
    await readLogs(
      call,
      context,
      tree.jobs.filter((job) => !isAllowed(job)),
    );
  }
  const hint = failed ? { hint: "job.log_get reads a whole log; job.retry runs one job again." } : {};
  return { kind: "value", value: toSize(chosen, tree, room), project, untrusted: true, ...hint };
};
