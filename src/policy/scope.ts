import { GITLAB } from "../catalog/load.ts";
import { placeholders, routesOf } from "../catalog/route.ts";
import type { Action, Route } from "../catalog/types.ts";
import { isRaw, isRawRest } from "./call-effects.ts";
import { canNamePlace } from "./foreign.ts";
import { type Ceiling, ceilingsOf, type Limits } from "./narrow.ts";

/** A project or group as GitLab knows it. */
export interface Place {
  readonly id?: number;
  /** Full path. */
  readonly path?: string;
  /** What GitLab's own addresses begin with: not where it is asked, where that is another name of it. */
  readonly root?: string;
}

/** Whether any ceiling names projects or groups. */
export const isScoped = (limits: Limits): boolean => scopesOf(limits).length > 0;

type Scope = Pick<Ceiling, "allowProjects" | "allowGroups">;

/** The scopes to be inside of, all at once. */
export const scopesOf = (limits: Limits): readonly Scope[] =>
  ceilingsOf(limits).filter(({ allowProjects, allowGroups }) => allowProjects.length + allowGroups.length > 0);

/** How far a route can reach beyond the projects that are allowed. */
export type Reach =
  /** Below one project or group, which its path names. */
  | "project"
  | "group"
  /** A list over many projects, of which each item tells its own. */
  | "items"
  /** Touches no project at all, or is made of calls that are judged one by one. */
  | "none"
  /** Cannot be limited. */
  | "open";

/** Rows of other projects that tell their project: lists of them are filtered by it. */
const TELLING: ReadonlySet<string> = new Set([
  "APIEntitiesBasicProjectDetails",
  "APIEntitiesEpic",
  "APIEntitiesEpicIssue",
  "APIEntitiesEvent",
  "APIEntitiesGroup",
  "APIEntitiesIssue",
  "APIEntitiesIssueBasic",
  "APIEntitiesMergeRequestBasic",
  "APIEntitiesMilestone",
  "APIEntitiesNamespace",
  "APIEntitiesProject",
  "APIEntitiesProjectSnippet",
  "APIEntitiesRelease",
  "APIEntitiesTodo",
]);

/** Lists without an entity of their own whose rows tell their project. */
const TELLING_ACTIONS: ReadonlySet<string> = new Set(["search.run"]);

/** What stands above all projects and tells nothing of them, with the reason. Everything that is not here is open. */
export const WITHOUT_PROJECT: Readonly<Record<string, string>> = {
  "/metadata": "the instance's version",
  "/version": "the instance's version",
  "/user": "the caller",
  "/user/status": "the caller's status",
  "/user/preferences": "the caller's preferences",
  "/personal_access_tokens/self": "the caller's token",
  "/users": "people, by name",
  "/users/{user_id}": "a person",
  "/users/{user_id}/status": "a person's status",
  "/avatar": "an address of a picture",
  "/templates/dockerfiles": "GitLab's own texts",
  "/templates/dockerfiles/{name}": "GitLab's own texts",
  "/templates/gitignores": "GitLab's own texts",
  "/templates/gitignores/{name}": "GitLab's own texts",
  "/templates/gitlab_ci_ymls": "GitLab's own texts",
  "/templates/gitlab_ci_ymls/{name}": "GitLab's own texts",
  "/templates/licenses": "GitLab's own texts",
  "/templates/licenses/{name}": "GitLab's own texts",
};

/** Parameters of writes below a project or group that take a thing of any other project by an id of the whole instance. */
const BY_GLOBAL_ID: readonly (readonly [action: RegExp, param: string])[] = [
  [/^epic\./, "issue_id"],
  [/^epic\./, "parent_id"],
  [/^epic\.child_/, "child_epic_id"],
  [/^merge_request\.dependency_add$/, "blocking_merge_request_id"],
  [/^issue\.(create|update)$/, "epic_id"],
  [/^runner\.enable$/, "runner_id"],
  [/^deploy_key\.enable$/, "key_id"],
  [/^environment\./, "cluster_agent_id"],
];

/** Writes below a project that change the group above it. */
export const CHANGES_ABOVE: ReadonlySet<string> = new Set(["label.promote", "milestone.promote"]);

interface ChangesSource {
  /** The parameter that asks for it; absent: nothing need ask. */
  readonly param?: string;
  /** The field of the merge request by which it is asked for already; absent: by none. */
  readonly standing?: string;
}

/** Writes to a merge request that change the project that its branch is in. */
export const CHANGES_SOURCE: Readonly<Record<string, ChangesSource>> = {
  "merge_request.rebase": {},
  "merge_request.merge": { param: "should_remove_source_branch", standing: "force_remove_source_branch" },
  "merge_request.update": { param: "remove_source_branch" },
  "merge_train.merge_request_add": { standing: "force_remove_source_branch" },
};

/** Parameters that make GitLab render a text: the titles of what it refers to, wherever that is, come with it. */
export const RENDERING: readonly string[] = ["render_html", "include_html_description"];

/** Without this parameter the action's result lands outside of everything. */
export const LANDS: Readonly<Record<string, readonly string[]>> = {
  "project.fork": ["namespace", "namespace_id", "namespace_path"],
  "project.transfer": ["namespace"],
  "group.transfer": ["parent_group_id"],
};

const isList = (action: Action) => action.returns === "array" || (action.paging !== undefined && action.paging !== "none");

const tellsItems = (action: Action) =>
  action.effect === "read" && isList(action) && (TELLING.has(action.entity ?? "") || TELLING_ACTIONS.has(action.id));

/** Kinds of things whose global id leads to no other project: people, and what GitLab itself looks up in the place of the call. */
const HARMLESS_IDS = /^(Project|Group|Namespace|User|Label|Milestone|Iteration|WorkItems::.*|CustomEmoji)$/;

/** Parameters of a GraphQL row that take a thing by an id of the whole instance, whatever place the call names. */
const globalIds = (action: Action): readonly string[] =>
  Object.entries(action.params).flatMap(([name, { gid }]) => (gid !== undefined && !HARMLESS_IDS.test(gid) ? [name] : []));

function reachOfRest(action: Action, template: string): Reach {
  if (/^\/projects\/\{project_id\}(\/|$)/.test(template)) return "project";
  if (/^\/groups\/\{group_id\}(\/|$)/.test(template)) return "group";
  if (template in WITHOUT_PROJECT && action.effect === "read") return "none";
  return tellsItems(action) ? "items" : "open";
}

function reachOfGraphql(action: Action): Reach {
  if (globalIds(action).some((name) => action.params[name]?.required)) return "open";
  return Object.keys(action.params).some((name) => name === "project_id" || name === "group_id") ? "project" : "open";
}

/** The first parameter of a call that could lead to another project by an id of the whole instance. */
export function globalIdIn(action: Action, params: Readonly<Record<string, unknown>>): string | undefined {
  const rest = action.effect === "read" ? [] : BY_GLOBAL_ID.flatMap(([id, name]) => (id.test(action.id) ? [name] : []));
  return [...globalIds(action), ...rest].find((name) => params[name] !== undefined);
}

/** How far one route of an action reaches. */
export function reachOf(action: Action, route: Route | undefined): Reach {
  if (action.source !== GITLAB) return canNamePlace(action) ? "project" : "open";
  // A request written by hand is judged when it is there, by the actions that stand for it.
  if (isRaw(action)) return isRawRest(action) ? "none" : "open";
  if (route) return reachOfRest(action, route[1]);
  if (action.graphql !== undefined) return reachOfGraphql(action);
  // A composite reaches GitLab through other actions only, each of which is judged.
  return action.composite === undefined ? "open" : "none";
}

/** Whether no route of the action can be limited: it may then not even be listed. */
export function isOpen(action: Action): boolean {
  const routes = routesOf(action);
  return (routes.length > 0 ? routes : [undefined]).every((route) => reachOf(action, route) === "open");
}

/** A list below a group that is not allowed itself, but stands above what is: its rows can be told apart. */
export const isFilterable = (action: Action): boolean => tellsItems(action);

const fold = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/^\/+|\/+$/g, "");
const isId = (entry: string) => /^\d+$/.test(entry);

/** The entries of a scope that are ids, which only GitLab can turn into paths. */
export const idsIn = (entries: readonly string[]): readonly number[] => entries.filter(isId).map(Number);

const pathsIn = (entries: readonly string[]) => entries.filter((entry) => !isId(entry)).map(fold);

const below = (path: string, group: string) => path === group || path.startsWith(`${group}/`);

/** The entries of a scope, ids resolved: what GitLab said the allowed groups and projects are called. */
export interface Known {
  readonly projects: ReadonlyMap<number, string>;
  readonly groups: ReadonlyMap<number, string>;
}

export const NOTHING_KNOWN: Known = { projects: new Map(), groups: new Map() };

const groupPaths = (scope: Scope, known: Known) => [
  ...pathsIn(scope.allowGroups),
  ...idsIn(scope.allowGroups)
    .flatMap((id) => known.groups.get(id) ?? [])
    .map(fold),
];

const projectPaths = (scope: Scope, known: Known) => [
  ...pathsIn(scope.allowProjects),
  ...idsIn(scope.allowProjects)
    .flatMap((id) => known.projects.get(id) ?? [])
    .map(fold),
];

/** Whether a project is inside a scope. */
export function holdsProject(scope: Scope, { id, path }: Place, known: Known): boolean {
  if (id !== undefined && idsIn(scope.allowProjects).includes(id)) return true;
  if (path === undefined) return false;
  const word = fold(path);
  if (projectPaths(scope, known).includes(word)) return true;
  return groupPaths(scope, known).some((group) => word.startsWith(`${group}/`));
}

/** Whether a group is inside a scope: allowed itself, or below one that is. */
export function holdsGroup(scope: Scope, { id, path }: Place, known: Known): boolean {
  if (id !== undefined && idsIn(scope.allowGroups).includes(id)) return true;
  return path !== undefined && groupPaths(scope, known).some((group) => below(fold(path), group));
}

/** Whether something that is allowed stands below a group. */
export function standsAbove(scope: Scope, { path }: Place, known: Known): boolean {
  if (path === undefined) return false;
  return [...projectPaths(scope, known), ...groupPaths(scope, known)].some((inner) => below(inner, fold(path)));
}

/** What a parameter names that is not the place of the call itself. */
export type Named = "project" | "group" | "namespace";

const EXEMPT = /(^|_)(google_cloud|artifact_registry|identity_federation|bitbucket_server|skip|exclude|without|max|unique|resource)_?/;

/** Which kind of place a parameter of this name holds, where it holds one. */
export function namedBy(name: string): Named | undefined {
  if (EXEMPT.test(name)) return undefined;
  if (/(^|_)projects?(_ids?|_paths?)?$|^forked_from_id$/.test(name)) return "project";
  if (/(^|_)groups?(_ids?|_paths?)?$|^group_with_project_templates_id$/.test(name)) return "group";
  if (/(^|_)namespace(_id|_path)?$/.test(name)) return "namespace";
  return undefined;
}

/** Places that a call names beside the one in its path, in nested values too. */
export function placesIn(
  params: Readonly<Record<string, unknown>>,
  own: readonly string[],
): readonly (readonly [name: string, kind: Named, value: string])[] {
  const walk = (name: string, value: unknown): (readonly [string, Named, string])[] => {
    if (Array.isArray(value)) return value.flatMap((item) => walk(name, item));
    // A list may come as an object by number.
    if (typeof value === "object" && value !== null)
      return Object.entries(value).flatMap(([key, inner]) => walk(/^\d+$/.test(key) ? name : key, inner));
    const kind = namedBy(name);
    const isPlace = typeof value === "string" || typeof value === "number";
    return kind !== undefined && isPlace ? [[name, kind, String(value)]] : [];
  };
  return Object.entries(params).flatMap(([name, value]) => (own.includes(name) ? [] : walk(name, value)));
}

/** The names of the parameters that stand in the path of a route. */
export const ownPlaces = (route: Route | undefined): readonly string[] =>
  route ? placeholders(route[1]).filter((name) => name === "project_id" || name === "group_id") : [];
