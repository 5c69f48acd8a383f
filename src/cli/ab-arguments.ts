import { armsNamed, ownArms, parseArm, STYLE_ARMS } from "../ab/arms.ts";
import { MODEL_FLAGS, type ModelFlags } from "../ab/drivers/model-options.ts";
import type { Arm, Refresh, Task } from "../ab/types.ts";
import { SettingsError, shown } from "../config/fault.ts";
import { nearest } from "../nearest.ts";
import type { Host } from "./run.ts";

/** Flags of `ab run` with a value, for help and for the reader. */
export const RUN_FLAGS = {
  arms: "NAME,… arms of our own, or all (the six styles)",
  arm: "NAME='COMMAND LINE' another MCP server over stdio; may be repeated",
  env: "NAME=VALUE for the arm before it; {API}, {URL} and {TOKEN} stand for the sandbox's",
  tasks: "ID,… tasks, or sizes (small, medium, large); * stands for anything (all)",
  "tasks-dir": "DIR other tasks than our own",
  driver: "NAME,… scripted, heuristic, model (scripted)",
  refresh: "KIND,… when the host asks for its list again: at_once, next_turn, never (at_once)",
  repeats: "N runs of each (1)",
  seed: "N of the first repeat; each further one has the next (1)",
  workers: "N runs at the same time, each on a sandbox of its own (2)",
  timeout: "SECONDS that a run may take (120; with a model 600)",
  "max-calls": "N calls that a run may take (40)",
  prices: "FILE price table for --budget-money",
  out: "DIR for setup.json and runs.jsonl; runs that stand there are not run again",
} as const;

const SWITCHES = { "retry-errors": "run again what broke off" } as const;

type RunFlag = keyof typeof RUN_FLAGS;

export interface RunArguments {
  readonly arms: readonly Arm[];
  readonly refresh: readonly Refresh[];
  readonly driver: readonly string[];
  readonly numbers: Readonly<Record<"repeats" | "seed" | "workers" | "max-calls", number>> & { readonly timeout: number };
  readonly out: string;
  readonly retry: boolean;
  readonly tasksDir?: string;
  readonly prices?: string;
  readonly model: ModelFlags;
  choose(tasks: readonly Task[]): readonly Task[];
}

/** Flags in their order; both `--name value` and `--name=value`. @throws SettingsError */
export function readFlags(argv: readonly string[], names: readonly string[], switches: readonly string[]): (readonly [string, string])[] {
  const flags: (readonly [string, string])[] = [];
  for (let at = 0; at < argv.length; at++) {
    const [, name = "", value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argv[at] ?? "") ?? [];
    if (switches.includes(name) && value === undefined) flags.push([name, ""]);
    else if (names.includes(name)) {
      const given = value ?? argv[++at];
      if (given === undefined) throw new SettingsError(`--${name} needs a value.`);
      flags.push([name, given]);
    } else {
      const near = nearest(name, [...names, ...switches])[0];
      throw new SettingsError(`ab does not know ${shown(argv[at] ?? "")}${near ? `; the nearest is --${near}` : ""}.`);
    }
  }
  return flags;
}

const listOf = (text: string | undefined) =>
  (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Arms of our own by name, others by command line, each with the `--env` behind it. */
function armsOf(flags: readonly (readonly [string, string])[], { node, script }: Pick<Host, "node" | "script">): readonly Arm[] {
  const names = flags.filter(([flag]) => flag === "arms").flatMap(([, value]) => listOf(value));
  const others: { text: string; env: Record<string, string> }[] = [];
  for (const [flag, value] of flags) {
    if (flag === "arm") others.push({ text: value, env: {} });
    if (flag !== "env") continue;
    const [, name, content = ""] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(value) ?? [];
    const last = others.at(-1);
    if (name === undefined || !last) throw new SettingsError("--env takes NAME=VALUE and stands behind the --arm that it is for.");
    last.env[name] = content;
  }
  const wanted = names.length > 0 || others.length > 0 ? names : STYLE_ARMS;
  const arms = [...armsNamed(wanted, ownArms(node, script)), ...others.map(({ text, env }) => parseArm(text, env))];
  const twice = arms.find(({ name }, index) => arms.findIndex((arm) => arm.name === name) < index);
  if (twice) throw new SettingsError(`Two arms have the name ${twice.name}.`);
  return arms;
}

const REFRESH: readonly Refresh[] = ["at_once", "next_turn", "never"];

const isRefresh = (word: string): word is Refresh => (REFRESH as readonly string[]).includes(word);

function refreshOf(text: string | undefined): readonly Refresh[] {
  const kinds = listOf(text ?? "at_once");
  const wrong = kinds.find((kind) => !isRefresh(kind));
  if (wrong !== undefined) throw new SettingsError(`--refresh ${shown(wrong)} is not one of ${REFRESH.join(", ")}.`);
  return kinds.filter(isRefresh);
}

function numberOf(name: string, text: string | undefined, fallback: number, most: number, least = 1): number {
  const value = text === undefined ? fallback : Number(text.trim() === "" ? Number.NaN : text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new SettingsError(`--${name} ${shown(text ?? "")} is not a whole number from ${least} to ${most}.`);
}

const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");

/** Tasks by id, pattern or size, in their own order. @throws SettingsError for a word that fits none. */
export function chooseTasks(tasks: readonly Task[], wanted: readonly string[]): readonly Task[] {
  if (wanted.length === 0 || wanted.includes("all")) return tasks;
  const fits = (task: Task, word: string) => task.size === word || new RegExp(`^${escaped(word)}$`).test(task.id);
  for (const word of wanted) {
    if (tasks.some((task) => fits(task, word))) continue;
    const near = nearest(
      word,
      tasks.map(({ id }) => id),
    )[0];
    throw new SettingsError(`No task is called ${shown(word)}${near ? `; the nearest is "${near}"` : ""}.`);
  }
  return tasks.filter((task) => wanted.some((word) => fits(task, word)));
}

/** @throws SettingsError for the first flag that cannot be used. */
export function readRunArguments(argv: readonly string[], host: Pick<Host, "node" | "script">): RunArguments {
  const names = [...Object.keys(RUN_FLAGS), ...Object.keys(MODEL_FLAGS)];
  const flags = readFlags(argv, names, Object.keys(SWITCHES));
  const last = (name: RunFlag) => flags.findLast(([flag]) => flag === name)?.[1];
  const driver = listOf(last("driver") ?? "scripted");
  const out = last("out");
  if (out === undefined)
    throw new SettingsError("--out needs a folder: runs are written there as they end, and a later start goes on from them.");
  const tasksDir = last("tasks-dir");
  const prices = last("prices");
  return {
    arms: armsOf(flags, host),
    refresh: refreshOf(last("refresh")),
    driver,
    numbers: {
      repeats: numberOf("repeats", last("repeats"), 1, 1_000),
      seed: numberOf("seed", last("seed"), 1, 2 ** 31 - 1, 0),
      workers: numberOf("workers", last("workers"), 2, 64),
      "max-calls": numberOf("max-calls", last("max-calls"), 40, 1_000),
      timeout: numberOf("timeout", last("timeout"), driver.includes("model") ? 600 : 120, 86_400),
    },
    out,
    retry: flags.some(([flag]) => flag === "retry-errors"),
    ...(tasksDir === undefined ? {} : { tasksDir }),
    ...(prices === undefined ? {} : { prices }),
    model: Object.fromEntries(flags.filter(([flag]) => Object.hasOwn(MODEL_FLAGS, flag))) as ModelFlags,
    choose: (tasks) => chooseTasks(tasks, listOf(last("tasks"))),
  };
}

const row = (prefix: string, [name, about]: readonly [string, string]) => `  --${`${prefix}${name}`.padEnd(18)} ${about}`;

/** Help for `ab`. */
export const abUsage = (): string =>
  [
    "ab run --out DIR [flags]: the same tasks under several discovery styles or servers, on the embedded GitLab.",
    ...[...Object.entries(RUN_FLAGS), ...Object.entries(SWITCHES), ...Object.entries(MODEL_FLAGS)].map((entry) => row("", entry)),
    "",
  ].join("\n");
