import { isDeepStrictEqual } from "node:util";
import { checkFault, type Reading } from "./checks.ts";
import type { Arm, Check, Seed, Task, Who, World } from "./types.ts";

/** What the sandbox answered before the arm started. */
export interface Before {
  /** By path, of everything that must stay as it is. */
  readonly unchanged: ReadonlyMap<string, Reading>;
  /** Beside each check of `after`. */
  readonly after: readonly Reading[];
}

async function ask(world: World, method: string, path: string, who: Who, body?: unknown): Promise<Reading> {
  const response = await fetch(`${world.url}/api/v4${path}`, {
    method,
    headers: { "PRIVATE-TOKEN": world.tokens[who], ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json") === true && text !== "";
  return { status: response.status, body: json ? (JSON.parse(text) as unknown) : text };
}

async function plant(world: World, task: Task, { method, path, body, as = "root" }: Seed): Promise<void> {
  const { status, body: reply } = await ask(world, method, path, as, body);
  if (status >= 300) throw new Error(`${task.id}: the sandbox refuses the seed ${method} ${path}: ${status} ${JSON.stringify(reply)}`);
}

const readCheck = (world: World, { get, as = "root" }: Check) => ask(world, "GET", get, as);

async function readAll(world: World, checks: readonly Check[]): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const check of checks) readings.push(await readCheck(world, check));
  return readings;
}

/**
 * Makes the world of a task, from the seeds of the sandbox on, and remembers what must stay as it is.
 * @throws Error where the sandbox refuses a seed, or has nothing at a path that must stay.
 */
export async function prepare(world: World, task: Task): Promise<Before> {
  for (const seed of task.seeds ?? []) await plant(world, task, seed);
  const unchanged = new Map<string, Reading>();
  for (const path of task.unchanged ?? []) {
    const reading = await ask(world, "GET", path, "root");
    if (reading.status !== 200) throw new Error(`${task.id}: GET ${path} must stay as it is, but answers ${reading.status}`);
    unchanged.set(path, reading);
  }
  return { unchanged, after: await readAll(world, task.after ?? []) };
}

async function unchangedFaults(world: World, before: Before): Promise<string[]> {
  const faults: string[] = [];
  for (const [path, old] of before.unchanged) {
    if (!isDeepStrictEqual(await ask(world, "GET", path, "root"), old)) faults.push(`GET ${path} has changed`);
  }
  return faults;
}

/** Where nothing could be written, every place that the task would have changed reads as before. */
function untouchedFaults(checks: readonly Check[], before: Before, now: readonly Reading[]): string[] {
  return checks.flatMap(({ get }, index) => (isDeepStrictEqual(now[index], before.after[index]) ? [] : [`GET ${get} has changed`]));
}

function answerFaults({ answer: wanted }: Task, answer: string | undefined): string[] {
  if (!wanted) return [];
  if (answer === undefined || answer.trim() === "") return ["there is no answer"];
  const says = (pattern: string) => new RegExp(pattern, "i").test(answer);
  return [
    ...wanted.all.filter((pattern) => !says(pattern)).map((pattern) => `the answer does not say ${pattern}`),
    ...(wanted.none ?? []).filter(says).map((pattern) => `the answer says ${pattern}`),
  ];
}

/**
 * What is wrong with a finished task; nothing on success. An arm that cannot write (`preview`, `no`) succeeds when it left
 * everything as it was; a question is judged by its answer everywhere.
 */
export async function judge(
  world: World,
  task: Task,
  before: Before,
  answer: string | undefined,
  writes: NonNullable<Arm["writes"]>,
): Promise<readonly string[]> {
  const checks = task.after ?? [];
  const now = await readAll(world, checks);
  const after =
    writes === "yes"
      ? checks.flatMap((check, index) => checkFault(check, now[index] ?? { status: 0, body: undefined }) ?? [])
      : untouchedFaults(checks, before, now);
  return [...after, ...(await unchangedFaults(world, before)), ...answerFaults(task, answer)];
}
