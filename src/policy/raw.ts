import { loadActions } from "../catalog/load.ts";
import { placeholders, routesOf } from "../catalog/route.ts";
import type { Action, Effect, Facts, Route } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { effectOfCall, isRawRest } from "./call-effects.ts";
import { destroys } from "./destructive.ts";
import { isDotSegment } from "./door.ts";
import { mutationFields, operationKinds } from "./graphql.ts";
import { ceilingsOf, type Limits } from "./narrow.ts";
import { endsTokens, OWN_TOKEN } from "./own-token.ts";
import { type Policy, together, type Verdict } from "./policy.ts";
import type { Reason } from "./rules.ts";

type Params = Readonly<Record<string, unknown>>;

/** An action that a request stands for, with the params that the request has for it. */
interface Alike {
  readonly action: Action;
  readonly params: Params;
  readonly route?: Route;
}

/** What a request that the caller wrote does, and which actions of ours stand for it. */
export interface RawCall {
  readonly effect: Effect;
  readonly rows: readonly Action[];
  readonly calls: readonly Alike[];
  /** The path is spelled as a route of ours spells it. */
  readonly exact?: boolean;
  /** A field that no action has which stands for the request: nobody knows what it does. */
  readonly unknown?: string;
  /** Names of the mutations of a document. */
  readonly mutations?: readonly string[];
  /** Template for the last check before the wire: a row's, or the path itself. */
  readonly template: string;
}

const RANK: readonly Effect[] = ["read", "write", "destructive"];
const worst = (effects: readonly Effect[]): Effect => RANK[Math.max(0, ...effects.map((effect) => RANK.indexOf(effect)))] ?? "destructive";

function refuse(why: string): never {
  const hint = "Nothing was sent. Give the path below /api/v4 as it stands on the wire: ids and file paths with %2F, the query apart.";
  throw new BridgeError("invalid_params", `path ${why}`, hint, { fields: { path: why } });
}

/** One segment as it must be written: nothing is encoded that need not be, so that no path has two spellings. */
const SEGMENT = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+$/;
const NEEDLESS = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i;

/**
 * A path that the caller wrote, checked: below the API's root, no query, no empty or dot segments, each segment written in one way.
 * @throws BridgeError invalid_params
 */
export function checkPath(path: unknown): string {
  if (typeof path !== "string" || !path.startsWith("/")) return refuse("must begin with /");
  const below = path.replace(/^\/api\/v4(?=\/)/, "");
  if (/[?#]/.test(below)) return refuse("holds a query or a fragment; give query apart");
  const segments = below.slice(1).split("/");
  for (const segment of segments) {
    if (segment === "") return refuse("has an empty part");
    if (!SEGMENT.test(segment)) return refuse(`has a part with characters that must be encoded: ${segment.slice(0, 40)}`);
    if (
      segment
        .replace(/%2f|%5c/gi, "/")
        .split("/")
        .some(isDotSegment)
    )
      return refuse("has a part that is . or ..");
    if (NEEDLESS.test(segment)) return refuse(`encodes what needs no encoding: ${segment.slice(0, 40)}`);
  }
  return below;
}

interface Known {
  readonly action: Action;
  readonly route: Route;
  readonly parts: readonly string[];
}

let known: ReadonlyMap<string, readonly Known[]> | undefined;

function knownRoutes(): ReadonlyMap<string, readonly Known[]> {
  if (known) return known;
  const byLength = new Map<string, Known[]>();
  for (const action of loadActions())
    for (const route of routesOf(action)) {
      const parts = route[1].slice(1).split("/");
      const key = `${route[0]} ${parts.length}`;
      byLength.set(key, [...(byLength.get(key) ?? []), { action, route, parts }]);
    }
  known = byLength;
  return known;
}

/** GitLab takes `.json` behind any path, and `-` in front of some parts: they lead to the same place. */
const plain = (segment: string) => segment.replace(/\.(?:json|xml|txt|html)$/i, "");

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const valuesOf = (parts: readonly string[], segments: readonly string[]): Params =>
  Object.fromEntries(parts.flatMap((part, at) => (part.startsWith("{") ? [[part.slice(1, -1), decoded(segments[at] ?? "")]] : [])));

const instance = (parts: readonly string[], segments: readonly string[], read: (segment: string) => string) =>
  parts.every((part, index) => part.startsWith("{") || part === read(segments[index] ?? ""));

interface Like extends Pick<Known, "action" | "route"> {
  /** What the path has in place of the route's placeholders. */
  readonly values: Params;
  /** The path is an instance of the route as it stands, not by another spelling. */
  readonly exact: boolean;
}

/** Every route of ours that leads where the path leads, the most literal first. */
function routesLike(method: string, path: string): readonly Like[] {
  const segments = path.slice(1).split("/");
  const shorter = segments.filter((segment) => segment !== "-");
  const ways = shorter.length === segments.length ? [segments] : [segments, shorter];
  const found = ways.flatMap((way) =>
    (knownRoutes().get(`${method} ${way.length}`) ?? [])
      .filter(({ parts }) => instance(parts, way, (segment) => segment) || instance(parts, way, plain))
      .map(({ action, route, parts }) => ({
        action,
        route,
        values: valuesOf(parts, way),
        exact: way === segments && instance(parts, way, (segment) => segment),
      })),
  );
  return found.toSorted((one, other) => placeholders(one.route[1]).length - placeholders(other.route[1]).length);
}

const asObject = (value: unknown): Params =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Params) : {};

function effectOfMethod(method: string): Effect {
  if (method === "GET") return "read";
  return method === "DELETE" ? "destructive" : "write";
}

/** Names that would make someone else the caller. */
const CREDENTIALS: Readonly<Record<"query" | "body", readonly string[]>> = {
  query: ["sudo", "private_token", "access_token", "job_token"],
  body: ["sudo", "private_token"],
};

function refuseCredentials(params: Params): void {
  for (const place of ["query", "body"] as const) {
    const name = Object.keys(asObject(params[place])).find((key) => CREDENTIALS[place].includes(key.replace(/\[.*$/, "").toLowerCase()));
    if (name === undefined) continue;
    const hint = "Nothing was sent. Requests go out with the token of this server or of the caller; leave it out.";
    throw new BridgeError("invalid_params", `${place}: ${name} cannot be given`, hint, {
      fields: { [`${place}.${name}`]: "cannot be given" },
    });
  }
}

/** GitLab takes `actions[][action]` in a query for what stands as lists and objects in a body: so it is judged. */
function unfolded(fields: Params): Params {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const [, name = key, rest = ""] = /^([^[]+)((?:\[[^\]]*\])+)$/.exec(key) ?? [];
    if (rest === "") {
      result[name] = name in result ? [result[name], value].flat() : value;
      continue;
    }
    const steps = [...rest.matchAll(/\[([^\]]*)\]/g)].map(([, step = ""]) => step);
    const inner = steps.reduceRight<unknown>((within, step) => (/^\d*$/.test(step) ? [within] : { [step]: within }), value);
    result[name] = [...(name in result ? [result[name]].flat() : []), ...[inner].flat()];
  }
  return result;
}

/** What a request calls by GitLab's name, by the name that our row has for it. */
const byOwnNames = ({ params }: Action, fields: Params): Params =>
  Object.fromEntries(
    Object.entries(params).flatMap(([name, { wire }]) => (wire !== undefined && wire in fields ? [[name, fields[wire]]] : [])),
  );

/** How GitLab pages any list. */
const PAGING: ReadonlySet<string> = new Set([
  "page",
  "per_page",
  "pagination",
  "order_by",
  "sort",
  "cursor",
  "id_after",
  "id_before",
  "page_token",
]);

const hasField = ({ params }: Action, name: string): boolean =>
  Object.entries(params).some(([own, { wire = own }]) => wire.split(".")[0] === name || own === name);

/** What stands in query and body counts twice: nobody need know which of them GitLab heeds. */
const both = (query: Params, body: Params): Params => ({
  ...query,
  ...Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, name in query && query[name] !== value ? [query[name], value].flat() : value]),
  ),
});

function judgeRest(params: Params): RawCall {
  const method = String(params.method).toUpperCase();
  const path = checkPath(params.path);
  refuseCredentials(params);
  const like = routesLike(method, path);
  const rows = [...new Set(like.map(({ action }) => action))];
  const fields = both(unfolded(asObject(params.query)), unfolded(asObject(params.body)));
  const calls = like.map(({ action, route, values }) => ({
    action,
    route,
    params: { ...fields, ...byOwnNames(action, fields), ...values },
  }));
  const unknown = Object.keys(fields).find((name) => !PAGING.has(name) && !rows.some((row) => hasField(row, name)));
  const effects = calls.map(({ action, params: given }) => effectOfCall(action, given).effect);
  const template = like.find(({ exact }) => exact)?.route[1];
  return {
    rows,
    calls,
    exact: template !== undefined,
    ...(unknown === undefined ? {} : { unknown }),
    effect: rows.length > 0 ? worst(effects) : effectOfMethod(method),
    template: template ?? path,
  };
}

const fieldsOfRows = new Map<string, readonly string[]>();

function mutatesAlike(row: Action, fields: readonly string[]): boolean {
  if (row.graphql === undefined || row.effect === "read") return false;
  const own = fieldsOfRows.get(row.id) ?? mutationFields(row.graphql);
  fieldsOfRows.set(row.id, own);
  return own.some((field) => fields.includes(field));
}

function judgeGraphql(params: Params): RawCall {
  const document = String(params.document ?? "");
  const kinds = operationKinds(document);
  if (kinds.includes("subscription"))
    throw new BridgeError(
      "invalid_params",
      "document: a subscription gets no single answer",
      "Nothing was sent. Give a query or a mutation.",
    );
  if (!kinds.includes("mutation")) return { rows: [], calls: [], effect: "read", template: "/graphql" };
  const fields = mutationFields(document);
  const rows = loadActions().filter((row) => mutatesAlike(row, fields));
  return {
    rows,
    calls: rows.map((row) => ({ action: row, params: {} })),
    mutations: fields,
    effect: worst([...rows.map(({ effect }) => effect), fields.some(destroys) ? "destructive" : "write"]),
    template: "/graphql",
  };
}

/**
 * Judges a request that the caller wrote by what it is: method and path against every route of the catalog, or every operation of
 * the parsed document.
 * @throws BridgeError invalid_params for a path or document that cannot be judged.
 */
export function judgeRaw(action: Pick<Action, "composite">, params: Params): RawCall {
  return isRawRest(action) ? judgeRest(params) : judgeGraphql(params);
}

/** Lists of what is allowed name actions: a request that none of ours stands for cannot be judged by them. */
const UNLISTED: Reason = {
  rule: "raw",
  kind: "withheld",
  text: "no action stands for this request, and this server limits what is allowed by lists of actions",
};

const SAME = "requests written by hand do what the action does that stands for them";

const isLimited = (limits: Limits): boolean =>
  limits.excludeTools.length + limits.denyRegex.length > 0 ||
  ceilingsOf(limits).some(({ allowToolsets, allowTools }) => allowToolsets.length + allowTools.length > 0);

/**
 * The verdict on one request that the caller wrote: on the request itself, and on every action of ours that would send the same.
 * @throws BridgeError invalid_params for a path or document that cannot be judged.
 */
export function rawVerdict(policy: Policy, action: Action, params: Params, facts: Facts): Verdict {
  const { effect, calls, mutations = [] } = judgeRaw(action, params);
  const own = policy.callVerdict(action, params, facts, { effect, does: SAME });
  if (own.permitted && calls.length === 0 && isLimited(policy.settings)) return { permitted: false, reason: UNLISTED };
  if (own.permitted && !policy.settings.allowOwnToken && mutations.some(endsTokens)) return { permitted: false, reason: OWN_TOKEN };
  return together([own, ...calls.map((one) => policy.callVerdict(one.action, one.params, facts))]);
}
