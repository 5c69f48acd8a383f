import type { CallContext, Source } from "../catalog/types.ts";
import type { Log } from "../log.ts";
import type { DialOptions, Verdicts } from "./client.ts";
import type { UpstreamConfig } from "./config.ts";
import type { Linked } from "./links.ts";
import type { Names } from "./naming.ts";
import type { Mapping } from "./tools.ts";

export interface UpstreamOptions {
  readonly config: UpstreamConfig;
  readonly version: string;
  readonly log: Log;
  readonly names: Names;
  readonly same: Mapping["same"];
  readonly preferred: boolean;
  readonly fingerprint: string;
  readonly verdicts: Verdicts;
  /** Names are given in the order of the file: this one waits for those before it. */
  readonly turn: () => Promise<unknown>;
  /** Milliseconds between questions whether a server over HTTP is still the same one. */
  readonly pulse?: number;
  readonly reach?: DialOptions["reach"];
  /** One user and one client: the connection that reads the tools is also the first client's own. */
  readonly single: boolean;
}

/** Toolsets and actions as one client sees them. */
export type UpstreamView = Pick<Source, "toolsets" | "actions">;

/** A source over another MCP server. */
export interface UpstreamSource extends Source {
  /** Reads the tools where that was not done, or a change is on its way; resolves when that worked or failed. */
  load(context: CallContext | undefined): Promise<void>;
  /** A link that this client was given; undefined where it was given none like that. */
  linked(uri: string, context: CallContext): Linked | undefined;
  /** What this client sees, where that is something else than what all others see. */
  own(session: string): UpstreamView | undefined;
  /** Called whenever one client's own list became another one. */
  watchOwn(changed: (session: string) => void): void;
  /** A client has gone: its connections are closed. */
  forget(session: string): Promise<void>;
  close(): Promise<void>;
}
