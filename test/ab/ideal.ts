import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { fill, fillText, keepFrom } from "../../src/ab/fill.ts";
import type { Json, Step, Task } from "../../src/ab/types.ts";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { settingsFor } from "../support/settings.ts";

export interface BridgeClient {
  run(action: string, params: Readonly<Json>): Promise<Json>;
  close(): Promise<void>;
}

/** A client of the bridge in this process, with a token of the sandbox. */
export async function connectBridge(url: string, token: string, ...flags: string[]): Promise<BridgeClient> {
  const settings = { ...settingsFor("--settle=1", "--reveal-secrets=result", ...flags), url, token };
  const log = createLog({ level: "silent" });
  const bridge = createBridge({ settings: settings as never, log, version: "0.0.0", cwd: "/" });
  const connection = bridge.connect();
  const server = bridge.createServer(connection, { era: "legacy", transport: "stdio", canTell: () => true });
  const client = new Client({ name: "ab-test", version: "1" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await server.connect(other as never);
  await client.connect(one);
  return {
    async run(action, params) {
      const result = await client.callTool({ name: "gitlab_execute_action", arguments: { action, params } });
      if (result.isError) throw new Error(`${action}: ${JSON.stringify(result.content)}`);
      return (result.structuredContent ?? {}) as Json;
    },
    async close() {
      await client.close();
      connection.close?.();
    },
  };
}

export interface Walk {
  go(steps: readonly Step[]): Promise<void>;
  /** The ideal answer of a task, made from what the steps kept. */
  answer(task: Task): string | undefined;
}

/** Walks steps one after the other, with what the earlier ones kept. */
export function createWalk(client: BridgeClient): Walk {
  let kept: Json = {};
  return {
    async go(steps) {
      for (const step of steps) kept = { ...kept, ...keepFrom(step, await client.run(step.action, fill(step.params, kept))) };
    },
    answer: ({ ideal }) => (ideal === undefined ? undefined : fillText(ideal, kept)),
  };
}
