import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PRINTED_DIR, readPrinted, secretsIn } from "./printed.ts";

export function setup(): void {
  process.env[PRINTED_DIR] = mkdtempSync(join(tmpdir(), "printed-"));
}

/** After the last test everything that the end-to-end tests printed is searched for every secret of the seeds. */
export function teardown(): void {
  const directory = process.env[PRINTED_DIR] ?? "";
  const found = readPrinted(directory).flatMap((text) => secretsIn(text));
  rmSync(directory, { recursive: true });
  if (found.length === 0) return;
  process.exitCode = 1;
  throw new Error(`secrets were printed:\n${found.join("\n---\n")}`);
}
