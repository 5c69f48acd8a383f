import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";
import { DIFFERENCES, PATH_TYPES, ROUTES } from "./differences.ts";
import { factsFindings, loadFacts, skeleton, toFacts } from "./facts.ts";
import { aRow } from "./law.ts";

const catalog = factsFindings(loadActions(), loadFacts());

/** Facts about the sound row of `aRow`, with a body and a nested object. */
const facts = toFacts([
  {
    method: "POST",
    path: "/projects/{id}/things",
    params: [
      { name: "id", in: "path", type: "string|integer", required: true },
      { name: "page", in: "query", type: "integer" },
      { name: "kind", in: "body", type: "string", enum: ["big", "small", ""], required: true },
      { name: "tags", in: "body", type: "array", items: "string" },
      { name: "not", in: "body", type: "object" },
      { name: "not[size]", in: "body", type: "integer" },
    ],
  },
]);

const params: Action["params"] = {
  project_id: { in: "path", type: "string", required: true },
  sort_of: { in: "body", wire: "kind", type: "string", enum: ["small", "big"], required: true },
  tags: { in: "body", type: "array", items: { type: "string" } },
  not: { in: "body", type: "object", properties: { size: { type: "integer" } } },
};

const check = (change: Partial<Action>) =>
  factsFindings([aRow({ http: ["POST", "/projects/{project_id}/things"], params, ...change })], facts);

describe("rows equal the facts", () => {
  test("over the whole catalog, but for the differences that are listed with a reason", () => {
    expect(catalog.filter((finding) => !(finding in DIFFERENCES))).toEqual([]);
  });

  test("no listed difference is stale", () => {
    expect(Object.keys(DIFFERENCES).filter((finding) => !catalog.includes(finding))).toEqual([]);
    const routes = loadActions().flatMap((row) => [...(row.http ? [row.http] : []), ...(row.routes ?? [])]);
    const keys = new Set(routes.map((route) => skeleton(...route)));
    expect(Object.keys(ROUTES).filter((key) => !keys.has(key))).toEqual([]);
    expect(Object.keys(PATH_TYPES).filter((name) => !routes.some(([, path]) => path.includes(`{${name}}`)))).toEqual([]);
  });
});

describe("the law bites", () => {
  test("a sound row has no finding", () => expect(check({})).toEqual([]));
  test("method", () =>
    expect(check({ http: ["PUT", "/projects/{project_id}/things"] })).toEqual([
      "thing.get: no such operation: PUT /projects/{project_id}/things",
    ]));
  test("path", () => expect(check({ http: ["POST", "/projects/{project_id}/thing"] })).toHaveLength(1));
  test("path type", () =>
    expect(check({ params: { ...params, project_id: { in: "path", type: "boolean" } } })).toEqual([
      "thing.get project_id: type boolean, fact string|integer",
    ]));
  test("a parameter that GitLab does not know", () =>
    expect(check({ params: { ...params, extra: { in: "body", type: "string" } } })).toEqual([
      "thing.get extra: not in the facts of every route",
    ]));
  test("a parameter left out", () => {
    const { tags: _, ...rest } = params;
    expect(check({ params: rest })).toEqual(["thing.get tags: missing for POST /projects/{project_id}/things"]);
  });
  test("place", () =>
    expect(check({ params: { ...params, tags: { in: "query", type: "array" } } })).toEqual(["thing.get tags: in query, fact body"]));
  test("type", () =>
    expect(check({ params: { ...params, tags: { in: "body", type: "string" } } })).toEqual(["thing.get tags: type string, fact array"]));
  test("type of items", () =>
    expect(check({ params: { ...params, tags: { in: "body", type: "array", items: { type: "integer" } } } })).toEqual([
      "thing.get tags: items integer, fact string",
    ]));
  test("comma-joined or not", () =>
    expect(check({ params: { ...params, tags: { in: "body", type: "array", csv: true } } })).toEqual([
      "thing.get tags: comma-joined differs",
    ]));
  test("values", () =>
    expect(check({ params: { ...params, sort_of: { in: "body", wire: "kind", type: "string", enum: ["big"], required: true } } })).toEqual([
      "thing.get sort_of: values big; fact big,small",
    ]));
  test("required", () =>
    expect(check({ params: { ...params, sort_of: { in: "body", wire: "kind", type: "string", enum: ["big", "small"] } } })).toEqual([
      "thing.get sort_of: required differs",
    ]));
  test("wire name", () =>
    expect(check({ params: { ...params, sort_of: { in: "body", type: "string", enum: ["big", "small"], required: true } } })).toHaveLength(
      2,
    ));
  test("nested names and types", () => {
    expect(check({ params: { ...params, not: { in: "body", type: "object", properties: { size: { type: "string" } } } } })).toEqual([
      "thing.get not.size: type string, fact integer",
    ]);
    expect(check({ params: { ...params, not: { in: "body", type: "object", properties: { weight: { type: "integer" } } } } })).toHaveLength(
      2,
    );
  });
});
