export { type Bridge, type BridgeOptions, createBridge } from "./app.ts";
export type { Action, ActionRow, Facts, Outcome, Source } from "./catalog/types.ts";
export { type Loaded, loadSettings } from "./config/load.ts";
export type { Settings } from "./config/options.ts";
export { BridgeError, ERROR_CODES, type ErrorCode } from "./errors.ts";
export { createLog, type Log } from "./log.ts";
export type { Connection, Link } from "./surface/connection.ts";
export { VERSION } from "./version.ts";
