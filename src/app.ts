import { GITLAB, loadActions } from "./catalog/load.ts";
import { TOOLSETS } from "./catalog/toolsets.ts";
import type { CallContext, Facts, Principal, Source } from "./catalog/types.ts";
import type { Settings } from "./config/options.ts";
import { currentProject } from "./executor/project.ts";
import type { Log } from "./log.ts";
import { createPolicy } from "./policy/policy.ts";
import { atConnect, requireKnownNames } from "./registry/choice.ts";
import { createRegistry } from "./registry/registry.ts";
import { createSession } from "./registry/session.ts";
import { createAsker } from "./surface/ask.ts";
import type { Connection, FactSource, Finder, Link, Runner } from "./surface/connection.ts";
import { createServer } from "./surface/server.ts";
import { STYLE_ROWS } from "./surface/styles.ts";

export interface BridgeOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly version: string;
  /** Directory whose git remote names the current project. */
  readonly cwd: string;
  /** Where new secrets are written (mode 0600); without it they are refused unless they may stand in the answer. */
  readonly secretsDirectory?: string;
}

/** The bridge of one process: rooms that all connections share. */
export interface Bridge {
  /** One client's connection. */
  connect(): Connection;
  /** The SDK server of a connection; also made for probes. */
  createServer(connection: Connection, link: Link): ReturnType<typeof createServer>;
}

/** Runs once, on first use; a failed load is tried again by the next caller. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Everything that talks to GitLab, loaded on the first call: the first list needs none of it. */
function loadExecutor({ settings, log, version, secretsDirectory }: BridgeOptions) {
  return once(async () => {
    const [{ createDoor }, { createGitLabSource }, { createRoad }] = await Promise.all([
      import("./policy/door.ts"),
      import("./executor/gitlab.ts"),
      import("./executor/dispatch.ts"),
    ]);
    const directory = secretsDirectory === undefined ? {} : { secretsDirectory };
    return { source: createGitLabSource({ settings, door: createDoor(settings), log, version, ...directory }), createRoad };
  });
}

type Executor = Awaited<ReturnType<ReturnType<typeof loadExecutor>>>;

/** Our own catalog as a source: rows at once, the rest when something runs. */
function gitlabSource(executor: () => Promise<Executor>): Source {
  return {
    name: GITLAB,
    toolsets: () => TOOLSETS,
    actions: loadActions,
    run: async (call, context) => (await executor()).source.run(call, context),
    preview: async (call, context) => (await executor()).source.preview(call, context),
  };
}

function createFactSource(executor: () => Promise<Executor>): FactSource {
  let known: Facts = {};
  return {
    known: () => known,
    async learn(context) {
      known = await (await executor()).source.facts(context);
      return known;
    },
  };
}

/**
 * The composition root: the only file that knows every room.
 * @throws BridgeError invalid_params when a list of settings names what does not exist.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const { settings, log, version } = options;
  const executor = loadExecutor(options);
  const registry = createRegistry([gitlabSource(executor)]);
  requireKnownNames(registry, settings);
  const facts = createFactSource(executor);
  const finder = once(async (): Promise<Finder> => {
    const { createFinder } = await import("./discovery/find.ts");
    return createFinder(registry.actions);
  });
  const asker = createAsker();
  const principal = (): Principal => {
    const { user } = facts.known({} as CallContext);
    return { instance: settings.url, ...(user ? { user: { id: user.id, username: user.username } } : {}) };
  };
  return {
    connect() {
      const policy = createPolicy(settings);
      const style = STYLE_ROWS[settings.style];
      const chosen = settings.toolsets.length + settings.tools.length > 0 ? settings.toolsets : style.toolsets;
      const project = settings.project === undefined ? currentProject(options.cwd, settings.url) : () => settings.project;
      const runner = once(async (): Promise<Runner> => {
        const { source, createRoad } = await executor();
        return createRoad({
          registry,
          policy,
          facts: facts.known,
          normalize: (context) => ({ instance: settings.url, project, ...source.people(context) }),
        });
      });
      const choice = { toolsets: chosen, tools: settings.tools, level: style.level };
      const session = createSession(() => atConnect(registry, choice).filter((action) => policy.permits(action, {})), settings.settle);
      return { settings, policy, registry, session, runner, finder, facts, project, version };
    },
    createServer: (connection, link) =>
      createServer({
        connection,
        link,
        asker,
        caller: () => ({ principal: principal() }),
        onBug: (error) => log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
      }),
  };
}
