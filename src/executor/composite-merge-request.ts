import { attempt, type Composite, clip, compact, type Fields, list, number, only, pick, text, toItems, toValue } from "./composite-read.ts";
import { estimateJson } from "./tokens.ts";

/** GitLab's reason why a merge request cannot be merged now → what it means. */
const BLOCKS: Readonly<Record<string, string>> = {
  approvals_syncing: "GitLab is still counting the approvals",
  checking: "GitLab is still checking whether it can be merged; look again in a moment",
  unchecked: "GitLab has not checked yet whether it can be merged; look again in a moment",
  preparing: "GitLab is still preparing the diff; look again in a moment",
  ci_must_pass: "its pipeline must pass first",
  ci_still_running: "its pipeline is still running",
  commits_status: "the source branch has no commits, or does not exist",
  conflict: "it conflicts with the target branch",
  discussions_not_resolved: "threads must be resolved first",
  draft_status: "it is a draft",
  external_status_checks: "external status checks must pass first",
  status_checks_must_pass: "external status checks must pass first",
  jira_association_missing: "the title or description must name a Jira issue",
  locked_lfs_files: "it changes LFS files that someone has locked",
  locked_paths: "it changes paths that someone has locked",
  merge_request_blocked: "another merge request must be merged first",
  blocked_status: "another merge request must be merged first",
  merge_time: "it may be merged only after a set time",
  need_rebase: "it must be rebased first",
  not_approved: "approvals are missing",
  not_open: "it is not open",
  requested_changes: "a reviewer has requested changes",
  security_policy_violations: "it violates a security policy",
  security_policy_pipeline_check: "a pipeline that a security policy asks for must pass first",
  title_regex: "the title does not have the form that the project asks for",
};

const RUNNING = /^(created|waiting_for_resource|preparing|waiting_for_callback|pending|running|canceling)$/;

/** Tokens of an answer. */
const MOST = 1_450;

interface Parts {
  readonly request: Fields;
  readonly approvals: Fields;
  readonly rules: readonly Fields[];
  readonly threads: readonly Fields[];
  readonly files: readonly Fields[];
  /** There were more than one page of them. */
  readonly more: { readonly threads: boolean; readonly files: boolean };
  readonly missing: readonly string[];
}

const usernames = (people: readonly Fields[]): string[] =>
  people.map((person) => text(person, "user.username") ?? text(person, "username")).filter((name) => name !== undefined);

function toRule(rule: Fields): Record<string, unknown> {
  const approved = usernames(list(rule, "approved_by"));
  const eligible = usernames(list(rule, "eligible_approvers")).filter((name) => !approved.includes(name));
  const required = number(rule, "approvals_required") ?? 0;
  const left = Math.max(0, required - approved.length);
  return compact({
    name: text(rule, "name"),
    required,
    approved_by: approved,
    left,
    can_approve: left > 0 && eligible.length > 0 ? eligible.slice(0, 6) : undefined,
  });
}

/** Who approved, how many are asked for, and which rules still wait for whom. */
function toApprovals({ approvals, rules }: Parts): Record<string, unknown> {
  const told = rules.map(toRule);
  const asked = told.filter((rule) => rule.required !== 0);
  const sum = asked.reduce((total, rule) => total + Number(rule.left), 0);
  const approved = usernames(list(approvals, "approved_by"));
  return compact({
    approved: approvals.approved,
    approved_by: approved.length > 0 ? approved : [...new Set(told.flatMap((rule) => rule.approved_by as string[]))],
    required: number(approvals, "approvals_required"),
    left: number(approvals, "approvals_left") ?? (rules.length > 0 ? sum : undefined),
    rules: asked.length > 0 ? asked.slice(0, 8) : undefined,
  });
}

const isOpenThread = (thread: Fields) => {
  const notes = list(thread, "notes").filter((note) => note.resolvable === true);
  return notes.length > 0 && notes.some((note) => note.resolved !== true);
};

function toThread(thread: Fields): Record<string, unknown> {
  const note = list(thread, "notes")[0];
  const line = number(note, "position.new_line") ?? number(note, "position.old_line");
  const path = text(note, "position.new_path") ?? text(note, "position.old_path");
  const first = (text(note, "body") ?? "").split("\n").find((words) => words.trim() !== "") ?? "";
  return compact({
    discussion_id: text(thread, "id"),
    author: text(note, "author.username"),
    at: path === undefined ? undefined : `${path}${line === undefined ? "" : `:${line}`}`,
    text: clip(first.trim(), 140),
  });
}

/** Lines that a diff adds and removes; its file headers do not count. */
export function countLines(diff: string): { added: number; removed: number } {
  const lines = diff.split("\n");
  const start = lines.findIndex((line) => line.startsWith("@@"));
  const body = start < 0 ? [] : lines.slice(start);
  return { added: body.filter((line) => line.startsWith("+")).length, removed: body.filter((line) => line.startsWith("-")).length };
}

function toFile(file: Fields): Record<string, unknown> {
  const { added, removed } = countLines(text(file, "diff") ?? "");
  const kinds = { new_file: "new", deleted_file: "deleted", renamed_file: "renamed" };
  const kind = Object.entries(kinds).find(([name]) => file[name] === true)?.[1];
  const hidden = file.collapsed === true || file.too_large === true;
  return compact({
    path: text(file, "new_path") ?? text(file, "old_path"),
    ...(kind ? { change: kind } : {}),
    ...(kind === "renamed" ? { from: text(file, "old_path") } : {}),
    ...(hidden ? { note: "too large to count" } : { added, removed }),
  });
}

/** A plain list of what keeps it from being merged, from what GitLab says and from what can be seen. */
function toBlockers({ request, ...parts }: Parts, unresolved: number, left: number | undefined): string[] {
  const state = text(request, "state");
  if (state !== "opened") return [`it is ${state}`];
  const status = text(request, "detailed_merge_status") ?? "";
  const found = new Map<string, string>();
  const known = Object.hasOwn(BLOCKS, status) ? BLOCKS[status] : undefined;
  if (known !== undefined) found.set(status === "blocked_status" ? "merge_request_blocked" : status, known);
  else if (status !== "" && status !== "mergeable") found.set(status, `GitLab says: ${status}`);
  if (request.draft === true) found.set("draft_status", "it is a draft");
  if (request.has_conflicts === true) found.set("conflict", "it conflicts with the target branch");
  if (left !== undefined && left > 0) found.set("not_approved", left === 1 ? "one approval is missing" : `${left} approvals are missing`);
  if (request.blocking_discussions_resolved === false) {
    const count = `${unresolved}${parts.more.threads ? " or more" : ""} unresolved`;
    found.set("discussions_not_resolved", `threads must be resolved first (${count})`);
  }
  const pipeline = text(request, "head_pipeline.status");
  if (found.has("ci_must_pass") && pipeline) found.set("ci_must_pass", `its pipeline must pass first (it is ${pipeline})`);
  return [...found.values()];
}

/** What does not block but a reviewer wants to know. */
function toNotes({ request, more, missing }: Parts, blockers: readonly string[], unresolved: number): string[] {
  const pipeline = text(request, "head_pipeline.status");
  const about = blockers.some((blocker) => blocker.includes("pipeline"));
  return [
    ...(pipeline === undefined ? ["it has no pipeline"] : []),
    ...(pipeline === "failed" && !about ? ["its pipeline failed, which does not block merging here"] : []),
    ...(pipeline !== undefined && RUNNING.test(pipeline) && !about ? ["its pipeline is still running"] : []),
    ...(unresolved > 0 && !blockers.some((blocker) => blocker.includes("threads")) ? ["unresolved threads do not block merging here"] : []),
    ...(request.merge_when_pipeline_succeeds === true ? ["auto-merge is set"] : []),
    ...(more.files ? ["more than 100 files; only the first 100 are counted"] : []),
    ...(more.threads ? ["more than 100 threads; only the first 100 are counted"] : []),
    ...missing.map((part) => `could not be read: ${part}`),
  ];
}

const REQUEST = ["iid", "title", "state", "draft", "source_branch", "target_branch", "sha", "web_url", "labels", "updated_at"];

interface Room {
  readonly files: number;
  readonly threads: number;
  readonly words: number;
}

function toAnswer(parts: Parts, room: Room): Fields {
  const { request } = parts;
  const open = parts.threads.filter(isOpenThread);
  const files = parts.files.map(toFile);
  const sum = (name: string) => files.reduce((total, file) => total + Number(file[name] ?? 0), 0);
  const approvals = toApprovals(parts);
  const blockers = toBlockers(parts, open.length, number(approvals, "left"));
  const notes = toNotes(parts, blockers, open.length);
  const people = (name: string) => (list(request, name).length > 0 ? usernames(list(request, name)) : undefined);
  return compact({
    ...only(request, REQUEST),
    author: text(request, "author.username"),
    assignees: people("assignees"),
    reviewers: people("reviewers"),
    milestone: text(request, "milestone.title"),
    description: room.words > 0 && text(request, "description") ? clip(text(request, "description") ?? "", room.words) : undefined,
    can_merge: blockers.length === 0,
    blockers,
    ...(notes.length > 0 ? { notes } : {}),
    approvals,
    pipeline: pick(request, "head_pipeline") ? only(pick(request, "head_pipeline"), ["id", "status", "web_url"]) : undefined,
    threads: { unresolved: open.length, ...(open.length > 0 ? { first: open.slice(0, room.threads).map(toThread) } : {}) },
    changes: { files: files.length, added: sum("added"), removed: sum("removed") },
    files: files.slice(0, room.files),
    ...(files.length > room.files ? { files_left_out: files.length - room.files } : {}),
  });
}

const ROOMS: readonly Room[] = [
  { files: 40, threads: 8, words: 500 },
  { files: 25, threads: 5, words: 300 },
  { files: 15, threads: 3, words: 150 },
  { files: 8, threads: 2, words: 0 },
];

function toSize(parts: Parts, room: number): Fields {
  const answers = ROOMS.map((room) => toAnswer(parts, room));
  return answers.find((answer) => estimateJson(answer) <= Math.min(MOST, room)) ?? answers.at(-1) ?? {};
}

const NEXT = "merge_request.diff_show shows the changes; merge_request.review comments on lines and approves.";

/** All that a review of a merge request starts from, in one answer (TASKS.md, tasks 1 and 8). */
export const overviewOfMergeRequest: Composite = async (call, context, room) => {
  const where = { project_id: call.params.project_id, merge_request_iid: call.params.merge_request_iid, full: true };
  const request = toValue(await call.run("merge_request.get", where));
  context.progress?.({ progress: 1, total: 2, message: "approvals, threads, files" });
  const missing: string[] = [];
  const part = (name: string, id: string, more: Fields = {}) => attempt(name, () => call.run(id, { ...where, ...more }), missing);
  const [state, approvals, threads, files] = await Promise.all([
    part("approval rules", "merge_request.approval_state_get"),
    part("approvals", "merge_request.approvals_get"),
    part("threads", "merge_request.discussion_list", { limit: 100 }),
    part("changed files", "merge_request.diff_list", { limit: 100 }),
  ]);
  const value = toSize(
    {
      request,
      approvals: toValue(approvals),
      rules: list(toValue(state), "rules"),
      threads: toItems(threads),
      files: toItems(files),
      more: {
        threads: threads?.kind === "list" && threads.page.next !== undefined,
        files: files?.kind === "list" && files.page.next !== undefined,
      },
      missing,
    },
    room,
  );
  const hint = text(request, "state") === "opened" ? { hint: NEXT } : {};
  return { kind: "value", value, project: String(call.params.project_id), untrusted: true, ...hint };
};
