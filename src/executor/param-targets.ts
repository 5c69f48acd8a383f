import type { Action } from "../catalog/types.ts";
import { isAddress, parseReference, parseTarget, type Target, toFullPath } from "./identifiers.ts";
import type { Problems } from "./param-values.ts";

/** Kind of a target → the parameters that its parts fill; the first that the action has counts. */
const FILLS: Readonly<Record<string, { readonly [part in "number" | "sha" | "ref" | "path"]?: readonly string[] }>> = {
  merge_request: { number: ["merge_request_iid"] },
  issue: { number: ["issue_iid", "work_item_iid"] },
  epic: { number: ["epic_iid"] },
  pipeline: { number: ["pipeline_id"] },
  job: { number: ["job_id"] },
  pipeline_schedule: { number: ["pipeline_schedule_id"] },
  environment: { number: ["environment_id"] },
  snippet: { number: ["snippet_id"] },
  board: { number: ["board_id"] },
  commit: { sha: ["sha", "commit_sha", "commit_id", "ref", "ref_name"] },
  file: { ref: ["ref", "ref_name", "branch"], path: ["file_path", "path"] },
  tree: { ref: ["ref", "ref_name", "branch"], path: ["path", "file_path"] },
  tag: { ref: ["tag_name", "ref", "ref_name"] },
};

const isScope = (name: string) => /(^|_)(project|group)_id$/.test(name);

const withArticle = (kind: string) => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind.replaceAll("_", " ")}`;

interface Filling {
  readonly action: Action;
  readonly values: Map<string, unknown>;
  readonly instance: string;
  readonly problems: Problems;
}

/** Text that names something by address, with or without `https://`. */
function toTarget(value: unknown, filling: Filling): Target | "foreign" | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  const bare = filling.instance.replace(/^https?:\/\//, "").replace(/\/+$/, "");
  const address = text.toLowerCase().startsWith(`${bare.toLowerCase()}/`) ? `${new URL(filling.instance).protocol}//${text}` : text;
  if (!isAddress(address)) return undefined;
  return parseTarget(address, filling.instance) ?? "foreign";
}

function fillScope(target: Target, field: string, filling: Filling): void {
  const { action, values, problems } = filling;
  const has = (name: string) => Object.hasOwn(action.params, name);
  const group = target.group ?? (has("project_id") ? undefined : target.project);
  const [name, path] = target.project !== undefined && has("project_id") ? ["project_id", target.project] : ["group_id", group];
  if (path === undefined || !has(name)) return;
  const current = values.get(name);
  const other = typeof current === "string" && !/^\d+$/.test(current) && name !== field && !isAddress(current);
  if (other && toFullPath(current).toLowerCase() !== path.toLowerCase()) {
    problems.add(field, `names ${path}, but ${name} is ${current}`);
    return;
  }
  values.set(name, path);
}

/** Puts the parts of a target where the action takes them; what the caller gave by name is kept. */
function fillParts(target: Target, field: string, filling: Filling): boolean {
  const { action, values } = filling;
  let placed = target.kind === undefined;
  for (const [part, names] of Object.entries(FILLS[target.kind ?? ""] ?? {})) {
    const name = names.includes(field) ? field : names.find((candidate) => Object.hasOwn(action.params, candidate));
    const value = target[part as "number" | "sha" | "ref" | "path"];
    if (name === undefined) continue;
    placed = true;
    if (value !== undefined && (name === field || !values.has(name))) values.set(name, value);
  }
  if (target.note !== undefined && Object.hasOwn(action.params, "note_id") && !values.has("note_id")) values.set("note_id", target.note);
  return placed;
}

function foreign(field: string, filling: Filling): void {
  filling.problems.add(field, `is an address outside ${filling.instance}, which is the only GitLab that this server talks to`);
}

/** One address that stands for the whole call (`url`). */
function fillFromAddress(value: unknown, filling: Filling): void {
  const target = toTarget(value, filling) ?? (typeof value === "string" ? parseReference(value) : undefined);
  if (target === "foreign") foreign("url", filling);
  else if (!target) filling.problems.add("url", "expected the address of something in GitLab");
  else {
    fillScope(target, "url", filling);
    const placed = fillParts(target, "url", filling);
    if (!placed) filling.problems.add("url", `names ${withArticle(target.kind ?? "")}, which ${filling.action.id} does not take`);
  }
}

/** An address or reference in the place of a project or a group. */
function fillAsScope(name: string, value: string, filling: Filling): void {
  const target = toTarget(value, filling) ?? (value.includes("/") ? parseReference(value) : undefined);
  if (target === "foreign") {
    foreign(name, filling);
    return;
  }
  const group = name.endsWith("group_id") ? target?.group : undefined;
  const path = target ? (group ?? target.project) : toFullPath(value);
  if (path === undefined) filling.problems.add(name, "expected a project, got the address of a group");
  else filling.values.set(name, path);
  if (target && name === "project_id") fillParts(target, name, filling);
}

/** The target is something that this parameter can name. A bare `#17` has no kind and fits any number. */
function fits(name: string, target: Target, address: boolean): boolean {
  if (name === "note_id" && target.note !== undefined) return true;
  if (target.kind === undefined) return !address;
  return Object.values(FILLS[target.kind] ?? {}).some((names) => names.includes(name));
}

/** An address or reference in the place of an id of a thing. */
function fillAsThing(name: string, value: string, filling: Filling): void {
  // `user@host:path` may be the name of a file or a tag; only a scheme makes an address of it here.
  const found = /^[\w.-]+@[\w.-]+:/.test(value) ? undefined : toTarget(value, filling);
  const target = found ?? (/_iid$/.test(name) ? parseReference(value) : undefined);
  if (target === "foreign") foreign(name, filling);
  else if (target && !fits(name, target, found !== undefined)) {
    filling.problems.add(name, `is the address of ${target.kind ? withArticle(target.kind) : "a project or group"}`);
  } else if (target) {
    if (name === "note_id") filling.values.set(name, target.note);
    else if (target.kind === undefined) filling.values.set(name, target.number);
    fillScope(target, name, filling);
    fillParts(target, name, filling);
  }
}

/** An address or reference of the other end of a link: its project goes to `target_project_id`. */
function fillAsOther(name: string, value: string, filling: Filling): void {
  const target = toTarget(value, filling) ?? parseReference(value);
  if (target === "foreign") foreign(name, filling);
  else if (target?.number !== undefined) {
    filling.values.set(name, target.number);
    if (target.project !== undefined) fillOther(target.project, filling);
  }
}

function fillOther(project: string, { action, values }: Filling): void {
  if (Object.hasOwn(action.params, "target_project_id")) values.set("target_project_id", project);
}

/** Replaces addresses, git remotes, references and encoded paths by the ids that they stand for. */
export function fillTargets(
  action: Action,
  values: Map<string, unknown>,
  addresses: readonly unknown[],
  instance: string,
  problems: Problems,
): void {
  const filling: Filling = { action, values, instance, problems };
  // Scopes first: what they name is then there to be compared.
  const names = [...values.keys()].toSorted((a, b) => Number(isScope(b)) - Number(isScope(a)));
  for (const name of names) {
    const value = values.get(name);
    const param = action.params[name];
    if (typeof value !== "string" || !param || !Object.hasOwn(action.params, name)) continue;
    if (isScope(name) && param.type === "string") fillAsScope(name, value, filling);
    else if (/^target_\w+_iid$/.test(name)) fillAsOther(name, value, filling);
    else if (param.in === "path" || /(^|_)i?id$/.test(name)) fillAsThing(name, value, filling);
  }
  for (const address of addresses) fillFromAddress(address, filling);
}
