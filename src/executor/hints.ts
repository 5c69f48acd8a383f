/** What a refusal of one action usually means, and what to do: said in place of the general hint. */
export interface ActionHint {
  /** Id of the action; `*` stands for any run of characters. */
  readonly action: string;
  readonly status: readonly number[];
  /** Only where GitLab's own words match. */
  readonly when?: RegExp;
  readonly hint: string;
}

const row = (action: string, status: readonly number[], hint: string, when?: RegExp): ActionHint => ({
  action,
  status,
  hint,
  ...(when ? { when } : {}),
});

const LOOK = "Read merge_request.get and look at detailed_merge_status";
const TAKEN = /taken|exist|duplicate/i;
const PROTECTED = /protected|not allowed|push|permission|forbidden/i;

/** In order; the first that fits is used. A test holds every name to an action that there is. */
// biome-ignore format: a row is one line
export const ACTION_HINTS: readonly ActionHint[] = [
  row("pipeline_schedule.*", [403], "Only its owner may change or play a schedule. With the Maintainer role, call pipeline_schedule.take_ownership first, then repeat; else ask the owner."),
  row("pipeline_schedule.*", [400], "The cron expression, its time zone or the ref is not one that GitLab takes: five fields, a zone such as Europe/Berlin, a branch or tag that exists.", /cron|timezone|ref/i),

  row("merge_request.merge", [400, 422], "This group wants the sha of the head with a merge, or the one given is old: read merge_request.get, look at what is new, and repeat with its sha.", /\bsha\b/i),
  row("merge_request.merge", [405], `${LOOK}: a draft must be marked ready, a conflict resolved, open threads resolved, approvals given, or the pipeline finished; merge_when_pipeline_succeeds waits for the pipeline.`),
  row("merge_request.merge", [406, 422], `${LOOK}: the branches conflict or cannot be merged. Rebase (merge_request.rebase) or resolve the conflict in the source branch.`),
  row("merge_request.merge", [409], "The source branch moved after the sha that was given. Read merge_request.get, look at the new commits, and repeat with its sha."),
  row("merge_request.merge", [401, 403], "The token's user may not merge into this target branch. Somebody with the right to merge there must do it; merge_request.approve may still be possible."),
  row("merge_request.auto_merge_cancel", [405, 406], "It is merged or closed already, or no auto-merge is set. Read merge_request.get and look at state and merge_when_pipeline_succeeds."),
  row("merge_request.rebase", [403, 409], "The source branch takes no push of this user (a fork, or protected), or a rebase is running already: read merge_request.get with include_rebase_in_progress."),
  row("merge_request.create", [409], "An open merge request for this source branch exists already. Find it with merge_request.list (source_branch) and update that one."),
  row("merge_request.create", [400, 422], "Source and target must be two branches that exist, with a difference between them. Look with branch.list and repository.compare.", /branch|same/i),
  row("merge_request.approve", [409], "The merge request has changed since the sha that was given. Look at what is new (merge_request.version_list), then approve with its present sha."),
  row("merge_request.approve", [401, 403], "The user may not approve this merge request: an author, a committer or a second approval is often ruled out. Read merge_request.get and its approvals."),
  row("merge_request.approval_rule_*", [403, 404], "Rules of a single merge request may be locked by the project, or need a paid tier. Read merge_request.approval_state_get for the rules that hold."),
  row("approval_rule.*", [403, 404], "Approval rules need the Maintainer role and a paid tier; a group or a policy may have locked them."),
  row("suggestion.apply*", [400, 403], "A suggestion applies once, to lines that are still as they were, and by one who may push to the source branch. Read merge_request.discussion_list."),

  row("commit.create", [400, 403], "The branch is protected. Commit to a new one instead (branch: a new name, start_branch: this branch), then open a merge request.", PROTECTED),
  row("repository.file_*", [400, 403], "The branch takes no direct commits. Write to a new branch (start_branch: this one), then open a merge request with merge_request.create.", PROTECTED),
  row("commit.create", [400], "An action does not fit the state of the file: create needs a path that is free, update, delete and move need one that is there. Read repository.tree_list.", /exists|doesn'?t exist|not found/i),
  row("repository.file_update", [400], "The file changed after last_commit_id, or is not there. Read repository.file_get again and build the change on what it holds now.", /changed|last_commit|exist/i),
  row("repository.file_create", [400], "A file of this path is there already: use repository.file_update.", TAKEN),
  row("repository.file_*get", [404], "Paths are case-sensitive and begin at the root of the repository, and ref must hold the file. Find it with repository.tree_list (ref, path)."),
  row("repository.tree_list", [404], "There is no such folder on this ref, or the repository is empty. Leave path out to begin at the root; branch.list shows the refs."),
  row("commit.cherry_pick", [400], "It conflicts with the branch or is in it already. Make the change by hand (commit.create), or pick into another branch.", /conflict|empty|already|cherry/i),
  row("commit.revert", [400], "It cannot be undone by itself any more: later commits touch the same lines, or it is undone already. Make the change by hand (commit.create).", /conflict|empty|already|revert/i),
  row("commit.status_set", [400], "A status cannot go back: a finished one stays. Set it under another name, or look with commit.status_list.", /transition|status/i),
  row("branch.create", [400], "The branch is there already, or the ref is not. Look with branch.list (search).", /exist/i),
  row("branch.delete", [403, 405], "A protected or the default branch is not deleted. Unprotect it (branch.unprotect) only if the user wants that."),
  row("protected_branch.create", [409], "It is protected already: change the rule with protected_branch.update."),
  row("tag.create", [400], "The tag is there already, or the ref is not. Look with tag.list (search).", /exist/i),
  row("tag.*", [403, 405], "Tags of this name are protected: protected_tag.list tells who may make or delete them."),
  row("release.create", [409, 422], "A release of this tag exists, or the tag has no ref to be made from. Read release.get; change it with release.update, or give ref."),
  row("release.*", [403], "Releases of this tag need a right to its protected tag (protected_tag.list), or at least the Developer role."),
  row("release_link.create", [400], "Name and URL of a link are there only once in a release. Look with release_link.list.", TAKEN),

  row("job.play", [400], "Only a manual, delayed or skipped job is started. Read job.get and look at status; one that has run is started with job.retry."),
  row("job.retry", [403], "Only the latest run of a finished job is retried, and not one whose deployment is outdated. Read job.get; for the newest run see pipeline.job_list."),
  row("job.erase", [403], "Only a finished job that is not erased yet is erased, by one who started it or a Maintainer. Read job.get."),
  row("job.*", [403], "The job is in a state that does not allow this, or its environment is protected. Read job.get and look at status.", /retry|play|cancel|erase|not/i),
  row("job.artifact*", [404], "The job has no artifacts, they have expired, or the path is not in them. Read job.get (artifacts_file, artifacts_expire_at) and job.artifact_file_list."),
  row("job.ref_artifact*", [404], "Only the latest successful pipeline of the ref counts, and the job must be named exactly. Find it with job.list (scope: success), then use job.artifacts_download."),
  row("pipeline.create", [400], "No pipeline came of it: the CI file has an error, or no rule matches this ref. Check with ci_config.lint."),
  row("pipeline.latest_get", [403, 404], "There is no pipeline for this ref yet. Look with pipeline.list."),
  row("pipeline.trigger", [401, 404], "The trigger token is not one of this project. List them with pipeline_trigger.list, or use pipeline.create with the usual token."),
  row("variable.create", [400], "A variable of this key and scope exists: use variable.update.", TAKEN),
  row("*variable.*", [400], "A masked value needs at least 8 characters, one line, and nothing that cannot be masked. Give a value that fits, or masked: false.", /mask|value/i),
  row("variable.*", [404], "No variable of this key in this scope. Where a key has several, filter: {\"environment_scope\": …} says which; see variable.list."),
  row("runner.enable", [403, 409], "The runner is locked to another project, assigned already, or no project runner. Read runner.get."),
  row("runner.*registration_token_reset", [403, 410], "Registration tokens are switched off here. Make the runner with runner.create, which gives its authentication token."),
  row("environment.delete", [403], "Only a stopped environment is deleted: call environment.stop first."),
  row("protected_environment.*", [403, 404], "Protected environments need the Maintainer role and a paid tier."),

  row("label.create", [409], "A label of this name exists here or in a group above: use it, or change it with label.update."),
  row("milestone.create", [400], "A milestone of this title exists here or in a group above. Find it with milestone.list.", TAKEN),
  row("member.add", [409], "The user is a member already. Change the role with member.update."),
  row("member.*", [400], "The role must not be lower than the one that comes from a group above: see member.all_list.", /inherit|access/i),
  row("member.*", [403], "Nobody gives a role above their own, and the last owner stays. See member.all_list for who could do it."),
  row("issue.link_create", [409], "The two are linked already: see issue.link_list."),
  row("issue.delete", [403], "Deleting issues is for owners. Close it instead: issue.update with state_event: close."),
  row("epic.*", [403, 404], "Epics belong to groups and need a paid tier; newer GitLab keeps them as work items: try work_item.list with types EPIC on the group."),
  row("search.run", [400], "This scope cannot be searched here: code, commits, wikis and notes across projects need GitLab's advanced search. Give project_id, or use another scope.", /scope|advanced|elastic|zoekt/i),
  row("wiki_page.create", [400, 422], "A page of this title exists. Read wiki_page.get, then use wiki_page.update.", TAKEN),
  row("wiki_page.*", [403, 404], "The page is not there under this slug (wiki_page.list shows them), or the wiki is switched off in the project's settings."),

  row("project.create", [400], "A project of this name or path is in the namespace already. Find it with project.list (search).", TAKEN),
  row("project.create", [403], "The user may not make projects in this namespace. namespace.list shows the ones that are open to them."),
  row("project.fork", [409], "A fork, or a project of this name, is in the target namespace already. Look with project.fork_list, or give another path."),
  row("project.transfer", [400], "It cannot move as it is: a project of that path is there, packages or images hold it, or the user may not create there. See project.transfer_location_list."),
  row("project.delete", [400, 409], "It is marked for deletion already; project.restore takes that back.", /mark|delet/i),
  row("group.create", [403], "Top-level groups may be reserved for administrators, subgroups for owners. Give parent_id of a group where the user is owner."),
  row("group.create", [400, 409], "The path is in use by a group, a user or a word that GitLab keeps. Choose another path.", /taken|path/i),
  row("project.share", [400, 404, 409], "The group has access already, or cannot be invited here. See project.share_location_list."),
  row("project.export_download", [404], "The export is not ready, or has expired. Start it with project.export, then watch project.export_get."),
  row("project.housekeeping_start", [409], "It was started a short while ago and is still running; once is enough."),
  row("webhook.*", [422], "GitLab does not reach this address: local networks are often shut for webhooks, or the receiver failed. See webhook.event_list."),
  row("push_rule.*", [404], "No push rule is set (push_rule.create makes it), or the tier has none."),

  row("*access_token.create", [400], "Check scopes and expires_at: the instance has a longest lifetime for tokens, and a token never has more rights than its maker.", /expires|scope|date|lifetime|access/i),
  row("*access_token.*rotate", [400, 401, 405, 422], "Only a token that is active is rotated, once; a rotated or revoked one stays dead. List them, and make a new one where none is left."),
  row("deploy_key.create", [400], "The key is known to GitLab already: allow it here with deploy_key.enable.", TAKEN),
  row("generic_package.file_upload", [400], "Names and versions take letters, digits, dots, dashes and underscores only, and the file must not be empty."),
  row("generic_package.file_upload", [403], "The file is there already and duplicates are not allowed, the name is protected (package_protection_rule.list), or the role is below Developer."),
  row("package*.delete", [403], "Deleting packages needs the Maintainer role; a protection rule may stand against it (package_protection_rule.list)."),
  row("registry_tag.delete_bulk", [400], "Bulk deletion runs at most once an hour for a repository, and its pattern must be an RE2 expression."),
  row("registry_*", [403, 404], "The container registry may be switched off for the project or the instance, or hidden from this role."),
  row("user.create", [409], "A user of this name or email exists: find them with user.list (search)."),
];

const patterns = new Map<string, RegExp>();

function fits(pattern: string, action: string): boolean {
  const known = patterns.get(pattern) ?? new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  patterns.set(pattern, known);
  return known.test(action);
}

export function actionHint(action: string, status: number, words: string): string | undefined {
  return ACTION_HINTS.find((one) => one.status.includes(status) && fits(one.action, action) && (one.when?.test(words) ?? true))?.hint;
}
