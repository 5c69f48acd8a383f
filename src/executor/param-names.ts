import { placeholders, routesOf, scopeIds } from "../catalog/route.ts";
import { isList, reservedOf } from "../catalog/schema.ts";
import type { Action } from "../catalog/types.ts";
import { nearest } from "../nearest.ts";

/** What people call a thing → what GitLab calls it. */
const THINGS: Readonly<Record<string, readonly string[]>> = {
  mr: ["merge_request"],
  pr: ["merge_request"],
  pull: ["merge_request"],
  pull_request: ["merge_request"],
  merge_requests: ["merge_request"],
  work_item: ["issue", "work_item"],
  ticket: ["issue"],
  incident: ["issue"],
  build: ["job"],
  thread: ["discussion"],
  comment: ["note"],
  repo: ["project"],
  repository: ["project"],
  namespace: ["group", "namespace"],
  schedule: ["pipeline_schedule"],
  env: ["environment"],
  assignees: ["assignee"],
  reviewers: ["reviewer"],
};

/** Other names of a whole parameter; the first that the action has counts. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  q: ["search", "query"],
  query: ["search"],
  search: ["query", "search_term"],
  sort_by: ["order_by"],
  orderby: ["order_by"],
  direction: ["sort"],
  order: ["sort", "order_by"],
  status: ["state"],
  state: ["state_event", "status"],
  branch: ["branch_name", "ref", "ref_name", "branch"],
  branch_name: ["branch", "ref"],
  ref: ["ref_name", "sha", "branch"],
  ref_name: ["ref"],
  sha: ["commit_sha", "commit_id", "ref"],
  commit: ["sha", "commit_sha"],
  commit_sha: ["sha"],
  commit_id: ["sha"],
  tag: ["tag_name", "ref"],
  file: ["file_path"],
  filename: ["file_path"],
  filepath: ["file_path"],
  path: ["file_path"],
  file_path: ["path"],
  head: ["source_branch"],
  source: ["source_branch"],
  base: ["target_branch"],
  target: ["target_branch"],
  body: ["description", "note", "content"],
  note: ["body"],
  comment: ["body", "note"],
  text: ["body", "content"],
  message: ["commit_message", "body"],
  commit_message: ["message"],
  description: ["body"],
  content: ["body"],
  label: ["labels"],
  username: ["user_id"],
  user: ["user_id", "username"],
  name: ["branch", "tag_name", "title"],
  summary: ["title"],
  updated_since: ["updated_after"],
  created_since: ["created_after"],
  auto_merge: ["merge_when_pipeline_succeeds"],
  merge_when_pipeline_succeeds: ["auto_merge"],
  from_ref: ["from"],
  to_ref: ["to"],
};

const RESERVED_NAMES: Readonly<Record<string, string>> = {
  per_page: "limit",
  page_size: "limit",
  max_results: "limit",
  first: "limit",
  next: "cursor",
  next_cursor: "cursor",
  page_token: "cursor",
  fields: "select",
};

const ADDRESS_NAMES = new Set(["url", "web_url", "link", "href", "reference"]);

/** `projectId`, `merge-request-iid`, `Project ID` → `project_id` … */
const toSnake = (name: string) =>
  name
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[\s.-]+/g, "_")
    .toLowerCase();

const has = (object: object, name: string) => Object.hasOwn(object, name);

const textual = (value: unknown) => typeof value === "string" && !/^\s*\d+\s*$/.test(value);

/** `mr_iid`, `issue_number`, `project_path`, `assignee` … → the parameter of that thing that the action has. */
function byThing(name: string, value: unknown, action: Action): string | undefined {
  const stem = name.replace(/_(id|iid|ids|number|no|nr|path|full_path|ref|name|username|usernames|user)$/, "");
  const stems = [...(has(THINGS, stem) ? (THINGS[stem] ?? []) : []), stem];
  const people = textual(value) ? ["_username", "_usernames"] : [];
  const ends = ["_iid", ...people, "_ids", "_id", "_username"];
  const candidates = stems.flatMap((thing) => ends.map((end) => `${thing}${end}`)).filter((candidate) => has(action.params, candidate));
  return candidates.find((candidate) => action.params[candidate]?.deprecated !== true) ?? candidates[0];
}

function byWire(name: string, action: Action): string | undefined {
  return Object.keys(action.params).find((param) => action.params[param]?.wire === name);
}

/** A name may stand for several parameters: `order` for the direction and for the field. The value tells which. */
function takesWord(action: Action, name: string, value: unknown): boolean {
  const words = action.params[name]?.enum;
  return words === undefined || typeof value !== "string" || words.includes(value.trim().toLowerCase());
}

/** Where a name of the caller goes: a parameter, a reserved argument, or one of `id`, `iid`, `url`, whose place depends on the others. */
type Place = { readonly name: string } | { readonly open: "id" | "iid" | "url" } | undefined;

function placeOf(given: string, value: unknown, action: Action): Place {
  // A long text goes on by cursor as a list does, whatever kind of answer it is in.
  const always = action.effect === "read" ? ["confirm", "cursor"] : ["confirm"];
  const own = new Set([...Object.keys(action.params), ...reservedOf(action), ...always]);
  if (own.has(given)) return { name: given };
  const name = toSnake(given);
  if (own.has(name)) return { name };
  const wired = byWire(given, action) ?? byWire(name, action);
  if (wired) return { name: wired };
  if (name === "page" && isList(action)) return { name };
  if (has(RESERVED_NAMES, name) && own.has(RESERVED_NAMES[name] ?? "")) return { name: RESERVED_NAMES[name] ?? name };
  if (name === "id" || name === "iid") return { open: name };
  if (ADDRESS_NAMES.has(name)) return { open: "url" };
  if (name === "number" || name === "merge_request" || name === "issue") return thingOr(name, value, action);
  const named = (has(NAMES, name) ? (NAMES[name] ?? []) : []).filter((candidate) => own.has(candidate));
  const same = named.find((candidate) => takesWord(action, candidate, value)) ?? named[0];
  const thing = byThing(name, value, action);
  const found = same ?? thing;
  return found === undefined ? undefined : { name: found };
}

function thingOr(name: string, value: unknown, action: Action): Place {
  const found = byThing(name, value, action);
  return found === undefined ? { open: "iid" } : { name: found };
}

/** The parameter that a bare `id` or `iid` means: the last id of the main route that nothing else fills; a path means its scope. */
function placeOfOpen(open: "id" | "iid", value: unknown, action: Action, taken: ReadonlySet<string>): string | undefined {
  const main = routesOf(action)[0];
  const names = main ? placeholders(main[1]) : Object.keys(action.params).filter((name) => /_i?id$/.test(name));
  const free = names.filter((name) => !taken.has(name));
  if (open === "iid") return free.findLast((name) => name.endsWith("_iid"));
  const scopes = free.filter((name) => name === "project_id" || name === "group_id" || scopeIds(action).includes(name));
  const own = free.filter((name) => !scopes.includes(name));
  const ids = own.filter((name) => /_i?id$/.test(name));
  if (typeof value === "string" && value.includes("/") && scopes[0]) return scopes[0];
  return ids.at(-1) ?? own.at(-1) ?? scopes[0];
}

export interface Named {
  /** Canonical (or reserved) name → value as given. */
  readonly values: Map<string, unknown>;
  /** Addresses and references given for the whole call. */
  readonly addresses: readonly unknown[];
  readonly problems: Map<string, string>;
  /** Nearest real names of the ones that are unknown. */
  readonly nearest: readonly string[];
}

const plain = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** Puts every given value under its canonical name. Values are not looked into; `null` counts as not given. */
export function toCanonicalNames(action: Action, raw: Readonly<Record<string, unknown>>): Named {
  const values = new Map<string, unknown>();
  const problems = new Map<string, string>();
  const near = new Set<string>();
  const open: [given: string, kind: "id" | "iid", value: unknown][] = [];
  const addresses: unknown[] = [];
  const put = (given: string, name: string, value: unknown) => {
    if (!values.has(name)) values.set(name, value);
    else if (plain(values.get(name)) !== plain(value)) problems.set(given, `means ${name}, which is given too, with another value`);
  };
  const unknown = (given: string) => {
    const names = nearest(given, [...Object.keys(action.params), ...reservedOf(action)]);
    for (const name of names) near.add(name);
    problems.set(given, names.length > 0 ? `is not a parameter; nearest: ${names.join(", ")}` : "is not a parameter");
  };
  const entries = Object.entries(raw).filter(([, value]) => value !== null && value !== undefined);
  const exact = (name: string) => has(action.params, name);
  for (const [given, value] of entries.toSorted(([a], [b]) => Number(exact(b)) - Number(exact(a)))) {
    const place = placeOf(given, value, action);
    if (place === undefined) unknown(given);
    else if ("name" in place) put(given, place.name, value);
    else if (place.open === "url") addresses.push(value);
    else open.push([given, place.open, value]);
  }
  // `iid` first: what it takes is no longer free for `id`.
  for (const [given, kind, value] of open.toSorted(([, a], [, b]) => (a === b ? 0 : a === "iid" ? -1 : 1))) {
    const name = placeOfOpen(kind, value, action, new Set(values.keys()));
    if (name === undefined) unknown(given);
    else put(given, name, value);
  }
  return { values, addresses, problems, nearest: [...near] };
}
