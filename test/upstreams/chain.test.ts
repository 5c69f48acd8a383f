import { afterEach, describe, expect, it } from "vitest";
import { type Chain, fixture, openChain } from "./chain.ts";

let chain: Chain | undefined;
afterEach(async () => {
  await chain?.close();
  chain = undefined;
});

describe.each(["legacy", "modern"])("a %s server over stdio as a toolset", (era) => {
  const open = (flags: string[] = [], extra: Record<string, unknown> = {}) => {
    chain = openChain({ fix: fixture(`${era}.mjs`, extra) }, flags);
    return chain.connect();
  };

  it("is listed, found, enabled and called, by every way", async () => {
    const client = await open();
    expect((await client.list()).length).toBe(5);
    const toolsets = (await client.call("list_available_toolsets")).json.toolsets as { name: string; source?: string; actions: number }[];
    expect(toolsets.find(({ name }) => name === "fix")).toMatchObject({ source: "fix", actions: 16 });
    expect(toolsets.find(({ name }) => name === "arithmetic")).toMatchObject({ source: "fix", actions: 1 });
    const found = await client.call("gitlab_find_action", { query: "fix.sum" });
    expect(found.json.results).toMatchObject([{ id: "fix.sum", toolset: "arithmetic", effect: "read", required: ["a", "b"] }]);
    expect((await client.run("fix.sum", { a: 2, b: 3 })).json).toEqual({ total: 5 });
    expect((await client.call("sum", { a: 2, b: 3 })).json).toEqual({ total: 5 });
    const enabled = await client.call("enable_toolset", { toolset: "arithmetic" });
    expect(enabled.json.toolsets).toMatchObject([{ toolset: "arithmetic", status: "enabled" }]);
    const listed = (await client.list()).find(({ name }) => name === "sum");
    expect(listed).toMatchObject({ annotations: { readOnlyHint: true }, _meta: { "com.gitlab/toolset": "arithmetic" } });
    expect(listed).not.toHaveProperty("outputSchema");
  });

  it("keeps what the server says of a tool", async () => {
    const client = await open();
    await client.call("enable_toolset", { toolset: "fix", tools: ["echo"] });
    const tool = (await client.list()).find(({ name }) => name === "echo");
    expect(tool).toMatchObject({
      title: "Echo",
      description: "Says a text again",
      inputSchema: { properties: { deep: { anyOf: [{ type: "string" }, { $ref: "#/$defs/n" }] } }, required: ["text"] },
      icons: [{ src: "https://example.com/e.png" }],
      _meta: { "example.com/kept": 1 },
    });
    expect((await client.run("fix.echo", { text: "hi", deep: 3 })).text).toBe(`${era}: hi`);
  });
});
