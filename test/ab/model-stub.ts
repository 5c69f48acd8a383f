import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Arm, Beside, DriverContext, Host, Json, ListedTool, Seen, Task } from "../../src/ab/types.ts";

/** One answer of the stub; an object is sent as JSON with status 200. */
export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Never answers. */
  readonly hang?: true;
}

export interface StubRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

/** A message API that gives the answers it was told, in order, and keeps what it was asked. */
export async function startStub(answers: readonly StubAnswer[]) {
  const requests: StubRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      const { status = 200, headers = {}, body, hang } = answers[requests.length - 1] ?? { status: 418, body: "no answer left" };
      if (hang) return;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

export interface HostCall {
  readonly name: string;
  readonly args: Json;
  readonly said?: string;
  readonly beside?: Beside;
}

/** A host whose results are given by a function; it keeps what it was called with. */
export function fakeHost(tools: () => readonly ListedTool[], answer: (name: string, args: Json) => Seen, instructions?: string) {
  const calls: HostCall[] = [];
  const answers: { text: string; beside?: Beside }[] = [];
  const host: Host = {
    get tools() {
      return tools();
    },
    ...(instructions === undefined ? {} : { instructions }),
    call: async (name, args, said, beside) => {
      calls.push({ name, args, ...(said === undefined ? {} : { said }), ...(beside === undefined ? {} : { beside }) });
      return answer(name, args);
    },
    answer: (text, beside) => void answers.push({ text, ...(beside === undefined ? {} : { beside }) }),
  };
  return { host, calls, answers };
}

export const arm = (name: string): Arm => ({ name, command: [], env: {}, about: "" });

export const contextFor = (more: Partial<DriverContext> = {}): DriverContext => ({
  arm: arm("some"),
  refresh: "at_once",
  seed: 1,
  signal: new AbortController().signal,
  maxCalls: 20,
  ...more,
});

export const taskFor = (prompt: string): Task => ({ id: "t", size: "small", toolsets: [], prompt, path: [] });
