import { startSandbox } from "../sandbox/server.ts";

/** `sandbox [--port N]`: the embedded GitLab alone, for any GitLab client. */
export async function sandbox(argv: readonly string[]): Promise<void> {
  const at = argv.indexOf("--port");
  const port = at < 0 ? undefined : Number(argv[at + 1]);
  const started = await startSandbox(port === undefined ? {} : { port });
  console.log(`GitLab sandbox at ${started.url}`);
  for (const [name, token] of Object.entries(started.tokens)) console.log(`  token of ${name}: ${token}`);
  console.log("Stop it with Ctrl-C.");
}
