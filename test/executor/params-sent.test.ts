import { describe, expect, it } from "vitest";
import { placeholders, routesOf } from "../../src/catalog/route.ts";
import type { Action, Param, Route, Shape } from "../../src/catalog/types.ts";
import { isDate } from "../../src/executor/param-dates.ts";
import { holdsPeople } from "../../src/executor/param-people.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { argumentsFor, type Mode } from "../catalog-routes/arguments.ts";
import { HOST } from "../support/gitlab-road.ts";
import { recordingRoad, type Sent } from "../support/recorder.ts";

/** What people are known to send, over every row where it applies; judged by what leaves. */

type Params = Readonly<Record<string, unknown>>;

const SELF = { id: 7, username: "alice", name: "Alice" };

const { run, sent, actions, policy } = recordingRoad(
  ["--confirm=off", "--allow-own-token", "--admin", "--reveal-secrets=result", "--max-writes-per-minute=10000"],
  ({ method, url }) => {
    if (url.pathname.endsWith("/user")) return Response.json(SELF);
    if (method !== "GET") return Response.json({ id: 1 });
    return Response.json(url.searchParams.get("username") === SELF.username ? [SELF] : []);
  },
);

const rows = actions.filter((row) => row.composite === undefined && !isRaw(row) && policy.permits(row, {}));
const mainRoute = (row: Action): Route => routesOf(row)[0] ?? ["GET", "/"];

function given(row: Action, mode: Mode): Params {
  const { params } = argumentsFor(row, mainRoute(row), mode);
  if (row.graphql === undefined) return params;
  // Of the places that a GraphQL row takes, one.
  const { project_id: _project, group_id: _group, ...others } = params;
  const place = ["project_id", "group_id"].find((name) => name in row.params && (row.params.project_id !== undefined || name in params));
  return place === undefined ? params : { ...others, [place]: "7" };
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
};

/** A request without the order of its parts, which means nothing. */
function told({ method, url, body }: Sent): string {
  const query = [...url.searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  return `${method} ${url.pathname} ${query.join("&")} ${JSON.stringify(sorted(body))}`;
}

/** Who the caller is, and who a name belongs to, may be asked before. */
const isProbe = ({ url }: Sent, row: Action) =>
  /\/api\/v4\/(user|users|metadata|personal_access_tokens\/self)$/.test(url.pathname) && !url.pathname.endsWith(mainRoute(row)[1]);

async function leaving(row: Action, params: unknown): Promise<{ readonly requests: string; readonly error?: unknown }> {
  sent.length = 0;
  const error = await run(row.id, params).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const requests = sent.filter((one) => !isProbe(one, row)).map(told);
  return { requests: requests.join("\n"), error };
}

type Form = (row: Action, params: Params) => readonly [canonical: Params, asSent: unknown] | undefined;

const map = (params: Params, turn: (value: unknown, name: string) => unknown): Params =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, turn(value, name)]));

/** Where any of the params is another one afterwards. */
const turned = (params: Params, turn: (value: unknown, name: string) => unknown): readonly [Params, Params] | undefined => {
  const other = map(params, turn);
  return JSON.stringify(other) === JSON.stringify(params) ? undefined : [params, other];
};

const paramOf = (row: Action, name: string): Param => row.params[name] as Param;
const isScalars = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number");
const toCamel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
const PLACE = "größe/sub.group/my-app";
const inPlace = (row: Action, params: Params, place: unknown): Params =>
  row.params.project_id?.type === "string" && params.project_id !== undefined ? { ...params, project_id: place } : {};

const placed =
  (write: (path: string) => string): Form =>
  (row, params) => {
    const canonical = inPlace(row, params, PLACE);
    return Object.keys(canonical).length === 0 ? undefined : [canonical, inPlace(row, params, write(PLACE))];
  };

const without = (params: Params, names: readonly string[]) =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name)));

/** What the row takes beside what it cannot do without, as a client that fills in whole forms gives it. */
const padded =
  (fits: (param: Param) => boolean, empty: (param: Param) => unknown): Form =>
  (row) => {
    const canonical = given(row, "required");
    const inPath = row.http ? placeholders(mainRoute(row)[1]) : [];
    const others = Object.keys(row.params).filter((name) => !(name in canonical) && !inPath.includes(name) && fits(paramOf(row, name)));
    return others.length === 0
      ? undefined
      : [canonical, { ...canonical, ...Object.fromEntries(others.map((name) => [name, empty(paramOf(row, name))])) }];
  };

const EMPTY: Readonly<Record<string, unknown>> = { string: "", array: [], object: {}, integer: "", number: "", boolean: "" };

/** The person in place of each number that is a user's id, also inside objects and lists. */
function asPerson(value: unknown, name: string, shape: Shape, person: string): unknown {
  const { type, items, properties = items?.properties } = shape;
  const isId = holdsPeople(name) && /_ids?$/.test(name);
  if (isId && type === "integer") return person;
  if (isId && type === "array" && items?.type === "integer") return [person];
  if (Array.isArray(value) && items) return value.map((item) => asPerson(item, "", items, person));
  if (typeof value !== "object" || value === null || !properties) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asPerson(inner, key, properties[key] as Shape, person)]));
}

const person =
  (text: string): Form =>
  (row, params) =>
    turned(params, (value, name) => asPerson(value, name, paramOf(row, name), text));

const renamed =
  (table: Readonly<Record<string, string>>): Form =>
  (row, params) => {
    const entries = Object.entries(params).map(([name, value]): [string, unknown] => {
      const other = table[name];
      const taken = other === undefined || Object.entries(row.params).some(([own, { wire }]) => own === other || wire === other);
      return taken ? [name, value] : [other, value];
    });
    return entries.some(([name]) => !(name in params)) ? [params, Object.fromEntries(entries)] : undefined;
  };

const FORMS: Readonly<Record<string, Form>> = {
  "numbers as texts": (_row, params) => turned(params, (value) => (typeof value === "number" ? String(value) : value)),
  "lists of numbers as texts": (_row, params) =>
    turned(params, (value) => (Array.isArray(value) ? value.map((item) => (typeof item === "number" ? String(item) : item)) : value)),
  "texts of digits as numbers": (row, params) =>
    turned(params, (value, name) => (paramOf(row, name).type === "string" && value === "7" ? 7 : value)),
  "booleans as texts": (_row, params) => turned(params, (value) => (typeof value === "boolean" ? String(value) : value)),
  "null for what is not given": padded(
    () => true,
    () => null,
  ),
  "nothing in place of a filter": padded(
    ({ in: where }) => where === "query",
    ({ type }) => EMPTY[type],
  ),
  "names in camelCase": (_row, params) => {
    const other = Object.fromEntries(Object.entries(params).map(([name, value]) => [toCamel(name), value]));
    return Object.keys(other).join() === Object.keys(params).join() ? undefined : [params, other];
  },
  "lists as comma text": (row, params) =>
    turned(params, (value, name) => (paramOf(row, name).type === "array" && isScalars(value) ? (value as unknown[]).join(", ") : value)),
  "lists as JSON text": (row, params) =>
    turned(params, (value, name) => (paramOf(row, name).type === "array" ? JSON.stringify(value) : value)),
  "objects as JSON text": (row, params) =>
    turned(params, (value, name) => (paramOf(row, name).type === "object" ? JSON.stringify(value) : value)),
  "one value in place of a list": (row, params) =>
    turned(params, (value, name) => (paramOf(row, name).type === "array" && isScalars(value) ? (value as unknown[])[0] : value)),
  "an encoded path": placed(encodeURIComponent),
  "a path with slashes around": placed((path) => `/${path}/`),
  "an address": placed((path) => `${HOST}/${path}`),
  "an address for git": placed((path) => `git@gitlab.test:${path}.git`),
  "me as an id": person("me"),
  "@me as an id": person("@me"),
  "a username as an id": person("alice"),
  "@username as an id": person("@alice"),
  "short names of the place": renamed({ project_id: "project", group_id: "group", merge_request_iid: "mr_iid" }),
  "everything wrapped once more": (_row, params) => [params, { params }],
  "everything as JSON text": (_row, params) => [params, JSON.stringify(params)],
};

describe("what people send, over every row where it applies", { timeout: 120_000 }, () => {
  it.each(Object.entries(FORMS))("%s", async (_name, form) => {
    const findings: string[] = [];
    let applied = 0;
    for (const row of rows) {
      const pair = form(row, given(row, "all"));
      if (!pair) continue;
      applied++;
      const [canonical, asSent] = pair;
      const expected = await leaving(row, canonical);
      const found = await leaving(row, asSent);
      if (expected.requests === "") findings.push(`${row.id}: nothing leaves: ${String(expected.error)}`);
      else if (found.requests !== expected.requests)
        findings.push(`${row.id}: ${found.requests === "" ? String(found.error) : found.requests} in place of ${expected.requests}`);
    }
    expect(findings.slice(0, 10), `${findings.length} of ${applied}`).toEqual([]);
    expect(applied).toBeGreaterThan(20);
  });

  it("dates as distances", async () => {
    const findings: string[] = [];
    let applied = 0;
    for (const row of rows) {
      const params = given(row, "all");
      const dates = Object.keys(params).filter((name) => isDate(name, paramOf(row, name)));
      if (dates.length === 0) continue;
      applied++;
      const { requests, error } = await leaving(row, { ...params, ...Object.fromEntries(dates.map((name) => [name, "7d"])) });
      const days = [...decodeURIComponent(requests).matchAll(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?/g)];
      if (/\b7d\b/.test(requests) || days.length < dates.length) findings.push(`${row.id} ${dates.join()}: ${requests || String(error)}`);
    }
    expect(findings.slice(0, 10), `${findings.length} of ${applied}`).toEqual([]);
    expect(applied).toBeGreaterThan(50);
  });

  it("what a row does not know is refused, never dropped and never sent", async () => {
    for (const row of rows) {
      const { requests, error } = await leaving(row, { ...without(given(row, "required"), []), no_such_thing: 1 });
      expect([row.id, requests, (error as { code?: string }).code]).toEqual([row.id, "", "invalid_params"]);
    }
  });
});
