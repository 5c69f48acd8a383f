import type { IncomingMessage, ServerResponse } from "node:http";
import { CODE, Refused } from "./reply.ts";

function toHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) for (const value of values ?? []) headers.append(name, value);
  return headers;
}

/** A request as the web's own classes have it, without its body: that is read once, under one limit, and handed on parsed. */
export function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const host = incoming.headers.host ?? "localhost";
  const base = URL.canParse(`http://${host}/`) ? `http://${host}` : "http://localhost";
  const path = incoming.url?.startsWith("/") ? incoming.url : "/";
  if (["CONNECT", "TRACE", "TRACK"].includes(incoming.method ?? "")) throw new Refused({ status: 405, message: "Method not allowed." });
  return new Request(new URL(`${base}${path}`), { method: incoming.method ?? "GET", headers: toHeaders(incoming), signal });
}

const tooLarge = (limit: number) =>
  new Refused({ status: 413, message: `The request is larger than ${limit} bytes.`, headers: { Connection: "close" } });

/** @throws Refused 413 before more than the limit was read. */
export async function readBody(incoming: IncomingMessage, limit: number): Promise<string> {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of incoming as AsyncIterable<Buffer>) {
      size += part.byteLength;
      if (size > limit) throw tooLarge(limit);
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused({ status: 400, code: CODE.parse, message: "The request broke off." });
  }
  return Buffer.concat(parts).toString("utf8");
}

const drained = (outgoing: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.on("drain", done);
    outgoing.on("close", done);
  });

/** Writes an answer at the pace of its reader; a reader that goes cancels it. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) {
    await response.body?.cancel().catch(() => {});
    return;
  }
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const gone = () => void reader.cancel().catch(() => {});
  outgoing.once("close", gone);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!outgoing.write(part.value) && !outgoing.destroyed) await drained(outgoing);
    }
  } finally {
    outgoing.off("close", gone);
    outgoing.end();
  }
}
