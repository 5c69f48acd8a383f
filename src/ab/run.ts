import { environmentOf } from "./arms.ts";
import type { Counter } from "./count.ts";
import { isBudgetReached } from "./drivers/model-budget.ts";
import { type OpenHost, openHost } from "./host.ts";
import { type Journal, keyOf } from "./journal.ts";
import { judge, prepare } from "./judge.ts";
import { NoPath } from "./no-path.ts";
import { type Job, jobsOf, type Plan } from "./plan.ts";
import type { Arm, Refresh, Run, Task, Turn, World } from "./types.ts";

/** What runs stand on; handed in by whoever starts them. */
export interface Ground {
  /** An embedded GitLab for one worker. */
  openWorld(): Promise<World>;
  /** An empty folder in which servers start: no repository of the caller's shows in what they do. */
  readonly scratch: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly counter: Counter;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly last?: Run;
}

export interface RunOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

export interface Finished extends Progress {
  /** Why it ended before all runs were done. */
  readonly stopped?: string;
}

/** Tools that only look for tools, by their names without a prefix; those of other servers too. */
const DISCOVERY = /^(list_available_toolsets|get_toolset_tools|(enable|disable)_toolset|gitlab_find_action|(discover|search|find)_tools)$/;

const isDiscovery = ({ tool = "" }: Turn, { prefix = "" }: Arm) =>
  DISCOVERY.test(tool.startsWith(prefix) ? tool.slice(prefix.length) : tool);

const sum = (turns: readonly Turn[], of: (turn: Turn) => number): number => turns.reduce((total, turn) => total + of(turn), 0);

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function usageOf(turns: readonly Turn[]): Pick<Run, "usage"> {
  const counted = turns.flatMap(({ usage }) => usage ?? []);
  if (counted.length === 0) return {};
  const total = (name: "prompt" | "cached" | "completion") => counted.reduce((all, one) => all + one[name], 0);
  return { usage: { prompt: total("prompt"), cached: total("cached"), completion: total("completion") } };
}

/** How a run ended, beside what the host saw. */
interface End {
  readonly faults: readonly string[];
  readonly error?: string;
  readonly noPath?: boolean;
  readonly ms: number;
}

function toRun({ task, arm, driver, refresh, repeat, seed }: Job, host: OpenHost | undefined, end: End, counter: Counter): Run {
  const turns = host?.turns ?? [];
  const calls = turns.filter(({ tool }) => tool !== undefined);
  return {
    task: task.id,
    size: task.size,
    toolsets: task.toolsets,
    arm: arm.name,
    driver: driver.name,
    refresh,
    repeat,
    seed,
    success: end.error === undefined && end.faults.length === 0,
    faults: end.faults,
    ...(end.error === undefined ? {} : { error: end.error }),
    ...(end.noPath ? { no_path: true } : {}),
    first_list: host?.firstList ?? 0,
    prompt: sum(turns, ({ prompt }) => prompt),
    cached: sum(turns, ({ cached }) => cached),
    completion: sum(turns, ({ completion }) => completion),
    calls: calls.length,
    failed_calls: calls.filter(({ isError }) => isError).length,
    discovery_calls: calls.filter((turn) => isDiscovery(turn, arm)).length,
    ms: end.ms,
    enabled: [...(host?.enabled ?? [])],
    counter: counter.name,
    ...usageOf(turns),
    turns,
  };
}

const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });

type Asked = Pick<Task, "as" | "prompt">;

/** How a host is opened for a task under an arm. */
export const hostFor = (arm: Arm, { as: who = "maria", prompt }: Asked, refresh: Refresh, world: World, ground: Ground) => ({
  command: arm.command,
  env: environmentOf(arm, world, { who, refresh, caller: ground.environment, scratch: ground.scratch }),
  cwd: ground.scratch,
  counter: ground.counter,
  prompt,
  refresh,
});

/**
 * One task under one arm, from a fresh world to the verdict. What goes wrong in it is told in the run.
 * @throws where all runs are to end: the signal, or a budget that is used up.
 */
async function runJob(job: Job, plan: Plan, world: World, ground: Ground, stop: AbortSignal): Promise<Run> {
  const { task, arm, driver, refresh, seed } = job;
  const deadline = AbortSignal.timeout(plan.deadline);
  const signal = AbortSignal.any([stop, deadline]);
  const over = ended(signal);
  over.catch(() => {});
  let host: OpenHost | undefined;
  let start = performance.now();
  const ms = () => Math.round(performance.now() - start);
  try {
    world.reset();
    const before = await prepare(world, task);
    const options = { ...hostFor(arm, task, refresh, world, ground), maxCalls: plan.maxCalls, signal };
    host = await Promise.race([openHost(options), over]);
    start = performance.now();
    await Promise.race([driver.run(task, host, { arm, refresh, seed, signal, maxCalls: plan.maxCalls }), over]);
    const took = ms();
    const faults = await judge(world, task, before, host.said(), arm.writes ?? "yes");
    return toRun(job, host, { faults, ms: took }, ground.counter);
  } catch (error) {
    if (stop.aborted || isBudgetReached(error)) throw error;
    const why = deadline.aborted ? `took longer than ${plan.deadline / 1_000} s` : message(error);
    return toRun(job, host, { faults: [], error: why, noPath: error instanceof NoPath, ms: ms() }, ground.counter);
  } finally {
    await host?.close();
  }
}

/** Takes jobs until there are none, each worker in a world of its own. */
async function work(jobs: Job[], plan: Plan, ground: Ground, stop: AbortController, onRun: (run: Run) => void): Promise<void> {
  const world = await ground.openWorld();
  try {
    for (let job = jobs.shift(); job && !stop.signal.aborted; job = jobs.shift()) {
      onRun(await runJob(job, plan, world, ground, stop.signal));
    }
  } catch (error) {
    if (!stop.signal.aborted) stop.abort(error);
    throw error;
  } finally {
    await world.close();
  }
}

/** Runs what the journal does not hold yet. One line is written for each run as it ends; an end in between loses only what is under way. */
export async function runAll(plan: Plan, ground: Ground, journal: Journal, options: RunOptions): Promise<Finished> {
  const all = jobsOf(plan);
  const jobs = all.filter((job) => !journal.done.has(keyOf({ ...job, task: job.task.id, arm: job.arm.name, driver: job.driver.name })));
  let progress: Progress = { done: all.length - jobs.length, total: all.length, failed: 0 };
  options.onProgress(progress);
  const stop = new AbortController();
  const onSignal = () => stop.abort(options.signal.reason);
  options.signal.addEventListener("abort", onSignal, { once: true });
  const onRun = (run: Run) => {
    journal.add(run);
    progress = { done: progress.done + 1, total: all.length, failed: progress.failed + (run.success ? 0 : 1), last: run };
    options.onProgress(progress);
  };
  const workers = Array.from({ length: Math.min(options.workers, jobs.length) }, () => work(jobs, plan, ground, stop, onRun));
  const results = await Promise.allSettled(workers);
  options.signal.removeEventListener("abort", onSignal);
  const broken = results.find(({ status }) => status === "rejected");
  if (!broken) return progress;
  const reason: unknown = stop.signal.reason;
  if (options.signal.aborted || isBudgetReached(reason)) return { ...progress, stopped: message(reason) };
  throw reason;
}
