import { pickRoute, placeholders, routesOf, scopeIds, scopeOf } from "../catalog/route.ts";
import { RESERVED, requiredParams, toSignature, validatorOf } from "../catalog/schema.ts";
import type { Action, JsonSchema, Param, Shape, Wanted } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { toFullPath } from "./identifiers.ts";
import { takeDraft, titleFor } from "./param-draft.ts";
import { toCanonicalNames } from "./param-names.ts";
import { holdsPeople, type People, resolvePeople } from "./param-people.ts";
import { fillTargets } from "./param-targets.ts";
import { holdsTitle, resolveTitles, type Titles } from "./param-titles.ts";
import { fromJsonText, type Reading, readValue } from "./param-values.ts";

export interface NormalizeOptions extends People, Titles {
  /** Address of the GitLab instance. */
  readonly instance: string;
  /** The current project; asked for only when a call names none. */
  readonly project?: string | (() => string | undefined);
  readonly now?: () => Date;
}

export interface Normalized {
  /** Canonical names, validated values. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly wanted: Wanted;
  readonly confirm?: boolean;
  /** The project that the call is about, where one is. */
  readonly project?: string;
}

/** Pairs of parameters that say the same thing in two ways. */
const EXCLUSIVE: readonly (readonly [string, string])[] = [
  ["assignee_id", "assignee_username"],
  ["assignee_id", "assignee_ids"],
  ["author_id", "author_username"],
  ["reviewer_id", "reviewer_username"],
  ["merge_user_id", "merge_user_username"],
  ["approved_by_ids", "approved_by_usernames"],
  ["milestone", "milestone_id"],
  ["iteration_id", "iteration_title"],
  ["epic_id", "epic_iid"],
];

const WANTED: Readonly<Record<string, Shape>> = {
  limit: { type: "integer" },
  page: { type: "integer" },
  cursor: { type: "string" },
  all: { type: "boolean" },
  select: { type: "array", items: { type: "string" } },
  full: { type: "boolean" },
  budget: { type: "integer" },
  save_as: { type: "string" },
  overwrite: { type: "boolean" },
  confirm: { type: "boolean" },
  tail: { type: "integer" },
  head: { type: "integer" },
  grep: { type: "string" },
  context: { type: "integer" },
  lines: { type: "string" },
  errors: { type: "boolean" },
};

/** Problems of one call, reported together; the first of a field counts. */
class Findings {
  readonly fields = new Map<string, string>();
  readonly nearest: string[] = [];

  add(field: string, problem: string): void {
    if (!this.fields.has(field)) this.fields.set(field, problem);
  }

  /** @throws BridgeError invalid_params when anything was found. */
  refuse(action: Action, options: NormalizeOptions): void {
    if (this.fields.size === 0) return;
    const signature = toSignature(action, projectOf(options) !== undefined);
    const all = [...this.fields].map(([field, problem]) => `${field}: ${problem}`).join("; ");
    throw new BridgeError("invalid_params", `${action.id}: ${all}.`, `Nothing was sent. Call it as ${signature}.`, {
      signature,
      fields: Object.fromEntries(this.fields),
      ...(this.nearest.length > 0 ? { nearest: this.nearest } : {}),
    });
  }
}

const projectOf = ({ project }: NormalizeOptions) => (typeof project === "function" ? project() : project);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The parameters, also where they came wrapped once more (`{ params: { … } }`). */
function unwrap(value: Readonly<Record<string, unknown>>, action: Action): Readonly<Record<string, unknown>> {
  const [name = "", ...others] = Object.keys(value);
  const inner = fromJsonText(value[name]);
  const wrapped = others.length === 0 && /^(params|arguments|args)$/.test(name) && !action.schema && !Object.hasOwn(action.params, name);
  return wrapped && isObject(inner) ? inner : value;
}

function toObject(raw: unknown, action: Action): Readonly<Record<string, unknown>> {
  const value = raw === undefined || raw === null || raw === "" ? {} : fromJsonText(raw);
  if (isObject(value)) return unwrap(value, action);
  const signature = toSignature(action);
  throw new BridgeError("invalid_params", `${action.id}: params must be an object.`, `Nothing was sent. Call it as ${signature}.`, {
    signature,
  });
}

const isUpdate = (action: Action) => /^(PUT|PATCH)$/.test(action.http?.[0] ?? "");

/**
 * Empty values that say nothing are dropped: clients fill in all fields of a form. They are kept where empty means something:
 * text and lists in the body of an update (clear it), and required text in a body (an empty file).
 */
function isNothing(value: unknown, param: Param | undefined, action: Action): boolean {
  const text = typeof value === "string" && value.trim() === "";
  const empty = text || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  if (!empty) return false;
  if (param?.in !== "body" || action.composite !== undefined) return true;
  if (!text) return false;
  const holds = param.type === "array" || (param.type === "string" && !param.enum && !param.format);
  return !holds || !(isUpdate(action) || (param.required === true && param.type === "string"));
}

function dropNothing(values: Map<string, unknown>, action: Action): void {
  for (const [name, value] of values) {
    if (isNothing(value, Object.hasOwn(action.params, name) ? action.params[name] : undefined, action)) values.delete(name);
  }
}

/** A GraphQL row cannot do without a place, and the call names none: not this one and no other that stands for the same. */
function isPlaceOf(action: Action, values: ReadonlyMap<string, unknown>): boolean {
  if (Object.keys(action.documents ?? {}).some((name) => values.has(name))) return false;
  const own = action.params.project_id;
  const others = Object.entries(action.params).filter(
    ([name, { wire }]) => name !== "project_id" && wire !== undefined && wire === own?.wire,
  );
  return (own?.required === true || others.length > 0) && !others.some(([name]) => values.has(name));
}

/** Fills `project_id` with the current project where the call names no scope and the action cannot do without one. */
function fillProject(action: Action, values: Map<string, unknown>, options: NormalizeOptions): void {
  const param = Object.hasOwn(action.params, "project_id") ? action.params.project_id : undefined;
  if (param?.type !== "string" || values.has("project_id")) return;
  if (param.in !== "path" && action.composite === undefined && (action.graphql === undefined || !isPlaceOf(action, values))) return;
  const free = routesOf(action).some((route) => scopeOf(action, route) === "none" && !placeholders(route[1]).includes("project_id"));
  if (free || scopeIds(action).some((id) => values.has(id))) return;
  const project = projectOf(options);
  if (project !== undefined) values.set("project_id", toFullPath(project));
}

const takes = (action: Action, name: string) => Object.hasOwn(action.params, name);

function checkExclusive(params: Readonly<Record<string, unknown>>, findings: Findings): void {
  for (const [one, other] of EXCLUSIVE) {
    if (params[one] !== undefined && params[other] !== undefined) findings.add(other, `cannot be given together with ${one}`);
  }
}

function checkMissing(action: Action, values: ReadonlyMap<string, unknown>, findings: Findings): void {
  for (const name of requiredParams(action)) {
    if (values.has(name)) continue;
    findings.add(name, name === "project_id" ? "is missing, and there is no current project to take its place" : "is missing");
  }
}

function scopeFor(action: Action, params: Readonly<Record<string, unknown>>, findings: Findings): string | undefined {
  if (!action.http) return undefined;
  try {
    return scopeOf(action, pickRoute(action, params));
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    findings.add(scopeIds(action)[0] ?? "params", error.message);
    return undefined;
  }
}

/** Parameters that the chosen route does not know. */
function checkRoute(action: Action, params: Readonly<Record<string, unknown>>, findings: Findings): void {
  const scope = scopeFor(action, params, findings);
  if (scope === undefined) return;
  for (const name of Object.keys(params)) {
    const on = action.params[name]?.on;
    if (on && !on.includes(scope))
      findings.add(name, `works only with ${on.map((id) => (id === "none" ? "no project or group" : id)).join(" or ")}`);
  }
}

/** The last word: the row's own schema. What it still refuses is told in its words. */
function checkSchema(action: Action, params: Readonly<Record<string, unknown>>, findings: Findings): void {
  const result = validatorOf(action).safeParse(params);
  if (result.success) return;
  for (const issue of result.error.issues) findings.add(issue.path.map(String).join(".") || "params", issue.message);
}

/** Above its most, a limit is no mistake: GitLab itself gives 100 rows where more are asked for; the cursor leads on. */
function checkRange(name: string, value: number, reading: Reading): void {
  const { minimum, maximum } = RESERVED[name]?.schema ?? {};
  const least = typeof minimum === "number" ? minimum : 1;
  const most = typeof maximum === "number" && name !== "limit" ? maximum : Number.POSITIVE_INFINITY;
  if (value < least) reading.problems.add(name, `expected ${least} or more, got ${value}`);
  if (value > most) reading.problems.add(name, `expected ${most} or less, got ${value}`);
}

interface Reserved {
  readonly wanted: Wanted;
  readonly confirm?: boolean;
}

/** Every paged list of REST: those that can go by keys count pages as well. GraphQL has cursors alone. */
const hasNumberedPages = ({ http, paging }: Action) => http !== undefined && (paging === "offset" || paging === "keyset");

function readReserved(action: Action, values: Map<string, unknown>, reading: Reading): Reserved {
  const found: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(WANTED)) {
    if (!values.has(name) || takes(action, name)) continue;
    const value = readValue(values.get(name), name, shape, reading);
    values.delete(name);
    if (value === undefined) continue;
    if (shape.type === "integer") checkRange(name, Number(value), reading);
    found[name] = name === "limit" ? Math.min(Number(value), 100) : value;
  }
  if (Number(found.page ?? 1) > 1 && !hasNumberedPages(action)) reading.problems.add("page", "this list has no numbered pages; use cursor");
  if (found.page !== undefined && found.cursor !== undefined) reading.problems.add("page", "cannot be given together with cursor");
  const { confirm, ...wanted } = found;
  return { wanted, ...(typeof confirm === "boolean" ? { confirm } : {}) };
}

/** An upstream's tool is judged by the upstream: only our reserved arguments that it does not know itself are taken out. */
function splitRelayed(action: Action, schema: JsonSchema, raw: Readonly<Record<string, unknown>>, reading: Reading): Normalized {
  const theirs = Object.keys((schema.properties ?? {}) as object);
  const ours = Object.keys(RESERVED).filter((name) => /^(confirm|select|full)$/.test(name) && !theirs.includes(name));
  const values = new Map(Object.entries(raw).filter(([name]) => ours.includes(name)));
  const params = Object.fromEntries(Object.entries(raw).filter(([name]) => !ours.includes(name)));
  return { params, ...readReserved({ ...action, params: {} }, values, reading) };
}

function readValues(
  action: Action,
  values: ReadonlyMap<string, unknown>,
  reading: Reading,
  names: (name: string) => boolean,
): [string, unknown][] {
  return [...values].flatMap(([name, value]): [string, unknown][] => {
    const param = takes(action, name) ? action.params[name] : undefined;
    if (!param || !names(name)) return [];
    const read = readValue(value, name, param, reading);
    return read === undefined ? [] : [[name, read]];
  });
}

/**
 * What a caller sent, as the action's canonical and validated parameters. Everything that people are known to send is understood;
 * the rest is refused, all problems of a call at once. People and titles are looked up only when everything else is right.
 * @throws BridgeError invalid_params
 */
export async function normalizeParams(action: Action, raw: unknown, options: NormalizeOptions): Promise<Normalized> {
  const findings = new Findings();
  const reading: Reading = { now: options.now?.() ?? new Date(), problems: findings };
  const given = toObject(raw, action);
  if (action.schema) {
    const relayed = splitRelayed(action, action.schema, given, reading);
    findings.refuse(action, options);
    return relayed;
  }
  const { given: bare, draft } = takeDraft(action, given, reading);
  const { values, addresses, problems, nearest } = toCanonicalNames(action, bare);
  for (const [field, problem] of problems) findings.add(field, problem);
  findings.nearest.push(...nearest);
  dropNothing(values, action);
  const reserved = readReserved(action, values, reading);
  fillTargets(action, values, addresses, options.instance, findings);
  fillProject(action, values, options);
  checkMissing(action, values, findings);
  const named = (name: string) => holdsPeople(name, action.params[name]) || holdsTitle(name);
  const plain = readValues(action, values, reading, (name) => !named(name));
  findings.refuse(action, options);
  await resolvePeople(action, values, options, findings);
  await resolveTitles(action, values, options, findings);
  findings.refuse(action, options);
  const params = Object.fromEntries([...plain, ...readValues(action, values, reading, named)]);
  const title = draft === undefined ? undefined : await titleFor(draft, params, options, findings);
  if (title !== undefined) params.title = title;
  findings.refuse(action, options);
  checkExclusive(params, findings);
  checkRoute(action, params, findings);
  checkSchema(action, params, findings);
  findings.refuse(action, options);
  const project = params.project_id;
  return { params, ...reserved, ...(project === undefined ? {} : { project: String(project) }) };
}
