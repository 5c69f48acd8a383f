import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadActions, paramText } from "../../src/catalog/load.ts";
import { placeholders, routesOf, scopeOf } from "../../src/catalog/route.ts";
import { RESERVED } from "../../src/catalog/schema.ts";
import type { Action, Shape } from "../../src/catalog/types.ts";
import { expectBites, expectKept, type Law } from "./law.ts";

const PAGING = ["page", "per_page", "pagination", "page_token"];
const NOT_CANONICAL = ["id", "mr_iid", "mr_id", "merge_request_id", "issue_number", "noteable_id", "noteable_iid", "pid", "gid"];

interface Found {
  readonly path: string;
  readonly name: string;
  readonly shape: Shape;
}

/** Every shape of a row: parameters, nested properties and items (items have no name of their own). */
function shapesOf(row: Action): Found[] {
  const walk = (path: string, name: string, shape: Shape): Found[] => [
    { path, name, shape },
    ...(shape.items ? walk(`${path}[]`, "", shape.items) : []),
    ...Object.entries(shape.properties ?? {}).flatMap(([key, child]) => walk(`${path}.${key}`, key, child)),
  ];
  return Object.entries(row.params).flatMap(([name, param]) => walk(`${row.id} ${name}`, name, param));
}

const overShapes =
  (find: (found: Found) => string | false | undefined): Law =>
  (rows) =>
    rows.flatMap(shapesOf).flatMap((found) => {
      const finding = find(found);
      return finding ? [`${found.path}: ${finding}`] : [];
    });

const canonical: Law = (rows) =>
  rows.flatMap((row) =>
    Object.keys(row.params)
      .filter((name) => NOT_CANONICAL.includes(name) || !/^[a-z][a-z0-9_]*$/.test(name))
      .map((name) => `${row.id} ${name}: not a canonical name`),
  );

/** The bridge's arguments for texts and downloads: other actions may have a parameter of such a name. */
const OF_TEXTS = ["tail", "grep", "head", "context", "lines", "errors", "save_as", "overwrite"];

const isReserved = (row: Action, name: string) => name in RESERVED && (!OF_TEXTS.includes(name) || RESERVED[name]?.on(row) === true);

const reserved: Law = (rows) =>
  rows.flatMap((row) =>
    Object.keys(row.params)
      .filter((name) => isReserved(row, name) || PAGING.includes(name))
      .map((name) => `${row.id} ${name}: the bridge's own argument`),
  );

const oneRoad: Law = (rows) =>
  rows.flatMap((row) => [
    ...([row.http, row.graphql, row.composite].filter(Boolean).length === 1 ? [] : [`${row.id}: exactly one of http, graphql, composite`]),
    ...(row.routes && !row.http ? [`${row.id}: routes without http`] : []),
    ...(row.composite && Object.values(row.params).some((param) => param.in !== "body")
      ? [`${row.id}: a composite's parameters are in body`]
      : []),
  ]);

const paths: Law = (rows) =>
  rows.flatMap((row) => {
    const inRoutes = routesOf(row).map(([, path]) => placeholders(path));
    const wanted = new Set(inRoutes.flat());
    const inPath = Object.keys(row.params).filter((name) => row.params[name]?.in === "path");
    const always = (name: string) => inRoutes.every((names) => names.includes(name));
    return [
      ...[...wanted].filter((name) => row.params[name]?.in !== "path").map((name) => `${row.id} {${name}}: no path parameter`),
      ...inPath.filter((name) => !wanted.has(name)).map((name) => `${row.id} ${name}: in no path`),
      ...inPath
        .filter((name) => wanted.has(name) && always(name) !== (row.params[name]?.required === true))
        .map((name) => `${row.id} ${name}: required differs`),
    ];
  });

/** The ids that are given choose one route: no two routes ask for the same ones. */
const choice: Law = (rows) =>
  rows.flatMap((row) => {
    const keys = routesOf(row).map(([, path]) => placeholders(path).sort().join(","));
    return new Set(keys).size === keys.length ? [] : [`${row.id}: two routes with the same ids`];
  });

const scopes: Law = (rows) =>
  rows.flatMap((row) => {
    const known = new Set(routesOf(row).map((route) => scopeOf(row, route)));
    const named = Object.entries(row.params).flatMap(([name, param]) => (param.on ?? []).map((scope) => ({ name, scope })));
    return named.filter(({ scope }) => !known.has(scope)).map(({ name, scope }) => `${row.id} ${name}: no route of scope ${scope}`);
  });

const propertyNames = overShapes(
  ({ name }) => name !== "" && !/^[a-zA-Z0-9_.-]{1,64}$/.test(name) && "not a property name that every vendor takes",
);

const enums = overShapes(({ shape }) => {
  if (!shape.enum) return false;
  if (shape.type !== "string") return "values on something that is no string";
  return (shape.enum.length === 0 || shape.enum.includes("")) && "no values, or an empty one";
});

const kinds = overShapes(({ shape }) => {
  if (shape.type === "array" && !shape.items) return "an array without items";
  if (shape.items && shape.type !== "array") return "items on something that is no array";
  return shape.properties && shape.type !== "object" && "properties on something that is no object";
});

const MAX_TEXT = 90;

const described = overShapes(({ name, shape }) => {
  if (name === "") return false;
  const text = shape.about ?? paramText(name);
  if (!text) return "no text, neither its own nor in the dictionary";
  if (text.length > MAX_TEXT) return `text longer than ${MAX_TEXT}`;
  return /\.$|^[a-z]+ .*\bTODO\b|\n/.test(text) && "a text is one phrase without a full stop";
});

const at = {
  project_id: { in: "path", type: "string", required: true },
  thing_id: { in: "path", type: "integer", required: true, about: "Its id" },
} as const;
const withParam = (name: string, param: Action["params"][string]): Partial<Action> => ({ params: { ...at, [name]: param } });

describe("parameters", () => {
  test("names are canonical: no bare id", () => {
    expectKept(canonical);
    expectBites(canonical, withParam("id", { in: "query", type: "string" }), withParam("issueLinks", { in: "query", type: "string" }));
  });

  test("none is called like an argument of the bridge", () => {
    expectKept(reserved);
    expectBites(
      reserved,
      ...["cursor", "limit", "all", "select", "full", "confirm", "page", "per_page"].map((name) =>
        withParam(name, { in: "query", type: "string" }),
      ),
    );
  });

  test("a row has one road to run on", () => {
    expectKept(oneRoad);
    expectBites(oneRoad, { composite: "both" }, { graphql: "query { x }" });
    expect(oneRoad([{ ...(loadActions().find(({ composite }) => composite) as Action), params: at }])).toHaveLength(1);
  });

  test("path parameters are the placeholders of the paths", () => {
    expectKept(paths);
    expectBites(paths, { params: {} }, withParam("more_id", { in: "path", type: "string" }), {
      params: { ...at, project_id: { in: "path", type: "string" } },
    });
    expectBites(paths, { params: { ...at, thing_id: { in: "query", type: "integer" } } });
  });

  test("routes can be told apart", () => {
    expectKept(choice);
    expectBites(choice, { routes: [["GET", "/things/{thing_id}/of/{project_id}"]] });
  });

  test("`on` names routes that exist", () => {
    expectKept(scopes);
    expectBites(scopes, withParam("kind", { in: "query", type: "string", on: ["group_id"] }));
  });

  test("property names fit every vendor", () => {
    expectKept(propertyNames);
    expectBites(
      propertyNames,
      withParam("opts", { in: "body", type: "object", properties: { "not[x]": { type: "string" } } }),
      withParam("x".repeat(65), { in: "body", type: "string" }),
    );
  });

  test("values are on strings only and never empty", () => {
    expectKept(enums);
    expectBites(
      enums,
      withParam("kind", { in: "query", type: "integer", enum: ["1"] }),
      withParam("kind", { in: "query", type: "string", enum: [] }),
    );
    expectBites(enums, withParam("kinds", { in: "query", type: "array", items: { type: "string", enum: ["a", ""] } }));
  });

  test("arrays have items, objects have properties", () => {
    expectKept(kinds);
    expectBites(
      kinds,
      withParam("kinds", { in: "query", type: "array" }),
      withParam("kind", { in: "query", type: "string", items: { type: "string" } }),
    );
  });

  test("every one is described, shortly", () => {
    expectKept(described);
    expectBites(
      described,
      withParam("kind_of_thing", { in: "query", type: "string" }),
      withParam("kind", { in: "query", type: "string", about: "x".repeat(91) }),
    );
    expectBites(
      described,
      withParam("opts", { in: "body", type: "object", about: "Options", properties: { unheard_of: { type: "string" } } }),
    );
    expectBites(described, withParam("kind", { in: "query", type: "string", about: "A sentence." }));
  });

  test("the dictionary holds no text that nothing uses", () => {
    const used = new Set(
      loadActions()
        .flatMap(shapesOf)
        .map(({ name }) => name),
    );
    const file = new URL("../../src/catalog/data/params.json", import.meta.url);
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")) as object).filter((name) => !used.has(name))).toEqual([]);
  });
});
