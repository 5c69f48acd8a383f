import { describe, expect, it } from "vitest";
import type { Action } from "../../src/catalog/types.ts";
import { dispatcherName, dispatcherNamed, toDispatcherTool } from "../../src/surface/dispatcher.ts";
import { listTools } from "../../src/surface/list.ts";
import type { ListedTool } from "../../src/surface/signature.ts";
import { enableToolset } from "../../src/surface/tools/enable-toolset.ts";
import { connectionFor, entryCall } from "../support/bridge.ts";
import { tokens } from "../support/tokens.ts";

const DETAILS = ["opaque", "compact", "full"] as const;
const propertiesOf = (tool: ListedTool | undefined) =>
  (tool?.inputSchema.properties ?? {}) as Record<string, { enum: string[]; description: string }>;
const dispatchersIn = (tools: readonly ListedTool[]) => tools.filter((tool) => "action" in propertiesOf(tool));
const actionsOf = (tool: ListedTool | undefined) => propertiesOf(tool).action?.enum ?? [];
const listed = (...flags: string[]) => dispatchersIn(listTools(connectionFor("--style=meta", ...flags)));
const named = (name: string, ...flags: string[]) => listed(...flags).find((tool) => tool.name === name);

describe("style meta", () => {
  it("has one dispatcher for each permitted toolset, under the toolset's name", () => {
    const { registry } = connectionFor();
    const expected = registry.toolsets().filter(({ name }) => name !== "raw");
    expect(listed("--admin").map((tool) => tool.name)).toEqual(expected.map(({ name }) => name));
  });

  it("offers exactly the permitted actions, each in one dispatcher", () => {
    for (const flags of [[], ["--admin"], ["--read-only"], ["--exclude-tools=toolset:ci,issue.delete"], ["--allow-toolsets=ci,wikis"]]) {
      const { registry, policy } = connectionFor(...flags);
      const permitted = registry.actions().filter((action) => action.toolset !== "raw" && policy.permits(action, {}));
      expect(listed(...flags).flatMap(actionsOf), flags.join(" ")).toEqual(permitted.map((action) => action.id));
    }
  });

  it("the whole list costs ≤ 12,000 tokens in opaque, for one who may use everything", () => {
    for (const flags of [[], ["--admin"], ["--admin", "--tool-hints=anthropic"]]) {
      const list = listTools(connectionFor("--style=meta", ...flags));
      expect(
        list.reduce((sum, tool) => sum + tokens(tool), 0),
        flags.join(" "),
      ).toBeLessThanOrEqual(12_000);
    }
  });

  it("compact has the signatures, full the input schemas of what fits, and neither more than 4,400 tokens for a dispatcher's params", () => {
    const paramsOf = (tool: ListedTool | undefined) => propertiesOf(tool).params?.description ?? "";
    const text = (detail: string, name: string) => paramsOf(named(name, `--meta-schemas=${detail}`));
    expect(text("opaque", "ci")).not.toContain("pipeline.list(");
    for (const id of actionsOf(named("ci"))) expect(text("compact", "ci")).toContain(`\n${id}(`);
    expect(text("full", "releases")).toMatch(/\nrelease\.create\([^\n]*\) \{"type":"object","properties":\{/);
    for (const detail of DETAILS)
      for (const tool of listed("--admin", `--meta-schemas=${detail}`))
        expect(tokens(paramsOf(tool)), tool.name).toBeLessThanOrEqual(4_400);
  });

  it("annotations are as strict as the worst action on offer, and confirm is there only where something asks for it", () => {
    const facts = (tool: ListedTool | undefined) => [tool?.annotations, "confirm" in propertiesOf(tool)];
    expect(facts(named("ci"))).toEqual([{ destructiveHint: true }, true]);
    expect(facts(named("ci", "--read-only"))).toEqual([{ readOnlyHint: true }, false]);
    expect(facts(named("ci", "--confirm=off"))).toEqual([{ destructiveHint: true }, false]);
    expect(facts(named("work_items", "--tools=list_issues,create_issue"))).toEqual([{ destructiveHint: false }, false]);
  });

  it("what is chosen at connect is what is on: toolsets whole, single tools alone", () => {
    const tools = listed("--toolsets=ci", "--tools=list_issues");
    expect(tools.map((tool) => tool.name)).toEqual(["meta", "ci", "work_items"]);
    expect(actionsOf(tools[2])).toEqual(["issue.list"]);
  });

  it("enable_toolset adds the dispatcher at the end, whole, and says so briefly where the list shows it", async () => {
    const connection = { ...connectionFor("--style=meta", "--toolsets=ci"), facts: { known: () => ({}), learn: async () => ({}) } };
    const before = listTools(connection).map((tool) => tool.name);
    const { text, json } = (await enableToolset.run({ toolset: "releases" }, entryCall(connection, true))) as {
      text: string;
      json: object;
    };
    const after = listTools(connection);
    expect(after.map((tool) => tool.name)).toEqual([...before, "releases", "disable_toolset"]);
    const actions = actionsOf(after.find((tool) => tool.name === "releases")).length;
    expect(json).toMatchObject({ toolsets: [{ status: "enabled", tools: [{ name: "releases", actions }] }], call_via: "tools" });
    expect(text).toContain(`releases({ action, params }): ${actions} actions`);
    expect(tokens(json)).toBeLessThanOrEqual(600);
  });

  it("the answer to a client that did not refresh holds the signatures of the first and names the rest, ≤ 4,500 tokens", async () => {
    const plain = connectionFor("--style=meta", "--toolsets=ci", "--settle=0", "--admin");
    for (const { name } of plain.registry.toolsets()) {
      const connection = {
        ...connectionFor("--style=meta", "--toolsets=ci", "--settle=0", "--admin"),
        facts: { known: () => ({}), learn: async () => ({}) },
      };
      const { text, json } = (await enableToolset.run({ toolset: name }, entryCall(connection))) as { text: string; json: object };
      expect(tokens(json), name).toBeLessThanOrEqual(4_500);
      expect(tokens(text), name).toBeLessThanOrEqual(4_500);
    }
  });

  it("has prefix and hints like every other list", () => {
    const tools = listTools(connectionFor("--style=meta", "--prefix=gl_", "--tool-hints=anthropic"));
    expect(tools.every((tool) => tool.name.startsWith("gl_"))).toBe(true);
    expect(tools.filter((tool) => tool._meta?.["anthropic/alwaysLoad"]).map((tool) => tool.name)).toEqual([
      "gl_list_available_toolsets",
      "gl_get_toolset_tools",
      "gl_enable_toolset",
    ]);
  });
});

describe("a dispatcher's name", () => {
  it.each([
    ["merge_requests", "merge_requests"],
    ["Acme Jira-Cloud", "acme_jira_cloud"],
    ["42.things", "toolset_42_things"],
    ["a__b", "a_b"],
    ["x".repeat(40), "x".repeat(32)],
  ])("%s → %s", (toolset, name) => expect(dispatcherName(toolset, () => false)).toBe(name));

  it("gives way to a tool, and is always one that every vendor takes", () => {
    expect(dispatcherName("ci", (name) => name === "ci")).toBe("ci_actions");
    for (const toolset of ["ci", "x".repeat(70), "Ü-ber", "9"])
      for (const taken of [true, false]) expect(dispatcherName(toolset, () => taken)).toMatch(/^(?!.*__)[a-z][a-z0-9_]{0,31}$/);
  });
});

describe("what a dispatcher runs", () => {
  const asked: unknown[] = [];
  const callOf = (...flags: string[]) => {
    const connection = connectionFor("--style=meta", ...flags);
    const runner = async () => ({
      run: async (request: unknown) => {
        asked.push(request);
        return { kind: "value", value: {} } as const;
      },
      follow: async () => ({}),
    });
    return entryCall({ ...connection, runner });
  };
  const run = (name: string, args: Record<string, unknown>, ...flags: string[]) => {
    const call = callOf(...flags);
    const dispatcher = dispatcherNamed(call.connection, name);
    if (!dispatcher) throw new Error(`no dispatcher ${name}`);
    return toDispatcherTool(dispatcher).run(args, call);
  };

  it("its own actions by id, tool name or alias, with params and confirm handed on", async () => {
    for (const action of ["issue.delete", "delete_issue"]) await run("work_items", { action, params: { issue_iid: 1 }, confirm: true });
    expect(asked.splice(0)).toEqual(Array(2).fill({ name: "issue.delete", params: { issue_iid: 1 }, confirm: true }));
  });

  it("no action of another toolset: the host was told what this tool can do", async () => {
    await expect(run("audit", { action: "branch.delete", params: {} })).rejects.toMatchObject({
      code: "invalid_params",
      hint: expect.stringContaining("Call repository with action"),
    });
    expect(asked).toEqual([]);
  });

  it("nothing worse than it is annotated for", async () => {
    const narrow = "--tools=list_issues";
    await expect(run("work_items", { action: "issue.delete", params: {} }, narrow)).rejects.toMatchObject({ code: "invalid_params" });
    expect(asked).toEqual([]);
    await run("work_items", { action: "issue.get", params: {} }, narrow);
    expect(asked.splice(0)).toHaveLength(1);
  });

  it("answers in no other style, and by its name even while it is not listed", async () => {
    expect(dispatcherNamed(connectionFor(), "ci")).toBeUndefined();
    await run("wikis", { action: "wiki_page.list", params: {} }, "--toolsets=ci");
    expect(asked.splice(0)).toHaveLength(1);
  });
});

describe("tool hints", () => {
  const META = "anthropic/searchHint";
  it("are words from the catalog, on the tools of the list, and nowhere by default", () => {
    const connection = connectionFor("--style=individual", "--tool-hints=anthropic");
    const byName = new Map(listTools(connection).map((tool) => [tool.name, tool._meta]));
    const rows = connection.registry.actions().filter((action: Action) => byName.has(action.tool));
    for (const action of rows) expect(byName.get(action.tool)?.[META], action.id).toBe(action.keywords?.join(", ") || undefined);
    expect(rows.filter((action) => byName.get(action.tool)?.[META]).length).toBeGreaterThan(100);
    const kept = [...byName].filter(([, meta]) => meta?.["anthropic/alwaysLoad"] === true);
    expect(kept.length).toBe(4);
    expect(JSON.stringify(listTools(connectionFor("--style=individual")))).not.toContain("anthropic/");
    expect(JSON.stringify(listTools(connectionFor()))).not.toContain("_meta");
  });
});
