import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsError } from "../config/fault.ts";
import type { Arm, Run, Task } from "./types.ts";

/** What must stay the same for runs of one folder to be compared with each other. */
export interface Setup {
  readonly version: string;
  readonly node: string;
  readonly counter: Run["counter"];
  readonly seed: number;
  /** Of all tasks, whichever were chosen. */
  readonly tasks: { readonly count: number; readonly hash: string };
  readonly arms: readonly ArmSetup[];
}

export interface ArmSetup extends Pick<Arm, "name" | "command" | "env" | "about"> {
  /** What the server says of itself. */
  readonly server?: { readonly name: string; readonly version: string };
}

/** Changes with any word of any task. */
export const hashOf = (tasks: readonly Task[]): string => createHash("sha256").update(JSON.stringify(tasks)).digest("hex").slice(0, 16);

export type RunKey = Pick<Run, "task" | "arm" | "driver" | "refresh" | "repeat">;

export const keyOf = ({ task, arm, driver, refresh, repeat }: RunKey): string => [task, arm, driver, refresh, repeat].join(" ");

/** The folder of a comparison: `setup.json`, and `runs.jsonl` with a line for each finished run. */
export interface Journal {
  /** Keys of the runs that are finished. */
  readonly done: ReadonlySet<string>;
  add(run: Run): void;
}

/** The finished lines; a last line that was torn by an end in its middle is not one. */
function readLines(file: string): readonly Run[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole.length < text.length) writeFileSync(file, whole);
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      try {
        return JSON.parse(line) as Run;
      } catch {
        throw new SettingsError(`${file}, line ${index + 1}: is not JSON. Take the line out, or choose another folder.`);
      }
    });
}

const FIXED = ["version", "counter", "seed"] as const;

/** Where runs of now could not be compared with those of before. */
function differences(old: Setup, now: Setup): readonly string[] {
  const names = FIXED.filter((name) => old[name] !== now[name]).map((name) => `${name} was ${old[name]} and is ${now[name]}`);
  const tasks = old.tasks.hash === now.tasks.hash ? [] : [`the tasks are not the same (${old.tasks.count} then, ${now.tasks.count} now)`];
  const arms = now.arms.flatMap((arm) => {
    const before = old.arms.find(({ name }) => name === arm.name);
    const same = before === undefined || JSON.stringify([before.command, before.env]) === JSON.stringify([arm.command, arm.env]);
    return same ? [] : [`the arm ${arm.name} was ${before.command.join(" ")}`];
  });
  return [...names, ...tasks, ...arms];
}

/** Arms of both; what was learned of an arm now counts. */
const joined = (old: Setup, now: Setup): Setup => ({
  ...now,
  arms: [...old.arms.filter(({ name }) => !now.arms.some((arm) => arm.name === name)), ...now.arms],
});

export function readSetup(folder: string): Setup | undefined {
  const file = join(folder, "setup.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Setup) : undefined;
}

function replaceRuns(file: string, runs: readonly Run[]): void {
  writeFileSync(`${file}.new`, runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
  renameSync(`${file}.new`, file);
}

/**
 * Opens the folder, or goes on in it. With `retry`, runs that broke off are run again.
 * @throws SettingsError where what stands there was run with other tasks, another seed or another version.
 */
export function openJournal(folder: string, setup: Setup, retry = false): Journal {
  mkdirSync(folder, { recursive: true });
  const old = readSetup(folder);
  const changed = old ? differences(old, setup) : [];
  if (changed.length > 0)
    throw new SettingsError(`${folder} holds runs that cannot be continued: ${changed.join("; ")}. Choose another folder with --out.`);
  writeFileSync(join(folder, "setup.json"), `${JSON.stringify(old ? joined(old, setup) : setup, null, 2)}\n`);
  const file = join(folder, "runs.jsonl");
  const runs = readLines(file);
  const kept = retry ? runs.filter(({ error }) => error === undefined) : runs;
  if (kept.length < runs.length) replaceRuns(file, kept);
  const done = new Set(kept.map(keyOf));
  return {
    done,
    add(run) {
      appendFileSync(file, `${JSON.stringify(run)}\n`);
      done.add(keyOf(run));
    },
  };
}
