import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs the tasks of daily work and prints what each costs by each way and form, discovery included, beside the size of the same
 * replies of GitLab as they are.
 */

interface Cost {
  readonly task: string;
  readonly way: string;
  readonly form: string;
  readonly calls: number;
  readonly tokens: number;
  readonly ceiling: number;
  readonly raw: number;
}

const file = join(mkdtempSync(join(tmpdir(), "bench-tokens-")), "costs.jsonl");
const run = spawnSync(
  "npx",
  ["vitest", "run", "--reporter=dot", ...["", "-merge-requests", "-release"].map((part) => `test/e2e/tasks${part}.test.ts`)],
  {
    env: { ...process.env, TASK_COSTS: file },
    stdio: ["ignore", "ignore", "inherit"],
  },
);
const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
const costs = lines.map((line) => JSON.parse(line) as Cost);
const numberOf = (task: string) => Number.parseInt(task, 10);
const tasks = [...new Set(costs.map(({ task }) => task))].sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
const COLUMNS = [
  ["find", "text"],
  ["find", "json"],
  ["enable", "text"],
  ["enable", "json"],
] as const;

const cells = (...parts: readonly (string | number)[]) => parts.map((part) => String(part).padStart(12)).join("");
console.log(`${cells(...COLUMNS.map((names) => names.join(", ")), "raw replies", "ceiling", "share")}  task`);
for (const task of tasks) {
  const own = costs.filter((cost) => cost.task === task);
  const of = (way: string, form: string) => own.find((cost) => cost.way === way && cost.form === form)?.tokens ?? "failed";
  const raw = Math.max(...own.map((cost) => cost.raw));
  const most = Math.max(...own.map((cost) => cost.tokens));
  console.log(
    `${cells(...COLUMNS.map(([way, form]) => of(way, form)), raw, own[0]?.ceiling ?? "", `${Math.round((100 * most) / raw)} %`)}  ${task}`,
  );
}
process.exitCode = run.status ?? 1;
