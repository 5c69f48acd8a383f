import { randomBytes } from "node:crypto";
import { GITLAB, loadActions } from "./catalog/load.ts";
import { TOOLSETS } from "./catalog/toolsets.ts";
import type { Action, CallContext, Credential, Facts, Principal, Source } from "./catalog/types.ts";
import type { Settings } from "./config/options.ts";
import type { Finder } from "./discovery/find.ts";
import type { AuditLine } from "./executor/audit.ts";
import type { Road, RoadParts } from "./executor/dispatch.ts";
import { behindGate, type Gate } from "./executor/gate.ts";
import { currentProject } from "./executor/project.ts";
import type { Log } from "./log.ts";
import { type Limits, narrow, type Wishes } from "./policy/narrow.ts";
import { createPolicy } from "./policy/policy.ts";
import { createWriteLimit, type WriteLimit } from "./policy/write-limit.ts";
import { atConnect, type Unrecognized, unrecognizedNames } from "./registry/choice.ts";
import { requireSense } from "./registry/contradictions.ts";
import { delegateRegistry } from "./registry/delegate.ts";
import { createRegistry, type Registry } from "./registry/registry.ts";
import { createSession, type Session } from "./registry/session.ts";
import { createAsker } from "./surface/ask.ts";
import type { ConnectedUpstreams, Connection, FactSource, Link } from "./surface/connection.ts";
import { bareContext, createFactSource } from "./surface/fact-source.ts";
import { type BeforeLimits, createFollower, type Follower } from "./surface/follow.ts";
import { createServer } from "./surface/server.ts";
import { STYLE_ROWS } from "./surface/styles.ts";
import { createTrials, type Trials } from "./surface/trial.ts";
import type { Upstreams } from "./upstreams/open.ts";

export interface BridgeOptions {
  readonly settings: Settings | Limits;
  readonly log: Log;
  readonly version: string;
  /** Directory whose git remote names the current project. */
  readonly cwd: string;
  /** Where new secrets are written (mode 0600); without it they are refused unless they may stand in the answer. */
  readonly secretsDirectory?: string;
  /** Other MCP servers whose tools are toolsets here. */
  readonly upstreams?: Upstreams;
  /** Takes the lines of the audit. */
  readonly audit?: (line: AuditLine) => void;
  /** Gives each user a style, and follows what comes of it. Absent: styles are given where the settings say so, and nothing is written down. */
  readonly trials?: Trials;
}

/** What is special about one client; nothing on stdio. */
export interface ConnectOptions {
  /** What the client asks for itself; it can only narrow what the server allows. */
  readonly wishes?: Wishes;
  /** Another GitLab than the server's first; the transport vouches that it is allowed. */
  readonly instance?: string;
  /** GitLab id of the user, where the transport found out: what a style is assigned by. */
  readonly user?: number;
  readonly gate?: Gate;
  /** Whose upstream connections these are, where a client has no session of its own. */
  readonly key?: string;
}

/** The bridge of one process: rooms that all connections share. */
export interface Bridge {
  /** One client's connection. */
  connect(options?: ConnectOptions): Connection;
  /**
   * From now on these are the server's limits, for clients that are connected too.
   * @throws BridgeError where they name what does not exist or contradict each other; the old ones then stay.
   */
  limit(limits: Limits): void;
  /** Names in a client's wishes that mean nothing here. */
  unrecognized(wishes: Wishes): readonly Unrecognized[];
  /** What GitLab says about the bearer of a credential; within a deadline, what fails stays unknown. */
  identify(connection: Connection, credential: Credential | undefined): Promise<Facts>;
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
function loadExecutor({ settings, log, version, secretsDirectory }: BridgeOptions, onDoubt: (context: CallContext) => void) {
  return once(async () => {
    const [{ createDoor }, { createGitLabSource }, { createRoad }] = await Promise.all([
      import("./policy/door.ts"),
      import("./executor/gitlab.ts"),
      import("./executor/dispatch.ts"),
    ]);
    const directory = secretsDirectory === undefined ? {} : { secretsDirectory };
    return { source: createGitLabSource({ settings, door: createDoor(settings), log, version, onDoubt, ...directory }), createRoad };
  });
}

type Executor = Awaited<ReturnType<ReturnType<typeof loadExecutor>>>;

/** One executor for each GitLab and each set of limits that holds below the road: at the door, and for what is told of secrets. */
function createExecutors(options: BridgeOptions, limitsNow: () => Limits, onDoubt: (context: CallContext) => void) {
  const made = new Map<string, () => Promise<Executor>>();
  return (instance: string, limits: NonNullable<CallContext["limits"]> = limitsNow()): Promise<Executor> => {
    const own = { readOnly: limits.readOnly, safeMode: limits.safeMode, revealSecrets: limits.revealSecrets };
    const key = JSON.stringify([instance, own]);
    const executor = made.get(key) ?? loadExecutor({ ...options, settings: { ...options.settings, ...own, url: instance } }, onDoubt);
    made.set(key, executor);
    return executor();
  };
}

type Executors = ReturnType<typeof createExecutors>;

/** Our actions, where those that an upstream does in our place are not essential. */
function actionsBeside({ replaced }: Upstreams): () => readonly Action[] {
  const minor = new Map<Action, Action>();
  return () =>
    loadActions().map((action) => {
      if (!action.essential || !replaced(action.id)) return action;
      const known = minor.get(action) ?? { ...action, essential: false };
      minor.set(action, known);
      return known;
    });
}

/** Our own catalog as a source: rows at once, the rest when something runs. */
function gitlabSource(executors: Executors, upstreams: Upstreams | undefined): Source {
  const sourceFor = async ({ principal, limits }: CallContext) => (await executors(principal.instance, limits)).source;
  return {
    name: GITLAB,
    toolsets: () => TOOLSETS,
    actions: upstreams ? actionsBeside(upstreams) : loadActions,
    run: async (call, context) => (await sourceFor(context)).run(call, context),
    preview: async (call, context) => (await sourceFor(context)).preview(call, context),
  };
}

interface Shared {
  readonly options: BridgeOptions;
  /** The server's limits at this moment. */
  readonly limits: () => Limits;
  readonly writes: WriteLimit;
  readonly served: Set<BeforeLimits>;
  readonly executors: Executors;
  readonly registry: Registry;
  readonly gitlab: Source;
  readonly facts: FactSource;
  readonly finder: () => Promise<Finder>;
  readonly audit?: BridgeOptions["audit"];
}

/** Made anew only when what it is made from is another one. */
function derived<T, U>(from: () => T, make: (value: T) => U): () => U {
  let last: { readonly from: T; readonly made: U } | undefined;
  return () => {
    const value = from();
    if (last?.from !== value) last = { from: value, made: make(value) };
    return last.made;
  };
}

const followers = new WeakMap<Connection, Follower>();

const finderOver = (registry: Registry) =>
  once(async (): Promise<Finder> => {
    const { createFinder } = await import("./discovery/find.ts");
    return createFinder(registry.actions);
  });

/**
 * What one client sees of all sources: what everybody sees, or a registry of its own where another server shows it other tools, with a
 * finder over that.
 */
function sightFor({ options: { upstreams }, registry, gitlab, finder }: Shared, key: string): Pick<Connection, "registry" | "finder"> {
  if (!upstreams) return { registry, finder };
  const common: readonly Source[] = [];
  const now = derived(
    () => upstreams.viewFor(key) ?? common,
    (views) => {
      if (views === common) return { registry, finder };
      const own = createRegistry([gitlab, ...views]);
      return { registry: own, finder: finderOver(own) };
    },
  );
  return { registry: delegateRegistry(registry.events, () => now().registry), finder: () => now().finder() };
}

const isOurs = (word: string) => word === "default" || TOOLSETS.some((row) => row.name === word || row.aliases?.includes(word));

function connectedUpstreams(upstreams: Upstreams, chosen: readonly string[], tools: readonly string[]): ConnectedUpstreams {
  const { ready, linked, fingerprint } = upstreams;
  const listed = chosen.some((word) => !isOurs(word.toLowerCase())) || tools.length > 0;
  return { ready, linked, fingerprint, listed };
}

function withTrials(options: BridgeOptions): BridgeOptions {
  const { ab, abSalt, sessionKey } = options.settings;
  if (options.trials || !ab) return options;
  const salt = abSalt ?? sessionKey;
  return { ...options, trials: createTrials({ shares: ab, ...(salt === undefined ? {} : { salt }) }) };
}

/** The client's wishes, with the style that a live comparison gave it. */
function takeSeat(
  { settings, trials }: BridgeOptions,
  { wishes, instance, user }: ConnectOptions,
): Pick<ConnectOptions, "wishes"> & Pick<Connection, "trial"> {
  if (!trials) return wishes ? { wishes } : {};
  const { style, trial } = trials.join({
    // The embedded GitLab has another address at each start.
    instance: settings.sandbox ? "sandbox" : (instance ?? settings.url),
    fallback: settings.style,
    ...(user === undefined ? {} : { user }),
    ...(wishes?.style === undefined ? {} : { chosen: wishes.style }),
  });
  return { wishes: { ...wishes, style }, ...(trial ? { trial } : {}) };
}

function connectionFor(shared: Shared, own: ConnectOptions): Connection {
  const { options, executors, facts, writes, audit } = shared;
  const { instance, gate, key = randomBytes(9).toString("base64url") } = own;
  const { registry, finder } = sightFor(shared, key);
  const { wishes, trial } = takeSeat(options, own);
  const url = instance ?? options.settings.url;
  const now = derived(shared.limits, (limits): Limits => ({ ...(wishes ? narrow(limits, wishes) : limits), url }));
  const settings = now();
  const policy = createPolicy(now);
  const style = STYLE_ROWS[settings.style];
  const chosen = settings.toolsets.length + settings.tools.length > 0 ? settings.toolsets : style.toolsets;
  const project = settings.project === undefined && !settings.http ? currentProject(options.cwd, url) : () => settings.project;
  const audited = audit ? { audit: { identity: settings.auditIdentity, session: randomBytes(8).toString("hex"), write: audit } } : {};
  const runner = once(async (): Promise<Road> => {
    const { source, createRoad } = await executors(url, settings);
    const normalize: RoadParts["normalize"] = (context) => ({ instance: url, project, ...source.people(context) });
    const road = createRoad({
      registry,
      policy,
      facts: facts.known,
      learn: facts.learn,
      normalize,
      places: source.places,
      writes,
      ...audited,
    });
    return gate ? behindGate(gate, road) : road;
  });
  const choice = { toolsets: chosen, tools: settings.tools, level: style.level };
  const permitted = (action: Action) => policy.permits(action, {});
  const switches = createSession(() => atConnect(registry, choice).filter(permitted), settings.settle);
  // Limits may become tighter while a client is connected: what is on and no longer permitted is not listed.
  const session: Session = { ...switches, on: () => switches.on().filter(permitted) };
  const { version, upstreams } = options;
  const follower = createFollower({
    connection: () => connection,
    own: (changed) => upstreams?.follow(key, changed) ?? (() => {}),
    served: shared.served,
  });
  const connection: Connection = {
    get settings() {
      return now();
    },
    ...{ policy, registry, session, runner, finder, facts, project, version, key },
    ...(upstreams ? { upstreams: connectedUpstreams(upstreams, chosen, settings.tools) } : {}),
    ...(trial ? { trial } : {}),
    close: () => {
      follower.stop();
      void upstreams?.forget(key);
    },
  };
  followers.set(connection, follower);
  return connection;
}

/**
 * The composition root: the only file that knows every room.
 * @throws BridgeError invalid_params when a list of settings names what does not exist.
 */
export function createBridge(given: BridgeOptions): Bridge {
  const options = withTrials(given);
  const { log } = options;
  let limits: Limits = options.settings;
  const facts: ReturnType<typeof createFactSource> = createFactSource(async (context) =>
    (await executors(context.principal.instance)).source.facts(context),
  );
  const executors = createExecutors(options, () => limits, facts.doubt);
  const { upstreams } = options;
  const gitlab = gitlabSource(executors, upstreams);
  const registry = createRegistry([gitlab, ...(upstreams?.sources ?? [])]);
  requireSense(registry, limits);
  const finder = finderOver(registry);
  const asker = createAsker();
  const { audit } = options;
  const writes = createWriteLimit();
  const served = new Set<BeforeLimits>();
  const shared: Shared = {
    options,
    limits: () => limits,
    writes,
    served,
    executors,
    registry,
    gitlab,
    facts,
    finder,
    ...(audit ? { audit } : {}),
  };
  const principalOf = (instance: string, credential: Credential | undefined): Principal => {
    const { user } = facts.known(bareContext(instance, credential));
    return { instance, ...(user ? { user: { id: user.id, username: user.username } } : {}) };
  };
  return {
    connect: (own = {}) => connectionFor(shared, own),
    limit(next) {
      requireSense(registry, next, true);
      const after = [...served].map((before) => before());
      limits = next;
      for (const tell of after) tell();
    },
    unrecognized: ({ toolsets = [], tools = [], allowToolsets = [], allowTools = [], excludeTools = [], readOnly = false }) =>
      unrecognizedNames(registry, { toolsets, tools, allowToolsets, allowTools, excludeTools, readOnly }),
    identify: (connection, credential) => facts.learn(bareContext(connection.settings.url, credential)),
    createServer: (connection, link) => {
      // Where every request is a connection of its own, its list is made anew anyway.
      if (link.transport === "stdio" || link.era === "legacy") followers.get(connection)?.start();
      return createServer({
        connection,
        link,
        asker,
        caller: (credential) => ({
          principal: principalOf(connection.settings.url, credential),
          limits: connection.settings,
          ...(credential ? { credential } : {}),
        }),
        onBug: (error) => log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
      });
    },
  };
}
