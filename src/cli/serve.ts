import type { Loaded } from "../config/load.ts";
import { createLog } from "../log.ts";
import { serveOverStdio } from "../transport/stdio.ts";
import { openBridge } from "./open-bridge.ts";
import type { Host } from "./run.ts";

/** Starts the embedded GitLab and points the settings at it. */
export async function onSandbox(loaded: Loaded): Promise<Loaded> {
  const { startSandbox } = await import("../sandbox/server.ts");
  const sandbox = await startSandbox();
  const token = loaded.settings.token ?? sandbox.tokens.maria;
  return { ...loaded, settings: Object.freeze({ ...loaded.settings, url: sandbox.url, token }) };
}

/** `serve`: MCP over stdio until the client goes. Nothing is sent to GitLab before it is needed. */
export async function serve(given: Loaded, host: Host): Promise<void> {
  const loaded = given.settings.sandbox ? await onSandbox(given) : given;
  const { settings, warnings } = loaded;
  const log = createLog({ level: settings.logLevel });
  for (const warning of warnings) log.warn(warning);
  const bridge = await openBridge(loaded, host, log);
  const connection = bridge.connect();
  serveOverStdio({
    createServer: (link) => bridge.createServer(connection, link),
    onError: (error) => log.debug(error.message),
    onEnd: () => host.exit(0),
  });
}
