import { createHash, randomBytes } from "node:crypto";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";

const savedSchema = z.object({
  /** The MCP server that the tokens are for. */
  resource: z.string(),
  issuer: z.string(),
  tokenEndpoint: z.string(),
  client: z.looseObject({ client_id: z.string() }),
  accessToken: z.string().optional(),
  refreshToken: z.string().optional(),
  /** Milliseconds since 1970. */
  expires: z.number().optional(),
});

/** One sign-in. Without tokens it has ended, and only signing in again helps. */
export type SignedIn = z.output<typeof savedSchema>;

/** The sign-in at one instance, kept in a file that only its owner can read. Every process of this user shares it. */
export interface SignInStore {
  readonly path: string;
  /** As it is now: another process may have renewed it. Undefined where nobody signed in, or the file is not to be understood. */
  read(): SignedIn | undefined;
  /** All of it or nothing: a reader never meets half a file. */
  write(value: SignedIn): void;
  /** Nobody else renews meanwhile. */
  alone<T>(run: () => Promise<T>): Promise<T>;
}

/** One that holds the lock longer is taken for dead. */
const STALE = 30_000;
const STEP = 50;

function nameOf(instance: string): string {
  const { host } = new URL(instance);
  return `${host.replace(/[^a-z0-9.-]+/gi, "_")}-${createHash("sha256").update(instance).digest("hex").slice(0, 8)}`;
}

function takeLock(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > STALE) rmSync(path, { force: true });
  return false;
}

export function openSignInStore(directory: string, instance: string): SignInStore {
  const path = join(directory, `${nameOf(instance)}.json`);
  const lock = `${path}.lock`;
  const prepare = () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    chmodSync(dirname(path), 0o700);
  };
  return {
    path,
    read() {
      try {
        return savedSchema.safeParse(JSON.parse(readFileSync(path, "utf8"))).data;
      } catch {
        return undefined;
      }
    },
    write(value) {
      prepare();
      const draft = `${path}.${randomBytes(6).toString("hex")}`;
      writeFileSync(draft, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
      renameSync(draft, path);
    },
    async alone(run) {
      prepare();
      while (!takeLock(lock)) await new Promise((resolve) => setTimeout(resolve, STEP));
      try {
        return await run();
      } finally {
        rmSync(lock, { force: true });
      }
    },
  };
}
