import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { areaName, areaOf, areasOf, deedMarks, deedOf, deedsOf } from "../../src/discovery/area.ts";
import { bagOf } from "../../src/discovery/asks.ts";
import { classesOf, likelihood, likely, packClasses, toClasses, unpackClasses } from "../../src/discovery/classes.ts";
import { fromFile } from "../../src/discovery/container.ts";
import { createEngine, readQuery } from "../../src/discovery/engine.ts";
import { LEANINGS, leanOf, marksOf } from "../../src/discovery/lean.ts";

const actions = loadActions();
const engine = createEngine(actions);
const items = (query: string) => readQuery(query, engine);
const terms = (query: string) => [...bagOf(items(query)).keys()];
const best = (values: Float64Array) => values.indexOf(Math.max(...values));
const folder = mkdtempSync(join(tmpdir(), "find-classes-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("what words tell", () => {
  it.each([
    ["who changed the label of my issue", "list"],
    ["put a comment below the issue", "create"],
    ["throw the branch away", "delete"],
    ["the title of the issue should be shorter", "update"],
    ["start the job again", "act"],
  ])("of the doing: %j is to %s", (query, doing) => {
    expect(LEANINGS[best(leanOf(items(query)))]).toBe(doing);
  });

  it.each([
    ["nothing builds any more since the machine died", "runner"],
    ["give the new colleague developer rights", "member"],
  ])("of the area: %j is about %s, among the first three", (query, area) => {
    const values = areaOf(terms(query));
    const order = [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number));
    expect(order.slice(0, 3).map((at) => classesOf("area").names[at])).toContain(area);
  });

  it("small words and their order count for the doing, never for the thing", () => {
    expect([...marksOf(items("the label of every issue"))]).toEqual(
      expect.arrayContaining(["the", "^ the", "the label", "label of", "of every"]),
    );
    expect(terms("the label of every issue").filter((term) => ["~the", "~of"].includes(term))).toEqual([]);
  });

  it("the order of words counts for the very action, but not where it is another language's", () => {
    expect(deedMarks(items("the label of every issue"))).toEqual(expect.arrayContaining(["~label", "the label", "of every"]));
    expect(deedMarks(items("crear una incidencia")).filter((mark) => mark.includes(" "))).toEqual([]);
  });

  it("is at most nothing against the likeliest, and the same wherever nothing is known", () => {
    const values = deedOf(items("list the failed jobs of the last pipeline"));
    expect(Math.max(...values)).toBe(0);
    expect(new Set(likely(["no such mark"], classesOf("area")))).toEqual(new Set([0]));
    expect(likelihood(values, -1)).toBe(likelihood(values, undefined));
    expect(likelihood(values, -1)).toBeLessThan(0);
  });

  it("knows every action of ours, and no tool of another server", () => {
    expect(Math.min(...deedsOf(actions))).toBe(0);
    expect(actions.filter((action, at) => classesOf("area").names[areasOf(actions)[at] as number] !== areaName(action))).toEqual([]);
    const [first] = actions;
    if (!first) throw new Error("no actions");
    const other = { ...first, id: "weather.forecast_get" };
    expect([...deedsOf([other]), ...areasOf([other])]).toEqual([-1, -1]);
  });
});

describe("as the build leaves it", () => {
  it("is what stands in the files", () => {
    const file = join(folder, "find-classes.bin");
    writeFileSync(file, packClasses());
    for (const told of ["lean", "area", "deed"] as const) expect(unpackClasses(told, fromFile(packClasses()))).toEqual(classesOf(told));
  });

  it("sums what each mark says of a class above what it says of all", () => {
    const classes = toClasses({ names: ["a", "b", "c"], rows: { x: [10, 0, 110, 2, -90], y: [0, 0, 50] } });
    expect([...likely(["x", "y"], classes)]).toEqual([0, -1.5, -2.5]);
  });
});
