import { loadSettings } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/options.ts";

/** Settings as a start with these flags would have them. */
export function settingsFor(...argv: string[]): Settings {
  return loadSettings({ argv, env: {}, transport: "stdio" }).settings;
}
