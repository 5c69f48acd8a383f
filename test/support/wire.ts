import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { DIST } from "./clients.ts";

type Message = {
  id?: number;
  method?: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
  params?: unknown;
};

/** The built server with bare JSON-RPC lines on both sides: what the client SDKs would hide is seen here. */
export interface Wire {
  readonly child: ChildProcessWithoutNullStreams;
  /** Every line of stdout so far, parsed; a line that is not JSON is a test failure. */
  readonly lines: readonly Message[];
  readonly stderr: () => string;
  send(message: Record<string, unknown>): void;
  /** Sends a request and resolves with its answer. */
  request(method: string, params?: Record<string, unknown>): Promise<Message>;
  exited: Promise<number | null>;
}

export function spawnWire(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): Wire {
  const child = spawn(process.execPath, [DIST, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const lines: Message[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  let rest = "";
  let errors = "";
  let next = 1;
  child.stdout.on("data", (chunk: Buffer) => {
    rest += chunk.toString("utf8");
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts.filter((line) => line !== "")) {
      const message = JSON.parse(part) as Message;
      lines.push(message);
      if (message.id !== undefined) waiting.get(message.id)?.(message);
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  const send = (message: Record<string, unknown>) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    child,
    lines,
    stderr: () => errors,
    send,
    request(method, params = {}) {
      const id = next++;
      const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
      send({ id, method, params });
      return answer;
    },
    exited: new Promise((resolve) => child.once("exit", resolve)),
  };
}

/** The legacy handshake, as a client of 2025-06-18 does it. */
export async function initialize(wire: Wire): Promise<Message> {
  const answer = await wire.request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "wire", version: "1" },
  });
  wire.send({ method: "notifications/initialized" });
  return answer;
}
