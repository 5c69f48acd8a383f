import type { Progress } from "../ab/run.ts";

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const WIDTH = 24;

const clock = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
};

/** `[######------] 120/600, 3 failed, 2 min left: bridge, issue.close` */
export function progressLine({ done, total, failed, last }: Progress, leftMs: number | undefined): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.floor(share * WIDTH);
  const left = leftMs === undefined ? "" : `, ${clock(leftMs)} left`;
  const now = last === undefined ? "" : `: ${last.arm}, ${last.task}`;
  return `[${"#".repeat(full)}${"-".repeat(WIDTH - full)}] ${done}/${total}, ${failed} failed${left}${now}`;
}

/** A bar that stays on its line on a terminal; elsewhere a line for each tenth. */
export function createProgress(stream: Stream, now: () => number = Date.now): (progress: Progress) => void {
  const start = now();
  let first: number | undefined;
  let tenth = -1;
  return (progress) => {
    const { done, total } = progress;
    first ??= done;
    const left = done > first ? ((now() - start) / (done - first)) * (total - done) : undefined;
    const line = progressLine(progress, left);
    const whole = done === total;
    if (stream.isTTY) stream.write(`\r\u001b[K${line.slice(0, (stream.columns ?? 80) - 1)}${whole ? "\n" : ""}`);
    else if (tenth < Math.floor((10 * done) / Math.max(1, total)) || whole) stream.write(`${line}\n`);
    tenth = Math.floor((10 * done) / Math.max(1, total));
  };
}
