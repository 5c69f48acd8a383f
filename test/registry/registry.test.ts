import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { Action, Source } from "../../src/catalog/types.ts";
import { atConnect, requireKnownNames, unrecognizedNames } from "../../src/registry/choice.ts";
import { createRegistry } from "../../src/registry/registry.ts";

const never = () => Promise.reject(new Error("not run here"));
const source = (actions: readonly Action[], name = "gitlab"): Source => ({
  name,
  toolsets: () => TOOLSETS,
  actions: () => actions,
  run: never,
  preview: never,
});
const registry = createRegistry([source(loadActions())]);
const none = { toolsets: [], allowToolsets: [], tools: [], allowTools: [], excludeTools: [] };

describe("registry", () => {
  it("resolves canonical ids, tool names and aliases, in any case", () => {
    expect(registry.resolve("Merge_Request.List").id).toBe("merge_request.list");
    expect(registry.resolve("list_merge_requests").id).toBe("merge_request.list");
    const aliased = loadActions().find((action) => (action.aliases ?? []).length > 0);
    expect(registry.resolve(aliased?.aliases?.[0] ?? "").id).toBe(aliased?.id);
  });

  it("a canonical id wins over an alias, an ambiguous alias names the candidates", () => {
    const [first, second] = loadActions();
    if (!first || !second) throw new Error("the catalog is empty");
    const one = { ...first, id: "thing.one", tool: "one_thing", aliases: ["thing.two", "thing.any"] };
    const two = { ...second, id: "thing.two", tool: "two_things", aliases: ["thing.any"] };
    const small = createRegistry([source([one, two])]);
    expect(small.resolve("thing.two")).toBe(two);
    expect(() => small.resolve("thing.any")).toThrowError(/thing.one or thing.two/);
  });

  it("names the nearest for what does not exist", () => {
    expect(() => registry.resolve("merge_requst.list")).toThrowError(
      expect.objectContaining({ code: "unknown_action", hint: expect.stringContaining("merge_request.list") }),
    );
    expect(() => registry.requireToolset("mergerequests")).toThrowError(
      expect.objectContaining({ code: "unknown_toolset", hint: expect.stringContaining("merge_requests") }),
    );
  });

  it("each action stands in exactly one toolset, and every toolset holds some", () => {
    const counts = registry.toolsets().map((toolset) => toolset.actions.length);
    expect(counts.reduce((sum, number) => sum + number, 0)).toBe(registry.actions().length);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  it("shows another source's actions under the same toolset with both sources", () => {
    const [first] = loadActions();
    if (!first) throw new Error("the catalog is empty");
    const foreign = { ...first, id: "up.thing", tool: "up_thing", source: "up", toolset: "ci" };
    const both = createRegistry([
      source(loadActions()),
      { ...source([foreign], "up"), toolsets: () => [{ name: "ci", title: "CI", about: "" }] },
    ]);
    const ci = both.toolset("ci");
    expect(ci?.sources).toEqual(["gitlab", "up"]);
    expect(ci?.actions).toContain(foreign);
  });
});

describe("choice at connect", () => {
  it("is the union of toolsets and tools; meta comes with toolsets", () => {
    const actions = atConnect(registry, { toolsets: ["ci"], tools: ["list_branches"], level: "essential" });
    expect(new Set(actions.map((action) => action.toolset))).toEqual(new Set(["meta", "ci", "repository"]));
    expect(actions.filter((action) => action.toolset === "repository").map((action) => action.tool)).toEqual(["list_branches"]);
    expect(atConnect(registry, { toolsets: [], tools: ["list_branches"], level: "essential" })).toHaveLength(1);
    const byName = registry.actions().filter((action) => action.toolset === "raw");
    const all = atConnect(registry, { toolsets: ["all"], tools: [], level: "all" });
    expect(all).toHaveLength(registry.actions().length - byName.length);
    expect(atConnect(registry, { toolsets: ["raw"], tools: [], level: "all" })).toEqual(expect.arrayContaining(byName));
  });

  it("an unknown name in any list is found, with the nearest", () => {
    expect(unrecognizedNames(registry, { ...none, toolsets: ["merge_request", "ci", "ALL"] })).toEqual([
      expect.objectContaining({
        setting: "--toolsets",
        unrecognized: ["merge_request"],
        nearest: expect.arrayContaining(["merge_requests"]),
      }),
    ]);
    for (const setting of ["allowTools", "tools", "excludeTools"] as const)
      expect(() => requireKnownNames(registry, { ...none, [setting]: ["list_isues"] })).toThrowError(/list_isues; nearest: list_issues/);
    expect(() => requireKnownNames(registry, { ...none, excludeTools: ["delete_*", "toolset:ci", "issue.create"] })).not.toThrow();
    expect(() => requireKnownNames(registry, { ...none, excludeTools: ["toolset:cy"] })).toThrow();
  });
});
