import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { HOSTILE, LINE } from "./hostile.ts";

/** Fields that people fill as they like, and what somebody hostile has put there. */
const LONG = /^(?:description|body|note|message|content_text|data|log|merged_yaml)$/;
const SHORT = /^(?:title|name|author_name|committer_name|short_desc|reason|file_name|basename|error)$/;

function poison(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    if (key === "content") return Buffer.from(HOSTILE).toString("base64");
    if (key === "diff")
      return `@@ -1 +1,30 @@\n-a\n${HOSTILE.split("\n")
        .map((line) => `+${line}`)
        .join("\n")}\n`;
    return LONG.test(key) ? HOSTILE : SHORT.test(key) ? LINE : value;
  }
  if (Array.isArray(value)) {
    if (["lines", "errors", "warnings"].includes(key)) return [HOSTILE, ...value];
    return key === "labels" ? [LINE, ...value] : value.map((item) => poison(item));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, poison(inner, name)]));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export interface HostileGitLab {
  readonly url: string;
  close(): Promise<void>;
}

/** A GitLab that answers as the one behind it, with hostile words wherever people write: texts, names, labels, files, logs, diffs. */
export async function startHostile(behind: string): Promise<HostileGitLab> {
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        ["host", "connection", "content-length", "transfer-encoding"].includes(name) ? [] : [[name, String(value)]],
      ),
    );
    const body = await bodyOf(request);
    const answer = await fetch(`${behind}${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
    });
    const text = await answer.text();
    const json = /json/.test(answer.headers.get("content-type") ?? "");
    const kept = [...answer.headers].filter(([name]) => /^(x-|link|content-type)/.test(name));
    const poisoned = json && text !== "" ? JSON.stringify(poison(JSON.parse(text))) : text === "" ? "" : HOSTILE;
    response.writeHead(answer.status, Object.fromEntries(kept)).end(poisoned);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
