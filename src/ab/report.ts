import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { BridgeError } from "../errors.ts";
import { readSetup } from "./journal.ts";
import { toPage } from "./report-html.ts";
import { toMarkdown } from "./report-markdown.ts";
import { type MadeWith, type Report, type ReportOptions, toReport } from "./report-model.ts";
import { readLines } from "./report-read.ts";
import type { Run } from "./types.ts";

export const RUNS_FILE = "runs.jsonl";

const count = z.number().nonnegative();
const RUN = z.looseObject({
  task: z.string(),
  size: z.enum(["small", "medium", "large"]),
  toolsets: z.array(z.string()),
  arm: z.string(),
  driver: z.string(),
  refresh: z.enum(["at_once", "next_turn", "never"]),
  repeat: count,
  success: z.boolean(),
  faults: z.array(z.string()),
  first_list: count,
  prompt: count,
  cached: count,
  completion: count,
  calls: count,
  failed_calls: count,
  discovery_calls: count,
  ms: count,
  enabled: z.array(z.string()),
  counter: z.string(),
  turns: z.array(z.looseObject({ prompt: count, cached: count, completion: count, listed: count })),
});

const isRun = (value: unknown): value is Run => RUN.safeParse(value).success;

const keyOf = ({ driver, refresh, arm, task, repeat }: Run) => [driver, refresh, arm, task, repeat].join("\n");

/** The runs of a directory; of one that was run again, the last. */
export function readRuns(dir: string): { readonly runs: readonly Run[]; readonly torn: number } {
  const { rows, torn } = readLines(join(dir, RUNS_FILE), isRun);
  return { runs: [...new Map(rows.map((run) => [keyOf(run), run])).values()], torn };
}

/** Of the setup only what says what was compared: command lines of arms hold paths of the machine that ran them. */
function madeWith(dir: string): { readonly madeWith?: MadeWith } {
  const setup = readSetup(dir);
  if (!setup) return {};
  const { version, node, tasks, arms } = setup;
  const toArm = ({ name, about, server }: (typeof arms)[number]) => ({
    arm: name,
    about,
    ...(server ? { server: `${server.name} ${server.version}` } : {}),
  });
  return { madeWith: { version, node, tasks_hash: tasks.hash, arms: arms.map(toArm) } };
}

/**
 * Reads `runs.jsonl` of the directory and writes `report.json`, `report.md` and `report.html` beside it.
 * @throws BridgeError invalid_params where there are no runs, a line is wrong, or the base is no arm.
 */
export function report(dir: string, options: ReportOptions = {}): Report {
  const { runs, torn } = readRuns(dir);
  if (runs.length === 0)
    throw new BridgeError("invalid_params", `${join(dir, RUNS_FILE)} holds no runs.`, "Run the comparison first: ab run --out DIR.");
  const made = toReport(runs, torn, { ...madeWith(dir), ...options });
  writeFileSync(join(dir, "report.json"), `${JSON.stringify(made, null, 1)}\n`);
  writeFileSync(join(dir, "report.md"), toMarkdown(made));
  writeFileSync(join(dir, "report.html"), toPage(made, runs, options.prompts));
  return made;
}
