import { jobBehaviours } from "./ci-jobs.ts";
import { pipelineBehaviours } from "./ci-pipelines.ts";
import { scheduleBehaviours } from "./ci-schedules.ts";
import { seedCi } from "./ci-seeds.ts";
import { ciSettingBehaviours } from "./ci-settings.ts";
import { statusBehaviours } from "./ci-statuses.ts";
import type { Part } from "./types.ts";

/** Pipelines, jobs, logs, schedules, triggers, lint. */
export const ciPart: Part = {
  behaviours: [...pipelineBehaviours, ...jobBehaviours, ...scheduleBehaviours, ...ciSettingBehaviours, ...statusBehaviours],
  seed: seedCi,
};
