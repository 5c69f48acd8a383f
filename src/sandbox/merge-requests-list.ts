import { findGroup, findProject, projectsIn, requireUser, visibleProjects } from "./access.ts";
import { badParams } from "./errors.ts";
import { flag, integer, oneOf, text, texts } from "./input.ts";
import { issuableTests, scopeTest } from "./issue-filters.ts";
import { mergeRequestJson } from "./merge-requests-json.ts";
import { isDraft, type MergeRequest, mergeRequestsOf } from "./merge-requests-state.ts";
import { paged } from "./paging.ts";
import { get } from "./reply.ts";
import type { Behaviour, Json, Project, Reply, Request, User } from "./types.ts";

type Test = (row: MergeRequest) => boolean;

const SCOPES = ["created_by_me", "assigned_to_me", "reviews_for_me", "created-by-me", "assigned-to-me", "all"] as const;

function idsTest(request: Request, input: Readonly<Json>, what: string, ids: (row: MergeRequest) => number[]): Test | undefined {
  const name = text(input, `${what}_username`);
  if (name) {
    const wanted = request.world.users.find(({ username }) => username === name)?.id;
    return (row) => wanted !== undefined && ids(row).includes(wanted);
  }
  const names = texts(input, `${what}_usernames`);
  if (names && names.length > 0) {
    const users = request.world.users.filter(({ username }) => names.includes(username));
    return (row) => users.length === names.length && users.every(({ id }) => ids(row).includes(id));
  }
  const many = texts(input, `${what}_ids`);
  const id = many && many.length === 1 ? many[0] : text(input, `${what}_id`);
  if (id === undefined || id === "") return undefined;
  if (id.toLowerCase() === "none" || id === "0") return (row) => ids(row).length === 0;
  if (id.toLowerCase() === "any") return (row) => ids(row).length > 0;
  if (many && many.length > 1) return (row) => many.every((one) => ids(row).includes(Number(one)));
  const number = integer({ id }, "id");
  return (row) => ids(row).some((other) => other === number);
}

const word = (input: Readonly<Json>, name: string, of: (row: MergeRequest) => string): Test | undefined => {
  const value = text(input, name);
  return value ? (row) => of(row) === value : undefined;
};

function branchTests(request: Request, input: Readonly<Json>): Test[] {
  const reviewers = (row: MergeRequest) => row.reviewers.map(({ user_id }) => user_id);
  const tests = [
    word(input, "source_branch", (row) => row.source_branch),
    word(input, "target_branch", (row) => row.target_branch),
    idsTest(request, input, "reviewer", reviewers),
    idsTest(request, input, "approved_by", (row) => row.approvals.map(({ user_id }) => user_id)),
    idsTest(request, input, "merge_user", (row) => (row.merge_user_id === null ? [] : [row.merge_user_id])),
  ];
  return tests.filter((test) => test !== undefined);
}

function draftTest(request: Request): Test | undefined {
  const asked = flag(request.query, "draft") ?? flag(request.query, "wip");
  return asked === undefined ? undefined : (row) => isDraft(row.title) === asked;
}

function scoped(user: User | undefined, scope: string): Test | undefined {
  if (scope === "reviews_for_me") return (row) => row.reviewers.some(({ user_id }) => user_id === user?.id);
  return scopeTest(user, scope);
}

function timeTest(request: Request): Test[] {
  return (["merged_after", "merged_before", "deployed_after", "deployed_before"] as const).flatMap((name) => {
    const value = text(request.query, name);
    if (!value) return [];
    const at = Date.parse(value);
    if (Number.isNaN(at)) throw badParams(`${name} is invalid`);
    if (name.startsWith("deployed")) return [() => false];
    return [
      (row: MergeRequest) =>
        row.merged_at !== null && (name === "merged_after" ? Date.parse(row.merged_at) >= at : Date.parse(row.merged_at) <= at),
    ];
  });
}

function scopeProjects(request: Request): Project[] {
  if (request.params.project_id !== undefined) return [findProject(request)];
  return request.params.group_id === undefined ? visibleProjects(request) : projectsIn(request, findGroup(request));
}

/** Merge requests of the route's scope that pass every filter, the state included. */
function found(request: Request, defaultScope: string): MergeRequest[] {
  const { query } = request;
  const state = oneOf(query, "state", ["opened", "closed", "locked", "merged", "all"]) ?? "all";
  const scope = oneOf(query, "scope", SCOPES) ?? defaultScope;
  const user = scope === "all" ? request.user : requireUser(request);
  const not = query.not !== null && typeof query.not === "object" && !Array.isArray(query.not) ? (query.not as Json) : {};
  const tests: (Test | undefined)[] = [
    ...issuableTests(request, "MergeRequest"),
    ...branchTests(request, query),
    ...branchTests(request, not).map((test) => (row: MergeRequest) => !test(row)),
    ...timeTest(request),
    scoped(user, scope),
    draftTest(request),
  ];
  const archived = flag(query, "non_archived") !== false && request.params.project_id === undefined;
  const ids = new Set(
    scopeProjects(request)
      .filter((project) => !archived || !project.archived)
      .map(({ id }) => id),
  );
  const all = tests.filter((test) => test !== undefined);
  return mergeRequestsOf(request.world).filter(
    (row) => ids.has(row.project_id) && (state === "all" || row.state === state) && all.every((test) => test(row)),
  );
}

const padded = (date: string | null, id: number) => `${date ?? ""} ${String(id).padStart(9, "0")}`;

const ORDERS: Readonly<Record<string, (row: MergeRequest) => string | number>> = {
  created_at: (row) => padded(row.created_at, row.id),
  updated_at: (row) => padded(row.updated_at, row.id),
  merged_at: (row) => padded(row.merged_at, row.id),
  title: ({ title }) => title.toLowerCase(),
  label_priority: ({ id }) => id,
  milestone_due: ({ milestone_id }) => milestone_id ?? 1e9,
  popularity: ({ id }) => id,
  priority: ({ id }) => id,
};

const list =
  (defaultScope: string) =>
  (request: Request): Reply => {
    const key = ORDERS[text(request.query, "order_by") ?? "created_at"];
    if (!key) throw badParams("order_by does not have a valid value");
    const direction = (oneOf(request.query, "sort", ["asc", "desc"]) ?? "desc") === "asc" ? 1 : -1;
    const rows = found(request, defaultScope).sort((one, other) => (key(one) < key(other) ? -1 : 1) * direction);
    return paged(request, rows, (row) => mergeRequestJson(request, row));
  };

export const mergeRequestLists: readonly Behaviour[] = [
  get("/projects/{project_id}/merge_requests", list("all")),
  get("/groups/{group_id}/merge_requests", list("all")),
  get("/merge_requests", list("created_by_me")),
];
