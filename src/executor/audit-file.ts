import { closeSync, openSync, writeSync } from "node:fs";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";

/** Where lines are kept: `stderr`, or a file that is only appended to and that nobody else may read. */
export interface LineFile {
  write(line: object): void;
  close(): void;
}

const STDERR = 2;

/**
 * @param flag the setting that asked for it.
 * @throws BridgeError invalid_params when the file cannot be written: a server that shall keep such lines does not start without.
 * A line that cannot be written later is told in the log.
 */
export function openLines(where: string, flag: string, log: Log): LineFile {
  const open = () => {
    try {
      return where === "stderr" ? STDERR : openSync(where, "a", 0o600);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? "unknown";
      throw new BridgeError("invalid_params", `${flag}: ${where} cannot be written (${why})`, "Name a file that can be appended to.");
    }
  };
  const file = open();
  return {
    write(line) {
      try {
        // Each text by itself: a line stays JSON whatever somebody calls themselves.
        writeSync(file, `${JSON.stringify(line, (_key, value: unknown) => (typeof value === "string" ? log.mask(value) : value))}\n`);
      } catch (error) {
        log.error(`${flag} cannot be written: ${(error as Error).message}`);
      }
    },
    close() {
      if (file !== STDERR) closeSync(file);
    },
  };
}

export const openAudit = (where: string, log: Log): LineFile => openLines(where, "--audit", log);
