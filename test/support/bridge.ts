import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import type { Connection } from "../../src/surface/connection.ts";
import type { ToolCall } from "../../src/surface/tool.ts";
import { settingsFor } from "./settings.ts";

/** A connection as a client with these flags gets it; nothing is started and nothing sent. */
export function connectionFor(...argv: string[]): Connection {
  const log = createLog({ level: "silent" });
  return createBridge({ settings: settingsFor(...argv), log, version: "0.0.0", cwd: "/" }).connect();
}

/** What an entry tool is handed when a legacy client over stdio calls it; `refreshes`: it asks for its list as soon as it is told. */
export function entryCall(connection: Connection, refreshes = false): ToolCall {
  return {
    connection,
    link: { era: "legacy", transport: "stdio", canTell: () => true },
    context: { principal: { instance: "https://gitlab.example" }, signal: new AbortController().signal, canAsk: false, meta: {} },
    named: (tool) => tool,
    tellListChanged: async () => {
      if (refreshes) connection.session.listed();
    },
  };
}
