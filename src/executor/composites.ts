import { runBatch } from "./composite-batch.ts";
import { overviewOfMergeRequest } from "./composite-merge-request.ts";
import { explainFailure } from "./composite-pipeline.ts";
import type { Composite } from "./composite-read.ts";

/** The functions that composite rows name. */
export const COMPOSITES: Readonly<Record<string, Composite>> = {
  batch: runBatch,
  merge_request_overview: overviewOfMergeRequest,
  pipeline_explain_failure: explainFailure,
};
