import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tokens } from "./tokens.ts";

/** Stands before a GitLab and counts what it answers, as the tokens that a reader of the raw replies would pay. */
export interface Counter {
  readonly url: string;
  readonly seen: { replies: number; tokens: number };
  close(): Promise<void>;
}

function readAll(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => resolve(Buffer.concat(parts)));
    stream.on("error", reject);
  });
}

export async function startCounter(target: string): Promise<Counter> {
  const seen = { replies: 0, tokens: 0 };
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { "accept-encoding": _plain, ...headers } = incoming.headers;
    const onward = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      readAll(answer).then(
        (body) => {
          seen.replies++;
          seen.tokens += tokens(body.toString("utf8"));
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
        },
        () => outgoing.destroy(),
      );
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
