import type { Json, World } from "./types.ts";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Json>;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
}

export interface Fault {
  readonly match?: { readonly method?: string; readonly path?: RegExp };
  readonly kind: "429" | "500" | "502" | "503" | "slow" | "hang" | "html" | "truncated" | "reset";
  /** How often; for ever where absent. */
  readonly times?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly delayMs?: number;
}

export type TokenName = "root" | "maria" | "jonas" | "reader" | "expired";

export interface Sandbox {
  readonly url: string;
  readonly tokens: Readonly<Record<TokenName, string>>;
  readonly world: World;
  /** Newest last; the last 1,000. */
  readonly requests: readonly RecordedRequest[];
  /** Switches a fault on; the answer switches it off. */
  fail(fault: Fault): () => void;
  /** Back to the seeds; no faults, no recorded requests. */
  reset(): void;
  close(): Promise<void>;
}
