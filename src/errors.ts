/** The closed list of error codes that a client can meet (DESIGN.md §8). */
export const ERROR_CODES = [
  "unknown_action",
  "unknown_toolset",
  "ambiguous_alias",
  "invalid_params",
  "not_permitted",
  "confirmation_required",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "unprocessable",
  "rate_limited",
  "gitlab_unavailable",
  "not_gitlab",
  "timeout",
  "cancelled",
  "outcome_unknown",
  "upstream_unavailable",
  "too_large",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The read that tells whether a write with an unknown outcome was done. */
export interface Check {
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What an error may carry beside code, message and hint; every field reaches the client as it stands. */
export interface ErrorDetail {
  readonly status?: number;
  readonly request_id?: string;
  readonly signature?: string;
  readonly check?: Check;
  readonly rule?: string;
  readonly setting?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly nearest?: readonly string[];
  readonly retry_after?: number;
  /** Code and data of an error as another MCP server gave it. */
  readonly upstream?: { readonly code: number; readonly data?: unknown };
}

/** The one error that is thrown on purpose. Anything else that is thrown is a bug and is reported as `internal`. */
export class BridgeError extends Error {
  override readonly name = "BridgeError";
  readonly code: ErrorCode;
  readonly hint: string;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, hint: string, detail: ErrorDetail = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.detail = detail;
  }
}
