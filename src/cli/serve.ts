import { join } from "node:path";
import { createBridge } from "../app.ts";
import type { Loaded } from "../config/load.ts";
import { createLog } from "../log.ts";
import { serveOverStdio } from "../transport/stdio.ts";
import { VERSION } from "../version.ts";
import type { Host } from "./run.ts";

/** Starts the embedded GitLab and points the settings at it. */
export async function onSandbox(loaded: Loaded): Promise<Loaded> {
  const { startSandbox } = await import("../sandbox/server.ts");
  const sandbox = await startSandbox();
  const token = loaded.settings.token ?? sandbox.tokens.maria;
  return { ...loaded, settings: Object.freeze({ ...loaded.settings, url: sandbox.url, token }) };
}

export const secretsDirectory = ({ home }: Host): string => join(home, ".gitlab-toolset-bridge", "secrets");

/** `serve`: MCP over stdio until the client goes. Nothing is sent to GitLab before it is needed. */
export async function serve(loaded: Loaded, host: Host): Promise<void> {
  const { settings, warnings } = loaded.settings.sandbox ? await onSandbox(loaded) : loaded;
  const log = createLog({ level: settings.logLevel });
  for (const warning of warnings) log.warn(warning);
  const bridge = createBridge({ settings, log, version: VERSION, cwd: host.cwd, secretsDirectory: secretsDirectory(host) });
  const connection = bridge.connect();
  serveOverStdio({
    createServer: (link) => bridge.createServer(connection, link),
    onError: (error) => log.debug(error.message),
    onEnd: () => host.exit(0),
  });
}
