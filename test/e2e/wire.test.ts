import { afterEach, describe, expect, it } from "vitest";
import { initialize, spawnWire, type Wire } from "../support/wire.ts";

let wire: Wire | undefined;
afterEach(() => {
  wire?.child.kill("SIGKILL");
  wire = undefined;
});

describe("the wire of stdio", () => {
  it("legacy: exactly one notification, before the result of the enabling call", async () => {
    wire = spawnWire(["--sandbox"]);
    await initialize(wire);
    const answer = await wire.request("tools/call", { name: "enable_toolset", arguments: { toolset: "ci,repository" } });
    expect(answer.result).toMatchObject({ structuredContent: { list_changed: "sent" } });
    const methods = wire.lines.map((line) => line.method ?? line.id);
    expect(methods).toEqual([1, "notifications/tools/list_changed", 2]);
  });

  it("a client that re-lists inside the call gets the new list and is reported as refreshed", async () => {
    wire = spawnWire(["--sandbox", "--settle=10000"]);
    await initialize(wire);
    const enabling = wire.request("tools/call", { name: "enable_toolset", arguments: { toolset: "ci" } });
    const running = wire;
    await expect.poll(() => running.lines.some((line) => line.method === "notifications/tools/list_changed")).toBe(true);
    const list = await wire.request("tools/list");
    const names = ((list.result as { tools: { name: string }[] }).tools ?? []).map((tool) => tool.name);
    expect(names).toContain("list_pipelines");
    expect((await enabling).result).toMatchObject({ structuredContent: { client_refreshed: true, call_via: "tools" } });
  });

  it("the list answers with no token, no network and no GitLab", async () => {
    wire = spawnWire([], { GITLAB_URL: "http://127.0.0.1:9" });
    const hello = await initialize(wire);
    expect(hello.result).toMatchObject({ capabilities: { tools: { listChanged: true } }, serverInfo: { name: "gitlab-toolset-bridge" } });
    const list = await wire.request("tools/list");
    expect((list.result as { tools: unknown[]; nextCursor?: string }).tools).toHaveLength(5);
    expect(list.result?.nextCursor).toBeUndefined();
    const found = await wire.request("tools/call", { name: "gitlab_find_action", arguments: { query: "list issues" } });
    expect(found.result?.isError).toBeUndefined();
    expect(wire.stderr()).toBe("");
  });

  it("an unknown tool is -32602 with the nearest names", async () => {
    wire = spawnWire(["--sandbox"]);
    await initialize(wire);
    const answer = await wire.request("tools/call", { name: "list_merge_request", arguments: {} });
    expect(answer.error?.code).toBe(-32602);
    expect(answer.error?.message).toContain("list_merge_requests");
  });

  it("nothing in flight holds the process at the end of stdin", async () => {
    wire = spawnWire(["--sandbox"]);
    await initialize(wire);
    wire.send({ id: 77, method: "tools/call", params: { name: "enable_toolset", arguments: { toolset: "ci" } } });
    wire.child.stdin.end();
    expect(await wire.exited).toBe(0);
  });

  it("a bad setting stops the start with code 2 and one line that names the nearest", async () => {
    for (const [args, env, expected] of [
      [["--stile=bridge"], {}, "--style"],
      [["--style=bridg"], {}, "bridge"],
      [["--toolsets=merge_request"], {}, "merge_requests"],
      [["--exclude-tools=list_isues"], {}, "list_issues"],
      [[], { GITLAB_BRIDGE_REED_ONLY: "1" }, "GITLAB_BRIDGE_READ_ONLY"],
    ] as const) {
      wire = spawnWire(args, env);
      expect(await wire.exited).toBe(2);
      expect(wire.stderr().trim().split("\n")).toHaveLength(1);
      expect(wire.stderr()).toContain(expected);
    }
  });
});
