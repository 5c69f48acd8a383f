import { describe, expect, it } from "vitest";
import { diffCatalogs } from "../../src/catalog/diff.ts";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";
import { aRow } from "../laws/law.ts";

const told = (before: readonly Action[], after: readonly Action[]) =>
  diffCatalogs(before, after).map(({ kind, text }) => `${kind}: ${text}`);
const to = (change: Partial<Action>) => told([aRow()], [aRow(change)]);
const { params } = aRow();

describe("two catalogs", () => {
  it("that are the same differ in nothing", () => expect(diffCatalogs(loadActions(), structuredClone(loadActions()))).toEqual([]));

  it("show what is new and what is gone", () => {
    const other = aRow({ id: "other.get", http: ["GET", "/others"] });
    expect(told([aRow()], [aRow(), other])).toEqual(["added: other.get (core, read)"]);
    expect(told([aRow(), other], [aRow()])).toEqual(["removed: other.get (core)"]);
  });

  it("show a new name of the same requests as that, and not as a loss", () => {
    expect(to({ id: "item.get", tool: "get_item", http: ["GET", "/projects/{id}/things/{item}"] })).toEqual([
      "renamed: thing.get → item.get",
      "tool renamed: item.get: get_thing → get_item",
    ]);
    const twins = told([aRow()], [aRow({ id: "a.get" }), aRow({ id: "b.get" })]);
    expect(twins).toEqual(["renamed: thing.get → a.get", "added: b.get (core, read)"]);
  });

  it("show what changes for whoever allows or calls", () => {
    expect(to({ effect: "destructive" })).toEqual(["effect: thing.get: read → destructive"]);
    expect(to({ toolset: "ci" })).toEqual(["moved: thing.get: core → ci"]);
    expect(to({ essential: true })).toEqual(["essential: thing.get: now shown from the start of its toolset"]);
    expect(to({ http: ["GET", "/things/{thing_id}"] })).toEqual(["route: thing.get: GET /projects/{}/things/{} → GET /things/{}"]);
  });

  it("show parameters that come, go, and become required", () => {
    const extra = { in: "query", type: "string" } as const;
    expect(to({ params: { ...params, kind: extra } })).toEqual(["param added: thing.get kind"]);
    expect(to({ params: { ...params, kind: { ...extra, required: true } } })).toEqual(["required: thing.get kind: new and required"]);
    const { thing_id, project_id } = params;
    expect(to({ params: { project_id } as Action["params"] })).toEqual(["param removed: thing.get thing_id"]);
    expect(to({ params: { project_id, thing_id: { ...thing_id, type: "string" } } as Action["params"] })).toEqual([
      "param changed: thing.get thing_id",
    ]);
    expect(to({ params: { project_id, thing_id: { ...thing_id, required: false } } as Action["params"] })).toEqual([
      "required: thing.get thing_id: no longer required",
    ]);
  });
});
