import { describe, expect, it } from "vitest";
import { listTools } from "../src/surface/list.ts";
import { connectionFor } from "./support/bridge.ts";
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
      const own = sent("--admin", `--toolsets=${name}`)
        .slice(5)
        .filter((tool) => tool._meta?.["com.gitlab/toolset"] === name);
      expect(own.length, name).toBeGreaterThan(0);
      expect(own.length, name).toBeLessThanOrEqual(20);
      expect(tokens(own), name).toBeLessThanOrEqual(4_000);
    }
  });
});
