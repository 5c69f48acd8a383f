import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { liveReport } from "../ab/live.ts";
import { toLiveMarkdown } from "../ab/live-markdown.ts";
import { toPrices } from "../ab/prices.ts";
import { report } from "../ab/report.ts";
import { loadTasks } from "../ab/tasks.ts";
import { SettingsError } from "../config/fault.ts";
import { readFlags } from "./ab-arguments.ts";
import type { Host } from "./run.ts";

/** What each task asks for, where the tasks are our own. */
const promptsOf = (): Readonly<Record<string, string>> => Object.fromEntries(loadTasks().map(({ id, prompt }) => [id, prompt]));

const USAGE = `ab report DIR [--base ARM] [--prices FILE]
ab report --live FILE… [--base STYLE] [--out DIR]`;

/** `ab report --live`: what `--ab-log` wrote, as Markdown; with --out also as JSON. */
function abLive(argv: readonly string[], host: Host): void {
  const end = argv.findIndex((word) => word.startsWith("--"));
  const files = end < 0 ? argv : argv.slice(0, end);
  if (files.length === 0) throw new SettingsError(USAGE);
  const flags = new Map(readFlags(end < 0 ? [] : argv.slice(end), ["base", "out"], []));
  const [base, out] = [flags.get("base"), flags.get("out")];
  const made = liveReport(
    files.map((file) => resolve(host.cwd, file)),
    { ...(base === undefined ? {} : { base }), ...(out === undefined ? {} : { out: resolve(host.cwd, out) }) },
  );
  console.log(toLiveMarkdown(made));
}

/** `ab report DIR`: JSON, Markdown and one page beside the runs. */
function abRuns([dir = "", ...rest]: readonly string[], host: Host): void {
  if (dir === "" || dir.startsWith("-")) throw new SettingsError(USAGE);
  const flags = new Map(readFlags(rest, ["base", "prices"], []));
  const folder = resolve(host.cwd, dir);
  if (!existsSync(folder)) throw new SettingsError(`There is no folder ${dir}.`);
  const base = flags.get("base");
  const prices = flags.get("prices");
  report(folder, {
    ...(base === undefined ? {} : { base }),
    ...(prices === undefined ? {} : { prices: toPrices(readFileSync(resolve(host.cwd, prices), "utf8"), prices) }),
    prompts: promptsOf(),
  });
  for (const name of ["report.json", "report.md", "report.html"]) console.log(join(dir, name));
}

/** `ab report`: of runs, or of a live comparison. */
export function abReport(argv: readonly string[], host: Host): void {
  if (argv[0] === "--live") abLive(argv.slice(1), host);
  else abRuns(argv, host);
}
