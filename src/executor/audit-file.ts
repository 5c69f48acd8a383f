import { closeSync, openSync, writeSync } from "node:fs";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { AuditLine } from "./audit.ts";

/** Where lines are kept: `stderr`, or a file that is only appended to and that nobody else may read. */
export interface AuditFile {
  write(line: AuditLine): void;
  close(): void;
}

const STDERR = 2;

/**
 * @throws BridgeError invalid_params when the file cannot be written: a server that shall keep an audit does not start without.
 * A line that cannot be written later is told in the log.
 */
export function openAudit(where: string, log: Log): AuditFile {
  const open = () => {
    try {
      return where === "stderr" ? STDERR : openSync(where, "a", 0o600);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? "unknown";
      throw new BridgeError("invalid_params", `--audit: ${where} cannot be written (${why})`, "Name a file that can be appended to.");
    }
  };
  const file = open();
  return {
    write(line) {
      try {
        writeSync(file, `${log.mask(JSON.stringify(line))}\n`);
      } catch (error) {
        log.error(`the audit cannot be written: ${(error as Error).message}`);
      }
    },
    close() {
      if (file !== STDERR) closeSync(file);
    },
  };
}
