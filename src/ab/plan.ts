import type { Arm, Driver, Refresh, Task } from "./types.ts";

/** What is to be run: every task under every arm, with every driver and kind of host, this often. */
export interface Plan {
  readonly tasks: readonly Task[];
  readonly arms: readonly Arm[];
  readonly drivers: readonly Driver[];
  readonly refresh: readonly Refresh[];
  readonly repeats: number;
  readonly seed: number;
  /** Milliseconds after which a run counts as broken off. */
  readonly deadline: number;
  readonly maxCalls: number;
}

export interface Job {
  readonly task: Task;
  readonly arm: Arm;
  readonly driver: Driver;
  readonly refresh: Refresh;
  readonly repeat: number;
  readonly seed: number;
}

/** In this order: arms of one task side by side, so that what changes on the machine meanwhile meets all of them alike. */
export function jobsOf({ tasks, arms, drivers, refresh, repeats, seed }: Plan): Job[] {
  const numbers = Array.from({ length: repeats }, (_none, repeat) => repeat);
  return numbers.flatMap((repeat) =>
    tasks.flatMap((task) =>
      drivers.flatMap((driver) =>
        refresh.flatMap((kind) => arms.map((arm) => ({ task, arm, driver, refresh: kind, repeat, seed: seed + repeat }))),
      ),
    ),
  );
}
