import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { attempt, type Composite, compact, type Fields, number, only, text, toItems, toValue } from "./composite-read.ts";

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 600;
/** Seconds before the second, third … look; the last one stays. */
const PAUSES = [2, 3, 5, 8, 12, 15];

const FINISHED = new Set(["success", "failed", "canceled", "skipped"]);

/** What is waited for: how it is read, and what is said of it at the end. */
interface Waited {
  readonly name: string;
  readonly read: () => Promise<Fields>;
  readonly tell: (state: Fields) => Promise<Fields>;
  readonly after: string;
}

/** Resolves after the time, or as soon as the call is cancelled. */
function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1_000);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

function stopIfCancelled(context: CallContext, name: string): void {
  if (!context.signal.aborted) return;
  throw new BridgeError("cancelled", `Waiting for ${name} was cancelled.`, `${name} goes on in GitLab; only the waiting has ended.`);
}

function limitOf({ params }: Call): number {
  const seconds = typeof params.timeout === "number" ? params.timeout : DEFAULT_SECONDS;
  if (seconds >= 0 && seconds <= MOST_SECONDS) return seconds;
  const problem = `expected 0 to ${MOST_SECONDS} seconds, got ${seconds}`;
  const hint = "Nothing was read. Wait in several calls for what takes longer.";
  throw new BridgeError("invalid_params", `timeout: ${problem}`, hint, { fields: { timeout: problem } });
}

interface Seen {
  readonly state: Fields;
  readonly seconds: number;
}

/** Looks at growing intervals until it is finished, waits for a person, or the time is over. */
async function watch(waited: Waited, limit: number, context: CallContext): Promise<Seen> {
  const start = Date.now();
  for (let look = 0; ; look++) {
    stopIfCancelled(context, waited.name);
    const state = await waited.read();
    const status = text(state, "status") ?? "unknown";
    const seconds = Math.round((Date.now() - start) / 1_000);
    context.progress?.({ progress: Math.min(seconds, limit), total: limit, message: `${waited.name} is ${status}` });
    if (FINISHED.has(status) || status === "manual" || seconds >= limit) return { state, seconds };
    await pause(Math.min(PAUSES[look] ?? PAUSES.at(-1) ?? 15, limit - seconds), context.signal);
  }
}

function hintOf(status: string | undefined, waited: Waited): string {
  if (status === "manual") return `${waited.name} waits for a person to start a manual job (job.play).`;
  if (status === "failed") return waited.after;
  if (FINISHED.has(status ?? "")) return "";
  return "Not finished within the time: call again to go on waiting, with a longer timeout.";
}

async function waitFor(waited: Waited, call: Call, context: CallContext): Promise<Outcome> {
  const { state, seconds } = await watch(waited, limitOf(call), context);
  const status = text(state, "status");
  const hint = hintOf(status, waited);
  return {
    kind: "value",
    value: {
      ...only(state, ["id", "name", "status"]),
      finished: FINISHED.has(status ?? ""),
      waited_seconds: seconds,
      ...(await waited.tell(state)),
    },
    project: String(call.params.project_id),
    ...(hint === "" ? {} : { hint }),
  };
}

async function pipelineId(call: Call, project_id: unknown): Promise<number> {
  if (typeof call.params.pipeline_id === "number") return call.params.pipeline_id;
  const ref = call.params.ref === undefined ? {} : { ref: call.params.ref };
  return number(toValue(await call.run("pipeline.latest_get", { project_id, ...ref, full: true })), "id") ?? 0;
}

/** Waits until a pipeline has come to its end; names the jobs that failed. */
export const waitForPipeline: Composite = async (call, context) => {
  const { project_id } = call.params;
  const where = { project_id, pipeline_id: await pipelineId(call, project_id) };
  return await waitFor(
    {
      name: `pipeline ${where.pipeline_id}`,
      read: async () => toValue(await call.run("pipeline.get", { ...where, full: true })),
      async tell(state) {
        const about = only(state, ["ref", "sha", "duration", "web_url"]);
        if (text(state, "status") !== "failed") return about;
        const jobs = await attempt(
          "jobs",
          () => call.run("pipeline.job_list", { ...where, scope: ["failed"], limit: 100, full: true }),
          [],
        );
        const names = (allowed: boolean) =>
          toItems(jobs).flatMap((job) => ((job.allow_failure === true) === allowed ? (text(job, "name") ?? []) : []));
        return compact({ ...about, failed_jobs: names(false), allowed_failures: names(true).length > 0 ? names(true) : undefined });
      },
      after: "pipeline.explain_failure shows why it failed.",
    },
    call,
    context,
  );
};

/** Waits until a job has come to its end. */
export const waitForJob: Composite = async (call, context) => {
  const where = { project_id: call.params.project_id, job_id: call.params.job_id };
  return await waitFor(
    {
      name: `job ${String(where.job_id)}`,
      read: async () => toValue(await call.run("job.get", { ...where, full: true })),
      tell: async (state) => only(state, ["stage", "ref", "failure_reason", "duration", "web_url"]),
      after: "job.log_get with errors: true shows the telling lines of its log.",
    },
    call,
    context,
  );
};
