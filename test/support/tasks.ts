import { afterEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type Agent, createAgent, type Form, type Way } from "./agent.ts";
import { connectStdio, type TestClient } from "./clients.ts";

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

async function open(task: Task, form: Form, way: Way): Promise<World> {
  sandbox = await startSandbox();
  const { url, tokens: known } = sandbox;
  const token = known[task.token ?? "maria"];
  const env = { ...task.env?.(), GITLAB_URL: url, GITLAB_TOKEN: token };
  client = await connectStdio("sdk1", { args: task.flags ?? [], env, refreshes: true });
  const ask = async (path: string) =>
    (await (await fetch(`${url}/api/v4${path}`, { headers: { "PRIVATE-TOKEN": token } })).json()) as never;
  return { agent: createAgent(client, form, way), sandbox, ask };
}

/** Runs each task by searching and by enabling, with a host that shows only text and one that shows only the JSON. */
export function describeTasks(title: string, tasks: readonly Task[]): void {
  afterEach(async () => {
    await client?.close();
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
            expect({ calls, within: calls <= task.calls }).toEqual({ calls, within: true });
            expect({ tokens, within: tokens <= task.tokens }).toEqual({ tokens, within: true });
          });
        }
      }
    }
  });
}
