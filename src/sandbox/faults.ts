import type { ServerResponse } from "node:http";
import type { Fault } from "./types-sandbox.ts";

interface Active {
  readonly fault: Fault;
  left: number;
}

export interface Faults {
  add(fault: Fault): () => void;
  /** The fault that this request meets; counts it as used. */
  take(method: string, path: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const active: Active[] = [];
  const drop = (row: Active): void => {
    const at = active.indexOf(row);
    if (at >= 0) active.splice(at, 1);
  };
  return {
    add(fault) {
      const row = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      active.push(row);
      return () => drop(row);
    },
    take(method, path) {
      const row = active.find(({ fault: { match } }) => (match?.method ?? method) === method && (match?.path?.test(path) ?? true));
      if (!row) return undefined;
      row.left -= 1;
      if (row.left <= 0) drop(row);
      return row.fault;
    },
    clear() {
      active.length = 0;
    },
  };
}

const PAGE = (title: string) => `<!DOCTYPE html>
<html><head><title>${title}</title></head>
<body><h1>${title}</h1><p>Please sign in, or ask the people who run this proxy.</p></body></html>
`;

/** What GitLab's throttle says of itself when nothing is left. */
const SPENT = {
  "ratelimit-limit": "2000",
  "ratelimit-name": "throttle_authenticated_api",
  "ratelimit-observed": "2001",
  "ratelimit-remaining": "0",
};

const GATEWAY: Readonly<Record<string, string>> = { "502": "GitLab is not responding (502)", "503": "Service unavailable (503)" };

/**
 * Answers in the place of the server, or ruins the connection.
 * `slow` and `truncated` are left to the caller: they need the real answer.
 */
export function applyFault(fault: Fault, response: ServerResponse): void {
  switch (fault.kind) {
    case "429": {
      const seconds = fault.retryAfter ?? 1;
      response.writeHead(429, { "content-type": "text/plain", "retry-after": String(seconds), ...SPENT });
      response.end("Retry later\n");
      break;
    }
    case "500":
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: "500 Internal Server Error" }));
      break;
    case "502":
    case "503":
      response.writeHead(Number(fault.kind), {
        "content-type": "text/html",
        ...(fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) }),
      });
      response.end(PAGE(GATEWAY[fault.kind] ?? fault.kind));
      break;
    case "html":
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end(PAGE("Sign in"));
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    default:
      break;
  }
}
