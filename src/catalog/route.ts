import { BridgeError } from "../errors.ts";
import type { ActionRow, Route } from "./types.ts";

/** Names of the placeholders of a path template, in order. */
export function placeholders(path: string): string[] {
  return [...path.matchAll(/\{([a-z0-9_]+)\}/g)].map((match) => match[1] as string);
}

/** All routes of a row, the main one first. */
export function routesOf(row: ActionRow): readonly Route[] {
  return row.http ? [row.http, ...(row.routes ?? [])] : [];
}

/** The ids that choose between the routes of a family: placeholders that not every route has. */
export function scopeIds(row: ActionRow): readonly string[] {
  const sets = routesOf(row).map(([, path]) => placeholders(path));
  return [...new Set(sets.flat())].filter((name) => !sets.every((set) => set.includes(name)));
}

/** The scope of a route within its family: one of the scope ids, or `none`. */
export function scopeOf(row: ActionRow, route: Route): string {
  const names = placeholders(route[1]);
  return scopeIds(row).find((id) => names.includes(id)) ?? "none";
}

/** The GitLab version that a call needs, as far as the row tells. */
export function sinceOf({ since }: ActionRow, params: Readonly<Record<string, unknown>>): string | undefined {
  if (since === undefined || typeof since === "string") return since;
  return Object.entries(since).find(([scope]) => given(params, scope))?.[1];
}

const given = (params: Readonly<Record<string, unknown>>, name: string) => params[name] !== undefined && params[name] !== null;

/**
 * The one route that fits the scope ids given.
 * @throws BridgeError invalid_params when no route fits or two scopes are given at once.
 */
export function pickRoute(row: ActionRow, params: Readonly<Record<string, unknown>>): Route {
  const routes = routesOf(row);
  const main = routes[0];
  if (!main) throw new Error(`${row.id} has no route`);
  if (routes.length === 1) return main;
  const scopes = scopeIds(row).filter((id) => given(params, id));
  const fits = routes.filter(([, path]) => {
    const names = placeholders(path);
    return scopes.every((id) => names.includes(id)) && scopeIds(row).every((id) => !names.includes(id) || given(params, id));
  });
  const best = fits[0];
  if (best) return best;
  const choices = [...new Set(routes.map((route) => scopeOf(row, route)))];
  const named = choices.filter((choice) => choice !== "none").join(" or ");
  const message = scopes.length > 1 ? `${row.id} takes ${named}, not ${scopes.join(" and ")} together` : `${row.id} needs ${named}`;
  throw new BridgeError("invalid_params", message, `Give exactly one of: ${named}.`);
}

/** The document that a GraphQL row sends for these params: the twin that one of them chooses, else its own. */
export const documentOf = ({ graphql, documents }: ActionRow, params: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(documents ?? {}).find(([name]) => given(params, name))?.[1] ?? graphql;
