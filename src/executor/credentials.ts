import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Credential } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";

/** Whose credential a request carries. `visitor`: none, and it would have to be the caller's own; `nobody`: none, and it would be the server's. */
export type Owner = "caller" | "server" | "visitor" | "nobody";

export const isNone = (owner: Owner): boolean => owner === "visitor" || owner === "nobody";

export interface Held {
  readonly owner: Owner;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Credentials {
  /** The caller's own, else the server's, else none. */
  get(credential: Credential | undefined): Promise<Held>;
  /** Reads the server's token again; undefined when that brought nothing new. */
  renew(credential: Credential | undefined, used: Held): Promise<Held | undefined>;
}

const COMMAND_LIMIT_MS = 10_000;

/** The header by the token's form: GitLab takes OAuth tokens only as Bearer, job and deploy tokens in their own headers. */
export function toHeaders(token: string): Record<string, string> {
  if (/^bearer /i.test(token)) return { authorization: token };
  if (/^[0-9a-f]{64}$/.test(token) || /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return { authorization: `Bearer ${token}` };
  if (token.startsWith("glcbt-")) return { "job-token": token };
  if (token.startsWith("gldt-")) return { "deploy-token": token };
  return { "private-token": token };
}

const unusable = (setting: string, why: string, cause?: unknown) =>
  new BridgeError(
    "unauthenticated",
    `${setting}: ${why}`,
    `Nothing was sent. Whoever runs this server must mend ${setting}.`,
    { setting },
    cause,
  );

function runCommand(command: string): Promise<string> {
  const [shell, flag] = process.platform === "win32" ? ["cmd.exe", "/c"] : ["/bin/sh", "-c"];
  return new Promise((resolve, reject) => {
    execFile(shell, [flag, command], { timeout: COMMAND_LIMIT_MS, maxBuffer: 65_536, windowsHide: true }, (error, stdout) => {
      if (error) reject(unusable("--token-command", `the command failed (${error.killed ? "too slow" : `exit code ${error.code}`})`));
      else resolve(stdout);
    });
  });
}

async function readToken(settings: Pick<Settings, "token" | "tokenFile" | "tokenCommand">): Promise<string | undefined> {
  if (settings.token) return settings.token;
  if (settings.tokenFile) {
    const text = await readFile(settings.tokenFile, "utf8").catch((error: unknown) => {
      throw unusable("--token-file", "the file cannot be read", error);
    });
    return text.trim() || undefined;
  }
  return settings.tokenCommand ? (await runCommand(settings.tokenCommand)).trim().split("\n")[0]?.trim() || undefined : undefined;
}

const NOBODY: Held = Object.freeze({ owner: "nobody", headers: {} });
const VISITOR: Held = Object.freeze({ owner: "visitor", headers: {} });

/** The server's token is read on the first call, and again when GitLab refuses it. */
export function createCredentials(
  settings: Pick<Settings, "token" | "tokenFile" | "tokenCommand"> & Partial<Pick<Settings, "http">>,
  log: Log,
): Credentials {
  let own: Promise<Held> | undefined;
  const read = async (): Promise<Held> => {
    const token = await readToken(settings);
    if (token === undefined) return settings.http ? VISITOR : NOBODY;
    log.hide(token.replace(/^bearer /i, ""));
    return { owner: "server", headers: toHeaders(token) };
  };
  const server = () => {
    own ??= read();
    own.catch(() => {
      own = undefined;
    });
    return own;
  };
  return {
    async get(credential) {
      if (!credential) return server();
      return { owner: "caller", headers: { [credential.header.toLowerCase()]: credential.value } };
    },
    async renew(credential, used) {
      if (credential || settings.token || used.owner !== "server") return undefined;
      own = undefined;
      const fresh = await server();
      return JSON.stringify(fresh.headers) === JSON.stringify(used.headers) || isNone(fresh.owner) ? undefined : fresh;
    },
  };
}
