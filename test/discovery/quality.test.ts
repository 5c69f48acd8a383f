import { describe, expect, it } from "vitest";
import { type Case, isHeldOut, readCases } from "../../scripts/find-cases.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { createFinder } from "../../src/discovery/find.ts";

const actions = loadActions();
const known = new Set(actions.map(({ id }) => id));
const all = readCases("queries");
const cases = all.filter(({ ids }) => ids.some((id) => known.has(id)));
const finder = createFinder(() => actions);

function recall(chosen: readonly Case[], at: number): number {
  const right = chosen.filter(({ query, ids }) =>
    finder.find(query, { limit: at, permitted: () => true }).results.some(({ action }) => ids.includes(action.id)),
  );
  return right.length / chosen.length;
}

describe("quality on held-out queries", () => {
  const heldOut = cases.filter(({ query }) => isHeldOut(query));
  const english = heldOut.filter(({ lang }) => lang === "en");
  const others = heldOut.filter(({ lang }) => lang !== "en");

  it("has enough of them", () => {
    expect(english.length).toBeGreaterThan(100);
    expect(others.length).toBeGreaterThan(50);
  });

  it("English: first place and first five", () => {
    expect(recall(english, 1)).toBeGreaterThanOrEqual(0.84);
    expect(recall(english, 5)).toBeGreaterThanOrEqual(0.965);
  });

  it("eight other languages: first five", () => {
    expect(recall(others, 5)).toBeGreaterThanOrEqual(0.98);
  });
});

describe("quality on queries of other authors", () => {
  it.each([
    ["blind", 0.79, 0.96, 0.96],
    ["blind-2", 0.88, 0.97, 0.94],
    ["blind-3", 0.81, 0.95, 0.92],
    ["blind-4", 0.78, 0.93, 0.8],
    ["outside", 0.66, 0.88, 0.89],
    ["hard", 0.58, 0.81, 0.85],
  ])("does not fall below what was reached on %s", (name, first, five, fiveOfOthers) => {
    const halved = name === "outside" || name === "hard";
    const blind = readCases(name).filter(({ query }) => !halved || isHeldOut(query));
    const english = blind.filter(({ lang }) => lang === "en");
    const others = blind.filter(({ lang }) => lang !== "en");
    expect(recall(english, 1)).toBeGreaterThanOrEqual(first);
    expect(recall(english, 5)).toBeGreaterThanOrEqual(five);
    expect(recall(others, 5)).toBeGreaterThanOrEqual(fiveOfOthers);
  });
});

describe("the queries themselves", () => {
  it("are each written once, in nine languages", () => {
    expect(new Set(all.map(({ query }) => query)).size).toBe(all.length);
    expect(new Set(all.map(({ lang }) => lang)).size).toBe(9);
  });
});
