import { describe, expect, it } from "vitest";
import { listTools } from "../src/surface/list.ts";
import { enableToolset } from "../src/surface/tools/enable-toolset.ts";
import { getToolsetTools } from "../src/surface/tools/get-toolset-tools.ts";
import { listAvailableToolsets } from "../src/surface/tools/list-available-toolsets.ts";
import { connectionFor, entryCall } from "./support/bridge.ts";
import { tokens } from "./support/tokens.ts";

const sent = (...argv: string[]) => listTools(connectionFor(...argv));
const cost = (...argv: string[]) => sent(...argv).reduce((sum, tool) => sum + tokens(tool), 0);

describe("token budgets of the first list", () => {
  it("bridge: exactly the five, in order, ≤ 900", () => {
    expect(sent().map((tool) => tool.name)).toEqual([
      "list_available_toolsets",
      "get_toolset_tools",
      "enable_toolset",
      "gitlab_find_action",
      "gitlab_execute_action",
    ]);
    expect(cost()).toBeLessThanOrEqual(900);
  });

  it("dynamic: the pair, ≤ 450", () => {
    expect(sent("--style=dynamic").map((tool) => tool.name)).toEqual(["gitlab_find_action", "gitlab_execute_action"]);
    expect(cost("--style=dynamic")).toBeLessThanOrEqual(450);
  });

  it("toolsets: the three", () => {
    expect(sent("--style=toolsets").map((tool) => tool.name)).toEqual(["list_available_toolsets", "get_toolset_tools", "enable_toolset"]);
  });

  it("--split-execute adds the reading tool just before execute", () => {
    const names = sent("--split-execute").map((tool) => tool.name);
    expect(names.slice(-2)).toEqual(["gitlab_read_action", "gitlab_execute_action"]);
    expect(names).toHaveLength(6);
  });

  it("each toolset's essential tools ≤ 4,000", () => {
    const { registry } = connectionFor();
    for (const { name } of registry.toolsets()) {
      const own = sent("--admin", "--allow-raw", `--toolsets=${name}`)
        .slice(5)
        .filter((tool) => tool._meta?.["com.gitlab/toolset"] === name);
      expect(own.length, name).toBeGreaterThan(0);
      expect(own.length, name).toBeLessThanOrEqual(20);
      expect(tokens(own), name).toBeLessThanOrEqual(4_000);
    }
  });

  it("list_available_toolsets: 40 toolsets ≤ 1,200 in either form, as one who may use all sees them", async () => {
    const connection = connectionFor("--admin", "--allow-raw");
    expect(connection.registry.toolsets().length).toBeGreaterThanOrEqual(40);
    const answer = await listAvailableToolsets.run({}, entryCall(connection));
    const { text, json } = answer as { text: string; json: unknown };
    expect(tokens(json)).toBeLessThanOrEqual(1_200);
    expect(tokens(text)).toBeLessThanOrEqual(1_200);
  });

  it("get_toolset_tools: ≤ 2,000 in either form for every toolset, unless schemas are asked for", async () => {
    const connection = connectionFor("--admin", "--allow-raw");
    for (const { name } of connection.registry.toolsets()) {
      for (const detail of ["names", "summary"]) {
        const { text, json } = (await getToolsetTools.run({ toolset: name, detail }, entryCall(connection))) as {
          text: string;
          json: unknown;
        };
        expect(tokens(json), `${name} ${detail} json`).toBeLessThanOrEqual(2_000);
        expect(tokens(text), `${name} ${detail} text`).toBeLessThanOrEqual(2_000);
      }
    }
  });

  it("enable_toolset: ≤ 600 where the client refreshed, ≤ 4,500 otherwise, in either form", async () => {
    for (const { name } of connectionFor("--admin", "--allow-raw").registry.toolsets()) {
      for (const [refreshes, cap] of [
        [true, 600],
        [false, 4_500],
      ] as const) {
        const plain = connectionFor("--admin", "--allow-raw", "--settle=0");
        const connection = { ...plain, facts: { known: () => ({}), learn: async () => ({}) } };
        const { text, json } = (await enableToolset.run({ toolset: name }, entryCall(connection, refreshes))) as {
          text: string;
          json: Record<string, unknown>;
        };
        expect(json.client_refreshed, name).toBe(refreshes);
        expect(tokens(json), `${name} ${refreshes} json`).toBeLessThanOrEqual(cap);
        expect(tokens(text), `${name} ${refreshes} text`).toBeLessThanOrEqual(cap);
      }
    }
  });
});
