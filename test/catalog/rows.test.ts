import { describe, expect, it } from "vitest";
import { readFiles, rowFindings } from "../../scripts/check-rows.ts";
import { aRow } from "../laws/law.ts";

const { toolset: _toolset, source: _source, ...sound } = aRow();
const of = (...rows: readonly unknown[]) => rowFindings({ "data/things.json": rows });

describe("the build", () => {
  it("finds nothing wrong with the rows as they are", () => {
    expect(rowFindings(readFiles())).toEqual([]);
    expect(of(sound)).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ["an effect that is none", { effect: "wrote" }, /effect: /],
    ["a key that no row has", { efect: "read" }, /efect/],
    ["a method", { http: ["FETCH", "/things"] }, /http\.0: /],
    ["a path parameter that the path does not have", { http: ["GET", "/projects/{project_id}/things"] }, /thing_id: a path parameter/],
    ["a placeholder without a parameter", { http: ["GET", "/projects/{project_id}/things/{thing_id}/{part}"] }, /\{part\}/],
    ["two roads", { composite: "sweep" }, /exactly one of http, graphql, composite/],
    ["no road", { http: undefined, params: {} }, /exactly one of http, graphql, composite/],
    ["a type", { params: { ...sound.params, size: { in: "query", type: "int" } } }, /params\.size\.type: /],
    ["a type inside", { params: { ...sound.params, sizes: { in: "query", type: "array", items: { type: "int" } } } }, /sizes\.items/],
    ["a long tool name", { tool: `get_${"x".repeat(32)}` }, /tool: /],
  ])("stops at %s, and names file and row", (_what, change, law) => {
    const findings = of({ ...sound, ...change });
    expect(findings.join("\n")).toMatch(law);
    for (const finding of findings) expect(finding).toMatch(/^data\/things\.json: thing\.get: /);
  });

  it("stops at a name that is taken, and at what is no row", () => {
    const findings = of(sound, { ...sound, tool: "get_other" }, 7);
    expect(findings).toContain("data/things.json: thing.get: thing.get is the name of data/things.json: thing.get already");
    expect(findings.join("\n")).toMatch(/data\/things\.json: row 3: row: /);
  });
});
