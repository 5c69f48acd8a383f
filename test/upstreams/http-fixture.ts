import { type ChildProcess, spawn } from "node:child_process";
import { FIXTURES } from "./chain.ts";

export interface HttpFixture {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** Headers of all requests so far. */
  log(): Promise<readonly Record<string, string>[]>;
  /** Tools that were called (gitlab). */
  calls(): Promise<readonly string[]>;
  /** What its tools answer from now on, and what stands behind addresses (gitlab). */
  answer(answers: {
    readonly tools?: Readonly<
      Record<string, { readonly result?: unknown; readonly progress?: string; readonly question?: string; readonly failure?: string }>
    >;
    readonly resources?: Readonly<Record<string, string>>;
  }): Promise<void>;
  kill(): Promise<void>;
}

/** A fixture over HTTP as a process of its own. */
export async function startHttpFixture(
  kind: "legacy" | "modern" | "sse" | "gitlab",
  port = 0,
  env: Readonly<Record<string, string>> = {},
): Promise<HttpFixture> {
  const child = spawn(process.execPath, [`${FIXTURES}http.mjs`], {
    env: { PATH: process.env.PATH ?? "", KIND: kind, PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim()));
    child.once("exit", (code) => reject(new Error(`the fixture ended with ${code}`)));
  });
  return {
    url: `${address}${kind === "gitlab" ? "/api/v4/mcp" : "/mcp"}`,
    port: Number(new URL(address).port),
    child,
    log: async () => (await (await fetch(`${address}/log`)).json()) as readonly Record<string, string>[],
    calls: async () => (await (await fetch(`${address}/calls`)).json()) as readonly string[],
    async answer(answers) {
      await fetch(`${address}/answers`, { method: "POST", body: JSON.stringify(answers) });
    },
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
