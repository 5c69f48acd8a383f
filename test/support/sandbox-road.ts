import type { CallContext, Outcome } from "../../src/catalog/types.ts";
import type { Settings } from "../../src/config/options.ts";
import { createRoad, type RoadParts } from "../../src/executor/dispatch.ts";
import { createGitLabSource } from "../../src/executor/gitlab.ts";
import { createLog } from "../../src/log.ts";
import { createDoor } from "../../src/policy/door.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { settingsFor } from "./settings.ts";

export const PROJECT = "acme/webshop";

type Json = Record<string, unknown>;

/** The whole road on a sandbox of its own, with what GitLab itself says beside it. */
export interface SandboxRoad {
  readonly sandbox: Sandbox;
  run(name: string, params: Json, signal?: AbortSignal, more?: Partial<CallContext>): Promise<Outcome>;
  /** Asks (or changes) the sandbox without the bridge. */
  ask(path: string, method?: string, body?: Json): Promise<never>;
  close(): Promise<void>;
}

export interface RoadOptions extends Partial<Pick<RoadParts, "audit" | "writes" | "facts" | "learn">> {
  readonly flags?: readonly string[];
  readonly token?: "root" | "maria" | "jonas";
  /** Where new secrets are written. */
  readonly secretsDirectory?: string;
  /** A sandbox that runs already; whoever started it closes it. */
  readonly on?: Sandbox;
  /** Seeds after the usual ones. */
  readonly world?: NonNullable<Parameters<typeof startSandbox>[0]>["world"];
}

export async function openRoad(options: RoadOptions = {}): Promise<SandboxRoad> {
  const { flags = [], token = "maria", secretsDirectory, on, world, ...more } = options;
  const sandbox = on ?? (await startSandbox(world ? { world } : {}));
  const credential = sandbox.tokens[token] ?? "";
  const settings: Settings = { ...settingsFor(...flags), url: sandbox.url, token: credential } as Settings;
  const log = createLog({ level: "silent" });
  const source = createGitLabSource({
    settings,
    door: createDoor(settings),
    log,
    version: "0.0.0",
    firstWait: 1,
    ...(secretsDirectory ? { secretsDirectory } : {}),
  });
  const road = createRoad({
    registry: createRegistry([source]),
    policy: createPolicy(settings),
    facts: () => ({}),
    learn: source.facts,
    normalize: (context) => ({ instance: sandbox.url, ...source.people(context) }),
    places: source.places,
    ...more,
  });
  return {
    sandbox,
    run: (name, params, signal = new AbortController().signal, more = {}) =>
      road.run({ name, params }, { principal: { instance: sandbox.url }, signal, canAsk: false, meta: {}, ...more }),
    async ask(path, method = "GET", body) {
      const headers = { "PRIVATE-TOKEN": credential, "Content-Type": "application/json" };
      const reply = await fetch(`${sandbox.url}/api/v4${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      const text = await reply.text();
      return (text === "" ? {} : JSON.parse(text)) as never;
    },
    async close() {
      await source.close?.();
      if (!on) await sandbox.close();
    },
  };
}
