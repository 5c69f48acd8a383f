import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../log.ts";
import { LIMITS } from "./http-limits.ts";
import type { Ticket } from "./tickets.ts";

/** Sessions that were ended: their ids are signed and young enough, and worth nothing all the same. */
export interface Ended {
  add(ticket: Pick<Ticket, "nonce" | "born">): void;
  has(ticket: Pick<Ticket, "nonce">): boolean;
}

export interface EndedOptions {
  /** Keeps them over a restart: a line each, nonce and birth. Without it they are known to this process alone. */
  readonly file?: string | undefined;
  readonly log: Pick<Log, "warn">;
  readonly now?: () => number;
}

/** How many ends are remembered; each costs some dozen bytes. */
const MOST = 100_000;

const LINE = /^([\w-]+) (\d+)$/;

/** What the file says of sessions whose tickets could still be good. */
function readEnded(file: string, oldest: number): Map<string, number> {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const found = lines.flatMap((line): [string, number][] => {
    const [, nonce, born] = LINE.exec(line) ?? [];
    return nonce !== undefined && Number(born) >= oldest ? [[nonce, Number(born)]] : [];
  });
  return new Map(found.slice(-MOST));
}

/** Opens the file, or says that it cannot be used and goes on without. What can no longer matter is dropped from it. */
function open({ file, log, now = Date.now }: EndedOptions): { known: Map<string, number>; write: (line: string) => void } {
  const nothing = { known: new Map<string, number>(), write: () => {} };
  if (file === undefined) return nothing;
  const warn = (error: unknown) =>
    log.warn(
      `ended sessions cannot be kept in ${file} (${(error as NodeJS.ErrnoException).code ?? "unknown"}): after a restart their ids open them again`,
    );
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const known = readEnded(file, now() / 1_000 - LIMITS.revivalDays * 86_400);
    writeFileSync(file, [...known].map(([nonce, born]) => `${nonce} ${born}\n`).join(""), { mode: 0o600 });
    const write = (line: string) => {
      try {
        appendFileSync(file, line, { mode: 0o600 });
      } catch (error) {
        warn(error);
      }
    };
    return { known, write };
  } catch (error) {
    warn(error);
    return nothing;
  }
}

export function createEnded(options: EndedOptions): Ended {
  const { known, write } = open(options);
  return {
    add({ nonce, born }) {
      known.set(nonce, born);
      write(`${nonce} ${born}\n`);
      const oldest = known.keys().next().value;
      if (known.size > MOST && oldest !== undefined) known.delete(oldest);
    },
    has: ({ nonce }) => known.has(nonce),
  };
}
