import { loadActions } from "../catalog/load.ts";
import { routesOf } from "../catalog/route.ts";
import type { Action, Route } from "../catalog/types.ts";
import { entityFields } from "./entity-fields.ts";
import { invalid, notFound } from "./errors.ts";
import { fixture } from "./fixtures.ts";
import { checkCaller, checkInput, sentFields } from "./generic-check.ts";
import { filled } from "./generic-fill.ts";
import { findRow, isItem, keyOf, lastName, NAMES, nameless, parentOf, requireRow, rowsOf, thing } from "./generic-rows.ts";
import { text } from "./input.ts";
import { paged } from "./paging.ts";
import { createRouter, type Router } from "./router.ts";
import type { Behaviour, Json, Method, Reply, Request } from "./types.ts";

interface Context {
  /** The hand-written rows: asked whether a parent is there. */
  readonly explicit: Router;
  /** `GET /projects/{}/badges` of every route, without names. */
  readonly routes: ReadonlySet<string>;
  /** Collection → names of the placeholders that its items are called by. */
  readonly items: ReadonlyMap<string, ReadonlySet<string>>;
  readonly statuses: Readonly<Record<string, number>>;
}

interface Served extends Context {
  readonly action: Action;
  readonly route: Route;
}

/** @throws 404 where something that the path goes through is not there. */
async function checkParents(request: Request, served: Served): Promise<void> {
  const segments = served.route[1].split("/");
  for (let length = 3; length < segments.length; length += 1) {
    const item = segments.slice(0, length).join("/");
    if (!isItem(item) || /^\/(projects|groups|users)\/\{[a-z_]+\}$/.test(item)) continue;
    const path = request.path.split("/").slice(0, length).join("/");
    const match = served.explicit.match("GET", path);
    if (match)
      await match.behaviour.run({
        ...request,
        method: "GET",
        path,
        query: {},
        body: {},
        input: {},
        params: { ...request.params, ...match.params },
      });
    else if (served.routes.has(`GET ${nameless(item)}`) || served.routes.has(`GET ${nameless(parentOf(item))}`)) requireRow(request, item);
  }
}

const DEFAULT_STATUS: Readonly<Record<string, number>> = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };

/** `json` with the status that the route has; wrapped where a write answers a list. */
function reply(served: Served, json: unknown): Reply {
  const [method, path] = served.route;
  const status = served.statuses[`${method} ${nameless(path)}`] ?? DEFAULT_STATUS[method] ?? 200;
  const wrapped = method !== "GET" && served.action.returns === "array" && !Array.isArray(json) ? [json] : json;
  return status === 204 ? { status } : { status, json: wrapped };
}

/** Whether a GET answers a list. */
function listed({ action, route: [, path], items }: Served): boolean {
  if (action.returns === "array" || action.paging === "offset" || action.paging === "keyset") return true;
  return action.returns === "unknown" && items.has(nameless(path));
}

function list(request: Request, served: Served): Reply {
  const [, path] = served.route;
  const fields = entityFields(served.action.entity);
  const search = text(request.query, "search")?.toLowerCase();
  const filters = Object.entries(request.query).filter(
    ([name, value]) => fields[name] !== undefined && typeof value === "string" && value !== "all",
  );
  const rows = rowsOf(request, path)
    .filter((row) => filters.every(([name, value]) => row[name] === undefined || String(row[name]) === value))
    .filter(
      (row) =>
        !search ||
        NAMES.some((name) =>
          String(row[name] ?? "")
            .toLowerCase()
            .includes(search),
        ),
    );
  return paged(request, rows, (row) => row);
}

/** One thing that has no number: it is there from the start, and keeps what was set. */
function single(request: Request, served: Served): Json {
  const [kept] = rowsOf(request, `${served.route[1]}#`);
  return kept ?? filled(request, served.action.entity, {});
}

function read(request: Request, served: Served): Reply {
  const { action, route } = served;
  if (listed(served)) return list(request, served);
  if (action.returns === "text") return { status: 200, text: "", type: "text/plain" };
  const item = isItem(route[1]) ? findRow(request, route[1]) : undefined;
  if (isItem(route[1]) && !item) throw notFound(thing(route[1]));
  if (action.returns === "binary") return { status: 200, bytes: new Uint8Array(), type: "application/octet-stream" };
  return reply(served, item ?? single(request, served));
}

/** @throws 400 where a row is called like another one, and rows are called by that name. */
function checkFree(request: Request, served: Served, collection: string, row: Json): void {
  const names = served.items.get(nameless(collection)) ?? new Set();
  for (const name of ["key", "name", "tag_name"].filter((one) => names.has(one))) {
    if (rowsOf(request, collection).some((other) => other[name] === row[name])) {
      throw invalid({ [name]: [`(${String(row[name])}) has already been taken`] });
    }
  }
}

const slug = (value: unknown) =>
  String(value ?? "")
    .trim()
    .replace(/\s+/g, "-");

function add(request: Request, served: Served, collection: string, more: Json = {}): Json {
  const { action } = served;
  const sent = { ...sentFields(request, action), ...more };
  const fields = entityFields(action.entity);
  const row = filled(request, action.entity, sent);
  const resource = collection.split("/").at(-1) ?? "row";
  if (fields.id !== undefined || Object.keys(fields).length === 0) row.id = request.world.nextId(resource);
  if (fields.iid !== undefined) row.iid = request.world.nextId(keyOf(request, collection));
  if (fields.slug !== undefined && !sent.slug) row.slug = slug(sent.title ?? sent.name);
  checkFree(request, served, collection, row);
  rowsOf(request, collection).push(row);
  return row;
}

/** Words at the end of a path that say what becomes of the thing before them. */
const TURNS: Readonly<Record<string, Json>> = {
  enable: { active: true, enabled: true },
  disable: { active: false, enabled: false },
  activate: { state: "active", active: true },
  deactivate: { state: "deactivated", active: false },
  block: { state: "blocked" },
  unblock: { state: "active" },
  approve: { state: "approved" },
  confirm: { state: "confirmed" },
  resolve: { state: "resolved" },
  dismiss: { state: "dismissed" },
  stop: { state: "stopped" },
  cancel: { status: "canceled" },
  revoke: { revoked: true, active: false },
};

function changed(row: Json, changes: Readonly<Json>): Json {
  for (const [name, value] of Object.entries(changes)) if (name in row || Object.keys(row).length === 0) row[name] = value;
  if ("updated_at" in row && changes.updated_at) row.updated_at = changes.updated_at;
  return row;
}

/** A path that ends in a verb: the thing before it changes, or something of the right kind is answered. */
function act(request: Request, served: Served): Reply {
  const { action, route } = served;
  const [, path] = route;
  const parent = parentOf(path);
  const row = isItem(parent) ? findRow(request, parent) : undefined;
  if (row) changed(row, TURNS[path.split("/").at(-1) ?? ""] ?? {});
  if (action.returns === "none") return reply(served, { message: "202 Accepted" });
  if (action.returns === "array") return reply(served, []);
  const fields = entityFields(action.entity);
  const same = row !== undefined && Object.keys(fields).every((name) => name in row);
  return reply(served, same ? row : filled(request, action.entity, sentFields(request, action)));
}

function write(request: Request, served: Served): Reply {
  const { action, route, routes, items } = served;
  const [method, path] = route;
  if (isItem(path)) {
    const row = findRow(request, path);
    const upsert = method === "POST" || !routes.has(`POST ${nameless(parentOf(path))}`);
    if (!row && !upsert) throw notFound(thing(path));
    const name = lastName(path);
    const fields = entityFields(action.entity);
    const own = fields[name] === undefined ? NAMES.find((field) => fields[field] === "string") : name;
    if (!row) return reply(served, add(request, served, parentOf(path), { [own ?? name]: request.params[name] }));
    return reply(served, changed(row, { ...sentFields(request, action), updated_at: request.world.now() }));
  }
  const readable = routes.has(`GET ${nameless(path)}`);
  if (method === "POST" && action.returns !== "none" && (readable || items.has(nameless(path))))
    return reply(served, add(request, served, path));
  if (method === "POST" || !readable) return act(request, served);
  return reply(served, settle(request, served));
}

/** Keeps settings that stand alone. */
function settle(request: Request, served: Served): Json {
  const row = changed({ ...single(request, served) }, { ...sentFields(request, served.action), updated_at: request.world.now() });
  const kept = rowsOf(request, `${served.route[1]}#`);
  kept.splice(0, kept.length, row);
  return row;
}

function remove(request: Request, served: Served): Reply {
  const [, path] = served.route;
  if (!isItem(path)) {
    rowsOf(request, path).length = 0;
    rowsOf(request, `${path}#`).length = 0;
    return reply(served, { message: "202 Accepted" });
  }
  const row = requireRow(request, path);
  const rows = rowsOf(request, parentOf(path));
  rows.splice(rows.indexOf(row), 1);
  return reply(served, row);
}

async function serve(request: Request, served: Served): Promise<Reply> {
  checkCaller(request, served.action, served.route);
  await checkParents(request, served);
  if (request.method === "GET" || request.method === "HEAD") return read(request, served);
  if (request.method === "DELETE") return remove(request, served);
  checkInput(request, served.action, served.route);
  return write(request, served);
}

function itemNames(paths: readonly string[]): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const path of paths.filter(isItem)) {
    const collection = nameless(parentOf(path));
    names.set(collection, (names.get(collection) ?? new Set()).add(lastName(path)));
  }
  return names;
}

/** A row of the behaviour table for every route of the catalog, made from the rows alone. Hand-written rows go over them. */
export function genericBehaviours(explicit: readonly Behaviour[], actions: readonly Action[] = loadActions()): Behaviour[] {
  const pairs = actions.flatMap((action) => routesOf(action).map((route) => ({ action, route })));
  const all = [...pairs.map(({ route }) => route), ...explicit.map(({ method, path }) => [method, path] as const)];
  const context: Context = {
    explicit: createRouter(explicit),
    routes: new Set(all.map(([method, path]) => `${method} ${nameless(path)}`)),
    items: itemNames(all.map(([, path]) => path)),
    statuses: fixture<Record<string, number>>("statuses"),
  };
  return pairs.map(({ action, route }): Behaviour => {
    const served: Served = { ...context, action, route };
    return { method: route[0] as Method, path: route[1], run: (request) => serve(request, served) };
  });
}
