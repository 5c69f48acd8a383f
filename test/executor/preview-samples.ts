import { pickRoute, placeholders, routesOf } from "../../src/catalog/route.ts";
import type { Action, Route } from "../../src/catalog/types.ts";
import type { Look } from "../../src/executor/preview-path.ts";
import { entityFields } from "../../src/sandbox/entity-fields.ts";
import type { World } from "../../src/sandbox/types.ts";
import { argumentsFor, type Mode } from "../catalog-routes/arguments.ts";
import { sampleCall } from "../sandbox/graphql-samples.ts";
import type { SandboxRoad } from "../support/sandbox-road.ts";
import { SEEDED } from "../support/seeded.ts";

type Json = Record<string, unknown>;

/** Things of the seeds that a path can name; the rest is looked for, or made. */
const KNOWN: Readonly<Record<string, string>> = {
  ...SEEDED,
  vulnerability_id: "71",
  todo_id: "702",
  slug: "slack",
  shared_group_id: "11",
  email: "someone@example.com",
};

/** Values for what a sample would not be good for. */
const VALUES: Readonly<Json> = {
  assignee_id: 3,
  assignee_ids: [3],
  reviewer_ids: [3],
  add_labels: ["sample"],
  remove_labels: ["bug"],
  milestone_id: 304,
  ref: "main",
  branch: "main",
  email: "someone@example.com",
  trigger: "push_events",
};

const isThing = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !("message" in value) && !("error" in value);

const fill = (path: string, names: Json) =>
  path.replace(/\{([a-z0-9_]+)\}/g, (_all, name: string) => encodeURIComponent(String(names[name])));

const withRoute = (actions: readonly Action[], method: string, path: string) =>
  actions.find((one) => routesOf(one).some((route) => route[0] === method && route[1] === path));

const called = (thing: Json, name: string): unknown => thing[name] ?? thing[name.split("_").at(-1) ?? name] ?? thing.id;

/** Sample arguments of a route, as they go into a body. */
function bodyFor(row: Action, route: Route, mode: Mode): Json {
  const { params } = argumentsFor(row, route, mode);
  const inPath = placeholders(route[1]);
  return Object.fromEntries(Object.entries(params).filter(([name]) => !inPath.includes(name)));
}

const EMPTY: Readonly<Json> = { boolean: false, integer: 0, number: 0, array: [] };

/** A thing as the generic engine keeps it: every field that its entity has, with nothing in it, and what it is called by. */
function blank(entity: string | undefined, name: string, value: unknown, params: readonly string[]): Json {
  const fields = Object.entries(entityFields(entity)).map(([field, type]) => [field, EMPTY[type] ?? null]);
  const properties = entity === "APIEntitiesIntegration" ? { properties: Object.fromEntries(params.map((one) => [one, null])) } : {};
  return { ...Object.fromEntries(fields), ...properties, id: value, [name]: value, [name.split("_").at(-1) ?? name]: value };
}

const placesKnown = (path: string, names: Json) => path.replace(/\{([a-z0-9_]+)\}/g, (_all, name: string) => String(names[name]));

export interface Ground {
  readonly road: SandboxRoad;
  readonly world: World;
  readonly actions: readonly Action[];
}

/** What something of a collection is called by: of what stands there, else of what is made or put there. */
async function nameIn(collection: string, name: string, type: string, names: Json, { road, actions }: Ground): Promise<unknown> {
  const known = name === "user_id" ? undefined : KNOWN[name];
  if (known !== undefined) return known;
  const path = fill(collection, names);
  const rows = (await road.ask(path)) as unknown;
  const [first] = Array.isArray(rows) ? rows : [];
  if (isThing(first) && called(first, name) !== undefined) return called(first, name);
  if (KNOWN[name] !== undefined) return KNOWN[name];
  const maker = withRoute(actions, "POST", collection);
  const made = maker && ((await road.ask(path, "POST", bodyFor(maker, ["POST", collection], "required"))) as unknown);
  if (isThing(made) && called(made, name) !== undefined) return called(made, name);
  return type === "integer" ? 4_711 : (VALUES[name] ?? "some-name");
}

/** Puts the thing there that is looked for, where it is not and the generic engine keeps such things. */
export async function ensure(row: Action, { action: id, reads, places, find }: Look, { road, world, actions }: Ground): Promise<void> {
  const reader = actions.find((one) => one.id === id);
  if (!reader?.http) return;
  for (const names of reads.map((one): Json => ({ ...places[0], ...one }))) {
    const [, path] = pickRoute(reader, names);
    const rows = (await road.ask(fill(path, names))) as unknown;
    const [name = "", value] = find
      ? [find.field ?? find.param, find.values[0]]
      : [placeholders(path).at(-1), names[placeholders(path).at(-1) ?? ""]];
    const isThere = Array.isArray(rows) ? rows.some((row) => String(called(row as Json, name)) === String(value)) : isThing(rows);
    if (isThere || name === "") continue;
    const key = placesKnown(find ? path : path.slice(0, path.lastIndexOf("/")), names);
    const plain = /^\d+$/.test(String(value)) ? Number(value) : value;
    world.tables.set(key, [...(world.tables.get(key) ?? []), blank(reader.entity, name, plain, Object.keys(row.params))]);
  }
}

/** Names for every placeholder of a path. */
export async function namesFor(row: Action, [, path]: Route, ground: Ground): Promise<Json> {
  const names: Json = {};
  const parts = path.split("/");
  for (const [at, part] of parts.entries()) {
    const name = placeholders(part)[0];
    if (name === undefined || name in names) continue;
    names[name] =
      (at <= 2 ? KNOWN[name] : undefined) ??
      (await nameIn(parts.slice(0, at).join("/"), name, row.params[name]?.type ?? "string", names, ground));
  }
  return names;
}

/** A call that gives every parameter that the route knows. */
export function fullCall(row: Action, route: Route, names: Json, mode: Mode): Json {
  const { params } = argumentsFor(row, route, mode);
  const own = Object.fromEntries(Object.entries(VALUES).filter(([name]) => name in params));
  return { ...params, ...own, ...names };
}

const GRAPHQL: Readonly<Json> = {
  assignee_ids: [3],
  add_label_ids: [201],
  remove_label_ids: [202],
  milestone_id: 304,
  iteration_id: 7,
  start_date: "2026-10-01",
  due_date: "2026-12-24",
  project_ids: [101],
  group_ids: [10],
  status: "In progress",
};

/** The same for a GraphQL row. */
export function graphqlCall(row: Action): Json {
  const places = ["project_id", "group_id"];
  const all = Object.fromEntries(
    Object.entries(row.params).map(([name, param]) => [name, places.includes(name) ? param : { ...param, required: true }]),
  );
  const call = sampleCall({ ...row, params: all } as Action);
  const own = Object.fromEntries(Object.entries(GRAPHQL).filter(([name]) => name in call && row.params[name]?.enum === undefined));
  return { ...call, ...own };
}

/** What the seeds do not have and no list leads to: made by those who may. */
export async function prepare(world: World, road: SandboxRoad, others: Readonly<Record<"maria" | "jonas", SandboxRoad>>): Promise<Json> {
  const post = (path: string, body: Json = {}, by = road) => by.ask(path, "POST", body) as Promise<Json>;
  await post("/projects/101/issues/12/links", { target_project_id: 101, target_issue_iid: 3 });
  await post("/projects/101/issues/1/links", { target_project_id: 101, target_issue_iid: 3 });
  await post("/projects/101/pipeline_schedules/71/take_ownership");
  await post("/projects/101/pipeline_schedules/71/variables", { key: "some-name", value: "x" });
  await post("/projects/101/merge_requests/42/blocks", { blocking_merge_request_id: 12 });
  await post("/projects/101/share", { group_id: 11, group_access: 30 });
  await post("/groups/10/share", { group_id: 11, group_access: 30 });
  const open = { name: "Open to all", path: "open-to-all", visibility: "public" };
  const [group, project] = [await post("/groups", open), await post("/projects", open)];
  await post(`/groups/${String(group.id)}/access_requests`, {}, others.jonas);
  await post(`/projects/${String(project.id)}/access_requests`, {}, others.jonas);
  for (const place of ["/projects/101", "/groups/10"])
    await post(`${place}/invitations`, { email: "someone@example.com", access_level: 30 });
  await post("/projects/101/job_token_scope/groups_allowlist", { target_group_id: 11 });
  await post("/snippets", { title: "A snippet", visibility: "private", files: [{ file_path: "a.txt", content: "a" }] });
  for (const place of ["/projects/101", "/groups/10", ""]) {
    await post(`${place}/hooks`, { url: "https://hooks.example.com" });
    for (const hook of world.tables.get(`${place}/hooks`) ?? [])
      Object.assign(hook, { custom_headers: [{ key: "some-name" }], url_variables: [{ key: "some-name" }] });
  }
  for (const key of ["/projects/101/vulnerabilities", "/vulnerabilities"]) world.tables.set(key, [{ id: 71 }]);
  world.tables.set("/admin/zoekt/shards", [{ id: 4_711 }]);
  const settings: Readonly<Record<string, Json>> = {
    "/projects/101/merge_request_approval_setting": { allow_author_approval: { value: true, locked: false, inherited_from: null } },
    "/groups/10/merge_request_approval_setting": { allow_author_approval: { value: true, locked: false, inherited_from: null } },
    "/projects/101/pages": { url: "https://webshop.example", is_unique_domain_enabled: false, force_https: false, primary_domain: null },
    "/projects/101/security_settings": { project_id: 101, secret_push_protection_enabled: false },
    "/projects/101/approval_settings": { rules: [{ id: 4_711, name: "Two people", approvals_required: 2, users: [], groups: [] }] },
  };
  for (const [path, row] of Object.entries(settings)) world.tables.set(`${path}#`, [row]);
  const todo = (await others.maria.ask("/projects/101/issues/12/todo", "POST")) as Json;
  await others.maria.ask(`/todos/${String(todo.id)}/mark_as_done`, "POST");
  const thread = { body: "Is this still so?" };
  return {
    group: group.id,
    project: project.id,
    done: todo.id,
    issue: (await post("/projects/101/issues/12/discussions", thread)).id,
    merge_request: (await post("/projects/101/merge_requests/42/discussions", thread)).id,
  };
}
