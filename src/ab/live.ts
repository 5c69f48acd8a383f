import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { BridgeError } from "../errors.ts";
import { isComplete, TRIAL_SCHEMA, type TrialLine } from "../surface/trial-line.ts";
import { toLivePage } from "./live-html.ts";
import { toLiveMarkdown } from "./live-markdown.ts";
import { type LiveOptions, type LiveReport, toLiveReport } from "./live-model.ts";
import { readLines } from "./report-read.ts";

const { anyOf: _kinds, ...FIELDS } = TRIAL_SCHEMA;
const LINE = z.fromJSONSchema(FIELDS as unknown as Parameters<typeof z.fromJSONSchema>[0]);

const isLine = (value: unknown): value is TrialLine => LINE.safeParse(value).success && isComplete(value as TrialLine);

/**
 * Sums up files of `--ab-log`. With `out`, `live.json`, `live.md` and `live.html` are written into that directory.
 * @throws BridgeError invalid_params where a file or a line of it is not one.
 */
export function liveReport(files: readonly string[], options: LiveOptions & { readonly out?: string } = {}): LiveReport {
  if (files.length === 0) throw new BridgeError("invalid_params", "No file was named.", "Name what --ab-log wrote: ab report --live FILE…");
  const read = files.map((file) => readLines(file, isLine));
  const torn = read.reduce((sum, one) => sum + one.torn, 0);
  const made = toLiveReport(
    read.flatMap(({ rows }) => rows),
    files,
    torn,
    options,
  );
  if (options.out !== undefined) {
    mkdirSync(options.out, { recursive: true });
    writeFileSync(join(options.out, "live.json"), `${JSON.stringify(made, null, 1)}\n`);
    writeFileSync(join(options.out, "live.md"), toLiveMarkdown(made));
    writeFileSync(join(options.out, "live.html"), toLivePage(made));
  }
  return made;
}
