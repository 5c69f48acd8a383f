import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { toPrices } from "../ab/prices.ts";
import { report } from "../ab/report.ts";
import { loadTasks } from "../ab/tasks.ts";
import { SettingsError } from "../config/fault.ts";
import { readFlags } from "./ab-arguments.ts";
import type { Host } from "./run.ts";

/** What each task asks for, where the tasks are our own. */
const promptsOf = (): Readonly<Record<string, string>> => Object.fromEntries(loadTasks().map(({ id, prompt }) => [id, prompt]));

/** `ab report DIR`: JSON, Markdown and one page beside the runs. */
export function abReport(argv: readonly string[], host: Host): void {
  const [dir = "", ...rest] = argv;
  if (dir === "" || dir.startsWith("-")) throw new SettingsError("ab report DIR [--base ARM] [--prices FILE] [--tasks-dir DIR]");
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
