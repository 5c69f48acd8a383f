import { scopeOf } from "../catalog/route.ts";
import type { Action, Param, Route } from "../catalog/types.ts";
import { findGroup, findProject, requireAdmin, requireUser } from "./access.ts";
import { badParams } from "./errors.ts";
import { type Json, type Request, ROLE } from "./types.ts";
import { findUser } from "./users.ts";

function wrong(name: string, param: Param, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (param.type === "integer" && !/^-?\d+$/.test(String(value))) return `${name} is invalid`;
  if (param.type === "boolean" && !/^(true|false|0|1|)$/i.test(String(value))) return `${name} is invalid`;
  if (param.enum && typeof value === "string" && !param.enum.includes(value)) return `${name} does not have a valid value`;
  return undefined;
}

/** @throws 400 with every fault at once, as GitLab's API layer tells them. */
export function checkInput(request: Request, action: Action, route: Route): void {
  const scope = scopeOf(action, route);
  const faults: string[] = [];
  for (const [own, param] of Object.entries(action.params)) {
    if (param.in === "path" || (param.on && !param.on.includes(scope))) continue;
    const name = param.wire ?? own;
    const value = request.input[name];
    if (param.required && value === undefined) faults.push(`${name} is missing`);
    const fault = wrong(name, param, value);
    if (fault) faults.push(fault);
  }
  if (faults.length > 0) throw badParams(faults.join(", "));
}

/** Sub-resources that only maintainers (or group owners) may even read. */
const KEPT_BACK =
  /\/(hooks|variables|access_tokens|deploy_keys|deploy_tokens|triggers|runners|remote_mirrors|push_rule|integrations|services|audit_events|secure_files|mirror|protected_environments)(\/|$)/;

function roleFor(action: Action, path: string): number {
  if (KEPT_BACK.test(path)) return ROLE.maintainer;
  if (action.effect === "read") return ROLE.none;
  return action.effect === "destructive" ? ROLE.maintainer : ROLE.developer;
}

const OPEN = /^\/(avatar|templates|topics|projects|groups|users)(\/|$)/;

/** @throws 401, 403 or 404 where the caller may not use the route at all. */
export function checkCaller(request: Request, action: Action, [, path]: Route): void {
  if (action.admin || path.startsWith("/admin/")) requireAdmin(request);
  const role = roleFor(action, path);
  if (request.params.project_id !== undefined && path.startsWith("/projects/")) findProject(request, role);
  if (request.params.group_id !== undefined && path.startsWith("/groups/"))
    findGroup(request, role === ROLE.maintainer ? ROLE.owner : role);
  if (!OPEN.test(path)) requireUser(request);
  if (request.params.user_id === undefined || !path.startsWith("/users/")) return;
  const key = request.params.user_id;
  const user = findUser(request, String(request.world.users.find(({ username }) => username === key)?.id ?? key));
  if (action.effect !== "read" && user.id !== requireUser(request).id && !/follow$/.test(path)) requireAdmin(request);
}

/** What was sent, under the row's own names, without the parameters that only steer. */
export function sentFields(request: Request, action: Action): Json {
  const result: Json = { ...request.body };
  for (const [name, param] of Object.entries(action.params)) {
    const wire = param.wire ?? name;
    if (param.in !== "path" && request.input[wire] !== undefined) result[name] = request.input[wire];
  }
  return result;
}
