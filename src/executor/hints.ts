/** What a refusal of one action usually means, and what to do: said in place of the general hint. */
export interface ActionHint {
  /** Id of the action; `*` stands for any run of characters. */
  readonly action: string;
  readonly status: readonly number[];
  /** Only where GitLab's own words match. */
  readonly when?: RegExp;
  readonly hint: string;
}

const MERGE = "Read merge_request.get and look at detailed_merge_status";

/** In order; the first that fits is used. */
export const ACTION_HINTS: readonly ActionHint[] = [
  {
    action: "pipeline_schedule.*",
    status: [403],
    hint: "Only its owner may change or play a schedule. With the Maintainer role, call pipeline_schedule.take_ownership first, then repeat; else ask the owner.",
  },
  {
    action: "merge_request.merge",
    status: [405],
    hint: `${MERGE}: a draft must be marked ready, a conflict resolved, open threads resolved, approvals given, or the pipeline finished; merge_when_pipeline_succeeds waits for the pipeline.`,
  },
  {
    action: "merge_request.merge",
    status: [406, 422],
    hint: `${MERGE}: the branches conflict or cannot be merged. Rebase (merge_request.rebase) or resolve the conflict in the source branch.`,
  },
  {
    action: "merge_request.merge",
    status: [409],
    hint: "The source branch moved after the sha that was given. Read merge_request.get, look at the new commits, and repeat with its sha.",
  },
  {
    action: "merge_request.merge",
    status: [401, 403],
    hint: "The token's user may not merge into this target branch. Somebody with the right to merge there must do it; merge_request.approve may still be possible.",
  },
  {
    action: "merge_request.create",
    status: [409],
    hint: "An open merge request for this source branch exists already. Find it with merge_request.list (source_branch) and update that one.",
  },
  {
    action: "merge_request.approve",
    status: [401, 403],
    hint: "The user may not approve this merge request: an author, a committer or a second approval is often ruled out. Read merge_request.get and its approvals.",
  },
  {
    action: "commit.create",
    status: [400, 403],
    when: /protected|not allowed|push|permission|forbidden/i,
    hint: "The branch is protected. Commit to a new one instead (branch: a new name, start_branch: this branch), then open a merge request.",
  },
  {
    action: "repository.file_*",
    status: [400, 403],
    when: /protected|not allowed|push|permission|forbidden/i,
    hint: "The branch takes no direct commits. Write to a new branch (start_branch: this one), then open a merge request with merge_request.create.",
  },
  {
    action: "commit.create",
    status: [400],
    when: /exists|doesn'?t exist|not found/i,
    hint: "An action does not fit the state of the file: create needs a path that is free, update, delete and move need one that is there. Read repository.tree_list.",
  },
  {
    action: "branch.create",
    status: [400],
    when: /exist/i,
    hint: "The branch is there already, or the ref is not. Look with branch.list (search).",
  },
  {
    action: "tag.create",
    status: [400],
    when: /exist/i,
    hint: "The tag is there already, or the ref is not. Look with tag.list (search).",
  },
  {
    action: "release.create",
    status: [409, 422],
    hint: "A release of this tag exists, or the tag has no ref to be made from. Read release.get; change it with release.update, or give ref.",
  },
  {
    action: "job.*",
    status: [403],
    when: /retry|play|cancel|erase|not/i,
    hint: "The job is in a state that does not allow this, or its environment is protected. Read job.get and look at status.",
  },
  {
    action: "pipeline.create",
    status: [400],
    hint: "No pipeline came of it: the CI file has an error, or no rule matches this ref. Check with ci_config.lint.",
  },
  {
    action: "search.run",
    status: [400],
    when: /scope|advanced|elastic|zoekt/i,
    hint: "This scope cannot be searched here: code, commits, wikis and notes across projects need GitLab's advanced search. Give project_id, or use another scope.",
  },
  {
    action: "member.add",
    status: [409],
    hint: "The user is a member already. Change the role with member.update.",
  },
];

const fits = (pattern: string, action: string) => new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(action);

export function actionHint(action: string, status: number, words: string): string | undefined {
  return ACTION_HINTS.find((one) => one.status.includes(status) && fits(one.action, action) && (one.when?.test(words) ?? true))?.hint;
}
