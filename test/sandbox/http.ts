import { afterAll, beforeAll } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import type { TokenName } from "../../src/sandbox/types-sandbox.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Bodies are looked at, not trusted: a test names what it expects of them.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly json: any;
}

export type Call = (method: string, path: string, body?: unknown, as?: TokenName | null) => Promise<Answer>;

/** A sandbox for one test file, and a way to talk to it; fresh for every `describe` that asks. */
export function useSandbox(): { call: Call; box: () => Sandbox } {
  let box: Sandbox | undefined;
  const live = () => {
    if (!box) throw new Error("not started");
    return box;
  };
  beforeAll(async () => {
    box = await startSandbox();
  });
  afterAll(async () => {
    await box?.close();
  });
  const call: Call = async (method, path, body, as = "maria") => {
    const headers: Record<string, string> = as ? { "PRIVATE-TOKEN": live().tokens[as] } : {};
    if (body !== undefined) headers["content-type"] = "application/json";
    const reply = await fetch(`${live().url}/api/v4${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const json = reply.headers.get("content-type") === "application/json" && text !== "" ? JSON.parse(text) : undefined;
    return { status: reply.status, headers: reply.headers, text, json };
  };
  return { call, box: live };
}
