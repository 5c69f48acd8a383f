import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { placeholders } from "./fill.ts";
import type { Size, Task } from "./types.ts";

/** The tasks stand beside `src` in the tree and beside the built files in `dist`. */
function ownFolder(): string {
  const found = ["./", "../", "../../"].map((up) => new URL(`${up}fixtures/ab/tasks/`, import.meta.url)).find((url) => existsSync(url));
  if (!found) throw new Error("fixtures/ab/tasks is not there");
  return fileURLToPath(found);
}

const WHO = z.enum(["root", "maria", "jonas", "reader"]);
const PATH = z.string().regex(/^\/[^\s{}]+$/, "a path below /api/v4");
const OBJECT = z.record(z.string(), z.unknown());
const PATTERN = z.string().min(2).refine(compiles, "a regular expression");

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, "i") instanceof RegExp;
  } catch {
    return false;
  }
}

const STEP = z.strictObject({
  action: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  params: OBJECT,
  keep: z.record(z.string().regex(/^[a-z_]+$/), z.string().min(1)).exactOptional(),
});

const SEED = z.strictObject({
  method: z.enum(["POST", "PUT", "DELETE"]),
  path: PATH,
  body: OBJECT.exactOptional(),
  as: WHO.exactOptional(),
});

const CLAIMS = ["is", "has", "lacks", "matches", "count", "status"] as const;

const CHECK = z
  .strictObject({
    get: PATH,
    as: WHO.exactOptional(),
    at: z.string().min(1).exactOptional(),
    status: z.int().min(100).exactOptional(),
    is: z.unknown().exactOptional(),
    has: z.unknown().exactOptional(),
    lacks: z.unknown().exactOptional(),
    matches: PATTERN.exactOptional(),
    count: z.int().min(0).exactOptional(),
  })
  .refine((check) => CLAIMS.some((claim) => claim in check), "claims nothing");

/** Calls of the shortest path: the least and the most of each size. */
export const CALLS: Readonly<Record<Size, readonly [least: number, most: number]>> = { small: [1, 1], medium: [2, 4], large: [5, 10] };

const TASK = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/),
    size: z.enum(["small", "medium", "large"]),
    toolsets: z.array(z.string()).min(1),
    as: WHO.exactOptional(),
    prompt: z.string().min(20).max(1_500),
    seeds: z.array(SEED).min(1).exactOptional(),
    path: z.array(STEP).min(1),
    after: z.array(CHECK).min(1).exactOptional(),
    unchanged: z.array(PATH).min(1).exactOptional(),
    answer: z.strictObject({ all: z.array(PATTERN).min(1), none: z.array(PATTERN).min(1).exactOptional() }).exactOptional(),
    ideal: z.string().min(1).exactOptional(),
  })
  .check(({ value: task, issues }) => {
    for (const message of contradictions(task)) issues.push({ code: "custom", message, input: task, path: [] });
  });

/** What does not fit together within one task. */
function contradictions(task: Task): string[] {
  const [least, most] = CALLS[task.size];
  const known = new Set<string>();
  const unkept: string[] = [];
  const require = (value: unknown) => unkept.push(...placeholders(value).filter((name) => !known.has(name)));
  for (const step of task.path) {
    require(step.params);
    for (const name of Object.keys(step.keep ?? {})) known.add(name);
  }
  require(task.ideal ?? "");
  return [
    ...(task.path.length >= least && task.path.length <= most
      ? []
      : [`${task.size} is ${least} to ${most} calls, not ${task.path.length}`]),
    ...(task.after || task.answer ? [] : ["neither the sandbox nor the answer is checked"]),
    ...((task.answer === undefined) === (task.ideal === undefined) ? [] : ["answer and ideal belong together"]),
    ...unkept.map((name) => `no earlier step keeps {${name}}`),
  ];
}

function readTask(folder: string, file: string): Task {
  const { data, error } = TASK.safeParse(JSON.parse(readFileSync(join(folder, file), "utf8")));
  if (error) throw new Error(`${join(folder, file)}:\n${z.prettifyError(error)}`);
  if (file !== `${data.id}.json`) throw new Error(`${join(folder, file)}: holds the task ${data.id}`);
  return data;
}

/**
 * The tasks of a folder, one a file, by name; the project's own where none is given.
 * @throws Error that names the file and what is wrong with it.
 */
export function loadTasks(dir: string = ownFolder()): readonly Task[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => readTask(dir, file));
}
