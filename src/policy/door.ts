import type { Effect } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { operationKinds } from "./graphql.ts";
import { isReadOnly } from "./rules.ts";

/** What is about to leave for GitLab. */
export interface DoorRequest {
  readonly method: string;
  readonly url: URL;
  /** The instance's API root, e.g. `https://host/gitlab/api/v4`. */
  readonly base: URL;
  /** Path template of the row, relative to `base`. */
  readonly template: string;
  readonly effect: Effect;
  /** Toolset of the action behind it; unknown ones count as read-only where any is. */
  readonly toolset?: string;
  readonly body?: unknown;
  /** Text of the GraphQL document, where the request carries one. */
  readonly graphql?: string;
}

/** @throws BridgeError not_permitted when the request must not leave. */
export type Door = (request: DoorRequest) => void;

/** POST requests that change nothing, with the reason; everything else that is not GET or HEAD writes. */
export const READING_POSTS: Readonly<Record<string, string>> = {
  "/markdown": "renders Markdown to HTML",
  "/projects/{project_id}/ci/lint": "validates CI configuration text",
  "/ci/lint": "validates CI configuration text",
  "/glql": "runs a query in GitLab's query language",
  "/admin/token": "tells what a token is",
  "/orbit/query": "asks the knowledge graph, whose queries only read",
  "/projects/{project_id}/dependency_firewall/evaluate": "holds a package against the project's policies",
};

const SEGMENT = "[^/?#]+";

/** Whether the URL is exactly an instance of the template below the base: no dot segments, no empty values, no other host. */
export function isInstance(url: URL, base: URL, template: string): boolean {
  if (url.origin !== base.origin || url.username !== "" || url.password !== "") return false;
  const root = base.pathname.replace(/\/+$/, "");
  if (!url.pathname.startsWith(`${root}/`)) return false;
  const path = url.pathname.slice(root.length);
  if (path.split("/").some((part) => isDotSegment(part))) return false;
  const source = template
    .split(/(\{[a-z0-9_]+\})/)
    .map((part) => (part.startsWith("{") ? SEGMENT : escapeRegExp(part)))
    .join("");
  return new RegExp(`^${source}$`).test(path);
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `.` and `..`, plain or percent-encoded however often. */
export function isDotSegment(part: string): boolean {
  let text = part;
  for (let round = 0; round < 4; round++) {
    if (text === "." || text === "..") return true;
    const decoded = text.replace(/%25/gi, "%").replace(/%2e/gi, ".");
    if (decoded === text) return false;
    text = decoded;
  }
  return text === "." || text === "..";
}

function reads(request: DoorRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  if (request.method !== "POST") return false;
  if (request.graphql !== undefined) return operationKinds(request.graphql).every((kind) => kind === "query");
  return Object.hasOwn(READING_POSTS, request.template);
}

const shut = (message: string, setting?: string) =>
  new BridgeError(
    "not_permitted",
    message,
    "Nothing was sent. Do not look for another way; tell the user what was refused.",
    setting === undefined ? {} : { setting },
  );

/** The last check before the wire: it holds whatever bug sits above it. */
export function createDoor(settings: Pick<Settings, "readOnly" | "safeMode">): Door {
  return (request) => {
    if (!isInstance(request.url, request.base, request.template))
      throw shut(`The request would not go where ${request.template} points; a path value is not usable`);
    if (reads(request)) return;
    if (request.effect === "read") throw shut(`${request.method} ${request.template} is not a read`);
    if (isReadOnly(settings, request.toolset)) throw shut("The server is read-only", "--read-only");
    if (settings.safeMode) throw shut("The server is in safe mode", "--safe-mode");
  };
}
