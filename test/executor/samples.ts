/** Answers as large and as noisy as GitLab's own. */

const NAMES = ["maria.kowalska", "j.okafor", "li-wei", "tom", "anna_schmidt"];
const TITLES = [
  "Fix flaky retry of the upload worker when object storage is slow",
  "Draft: Move the session store to Redis cluster mode",
  "Bump rack from 2.2.8 to 2.2.9",
  "Add audit events for group access tokens",
  "Show the reason why a merge request cannot be merged",
];

const at = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

export const user = (n: number) => ({
  id: 1_000 + (n % NAMES.length),
  username: at(NAMES, n),
  public_email: "",
  name: at(NAMES, n).replace(/[._-]/g, " "),
  state: "active",
  locked: false,
  avatar_url: `https://secure.gravatar.com/avatar/${"0123456789abcdef".repeat(4)}?s=80&d=identicon`,
  web_url: `https://gitlab.example.com/${at(NAMES, n)}`,
});

const times = (n: number) => ({ created_at: `2026-11-${10 + (n % 9)}T08:14:55.321Z`, updated_at: `2026-11-2${n % 9}T16:40:02.118Z` });
const spent = { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null };
const labels = (n: number) => ["backend", "type::bug", "priority::2", "needs review"].slice(0, 1 + (n % 3));
const milestone = (n: number) =>
  n % 2 === 0
    ? {
        id: 4,
        iid: 2,
        title: "18.9",
        state: "active",
        due_date: "2026-12-15",
        web_url: "https://gitlab.example.com/groups/platform/-/milestones/2",
      }
    : null;
const text =
  "When the storage answers slowly, the worker gives up after the first try and the upload is lost. Steps, logs and a proposal follow. ";

export const mergeRequest = (n: number) => ({
  id: 155_016_500 + n,
  iid: 100 + n,
  project_id: 15_513_260,
  title: at(TITLES, n),
  description: text.repeat(4),
  state: "opened",
  ...times(n),
  merged_by: null,
  merge_user: null,
  merged_at: null,
  closed_by: null,
  closed_at: null,
  target_branch: "main",
  source_branch: `${100 + n}-${at(TITLES, n)
    .toLowerCase()
    .replace(/[^a-z]+/g, "-")
    .slice(0, 30)}`,
  user_notes_count: n,
  upvotes: 0,
  downvotes: 0,
  author: user(n),
  assignees: [user(n)],
  assignee: user(n),
  reviewers: n % 2 === 0 ? [user(n + 1)] : [],
  source_project_id: 15_513_260,
  target_project_id: 15_513_260,
  labels: labels(n),
  draft: n % 5 === 1,
  imported: false,
  imported_from: "none",
  work_in_progress: n % 5 === 1,
  milestone: milestone(n),
  merge_when_pipeline_succeeds: false,
  merge_status: "can_be_merged",
  detailed_merge_status: at(["mergeable", "ci_still_running", "not_approved", "conflict"], n),
  sha: "82e24b5b9f2c5a3c2b8c9f0d1e2f3a4b5c6d7e8f",
  merge_commit_sha: null,
  squash_commit_sha: null,
  discussion_locked: null,
  should_remove_source_branch: null,
  force_remove_source_branch: true,
  prepared_at: "2026-11-10T08:15:01.000Z",
  reference: `!${100 + n}`,
  references: { short: `!${100 + n}`, relative: `!${100 + n}`, full: `platform/storage-service!${100 + n}` },
  web_url: `https://gitlab.example.com/platform/storage-service/-/merge_requests/${100 + n}`,
  time_stats: spent,
  squash: false,
  squash_on_merge: false,
  task_completion_status: { count: 0, completed_count: 0 },
  has_conflicts: n % 4 === 3,
  blocking_discussions_resolved: true,
  approvals_before_merge: null,
});

export const issue = (n: number) => ({
  id: 88_000_000 + n,
  iid: n,
  project_id: 15_513_260,
  title: at(TITLES, n),
  description: text.repeat(20),
  state: "opened",
  ...times(n),
  closed_at: null,
  closed_by: null,
  labels: labels(2),
  milestone: milestone(0),
  assignees: [user(0), user(1)],
  author: user(2),
  type: "ISSUE",
  assignee: user(0),
  user_notes_count: 12,
  merge_requests_count: 1,
  upvotes: 3,
  downvotes: 0,
  due_date: "2026-12-01",
  confidential: false,
  discussion_locked: null,
  issue_type: "issue",
  web_url: `https://gitlab.example.com/platform/storage-service/-/issues/${n}`,
  time_stats: spent,
  task_completion_status: { count: 3, completed_count: 1 },
  weight: 2,
  blocking_issues_count: 0,
  has_tasks: true,
  task_status: "1 of 3 checklist items completed",
  _links: {
    self: "https://gitlab.example.com/api/v4/projects/15513260/issues/7",
    notes: "https://gitlab.example.com/api/v4/projects/15513260/issues/7/notes",
  },
  references: { short: `#${n}`, relative: `#${n}`, full: `platform/storage-service#${n}` },
  severity: "UNKNOWN",
  subscribed: true,
  moved_to_id: null,
  imported: false,
  imported_from: "none",
  service_desk_reply_to: null,
});

export const project = (n: number) => ({
  id: 15_513_260 + n,
  description:
    n % 3 === 0
      ? null
      : `The ${at(["storage", "billing", "search"], n)} service: API, workers and the command line, with its deployment and dashboards`,
  name: `Service ${n}`,
  name_with_namespace: `Platform / Backend / Service ${n}`,
  path: `service-${n}`,
  path_with_namespace: `platform/backend/service-${n}`,
  created_at: "2024-02-10T08:14:55.321Z",
  default_branch: "main",
  tag_list: [],
  topics: ["ruby", "backend"],
  ssh_url_to_repo: `git@gitlab.example.com:platform/backend/service-${n}.git`,
  http_url_to_repo: `https://gitlab.example.com/platform/backend/service-${n}.git`,
  web_url: `https://gitlab.example.com/platform/backend/service-${n}`,
  readme_url: `https://gitlab.example.com/platform/backend/service-${n}/-/blob/main/README.md`,
  forks_count: n,
  avatar_url: null,
  star_count: 2,
  last_activity_at: `2026-11-2${n % 9}T16:40:02.118Z`,
  visibility: at(["private", "internal", "public"], n),
  namespace: {
    id: 7,
    name: "Backend",
    path: "backend",
    kind: "group",
    full_path: "platform/backend",
    parent_id: 6,
    avatar_url: null,
    web_url: "https://gitlab.example.com/groups/platform/backend",
  },
  _links: { self: "https://gitlab.example.com/api/v4/projects/1", issues: "https://gitlab.example.com/api/v4/projects/1/issues" },
  archived: n % 7 === 6,
  issues_enabled: true,
  merge_requests_enabled: true,
  wiki_enabled: true,
  jobs_enabled: true,
});
