import { describe, expect, it } from "vitest";
import { gaps, type Plan, parseSuite, readPlans, readSuites, type Suite } from "../scripts/conformance/plan.ts";

const suites = readSuites();
const suiteOf = ({ version }: Plan): Suite => {
  const found = suites.find((suite) => suite.version === version);
  if (!found) throw new Error(`no list of the suite ${version}`);
  return found;
};

describe.each(readPlans().map((plan) => [plan.version, plan] as const))("the official suite %s", (_version, plan) => {
  it("every scenario of it, for servers and for clients, is run or left out with a reason", () => {
    const suite = suiteOf(plan);
    expect(Object.keys(suite.server).length).toBeGreaterThan(25);
    expect(Object.keys(suite.client).length).toBeGreaterThan(20);
    expect(gaps(plan, suite)).toEqual([]);
  });

  it("each reason says something", () => {
    for (const reason of Object.values(plan.left_out)) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });

  it("one that is new, gone, forgotten, or in two lists is found", () => {
    const suite = suiteOf(plan);
    expect(gaps(plan, { ...suite, client: { ...suite.client, "new-one": ["2026-07-28"] } })).toEqual([
      "new-one 2026-07-28 is neither run nor left out with a reason",
    ]);
    const { tools_call: _gone, ...rest } = suite.client;
    expect(gaps(plan, { ...suite, client: rest })).toContain("tools_call 2025-11-25 is to be run, but not in the suite");
    expect(gaps({ ...plan, client: {} }, suite)).toContain("initialize 2025-11-25 is neither run nor left out with a reason");
    const both = { ...plan, left_out: { ...plan.left_out, "ping 2025-11-25": "A reason that is long enough to count." } };
    expect(gaps(both, suite)).toContain("ping 2025-11-25 is run, and left out too");
    const idle = { ...plan, left_out: { ...plan.left_out, nothing: "A reason that is long enough to count." } };
    expect(gaps(idle, suite)).toEqual(["nothing is left out, but not in the suite"]);
  });
});

it("the suite's own list is read by its sections", () => {
  const text =
    "Server scenarios:\n  - a [1,2]\n\nClient scenarios (of a client):\n  - b [2]\n\nAuthorization server scenarios:\n  - c [3]\n";
  expect(parseSuite("v", text)).toEqual({ version: "v", server: { a: ["1", "2"] }, client: { b: ["2"] }, authorization: { c: ["3"] } });
});
