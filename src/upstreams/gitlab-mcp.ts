import type { UpstreamConfig } from "./config.ts";
import type { UpstreamAuth } from "./oauth.ts";

/** Tools of GitLab's own MCP server → our action that does the same. */
export const SAME: Readonly<Record<string, string>> = {
  add_branch: "branch.create",
  add_commit: "commit.create",
  accept_merge_request: "merge_request.merge",
  create_issue: "issue.create",
  create_merge_request_note: "merge_request.note_create",
  get_commit: "commit.get",
  get_issue: "issue.get",
  get_job: "job.get",
  get_merge_request: "merge_request.get",
  get_merge_request_commits: "merge_request.commit_list",
  get_merge_request_diffs: "merge_request.diff_list",
  get_merge_request_notes: "merge_request.note_list",
  get_merge_request_pipelines: "merge_request.pipeline_list",
  get_pipeline: "pipeline.get",
  get_pipeline_jobs: "pipeline.job_list",
  get_repository_file: "repository.file_get",
  get_work_item: "work_item.get",
  list_merge_requests: "merge_request.list",
  list_pipelines: "pipeline.list",
  list_project_members: "member.list",
  list_wiki_pages: "wiki_page.list",
  list_work_items: "work_item.list",
  search: "search.run",
  search_labels: "label.list",
};

/** GitLab's own groups, where a tool names none. */
const TOOLSETS: Readonly<Record<string, readonly string[]>> = {
  merge_requests: ["*merge_request*"],
  ci: ["*pipeline*", "*_job", "*_jobs"],
  repository: ["add_branch", "add_commit", "get_commit", "get_repository_file", "semantic_code_search"],
  work_items: ["*work_item*", "*workitem*", "get_saved_view_work_items"],
  wikis: ["*wiki*"],
  code_security: ["*scan_profile*"],
  duo_agent_platform: ["*duo*"],
  core: ["create_issue", "get_issue", "search", "search_labels", "list_project_members"],
};

/** What its tools do, by name: its annotations are not needed for that. */
const EFFECTS: UpstreamConfig["effect"] = [
  ["accept_merge_request", "destructive"],
  ["manage_pipeline", "destructive"],
  ["get_*", "read"],
  ["list_*", "read"],
  ["search*", "read"],
  ["semantic_*", "read"],
  ["*", "write"],
];

export const GITLAB_MCP = "gitlab_mcp";

export interface GitLabMcp {
  readonly instance: string;
  /** One for all. */
  readonly token?: string;
  /** The sign-in of the one user. */
  readonly auth?: UpstreamAuth;
}

/** Its address below an instance. */
export const endpointOf = (instance: string): string => `${instance}/api/v4/mcp`;

const WANTS =
  "it takes an OAuth token of scope mcp: whoever runs this server sets GITLAB_BRIDGE_GITLAB_MCP_TOKEN, or callers bring their own in Authorization";

/** The instance's own MCP endpoint as an upstream: with a sign-in, with one token, or with what each caller brings. */
export const gitlabMcp = ({ instance, token, auth }: GitLabMcp): UpstreamConfig => ({
  name: GITLAB_MCP,
  link: {
    kind: "http",
    url: endpointOf(instance),
    headers: {
      "X-Gitlab-Enabled-Mcp-Server-Toolsets": "all",
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
  },
  toolsets: TOOLSETS,
  prefix: "",
  include: [],
  exclude: [],
  effect: EFFECTS,
  trust: true,
  sessionMode: "auto",
  forwardHeaders: token === undefined && !auth ? ["authorization"] : [],
  timeout: 60_000,
  grace: 300_000,
  ...(auth ? { auth } : { wants: WANTS }),
});
