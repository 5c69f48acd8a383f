import { describe, expect, it } from "vitest";
import { plainPath, readSpec } from "../../src/catalog/spec.ts";
import { compareRows } from "../../src/catalog/spec-compare.ts";
import { holeOf } from "../../src/catalog/spec-holes.ts";
import { judgeFindings } from "../../src/catalog/spec-reasons.ts";
import type { Action } from "../../src/catalog/types.ts";
import { aRow } from "../laws/law.ts";

const ID = { name: "id", required: true, schema: { oneOf: [{ type: "string" }, { type: "integer" }] }, in: "path" };
const query = (name: string, schema: object, required = false) => ({ name, required, schema, in: "query" });
const json = (schema: object) => ({ content: { "application/json": { schema } } });

/** One path with a POST: parameters and body fields as 18.9 writes them. */
const post = (own: object) => ({ openapi: "3.0.0", paths: { "/api/v4/projects/{id}/things": { post: { parameters: [ID], ...own } } } });

const BODY = {
  type: "object",
  properties: { kind: { type: "string", enum: ["big", "small", ""] }, size: { type: "integer" } },
  required: ["kind"],
};

const ROW = aRow({
  http: ["POST", "/projects/{project_id}/things"],
  effect: "write",
  params: {
    project_id: { in: "path", type: "string", required: true },
    kind: { in: "body", type: "string", enum: ["big", "small"], required: true },
    size: { in: "body", type: "integer" },
  },
});

const sound = post({ requestBody: json(BODY), responses: { 201: json({ type: "object" }) } });
const keys = (rows: readonly Action[], document: unknown) => compareRows(rows, readSpec(document)).map(({ key }) => key);
const changed = (params: Action["params"]) => keys([aRow({ ...ROW, params: { ...ROW.params, ...params } })], sound);

describe("an OpenAPI document", () => {
  it("has its paths written plainly", () => {
    expect(plainPath("/api/v4/groups/{id}/(-/)epics/{epic_iid}")).toBe("/groups/{id}/epics/{epic_iid}");
    expect(plainPath("/api/v4/projects/{id}/(ref/{ref}/)trigger/pipeline")).toBe("/projects/{id}/trigger/pipeline");
    expect(plainPath("/api/v4/projects/{id}/packages/generic/{package_name}/*package_version/(*path/){file_name}")).toBe(
      "/projects/{id}/packages/generic/{package_name}/{package_version}/{file_name}",
    );
    expect(plainPath("/api/v4/projects/{id}/releases/permalink/latest(/)(*suffix_path)")).toBe("/projects/{id}/releases/permalink/latest");
    expect(plainPath("/api/v4/vscode/settings_sync(/{hash})/v1/manifest")).toBe("/vscode/settings_sync/v1/manifest");
    expect(plainPath("/api/v4/projects/{id}/nuget/v2/Packages\\(Id='*name'\\)")).toBe("/projects/{id}/nuget/v2/Packages(Id='{name}')");
    expect(plainPath("/api/scim/v4/groups/{group}/Users")).toBe("/api/scim/v4/groups/{group}/Users");
  });

  it("is read alike in the shape of 18.9 and in that of 19.x", () => {
    const newer = {
      openapi: "3.0.0",
      paths: {
        "/api/v4/projects/{id}/things": {
          parameters: [{ $ref: "#/components/parameters/id" }],
          post: {
            requestBody: { $ref: "#/components/requestBodies/one" },
            responses: { 201: json({ type: "object" }) },
          },
        },
      },
      components: {
        parameters: { id: ID },
        requestBodies: { one: json({ $ref: "#/components/schemas/RequestBody_0a1b2c3d4e5f" }) },
        schemas: {
          RequestBody_0a1b2c3d4e5f: {
            type: "object",
            properties: { kind: { type: "string", nullable: true, enum: ["big", "small", null] }, size: { type: ["integer", "null"] } },
            required: ["kind"],
          },
        },
      },
    };
    expect(keys([ROW], sound)).toEqual([]);
    expect(keys([ROW], newer)).toEqual([]);
  });

  it("may fold names into brackets, lists and dots", () => {
    const document = post({
      parameters: [
        ID,
        query("not[labels]", { type: "string" }),
        query("iids[]", { type: "integer" }),
        query("head.repo.name", { type: "string" }),
      ],
    });
    const { rest } = readSpec(document)[0] as ReturnType<typeof readSpec>[number];
    expect(Object.keys(rest)).toEqual(["not", "iids", "head"]);
    expect(rest.iids).toMatchObject({ types: ["array"], items: { types: ["integer"] } });
    expect(rest.head?.fields.repo?.fields.name?.types).toEqual(["string"]);
  });

  it("may declare lists of lists of unions without end", () => {
    const schemas = { Loop: { type: "object", properties: { again: { $ref: "#/components/schemas/Loop" } } } };
    expect(readSpec({ ...post({ requestBody: json({ $ref: "#/components/schemas/Loop" }) }), components: { schemas } })).toHaveLength(1);
  });

  it.each([null, [], "text", {}, { paths: null }, { paths: { "/api/v4/x": null } }, { paths: { "/api/v4/x": { get: 1 } } }])(
    "that is none holds no operation: %j",
    (document) => expect(readSpec(document)).toEqual([]),
  );
});

describe("rows and document", () => {
  it("differ in nothing where they say the same", () => expect(keys([ROW], sound)).toEqual([]));

  it("differ in operations", () => {
    expect(keys([], sound)).toEqual(["POST /projects/{id}/things"]);
    expect(keys([ROW], { paths: {} })).toEqual(["POST /projects/{project_id}/things"]);
    const [gone] = compareRows([ROW], []);
    expect(gone).toMatchObject({ kind: "gone", aspect: "operation" });
  });

  it.each<[string, Action["params"], string]>([
    ["a parameter too many", { weight: { in: "body", type: "integer" } }, "thing.get weight unknown"],
    ["place", { size: { in: "query", type: "integer" } }, "thing.get size place"],
    ["type", { size: { in: "body", type: "boolean" } }, "thing.get size type"],
    ["values", { kind: { in: "body", type: "string", enum: ["big"], required: true } }, "thing.get kind values"],
    ["no values", { kind: { in: "body", type: "string", required: true } }, "thing.get kind values"],
    ["required", { kind: { in: "body", type: "string", enum: ["big", "small"] } }, "thing.get kind required"],
    ["optional", { size: { in: "body", type: "integer", required: true } }, "thing.get size required"],
    ["the type of a path parameter", { project_id: { in: "path", type: "boolean", required: true } }, "thing.get project_id type"],
  ])("differ in %s", (_name, params, key) => expect(changed(params)).toEqual([key]));

  it("differ in a parameter left out, in fields and items of it", () => {
    const { size: _, ...rest } = ROW.params;
    expect(keys([aRow({ ...ROW, params: rest })], sound)).toEqual(["thing.get size absent"]);
    const nested = post({
      requestBody: json({
        type: "object",
        properties: {
          who: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } },
          tags: { type: "array", items: { type: "integer" } },
        },
      }),
    });
    const params: Action["params"] = {
      project_id: { in: "path", type: "string", required: true },
      who: { in: "body", type: "object", properties: { id: { type: "string" }, age: { type: "integer" } } },
      tags: { in: "body", type: "array", items: { type: "string" } },
    };
    expect(keys([aRow({ ...ROW, params })], nested).sort()).toEqual([
      "thing.get tags items",
      "thing.get who.age unknown",
      "thing.get who.id type",
      "thing.get who.name absent",
    ]);
  });

  it("differ in whether a list is answered", () => {
    const listed = post({ requestBody: json(BODY), responses: { 200: json({ type: "array", items: { type: "object" } }) } });
    expect(keys([ROW], listed)).toEqual(["thing.get answer list"]);
    expect(keys([aRow({ ...ROW, returns: "array" })], listed)).toEqual([]);
  });

  it("are compared route by route, with the parameters that each route knows", () => {
    const document = {
      paths: {
        "/api/v4/projects/{id}/things": { get: { parameters: [ID, query("kind", { type: "string" })] } },
        "/api/v4/groups/{id}/things": { get: { parameters: [ID] } },
      },
    };
    const family = (on?: string[]) =>
      aRow({
        http: ["GET", "/projects/{project_id}/things"],
        routes: [["GET", "/groups/{group_id}/things"]],
        params: {
          project_id: { in: "path", type: "string" },
          group_id: { in: "path", type: "string" },
          kind: { in: "query", type: "string", ...(on ? { on } : {}) },
        },
      });
    expect(keys([family(["project_id"])], document)).toEqual([]);
    expect(keys([family()], document)).toEqual(["thing.get kind unknown"]);
    expect(keys([family(["group_id"])], document)).toEqual(["thing.get kind absent", "thing.get kind unknown"]);
  });
});

describe("the holes of the document", () => {
  const ways = (row: Action, document: unknown) => compareRows([row], readSpec(document)).map((finding) => holeOf(finding)?.name);

  it("are known by rule, and only they", () => {
    const paging = post({
      parameters: [ID, query("page", { type: "integer" }), query("per_page", { type: "integer" })],
      requestBody: json(BODY),
    });
    expect(ways(ROW, paging)).toEqual(["paging", "paging"]);
    expect(ways(ROW, post({ parameters: [], requestBody: json(BODY) }))).toEqual(["undeclared path"]);
    expect(ways(ROW, post({ parameters: [ID, query("id", { type: "integer" })], requestBody: json(BODY) }))).toEqual(["path twin"]);
    expect(ways(aRow({ ...ROW, returns: "array" }), sound)).toEqual(["list as item"]);
    const lists = aRow({ ...ROW, params: { ...ROW.params, size: { in: "body", type: "array", items: { type: "integer" } } } });
    expect(ways(lists, sound)).toEqual(["flattened list"]);
    const upload = post({ requestBody: json({ type: "object", properties: { file: { type: "string", format: "binary" } } }) });
    expect(ways(ROW, upload)).toEqual(["upload", "upload", "upload"]);
    expect(ways(aRow({ ...ROW, params: { ...ROW.params, size: { in: "body", type: "boolean" } } }), sound)).toEqual([undefined]);
    const listed = post({ requestBody: json(BODY), responses: { 200: json({ type: "array" }) } });
    expect(ways(ROW, listed)).toEqual([undefined]);
  });
});

describe("a judged comparison", () => {
  const row = aRow({ ...ROW, params: { ...ROW.params, weight: { in: "body", type: "integer" } } });
  const findings = compareRows([row], readSpec({ paths: { ...sound.paths, "/api/v4/geo_nodes": { get: {} } } }));
  const none = { reasons: {}, operations: {}, differences: {} };

  it("leaves open what has no reason", () => {
    expect(judgeFindings(findings, none, none).open.map(({ key }) => key)).toEqual(["thing.get weight unknown", "GET /geo_nodes"]);
  });

  it("takes reasons for one row, for a parameter of any row, and for operations", () => {
    const leftOut = { reasons: { twin: "an old name" }, operations: { "GET /geo_nodes": "twin" } };
    for (const key of ["thing.get weight unknown", "* weight unknown"]) {
      const judged = judgeFindings(findings, leftOut, {
        reasons: { why: "because" },
        differences: { [key]: "why", "* other type": "why" },
      });
      expect(judged.open).toEqual([]);
      expect(judged.explained.map(({ why }) => why)).toEqual(["because", "an old name"]);
      expect(judged.unused).toEqual(["* other type"]);
    }
    expect(judgeFindings(findings, leftOut, { reasons: {}, differences: { "* size unknown": "why" } }).open).toHaveLength(1);
  });
});
