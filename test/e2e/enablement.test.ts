import { afterEach, describe, expect, it } from "vitest";
import { type ClientKind, connectStdio, type TestClient } from "../support/clients.ts";

interface Row {
  readonly kind: ClientKind;
  readonly enablement: "auto" | "session" | "strict";
  readonly refreshes: boolean;
  readonly expected: {
    readonly status: "enabled" | "callable";
    readonly list_changed: "sent" | "not_available";
    readonly client_refreshed: boolean | "unknown";
    readonly call_via: "tools" | "gitlab_execute_action";
    /** The list of this client really holds the tools afterwards. */
    readonly listed: boolean;
  };
}

const TOLD = { status: "enabled", list_changed: "sent", client_refreshed: true, call_via: "tools", listed: true } as const;
const TOLD_IN_VAIN = { ...TOLD, client_refreshed: false, call_via: "gitlab_execute_action" } as const;
const CALLABLE = {
  status: "callable",
  list_changed: "not_available",
  client_refreshed: "unknown",
  call_via: "gitlab_execute_action",
  listed: false,
} as const;
const SILENT = { ...CALLABLE, status: "enabled", listed: true } as const;

/** Era × enablement (DESIGN.md §4), for each kind of client. */
const TABLE: readonly Row[] = [
  { kind: "sdk1", enablement: "auto", refreshes: true, expected: TOLD },
  { kind: "sdk1", enablement: "auto", refreshes: false, expected: TOLD_IN_VAIN },
  { kind: "sdk1", enablement: "session", refreshes: true, expected: TOLD },
  { kind: "sdk1", enablement: "strict", refreshes: true, expected: CALLABLE },
  { kind: "sdk2-legacy", enablement: "auto", refreshes: true, expected: TOLD },
  { kind: "sdk2-legacy", enablement: "auto", refreshes: false, expected: TOLD_IN_VAIN },
  { kind: "sdk2-legacy", enablement: "session", refreshes: true, expected: TOLD },
  { kind: "sdk2-legacy", enablement: "strict", refreshes: true, expected: CALLABLE },
  { kind: "sdk2-modern", enablement: "auto", refreshes: true, expected: TOLD },
  { kind: "sdk2-modern", enablement: "auto", refreshes: false, expected: TOLD_IN_VAIN },
  { kind: "sdk2-modern", enablement: "session", refreshes: true, expected: TOLD },
  { kind: "sdk2-modern", enablement: "strict", refreshes: true, expected: CALLABLE },
  { kind: "sdk2-modern-deaf", enablement: "auto", refreshes: true, expected: CALLABLE },
  { kind: "sdk2-modern-deaf", enablement: "session", refreshes: true, expected: SILENT },
  { kind: "sdk2-modern-deaf", enablement: "strict", refreshes: true, expected: CALLABLE },
];

let client: TestClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

describe("enabling, told and seen, over stdio", () => {
  for (const { kind, enablement, refreshes, expected } of TABLE) {
    it(`${kind}, ${enablement}, ${refreshes ? "refreshing" : "not refreshing"}: ${expected.status}, ${expected.list_changed}`, async () => {
      client = await connectStdio(kind, { args: ["--sandbox", `--enablement=${enablement}`], refreshes });
      const before = (await client.list()).map((tool) => tool.name);
      const result = await client.call("enable_toolset", { toolset: "ci" });
      const { listed, ...answer } = expected;
      const [entry] = result.json.toolsets as { status: string; tools: { name: string }[] }[];
      expect({ ...result.json, status: entry?.status }).toMatchObject(answer);
      expect(client.changes()).toBe(expected.list_changed === "sent" ? 1 : 0);

      const after = (await client.list()).map((tool) => tool.name);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.includes("list_pipelines")).toBe(listed);
      expect(after.at(-1) === "disable_toolset").toBe(listed);
      if (listed) expect(after.slice(before.length, -1)).toEqual(entry?.tools.map((tool) => tool.name));
      else expect(after).toEqual(before);

      const params = { project_id: "acme/webshop" };
      const byName = await client.call("list_pipelines", params);
      const executed = await client.call("gitlab_execute_action", { action: "pipeline.list", params });
      expect([byName.isError, byName.json]).toEqual([false, executed.json]);

      const again = await client.call("enable_toolset", { toolset: "ci" });
      expect(again.json).toMatchObject({ list_changed: listed ? "not_needed" : "not_available" });
      expect(client.changes()).toBe(expected.list_changed === "sent" ? 1 : 0);
    });
  }

  it("disabling takes tools off again, once told; they still answer by name", async () => {
    client = await connectStdio("sdk1", { args: ["--sandbox"], refreshes: true });
    const before = await client.list();
    await client.call("enable_toolset", { toolset: "ci, repository" });
    const result = await client.call("disable_toolset", { toolset: "ci,repository" });
    expect(result.json).toMatchObject({
      toolsets: [
        { toolset: "ci", status: "disabled" },
        { toolset: "repository", status: "disabled" },
      ],
    });
    expect(client.changes()).toBe(2);
    expect((await client.list()).map((tool) => tool.name)).toEqual([...before.map((tool) => tool.name), "disable_toolset"]);
    expect((await client.call("list_branches", { project_id: "acme/webshop" })).isError).toBe(false);
  });

  it("a partly permitted toolset says what is withheld and why; an unknown one changes nothing", async () => {
    client = await connectStdio("sdk1", { args: ["--sandbox", "--read-only"], refreshes: true });
    const result = await client.call("enable_toolset", { toolset: "ci" });
    expect(result.json).toMatchObject({
      toolsets: [{ status: "partly_enabled", withheld: [{ reason: "the server is read-only", setting: "--read-only" }] }],
    });
    const names = (await client.list()).map((tool) => tool.name);
    expect(names).not.toContain("retry_pipeline");
    const refused = await client.call("retry_pipeline", { project_id: "acme/webshop", pipeline_id: 1 });
    expect(refused.json).toMatchObject({ code: "not_permitted", rule: "read_only" });
    const unknown = await client.call("enable_toolset", { toolset: "repository, cii" });
    expect(unknown.json).toMatchObject({ code: "unknown_toolset", nearest: ["ci"] });
    expect((await client.list()).map((tool) => tool.name)).toEqual(names);
  });
});
