import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { loadActions } from "../catalog/load.ts";
import { SettingsError } from "../config/fault.ts";
import { parseDocument } from "../config/yaml.ts";
import type { Log } from "../log.ts";
import type { Limits } from "../policy/narrow.ts";
import { ENTRY_TOOLS } from "../surface/entry.ts";
import { openUpstreams, type Upstreams } from "../upstreams/open.ts";
import { VERSION } from "../version.ts";
import type { Host } from "./run.ts";

function readFile(path: string, cwd: string): unknown {
  try {
    return parseDocument(readFileSync(isAbsolute(path) ? path : join(cwd, path), "utf8"), `--upstreams: ${path}`);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`--upstreams: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

/** The upstreams that the settings name; nothing is started before it is needed. @throws SettingsError */
export function openUpstreamsFor(settings: Limits, host: Pick<Host, "env" | "cwd">, log: Log): Upstreams {
  const { upstreams, prefer, url } = settings;
  const actions = loadActions();
  const tools = new Set([...ENTRY_TOOLS.map(({ name }) => name), ...actions.map(({ tool }) => tool)]);
  const ids = new Set(actions.map(({ id }) => id));
  const token = settings.gitlabMcpToken ?? settings.token;
  return openUpstreams({
    ...(upstreams === undefined ? {} : { file: readFile(upstreams, host.cwd) }),
    ...(settings.gitlabMcp ? { gitlabMcp: { instance: url, ...(token === undefined ? {} : { token }) } } : {}),
    ...{ env: host.env, version: VERSION, log, prefer, single: !settings.http },
    isTaken: (name) => tools.has(name) || ids.has(name),
    isAction: (id) => ids.has(id),
  });
}
