import type { Bridge } from "../app.ts";
import type { Facts } from "../catalog/types.ts";
import type { Loaded } from "../config/load.ts";
import { createLog } from "../log.ts";
import type { Connection } from "../surface/connection.ts";
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

/** The client's connection once it is known whose it is: a live comparison gives each user a style. Made on the client's first message. */
function seated(bridge: Bridge): () => Promise<Connection> {
  let made: Promise<Connection> | undefined;
  const sit = async () => {
    const { user } = await bridge.identify(bridge.connect(), undefined).catch((): Facts => ({}));
    return bridge.connect(user ? { user: user.id } : {});
  };
  return () => {
    made ??= sit();
    return made;
  };
}

/** `serve`: MCP over stdio until the client goes. Nothing is sent to GitLab before it is needed. */
export async function serve(given: Loaded, host: Host): Promise<void> {
  const loaded = given.settings.sandbox ? await onSandbox(given) : given;
  const { settings, warnings } = loaded;
  const log = createLog({ level: settings.logLevel });
  for (const warning of warnings) log.warn(warning);
  const bridge = await openBridge(loaded, host, log);
  const connection = settings.ab ? seated(bridge) : bridge.connect();
  serveOverStdio({
    createServer: (link) =>
      typeof connection === "function" ? connection().then((one) => bridge.createServer(one, link)) : bridge.createServer(connection, link),
    onError: (error) => log.debug(error.message),
    onEnd: () => host.exit(0),
  });
}
