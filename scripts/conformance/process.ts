import type { spawn as Spawn } from "node:child_process";

const DIST = new URL("../../dist/main.js", import.meta.url).pathname;

/** The built server on the embedded GitLab, as a process of its own. */
export async function startHttpProcess(spawn: typeof Spawn): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const args = [DIST, "serve", "--http", "--sandbox", "--port=0", "--rate-limit=1000000"];
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? "" } });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
      const found = /listens at (\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    });
    exited.then(() => reject(new Error(said)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
