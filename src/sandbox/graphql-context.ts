import { GraphQLError } from "graphql";
import { canSeeGroup, canSeeProject, groupLevel, lookUpGroup, lookUpProject, projectLevel } from "./access.ts";
import type { Caller } from "./auth.ts";
import { type Group, type Json, type Project, type Request, ROLE, type User, type World } from "./types.ts";

/** Everything that a field needs to answer. */
export interface Context {
  readonly world: World;
  readonly caller: Caller;
}

export type Place = { readonly kind: "project"; readonly row: Project } | { readonly kind: "group"; readonly row: Group };

/** GitLab's one sentence for what is absent, hidden or not allowed. */
export const unavailable = () =>
  new GraphQLError("The resource that you are attempting to access does not exist or you don't have permission to perform this action");

/** A request as the REST behaviours know it, for what they share with GraphQL. */
export const requestOf = ({ world, caller }: Context): Request => ({
  world,
  method: "POST",
  path: "/graphql",
  params: {},
  query: {},
  body: {},
  input: {},
  headers: {},
  ...(caller.user ? { user: caller.user } : {}),
  ...(caller.token ? { token: caller.token } : {}),
});

/** A user that may write. @throws for the anonymous and for tokens that only read. */
export function requireWriter({ caller }: Context): User {
  if (!caller.user || (caller.token && !caller.token.scopes.includes("api"))) throw unavailable();
  return caller.user;
}

/** The project or group of this full path, if the caller may see it. */
export function placeOf({ world, caller }: Context, path: unknown): Place | undefined {
  const key = String(path);
  const project = /^\d+$/.test(key) ? undefined : lookUpProject(world, key);
  if (project && canSeeProject(world, caller.user, project)) return { kind: "project", row: project };
  const group = /^\d+$/.test(key) ? undefined : lookUpGroup(world, key);
  return group && canSeeGroup(world, caller.user, group) ? { kind: "group", row: group } : undefined;
}

export function levelIn({ world, caller }: Context, place: Place): number {
  return place.kind === "project" ? projectLevel(world, caller.user, place.row) : groupLevel(world, caller.user, place.row);
}

/** @throws where the place is not there or the caller's role is too low. */
export function requirePlace(context: Context, path: unknown, role: number = ROLE.guest): Place {
  requireWriter(context);
  const place = placeOf(context, path);
  if (!place || levelIn(context, place) < role) throw unavailable();
  return place;
}

/** What stands for a place in the store of rows. */
export const ownerOf = ({ kind, row }: Place): string => `${kind}:${row.id}`;

export const gid = (type: string, id: number | string): string => `gid://gitlab/${type}/${id}`;

/** The number (or word) at the end of a global id. */
export const idOf = (value: unknown): string => String(value).split("/").at(-1) ?? "";

export function userNode(world: World, id: number | null | undefined): Json | null {
  const user = world.users.find((row) => row.id === id);
  if (!user) return null;
  const { username, name, state, bot } = user;
  return { __typename: "UserCore", id: gid("User", user.id), username, name, state, bot, webUrl: `${world.url}/${username}` };
}

export function placeNode(world: World, { kind, row }: Place): Json {
  const path = kind === "project" ? row.path_with_namespace : row.full_path;
  const common = { name: row.name, path: row.path, fullPath: path, webUrl: `${world.url}/${kind === "group" ? "groups/" : ""}${path}` };
  return { ...common, id: gid(kind === "project" ? "Project" : "Group", row.id), owner: `${kind}:${row.id}` };
}
