import type { Job } from "./ci-state.ts";

const GREEN = "\u001b[32;1m";
const RED = "\u001b[31;1m";
const CYAN = "\u001b[36;1m";
const RESET = "\u001b[0;m";
const CLEAR = "\u001b[0K";

const seconds = (date: string | null, plus = 0) => Math.floor(Date.parse(date ?? "2026-11-01T00:00:00.000Z") / 1000) + plus;

/** A foldable part of a log, with the runner's markers. */
export function section(name: string, title: string, body: readonly string[], from: number, took: number): string {
  const head = `section_start:${from}:${name}\r${CLEAR}${CYAN}${title}${RESET}\n`;
  return `${head}${body.map((line) => `${line}\n`).join("")}section_end:${from + took}:${name}\r${CLEAR}`;
}

export function prologue(job: Job, image = "node:22-slim"): string {
  const at = seconds(job.started_at ?? job.created_at);
  return [
    `${CLEAR}Running with gitlab-runner 18.5.0 (bda84871)${CLEAR}\n${CLEAR}  on shared-runner-1 t3_Fkx9Ab, system ID: s_4f2c9e1d7b3a${CLEAR}\n`,
    section(
      "prepare_executor",
      'Preparing the "docker" executor',
      [
        `Using Docker executor with image ${image} ...`,
        `Pulling docker image ${image} ...`,
        `Using docker image sha256:5ad3b0a0c1f7 for ${image} with digest ${image}@sha256:7d1c6e9b ...`,
      ],
      at,
      9,
    ),
    section(
      "prepare_script",
      "Preparing environment",
      [`Running on runner-t3fkx9ab-project-${job.project_id}-concurrent-0 via runner-host-2...`],
      at + 9,
      1,
    ),
    section(
      "get_sources",
      "Getting source from Git repository",
      [
        "Fetching changes with git depth set to 20...",
        "Initialized empty Git repository in /builds/acme/webshop/.git/",
        `${GREEN}Created fresh repository.${RESET}`,
        `Checking out as detached HEAD (ref is ${job.pipeline_id})...`,
        "",
        "Skipping Git submodules setup",
      ],
      at + 10,
      2,
    ),
  ].join("");
}

export const command = (text: string) => `${GREEN}$ ${text}${RESET}`;

export function epilogue(job: Job): string {
  if (job.status === "success") return `${GREEN}Job succeeded${RESET}\n`;
  const reasons: Readonly<Record<string, string>> = {
    script_failure: "exit code 1",
    runner_system_failure: "failed to pull image: connection reset by peer",
  };
  const kind = job.failure_reason === "runner_system_failure" ? "Job failed (system failure)" : "Job failed";
  return job.status === "failed"
    ? `${RED}ERROR: ${kind}: ${reasons[job.failure_reason ?? ""] ?? job.failure_reason ?? "exit code 1"}${RESET}\n`
    : "";
}

/** What a runner would have written for a job that nobody has written a log for. */
export function jobLog(job: Job, script: readonly string[]): string {
  if (!job.started_at || job.erased_at) return "";
  const at = seconds(job.started_at, 12);
  return `${prologue(job)}${section("step_script", 'Executing "step_script" stage of the job script', script.map(command), at, 20)}${epilogue(job)}`;
}

/** A line that npm redraws: the earlier states stay in the text, divided by carriage returns. */
export const spinner = (text: string) => `⠙ ${text}\r${CLEAR}⠹ ${text}\r${CLEAR}⠸ ${text}\r${CLEAR}${text} done`;

export const colors = { GREEN, RED, CYAN, RESET, CLEAR } as const;
