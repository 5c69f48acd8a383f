import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Reply, World } from "./types.ts";

export interface SendOptions {
  readonly world: World;
  /** Cut in the middle of the body. */
  readonly truncated?: boolean;
  /** How many requests were answered: makes the request id. */
  readonly count: number;
}

const LIMIT = 2_000;

function common(world: World, count: number): Record<string, string> {
  const id = createHash("sha1").update(String(count)).digest("hex").slice(0, 26).toUpperCase();
  const observed = (count % 60) + 1;
  const reset = Math.ceil(Date.parse(world.now()) / 60_000) * 60;
  return {
    "cache-control": "max-age=0, private, must-revalidate",
    vary: "Origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "x-gitlab-meta": JSON.stringify({ correlation_id: id, version: "1" }),
    "x-request-id": id,
    "x-runtime": "0.010000",
    "ratelimit-limit": String(LIMIT),
    "ratelimit-name": "throttle_authenticated_api",
    "ratelimit-observed": String(observed),
    "ratelimit-remaining": String(LIMIT - observed),
    "ratelimit-reset": String(reset),
  };
}

function bytesOf(reply: Reply): Buffer {
  if (reply.bytes) return Buffer.from(reply.bytes);
  if (reply.text !== undefined) return Buffer.from(reply.text);
  return reply.json === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(reply.json));
}

/** Writes a reply with GitLab's headers; a GET that the client already has becomes 304. */
export function send(incoming: IncomingMessage, response: ServerResponse, reply: Reply, options: SendOptions): void {
  const body = bytesOf(reply);
  const headers: Record<string, string> = { ...common(options.world, options.count), ...reply.headers };
  if (reply.json !== undefined) headers["content-type"] = "application/json";
  else if (reply.type) headers["content-type"] = reply.type;
  const cached = incoming.method === "GET" && reply.status === 200;
  if (cached) headers.etag ??= `W/"${createHash("md5").update(body).digest("hex")}"`;
  if (cached && incoming.headers["if-none-match"] === headers.etag) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  if (reply.status !== 204 && reply.status !== 304) headers["content-length"] = String(body.length);
  response.writeHead(reply.status, headers);
  if (incoming.method === "HEAD") {
    response.end();
  } else if (options.truncated) {
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    response.socket?.destroySoon();
  } else {
    response.end(reply.status === 204 ? undefined : body);
  }
}
