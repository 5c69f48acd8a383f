import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openCounter } from "../ab/count.ts";
import { openHost } from "../ab/host.ts";
import { type ArmSetup, hashOf, openJournal, type Setup } from "../ab/journal.ts";
import type { Plan } from "../ab/plan.ts";
import { toPrices } from "../ab/prices.ts";
import { type Finished, type Ground, hostFor, runAll } from "../ab/run.ts";
import { loadTasks } from "../ab/tasks.ts";
import type { Arm, Driver, Task } from "../ab/types.ts";
import { SettingsError, shown } from "../config/fault.ts";
import { nearest } from "../nearest.ts";
import { startSandbox } from "../sandbox/server.ts";
import { VERSION } from "../version.ts";
import { abUsage, type RunArguments, readRunArguments } from "./ab-arguments.ts";
import { createProgress } from "./ab-progress.ts";
import { abReport } from "./ab-report.ts";
import type { Host } from "./run.ts";

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SettingsError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
}

type MakeDriver = (args: RunArguments, host: Host) => Promise<Driver>;

const DRIVERS: Readonly<Record<string, MakeDriver>> = {
  scripted: async () => (await import("../ab/drivers/scripted.ts")).scripted,
  heuristic: async () => (await import("../ab/drivers/heuristic.ts")).createHeuristic(),
  async model({ model, prices }, { env, cwd }) {
    const [{ createModel }, { modelOptions }] = await Promise.all([
      import("../ab/drivers/model.ts"),
      import("../ab/drivers/model-options.ts"),
    ]);
    const table = prices === undefined ? undefined : toPrices(readText(resolve(cwd, prices)), prices);
    return createModel(modelOptions(model, env, table));
  },
};

function driversOf(args: RunArguments, host: Host): Promise<Driver[]> {
  return Promise.all(
    args.driver.map((name) => {
      const make = Object.hasOwn(DRIVERS, name) ? DRIVERS[name] : undefined;
      if (make) return make(args, host);
      const near = nearest(name, Object.keys(DRIVERS))[0];
      const hint = near ? `; the nearest is "${near}"` : "";
      throw new SettingsError(`There is no driver ${shown(name)}${hint}. Drivers: ${Object.keys(DRIVERS).join(", ")}.`);
    }),
  );
}

function readTasks(dir: string | undefined): readonly Task[] {
  try {
    return loadTasks(dir);
  } catch (error) {
    throw new SettingsError(`The tasks cannot be read. ${error instanceof Error ? error.message : String(error)}`);
  }
}

const PROBE = { prompt: "" };

/** Starts each server once: one that cannot start stops everything before anything is written. @throws SettingsError */
async function meet(arms: readonly Arm[], ground: Ground, signal: AbortSignal): Promise<readonly ArmSetup[]> {
  const world = await ground.openWorld();
  const met: ArmSetup[] = [];
  try {
    for (const arm of arms) {
      const { name, command, env, about } = arm;
      const host = await openHost({ ...hostFor(arm, PROBE, "never", world, ground), maxCalls: 0, signal }).catch((error: Error) => {
        throw new SettingsError(`The arm ${name} does not start. ${error.message}`);
      });
      met.push({ name, command, env, about, ...(host.server ? { server: { name: host.server.name, version: host.server.version } } : {}) });
      await host.close();
    }
  } finally {
    await world.close();
  }
  return met;
}

/** Everything that runs, in a folder that is gone afterwards. */
async function runIn(scratch: string, args: RunArguments, host: Host, signal: AbortSignal): Promise<Finished> {
  const tasks = readTasks(args.tasksDir === undefined ? undefined : resolve(host.cwd, args.tasksDir));
  const { repeats, seed, workers, timeout, "max-calls": maxCalls } = args.numbers;
  const drivers = await driversOf(args, host);
  const plan: Plan = {
    ...{ arms: args.arms, drivers, refresh: args.refresh, repeats, seed, maxCalls },
    tasks: args.choose(tasks),
    deadline: timeout * 1_000,
  };
  const counter = await openCounter();
  const ground: Ground = { openWorld: () => startSandbox(), scratch, environment: host.env, counter };
  const setup: Setup = {
    ...{ version: VERSION, node: process.version, counter: counter.name, seed },
    tasks: { count: tasks.length, hash: hashOf(tasks) },
    arms: await meet(args.arms, ground, signal),
  };
  const journal = openJournal(resolve(host.cwd, args.out), setup, args.retry);
  return runAll(plan, ground, journal, { workers, signal, onProgress: createProgress(process.stderr) });
}

async function abRun(argv: readonly string[], host: Host): Promise<void> {
  const args = readRunArguments(argv, host);
  const scratch = mkdtempSync(join(tmpdir(), `gitlab-ab-${process.pid}-`));
  const stop = new AbortController();
  const onInterrupt = () => stop.abort(new Error("interrupted."));
  // A second Ctrl-C ends at once.
  process.once("SIGINT", onInterrupt);
  const finished = await runIn(scratch, args, host, stop.signal).finally(() => {
    process.off("SIGINT", onInterrupt);
    rmSync(scratch, { recursive: true, force: true });
  });
  const { done, total, failed, stopped } = finished;
  if (stopped !== undefined) {
    console.error(`\nStopped: ${stopped} ${total - done} of ${total} runs are left; the same command goes on from here.`);
    host.exit(stop.signal.aborted ? 130 : 1);
  }
  console.log(`${total} runs in ${args.out}; ${failed} of those made now did not succeed. Next: ab report ${args.out}`);
}

const WORDS: Readonly<Record<string, (argv: readonly string[], host: Host) => Promise<void> | void>> = { run: abRun, report: abReport };

/** `ab`: discovery styles and servers side by side. */
export async function ab([word = "", ...rest]: readonly string[], host: Host): Promise<void> {
  const command = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (!command) throw new SettingsError(abUsage());
  await command(rest, host);
}
