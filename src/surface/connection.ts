import type { CallContext, Facts } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import type { Finder } from "../discovery/find.ts";
import type { Road } from "../executor/dispatch.ts";
import type { Policy } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import type { Session } from "../registry/session.ts";

/** What the transport knows of the client at the other end. */
export interface Link {
  readonly era: "legacy" | "modern";
  readonly transport: "stdio" | "http";
  /** The client can be told of a changed list now (modern stdio: while it listens). */
  canTell(): boolean;
  /** Whether the client is owed the news of a changed list; asking settles the debt. */
  takeOwed?(): boolean;
}

/** What is known about caller and instance. */
export interface FactSource {
  /** What is known already; never waits. */
  known(context: CallContext): Facts;
  /** Asks GitLab for what is not known yet, within a deadline. */
  learn(context: CallContext): Promise<Facts>;
}

/** Other MCP servers, as one connection meets them. */
export interface ConnectedUpstreams {
  /** Resolves when the tools of all were read, or that failed, or took too long. */
  ready(context?: CallContext): Promise<void>;
  /** The resource that a link in one of their answers to this client names, and whose answer it was; undefined for any other. */
  linked(
    uri: string,
    context: CallContext,
  ): { readonly action: string; readonly read: () => Promise<Readonly<Record<string, unknown>>> } | undefined;
  /** Tools of theirs are on this client's list from the start. */
  readonly listed: boolean;
  /** What this set of servers is known by. */
  readonly fingerprint: string;
}

/** How a request of a client that takes part in a live comparison came in. */
export interface Seen {
  readonly link: Pick<Link, "era" | "transport">;
  /** A client of the handshake era has said who it is: what comes before is a probe. */
  readonly greeted: boolean;
  readonly client?: string;
}

/** One client's part in a live comparison of styles: what it asked for, and what came of it, is written down without contents. */
export interface Trial {
  /** The client was shown this list. */
  listed(connection: Connection, seen: Seen, tools: readonly unknown[]): void;
  /** Runs a call of the client and writes down how it ended. */
  call<T extends object>(connection: Connection, seen: Seen, name: string, run: () => Promise<T>): Promise<T>;
}

/** One client's connection: its settings, policy, switches and the shared rooms behind them. */
export interface Connection {
  readonly settings: Settings;
  readonly policy: Policy;
  readonly registry: Registry;
  readonly session: Session;
  /** Heavy rooms are loaded when first needed, not at the start. */
  readonly runner: () => Promise<Road>;
  readonly finder: () => Promise<Finder>;
  readonly facts: FactSource;
  /** The connection's current project, read lazily. */
  readonly project: () => string | undefined;
  readonly version: string;
  /** What a source keeps for this client is kept under this name. */
  readonly key?: string;
  /** Other MCP servers behind this one; absent where there are none. */
  readonly upstreams?: ConnectedUpstreams;
  /** Absent where no styles are compared. */
  readonly trial?: Trial;
  /** The client has gone: what was opened for it is closed. */
  close?(): void;
}

/** Name under which a transport hands a request's credential to the server, in the SDK's \`authInfo.extra\`. */
export const CREDENTIAL = "credential";

/** Whether this client's list may change now (the table of DESIGN.md §4). */
export function maySwitch(settings: Settings, link: Link): boolean {
  if (settings.enablement === "strict") return false;
  // Each request of a modern client over HTTP stands alone: nothing is there to switch.
  if (link.era === "modern" && link.transport === "http") return false;
  if (settings.enablement === "session") return true;
  if (link.era === "legacy") return true;
  return link.transport === "stdio" && link.canTell();
}

/** Whether a change of the list could ever be told: fixed before the client connects. */
export function advertisesListChanged(settings: Settings, era: Link["era"], transport: Link["transport"]): boolean {
  return settings.enablement !== "strict" && (era === "legacy" || transport === "stdio");
}
