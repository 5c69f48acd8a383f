import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { BridgeError, type ErrorCode } from "../errors.ts";
import { SignInNeeded } from "./oauth.ts";

/** How a call failed, for the question whether it may be sent again. */
export type Failure = "gone_before" | "gone_during" | "other";

const causes = (error: unknown): string => {
  const texts: string[] = [];
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    const code = (current as { code?: unknown }).code;
    texts.push(`${typeof code === "string" ? `${code} ` : ""}${current.message}`);
  }
  return texts.join(": ");
};

/** `gone_before`: the server surely did not run it. `gone_during`: it may have. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ProtocolError) return "other";
  if (error instanceof SdkHttpError)
    return error.status === 404 ? "gone_before" : error.status !== undefined && error.status >= 500 ? "gone_during" : "other";
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return "gone_before";
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return "gone_during";
  const text = causes(error);
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|process has ended|Not connected/.test(text)) return "gone_before";
  return /ECONNRESET|EPIPE|fetch failed|terminated|socket|other side closed|UND_ERR/i.test(text) ? "gone_during" : "other";
}

/** A failure in few words; `wants` is what a refused credential should have been. */
export function sayFailure(error: unknown, wants?: string): string {
  const better = wants === undefined ? "" : `; ${wants}`;
  if (error instanceof UnauthorizedError) return `it wants another credential${better}`;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403))
    return `it refuses the credential (HTTP ${error.status})${better}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return "it does not answer";
  const text = causes(error).replace(/\s+/g, " ").trim();
  return (text === "" ? "it failed" : text).slice(0, 300).replace(/\.$/, "");
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  [ProtocolErrorCode.InvalidParams]: "invalid_params",
  [ProtocolErrorCode.MethodNotFound]: "unknown_action",
};

const isTimeout = (error: unknown) => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

export interface FailedCall {
  readonly id: string;
  readonly upstream: string;
  readonly reads: boolean;
  readonly cancelled: boolean;
}

/** What a caller is told of a call that failed at an upstream; its own code and data stay in it. */
export function toBridgeError(error: unknown, { id, upstream, reads, cancelled }: FailedCall, mask: (text: string) => string): BridgeError {
  if (error instanceof BridgeError) return error;
  const said = mask(sayFailure(error));
  if (error instanceof SignInNeeded)
    return new BridgeError("unauthenticated", `${upstream} did not run ${id}: ${said}.`, "Tell the user; then call again.");
  const again = reads ? "It only reads: call again." : "It may have run: look before you repeat it.";
  if (error instanceof ProtocolError) {
    const data = error.data === undefined ? {} : { data: maskAll(error.data, mask) };
    return new BridgeError(
      CODES[error.code] ?? "unprocessable",
      `${upstream} refused ${id}: ${said}.`,
      `The message is from ${upstream}, not from GitLab.`,
      {
        upstream: { code: error.code, ...data },
      },
    );
  }
  if (cancelled) return new BridgeError(reads ? "cancelled" : "outcome_unknown", `${id} was cancelled while it ran at ${upstream}.`, again);
  if (isTimeout(error)) return new BridgeError(reads ? "timeout" : "outcome_unknown", `${upstream} did not answer ${id} in time.`, again);
  const failure = failureOf(error);
  if (failure === "gone_before")
    return new BridgeError("upstream_unavailable", `${upstream} was gone: ${said}.`, "Nothing ran. Call again: it is connected anew.");
  if (failure === "gone_during")
    return new BridgeError(reads ? "upstream_unavailable" : "outcome_unknown", `${upstream} went away while ${id} ran: ${said}.`, again);
  return new BridgeError("upstream_unavailable", `${upstream} failed at ${id}: ${said}.`, again);
}

/** Data of a foreign error, within bounds and without secrets. */
function maskAll(data: unknown, mask: (text: string) => string): unknown {
  const text = mask(JSON.stringify(data) ?? "null");
  if (text.length > 4_000) return `${text.slice(0, 4_000)}…`;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
