import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { loadActions } from "../catalog/load.ts";
import { SettingsError } from "../config/fault.ts";
import { parseDocument } from "../config/yaml.ts";
import type { Log } from "../log.ts";
import type { Limits } from "../policy/narrow.ts";
import { ENTRY_TOOLS } from "../surface/entry.ts";
import type { GitLabMcp } from "../upstreams/gitlab-mcp.ts";
import { OAuthTokens } from "../upstreams/oauth.ts";
import { openSignInStore } from "../upstreams/oauth-store.ts";
import { openUpstreams, type Upstreams } from "../upstreams/open.ts";
import { VERSION } from "../version.ts";
import { reachOf } from "./reach.ts";
import type { Host } from "./run.ts";

function readFile(path: string, cwd: string): unknown {
  try {
    return parseDocument(readFileSync(isAbsolute(path) ? path : join(cwd, path), "utf8"), `--upstreams: ${path}`);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`--upstreams: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

/** Where sign-ins of this user are kept. */
export const signInDirectory = ({ home }: Pick<Host, "home">): string => join(home, ".gitlab-toolset-bridge", "oauth");

/** Over HTTP there are many users and nobody at a browser here: a sign-in is for stdio alone. */
function gitlabMcpOf(settings: Limits, host: Pick<Host, "home">, log: Log, reach: ReturnType<typeof reachOf>): GitLabMcp {
  const { url, http, gitlabMcpToken, token } = settings;
  const one = gitlabMcpToken ?? (http ? token : undefined);
  if (one !== undefined || http) return { instance: url, ...(one === undefined ? {} : { token: one }) };
  const store = openSignInStore(signInDirectory(host), url);
  return {
    instance: url,
    auth: new OAuthTokens({ instance: url, store, reach, hide: log.hide, ...(token === undefined ? {} : { fallback: token }) }),
  };
}

/** The upstreams that the settings name; nothing is started before it is needed. @throws SettingsError */
export function openUpstreamsFor(settings: Limits, host: Pick<Host, "env" | "cwd" | "home">, log: Log): Upstreams {
  const { upstreams, prefer } = settings;
  const actions = loadActions();
  const tools = new Set([...ENTRY_TOOLS.map(({ name }) => name), ...actions.map(({ tool }) => tool)]);
  const ids = new Set(actions.map(({ id }) => id));
  const reach = reachOf(settings);
  return openUpstreams({
    ...(upstreams === undefined ? {} : { file: readFile(upstreams, host.cwd) }),
    ...(settings.gitlabMcp ? { gitlabMcp: gitlabMcpOf(settings, host, log, reach) } : {}),
    ...(reach ? { reach } : {}),
    ...{ env: host.env, version: VERSION, log, prefer, single: !settings.http },
    isTaken: (name) => tools.has(name) || ids.has(name),
    isAction: (id) => ids.has(id),
  });
}
