import type { FetchLike } from "@modelcontextprotocol/client";
import type { CallContext, Source } from "../catalog/types.ts";
import type { Environment } from "../config/environment.ts";
import type { Log } from "../log.ts";
import type { Verdicts } from "./client.ts";
import { readUpstreams, secretsOf, type UpstreamConfig } from "./config.ts";
import { GITLAB_MCP, type GitLabMcp, gitlabMcp, SAME } from "./gitlab-mcp.ts";
import type { Linked } from "./links.ts";
import { createNames } from "./naming.ts";
import { createUpstream } from "./source.ts";
import { fingerprintOf } from "./tools.ts";
import type { UpstreamSource } from "./types.ts";

export interface UpstreamsOptions {
  /** The parsed file of `--upstreams`. */
  readonly file?: unknown;
  readonly env: Environment;
  /** The instance's own MCP server too. */
  readonly gitlabMcp?: GitLabMcp;
  readonly version: string;
  readonly log: Log;
  /** Names that only our own tools may have. */
  readonly isTaken: (tool: string) => boolean;
  /** Whether an action of ours exists. */
  readonly isAction: (id: string) => boolean;
  readonly prefer: "upstream" | "rest";
  readonly single: boolean;
  readonly pulse?: number;
  /** How servers over the network are reached, where that is not plainly. */
  readonly reach?: FetchLike;
}

/** All upstreams of one process. */
export interface Upstreams {
  readonly sources: readonly UpstreamSource[];
  /** What this set is known by, told to clients so that a bridge that meets itself notices. */
  readonly fingerprint: string;
  /** Actions of ours that an upstream does in our place. */
  readonly replaced: (id: string) => boolean;
  /** Toolsets that are known before any upstream was asked. */
  readonly toolsets: ReadonlySet<string>;
  /** Reads the tools of all, on first use; resolves when each answered or failed, or the patience is over. */
  ready(context?: CallContext): Promise<void>;
  /** A link in an answer to this client; undefined where no answer had it. */
  linked(uri: string, context: CallContext): Linked | undefined;
  /** All of them as this client sees them; undefined where that is what everybody sees. The same object until something changes. */
  viewFor(session: string): readonly Source[] | undefined;
  /** Runs whenever the client's own view became another one, until the returned function is called. */
  follow(session: string, changed: () => void): () => void;
  forget(session: string): Promise<void>;
  close(): Promise<void>;
}

/** A list waits no longer than this for upstreams; one that was waited for in vain is given but a moment the next time. */
const PATIENCE = 10_000;
const MOMENT = 250;

/** Whether all came in time. */
async function within(ms: number, all: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([all.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A source whose lists are one client's own; it is watched elsewhere. */
const toView = (source: UpstreamSource, session: string): Source => ({
  name: source.name,
  run: (call, context) => source.run(call, context),
  preview: (call, context) => source.preview(call, context),
  mayHold: (name) => source.mayHold?.(name) === true,
  toolsets: () => (source.own(session) ?? source).toolsets(),
  actions: () => (source.own(session) ?? source).actions(),
});

/** What single clients see of the sources, made anew only when it is something else. */
function createViews(sources: readonly UpstreamSource[]) {
  const known = new Map<string, { readonly stamp: readonly unknown[]; readonly views: readonly Source[] }>();
  const followers = new Map<string, () => void>();
  for (const source of sources) source.watchOwn((session) => followers.get(session)?.());
  return {
    viewFor(session: string): readonly Source[] | undefined {
      if (!sources.some((source) => source.own(session))) return undefined;
      const stamp = sources.flatMap((source) => [source.actions(), source.own(session)?.actions(), source.toolsets()[0]?.note]);
      const before = known.get(session);
      if (before && stamp.every((part, index) => part === before.stamp[index])) return before.views;
      const views = sources.map((source) => toView(source, session));
      known.set(session, { stamp, views });
      return views;
    },
    follow(session: string, changed: () => void): () => void {
      followers.set(session, changed);
      return () => {
        if (followers.get(session) === changed) followers.delete(session);
      };
    },
    forget: (session: string) => void known.delete(session),
  };
}

/** @throws SettingsError */
export function openUpstreams(options: UpstreamsOptions): Upstreams {
  const { env, log, version, isAction, prefer, single } = options;
  const own = options.gitlabMcp ? [gitlabMcp(options.gitlabMcp)] : [];
  const configs: readonly UpstreamConfig[] = [...own, ...(options.file === undefined ? [] : readUpstreams(options.file, env))];
  for (const secret of configs.flatMap(secretsOf)) log.hide(secret);
  const names = createNames(options.isTaken);
  const fingerprint = fingerprintOf(configs);
  const verdicts: Verdicts = new Map();
  const isGitLab = ({ name, link }: UpstreamConfig) =>
    name === GITLAB_MCP || (link.kind !== "stdio" && /\/api\/v4\/mcp\/?$/.test(link.url));
  const loads: Promise<unknown>[] = [];
  let isLate = false;
  const sources = configs.map((config, index) => {
    const same = (tool: string) => {
      const id = isGitLab(config) ? SAME[tool] : undefined;
      return id !== undefined && isAction(id) ? id : undefined;
    };
    return createUpstream({
      config,
      version,
      log,
      names,
      same,
      preferred: prefer === "upstream",
      fingerprint,
      verdicts,
      single,
      ...(options.pulse === undefined ? {} : { pulse: options.pulse }),
      ...(options.reach === undefined ? {} : { reach: options.reach }),
      turn: async () => await within(PATIENCE, loads[index - 1] ?? Promise.resolve()),
    });
  });
  const views = createViews(sources);
  return {
    sources,
    fingerprint,
    viewFor: views.viewFor,
    follow: views.follow,
    replaced: (id) => prefer === "upstream" && sources.some((source) => source.actions().some((action) => action.same === id)),
    toolsets: new Set(configs.flatMap(({ name, toolsets }) => [name, ...Object.keys(toolsets)])),
    async ready(context) {
      const all = sources.map((source) => source.load(context));
      if (loads.length === 0) loads.push(...all);
      isLate = !(await within(isLate ? MOMENT : PATIENCE, Promise.all(all)));
    },
    linked(uri, context) {
      for (const source of sources) {
        const found = source.linked(uri, context);
        if (found) return found;
      }
      return undefined;
    },
    forget: async (session) => {
      views.forget(session);
      await Promise.all(sources.map((source) => source.forget(session)));
    },
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}
