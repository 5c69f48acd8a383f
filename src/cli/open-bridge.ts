import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bridge, createBridge } from "../app.ts";
import { SettingsError } from "../config/fault.ts";
import type { Loaded } from "../config/load.ts";
import type { Log } from "../log.ts";
import type { Limits } from "../policy/narrow.ts";
import type { Upstreams } from "../upstreams/open.ts";
import { VERSION } from "../version.ts";
import type { Host } from "./run.ts";

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SettingsError(`--policy: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

/** The settings under a policy file; the reader of such files is loaded only where there is one. @throws SettingsError */
export async function limitsOf(
  loaded: Pick<Loaded, "settings" | "sources">,
  path: string | undefined = loaded.settings.policy,
): Promise<Limits> {
  if (path === undefined) return loaded.settings;
  const [{ parsePolicy }, { underPolicy }] = await Promise.all([import("../config/policy-file.ts"), import("../policy/file.ts")]);
  return underPolicy(loaded, parsePolicy(readText(path), path), path);
}

/** Reads the policy file again on SIGHUP; one that is not good changes nothing, and that is told. */
function followPolicy(loaded: Loaded, bridge: Bridge, host: Host): void {
  const { policy } = loaded.settings;
  if (policy === undefined) return;
  host.onHangup?.(() => {
    limitsOf(loaded)
      .then((limits) => bridge.limit(limits))
      .then(
        () => console.error(`policy: ${policy} was read again and holds from now on`),
        (error: unknown) => console.error(`policy: the old one stays. ${error instanceof Error ? error.message : String(error)}`),
      );
  });
}

async function auditOf({ settings }: Loaded, log: Log) {
  if (settings.audit === undefined) return {};
  const { openAudit } = await import("../executor/audit-file.ts");
  return { audit: openAudit(settings.audit, log).write };
}

/** What is written down of a live comparison of styles; nothing where no file is named. */
async function trialsOf({ settings }: Loaded, log: Log) {
  if (!settings.ab || settings.abLog === undefined) return {};
  const [{ createTrials }, { openLines }] = await Promise.all([import("../surface/trial.ts"), import("../executor/audit-file.ts")]);
  const salt = settings.abSalt ?? settings.sessionKey;
  const { write } = openLines(settings.abLog, "--ab-log", log);
  return { trials: createTrials({ shares: settings.ab, write, ...(salt === undefined ? {} : { salt }) }) };
}

/** Other MCP servers; their room is loaded only where there are some. @throws SettingsError */
async function upstreamsOf(settings: Limits, host: Host, log: Log) {
  if (settings.upstreams === undefined && !settings.gitlabMcp) return undefined;
  const { openUpstreamsFor } = await import("./open-upstreams.ts");
  return openUpstreamsFor(settings, host, log);
}

/** A name in the settings that only another server can know is looked for there before it counts as a mistake. */
async function sensible<T>(upstreams: Upstreams | undefined, make: () => T): Promise<T> {
  if (!upstreams) return make();
  try {
    return make();
  } catch {
    await upstreams.ready();
    return make();
  }
}

/** The bridge as a command starts it: under its policy file, with its audit, secrets below the user's own directory. */
export async function openBridge(loaded: Loaded, host: Host, log: Log): Promise<Bridge> {
  const [settings, audit, trials] = await Promise.all([limitsOf(loaded), auditOf(loaded, log), trialsOf(loaded, log)]);
  const secretsDirectory = join(host.home, ".gitlab-toolset-bridge", "secrets");
  const upstreams = await upstreamsOf(settings, host, log);
  const bridge = await sensible(upstreams, () =>
    createBridge({
      settings,
      log,
      version: VERSION,
      cwd: host.cwd,
      secretsDirectory,
      ...audit,
      ...trials,
      ...(upstreams ? { upstreams } : {}),
    }),
  );
  followPolicy(loaded, bridge, host);
  return bridge;
}
