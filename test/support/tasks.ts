import { appendFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type Agent, createAgent, type Form, type Way } from "./agent.ts";
import { connectStdio, type TestClient } from "./clients.ts";
import { type Counter, startCounter } from "./counter.ts";

export const PROJECT = "acme/webshop";

export type Json = Record<string, unknown>;

export interface World {
  readonly agent: Agent;
  readonly sandbox: Sandbox;
  /** What GitLab itself says now, asked without the bridge. */
  readonly ask: (path: string) => Promise<never>;
}

/** One task of daily work, with its ceilings of calls and tokens, discovery included. */
export interface Task {
  readonly name: string;
  readonly calls: number;
  readonly tokens: number;
  readonly token?: "maria" | "jonas";
  readonly flags?: readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  readonly run: (world: World) => Promise<void>;
}

let client: TestClient | undefined;
let sandbox: Sandbox | undefined;
let counter: Counter | undefined;

/** File that each run adds its costs to, one JSON line each (`npm run bench:tokens`). */
const COSTS = process.env.TASK_COSTS;

async function open(task: Task, form: Form, way: Way): Promise<World> {
  sandbox = await startSandbox();
  const { url, tokens: known } = sandbox;
  const token = known[task.token ?? "maria"];
  counter = COSTS === undefined ? undefined : await startCounter(url);
  const env = { ...task.env?.(), GITLAB_URL: counter?.url ?? url, GITLAB_TOKEN: token };
  client = await connectStdio("sdk1", { args: task.flags ?? [], env, refreshes: true });
  const ask = async (path: string) =>
    (await (await fetch(`${url}/api/v4${path}`, { headers: { "PRIVATE-TOKEN": token } })).json()) as never;
  return { agent: createAgent(client, form, way), sandbox, ask };
}

/** Runs each task by searching and by enabling, with a host that shows only text and one that shows only the JSON. */
export function describeTasks(title: string, tasks: readonly Task[]): void {
  afterEach(async () => {
    await client?.close();
    await counter?.close();
    await sandbox?.close();
  });
  describe(title, () => {
    for (const task of tasks) {
      for (const way of ["find", "enable"] as const) {
        for (const form of ["text", "json"] as const) {
          it(`${task.name} (by ${way}, ${form} only)`, async () => {
            const world = await open(task, form, way);
            await task.run(world);
            const { calls, tokens } = world.agent.spent;
            if (COSTS !== undefined) {
              const cost = { task: task.name, way, form, calls, tokens, ceiling: task.tokens, raw: counter?.seen.tokens };
              appendFileSync(COSTS, `${JSON.stringify(cost)}\n`);
            }
            expect({ calls, within: calls <= task.calls }).toEqual({ calls, within: true });
            expect({ tokens, within: tokens <= task.tokens }).toEqual({ tokens, within: true });
          });
        }
      }
    }
  });
}
