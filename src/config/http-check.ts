import { isIP } from "node:net";
import { readArguments } from "./arguments.ts";
import type { Environment, Transport } from "./environment.ts";
import { SettingsError } from "./fault.ts";
import { OPTIONS, type Settings } from "./options.ts";
import { toBoolean } from "./values.ts";

/** Which transport a start asks for, told before the settings are read: defaults and names depend on it. */
export function transportOf(argv: readonly string[], env: Environment): Transport {
  const said = readArguments(argv).get("http")?.texts.at(-1) ?? env[OPTIONS.http.env] ?? "false";
  return toBoolean(said) === true ? "http" : "stdio";
}

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

export type AuthMode = "caller" | "server" | "gitlab";

/** Settings of an HTTP start, with the way of authentication decided. */
export type HttpSettings = Settings & { readonly auth: AuthMode };

const ORIGIN = /^https?:\/\/[^/?#\s]+$/;

function checkLists({ allowedOrigins, allowedHosts, trustedProxies }: Settings): void {
  const origin = allowedOrigins.find((one) => !ORIGIN.test(one));
  if (origin !== undefined)
    throw new SettingsError(`--allowed-origins: "${origin}" is not an origin; such as ${OPTIONS.allowedOrigins.example}`);
  const host = allowedHosts.find((one) => !/^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(one));
  if (host !== undefined) throw new SettingsError(`--allowed-hosts: "${host}" is not a host name; such as ${OPTIONS.allowedHosts.example}`);
  const proxy = trustedProxies.find((one) => !isNetwork(one));
  if (proxy !== undefined)
    throw new SettingsError(`--trusted-proxies: "${proxy}" is neither an address nor a network; such as ${OPTIONS.trustedProxies.example}`);
}

/** `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/**
 * What only a start over HTTP has to settle: who may come in, and with whose token.
 * @throws SettingsError where the settings would let anybody in, or contradict each other.
 */
export function toHttpSettings(settings: Settings): { readonly settings: HttpSettings; readonly warnings: readonly string[] } {
  checkLists(settings);
  if (settings.filesDir !== undefined)
    throw new SettingsError("--files-dir is for stdio: over HTTP nobody may reach files of the machine that runs this server");
  const hasToken = [settings.token, settings.tokenFile, settings.tokenCommand].some((one) => one !== undefined);
  const auth: AuthMode = settings.auth ?? (hasToken ? "server" : "caller");
  if (auth === "server") {
    if (settings.ab) throw new SettingsError("--ab compares people, and behind the server's GitLab token all are one; set --auth=caller");
    if (settings.instances.length > 0)
      throw new SettingsError("--instances lets callers choose a GitLab, and --auth=server has the token of one; set --auth=caller");
    if (!hasToken) throw new SettingsError("--auth=server needs a GitLab token; give one with GITLAB_TOKEN");
    if (settings.httpTokens.length === 0 && !isLoopback(settings.host))
      throw new SettingsError(
        `--host=${settings.host} would let everybody in this network act with the server's GitLab token; set --http-tokens, or --auth=caller`,
      );
    return { settings: { ...settings, auth }, warnings: [] };
  }
  if (settings.httpTokens.length > 0)
    throw new SettingsError(`--http-tokens is for --auth=server; with ${auth} callers bring GitLab's token`);
  const { token: _token, tokenFile: _file, tokenCommand: _command, ...rest } = settings;
  return {
    settings: { ...rest, token: undefined, tokenFile: undefined, tokenCommand: undefined, auth },
    warnings: hasToken ? [`the server's GitLab token is not used: --auth=${auth} takes each caller's own`] : [],
  };
}
