/** A JSON object as it travels. */
export type Json = Record<string, unknown>;

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** GitLab's roles as numbers; `none` is nobody. */
export const ROLE = { none: 0, minimal: 5, guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;

export const VISIBILITIES = ["private", "internal", "public"] as const;

export type Visibility = (typeof VISIBILITIES)[number];

export interface User {
  id: number;
  username: string;
  name: string;
  email: string;
  state: "active" | "blocked";
  admin: boolean;
  bot: boolean;
  created_at: string;
  bio: string;
  location: string;
  job_title: string;
}

/** Personal, project and group access tokens, and job tokens. */
export interface Token {
  id: number;
  kind: "personal" | "project" | "group" | "job";
  /** The secret itself. */
  value: string;
  name: string;
  description: string | null;
  user_id: number;
  scopes: string[];
  revoked: boolean;
  created_at: string;
  last_used_at: string | null;
  /** `2026-12-31`, or never. */
  expires_at: string | null;
  /** Project or group that a resource token belongs to. */
  source_id?: number;
  access_level?: number;
  job_id?: number;
}

export interface Group {
  id: number;
  parent_id: number | null;
  name: string;
  path: string;
  full_path: string;
  full_name: string;
  description: string;
  visibility: Visibility;
  created_at: string;
  /** Settings that were sent and are given back. */
  extra: Json;
}

export interface Project {
  id: number;
  /** Full path of the group or user that it lives under. */
  namespace: string;
  name: string;
  path: string;
  path_with_namespace: string;
  description: string | null;
  visibility: Visibility;
  archived: boolean;
  /** null while the repository is empty. */
  default_branch: string | null;
  creator_id: number;
  created_at: string;
  last_activity_at: string;
  updated_at: string;
  topics: string[];
  starrers: number[];
  forked_from_id: number | null;
  marked_for_deletion_on: string | null;
  merge_method: string;
  only_allow_merge_if_pipeline_succeeds: boolean;
  only_allow_merge_if_all_discussions_are_resolved: boolean;
  remove_source_branch_after_merge: boolean;
  /** Further settings, given back as they were sent (`issues_access_level`, `squash_option` …). */
  extra: Json;
}

export interface Member {
  source: "project" | "group";
  source_id: number;
  user_id: number;
  access_level: number;
  created_at: string;
  created_by_id: number;
  expires_at: string | null;
}

export interface Label {
  id: number;
  source: "project" | "group";
  source_id: number;
  name: string;
  color: string;
  description: string | null;
  priority: number | null;
  subscribers: number[];
}

export interface Milestone {
  id: number;
  iid: number;
  source: "project" | "group";
  source_id: number;
  title: string;
  description: string;
  state: "active" | "closed";
  created_at: string;
  updated_at: string;
  start_date: string | null;
  due_date: string | null;
}

/** What issues and merge requests have in common; the shared behaviours need no more. */
export interface Issuable {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  state: string;
  author_id: number;
  assignee_ids: number[];
  /** Names. */
  labels: string[];
  milestone_id: number | null;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
  closed_by_id: number | null;
  discussion_locked: boolean | null;
  time_estimate: number;
  total_time_spent: number;
  /** User id → explicitly subscribed or not; others follow from taking part. */
  subscriptions: Map<number, boolean>;
}

export interface Issue extends Issuable {
  state: "opened" | "closed";
  confidential: boolean;
  due_date: string | null;
  weight: number | null;
  issue_type: string;
  severity: string;
  moved_to_id: number | null;
}

export type NoteableType = "Issue" | "MergeRequest" | "Commit" | "Snippet" | "Epic";

export interface Note {
  id: number;
  noteable_type: NoteableType;
  /** Global id of the issue or merge request (the sha's number for a commit is free). */
  noteable_id: number | string;
  noteable_iid: number | null;
  project_id: number | null;
  discussion_id: string;
  /** A single comment, outside any thread, until somebody answers it. */
  individual: boolean;
  type: "DiscussionNote" | "DiffNote" | null;
  body: string;
  author_id: number;
  created_at: string;
  updated_at: string;
  system: boolean;
  internal: boolean;
  resolvable: boolean;
  resolved: boolean;
  resolved_by_id: number | null;
  resolved_at: string | null;
  position: Json | null;
  commit_id: string | null;
}

export interface Todo {
  id: number;
  user_id: number;
  author_id: number;
  project_id: number | null;
  action_name: string;
  target_type: "Issue" | "MergeRequest";
  target_id: number;
  body: string;
  state: "pending" | "done";
  created_at: string;
  updated_at: string;
}

export interface ActivityEvent {
  id: number;
  project_id: number;
  author_id: number;
  action_name: string;
  target_type: string | null;
  target_id: number | null;
  target_iid: number | null;
  target_title: string | null;
  created_at: string;
  push_data?: Json;
  note_id?: number;
}

export interface Emoji {
  id: number;
  /** `Issue`, `MergeRequest`, `Note` … */
  awardable_type: string;
  awardable_id: number | string;
  name: string;
  user_id: number;
  created_at: string;
  updated_at: string;
}

/** A change of labels, milestone or state, as the resource event routes show it. */
export interface ResourceEvent {
  id: number;
  kind: "label" | "milestone" | "state" | "weight" | "iteration";
  resource_type: NoteableType;
  resource_id: number;
  user_id: number;
  created_at: string;
  action: string;
  /** Label name, milestone id or new state. */
  value: string | number | null;
}

/** What the rest asks of the git store. Without one, no ref exists. */
export interface GitHooks {
  /** A commit in GitLab's shape for a branch, tag or sha, or nothing. */
  commit(project: Project, ref: string): Json | undefined;
  /** A tag in GitLab's shape. */
  tag(project: Project, name: string): Json | undefined;
  createTag(project: Project, name: string, ref: string, message: string | null, author: User): Json | undefined;
}

/** What the rest asks of merge requests. */
export interface MergeRequestHooks {
  closing(request: Request, issue: Issue): Json[];
  related(request: Request, issue: Issue): Json[];
  /** Merge request by global id, for to-do items. */
  byId(request: Request, id: number): Json | undefined;
  issuable(id: number): Issuable | undefined;
  inMilestone(request: Request, milestone: Milestone): Json[];
}

/** Hits of one search scope in GitLab's shape, best first; `projects` are those that the caller may see and the scope covers. */
export type SearchScope = (request: Request, text: string, projects: readonly Project[]) => Json[];

/** All state. `reset()` makes a new one; nothing is kept outside. */
export interface World {
  /** Address of the server with its relative root, e.g. `http://127.0.0.1:1234`. Web addresses are made from it when shown, never stored. */
  url: string;
  /** The present, ISO with milliseconds. It stands still, but for one second with every write request. */
  now(): string;
  /** Moves the present on by one second. The server does it before each write. */
  tick(): void;
  /** 1, 2, 3 … per name, past every number that the seeds have used. */
  nextId(name: string): number;
  /** Makes `nextId(name)` go on after `id`. */
  usedId(name: string, id: number): void;
  readonly users: User[];
  readonly tokens: Token[];
  readonly groups: Group[];
  readonly projects: Project[];
  readonly members: Member[];
  readonly labels: Label[];
  readonly milestones: Milestone[];
  readonly issues: Issue[];
  readonly notes: Note[];
  readonly todos: Todo[];
  readonly events: ActivityEvent[];
  readonly emoji: Emoji[];
  readonly resourceEvents: ResourceEvent[];
  /** Rows of the generic engine, by collection path. */
  readonly tables: Map<string, Json[]>;
  /** State of one part, made on first use: `world.part("git", createGitStore)`. */
  part<T>(name: string, make: () => T): T;
  /** Set by the parts that know. */
  readonly hooks: {
    git?: GitHooks;
    mergeRequests?: MergeRequestHooks;
    /** Issue by global id, for to-do items. */
    issue?: (request: Request, id: number) => Json | undefined;
  };
  readonly search: Map<string, SearchScope>;
  /** Called after a project was made; `from` is the origin of a fork. */
  readonly onProject: ((project: Project, options: { from?: Project; readme: boolean }) => void)[];
  /** Makes `count` more issues in a project, all alike and numbered, for tests of paging. */
  seedIssues(projectPath: string, count: number): Issue[];
}

/** An uploaded file of a multipart body. */
export interface Upload {
  readonly filename: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** One request, read and authenticated. */
export interface Request {
  readonly world: World;
  readonly method: Method;
  /** Path below `/api/v4`, as sent (still encoded). */
  readonly path: string;
  /** Placeholders of the matched template, decoded once. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Json>;
  readonly body: Readonly<Json>;
  /** Query and body together: what GitLab calls params (path placeholders are not in it). */
  readonly input: Readonly<Json>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Absent = anonymous. With `Sudo` it is the user acted for. */
  readonly user?: User;
  readonly token?: Token;
}

export interface Reply {
  readonly status: number;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with `type`. */
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: Request) => Reply | Promise<Reply>;

/**
 * One row of the behaviour table. `path` is a template below `/api/v4`: `/projects/{project_id}/issues/{issue_iid}`; each placeholder is one
 * segment (an encoded `%2F` stays inside it), `{path*}` takes all that is left up to the next literal. Literals win over placeholders; of two equal templates
 * the later part's wins.
 */
export interface Behaviour {
  readonly method: Method;
  readonly path: string;
  readonly run: Handler;
  /** A write that needs no signed-in user (writes answer 401 to the anonymous otherwise). */
  readonly open?: boolean;
  /** Job tokens may call it. */
  readonly jobToken?: boolean;
  /** Scopes beside `api` (and `read_api` for GET) that suffice. */
  readonly scopes?: readonly string[];
}

/** A module of the sandbox: listed in `parts.ts`, seeded in that order. */
export interface Part {
  readonly behaviours: readonly Behaviour[];
  /** Fills a new world, and sets its hooks. */
  readonly seed?: (world: World) => void;
}

/** Issues for the shared behaviours, or merge requests. */
export interface IssuableKind {
  readonly type: "Issue" | "MergeRequest";
  /** `/projects/{project_id}/issues/{issue_iid}` */
  readonly path: string;
  /** The one that the path names; throws 404 where it is absent or hidden from the caller. */
  readonly find: (request: Request) => Issuable;
  readonly json: (request: Request, issuable: Issuable) => Json;
  /** Checks where a comment on a diff stands and answers its full position; throws 400. Absent: no comments on diffs. */
  readonly position?: (request: Request, issuable: Issuable, position: Readonly<Json>) => Json;
}
