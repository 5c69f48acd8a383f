import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import type { Connection } from "../../src/surface/connection.ts";
import { settingsFor } from "./settings.ts";

/** A connection as a client with these flags gets it; nothing is started and nothing sent. */
export function connectionFor(...argv: string[]): Connection {
  const log = createLog({ level: "silent" });
  return createBridge({ settings: settingsFor(...argv), log, version: "0.0.0", cwd: "/" }).connect();
}
