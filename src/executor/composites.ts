import { runBatch } from "./composite-batch.ts";
import { showDiff } from "./composite-diff.ts";
import { editFiles } from "./composite-edit.ts";
import { overviewOfMergeRequest } from "./composite-merge-request.ts";
import { explainFailure } from "./composite-pipeline.ts";
import type { Composite } from "./composite-read.ts";
import { draftReleaseNotes } from "./composite-release.ts";
import { reviewMergeRequest } from "./composite-review.ts";
import { whoAmI } from "./composite-self.ts";
import { waitForJob, waitForPipeline } from "./composite-wait.ts";

/** The functions that composite rows name. */
export const COMPOSITES: Readonly<Record<string, Composite>> = {
  batch: runBatch,
  commit_edit: editFiles,
  job_wait: waitForJob,
  merge_request_diff_show: showDiff,
  merge_request_overview: overviewOfMergeRequest,
  merge_request_review: reviewMergeRequest,
  pipeline_explain_failure: explainFailure,
  pipeline_wait: waitForPipeline,
  release_notes_draft: draftReleaseNotes,
  who_am_i: whoAmI,
};
