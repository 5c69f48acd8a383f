import { join } from "node:path";
import { toHttpSettings } from "../config/http-check.ts";
import type { Loaded } from "../config/load.ts";
import { createLog } from "../log.ts";
import { serveOverHttp } from "../transport/http.ts";
import { openBridge } from "./open-bridge.ts";
import type { Host } from "./run.ts";
import { onSandbox } from "./serve.ts";

/** `serve --http`: MCP for many people at one address, until the process is told to stop. */
export async function serveHttp(loaded: Loaded, host: Host): Promise<void> {
  const given = loaded.settings.sandbox ? await onSandbox(loaded) : loaded;
  const { settings, warnings: more } = toHttpSettings(given.settings);
  const log = createLog({ level: settings.logLevel });
  for (const warning of [...given.warnings, ...more]) log.warn(warning);
  const bridge = await openBridge({ ...given, settings }, host, log);
  const server = await serveOverHttp({ settings, bridge, log, endedFile: join(host.home, ".gitlab-toolset-bridge", "ended-sessions") });
  console.error(
    `GitLab toolset bridge listens at ${server.url} (${settings.auth === "server" ? "one GitLab token for all" : "each caller's own token"})`,
  );
  const stop = () => {
    server.stop().then(
      () => host.exit(0),
      () => host.exit(1),
    );
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
}
