import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type ClientKind, connectStdio, type TestClient } from "../support/clients.ts";
import { spawnWire } from "../support/wire.ts";

const KINDS = ["sdk1", "sdk2-legacy", "sdk2-modern"] as const satisfies readonly ClientKind[];
const PROJECT = { project_id: "acme/webshop" };

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

let client: TestClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

async function connect(kind: ClientKind, ...flags: string[]): Promise<TestClient> {
  client = await connectStdio(kind, { args: flags, env: { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria }, refreshes: true });
  return client;
}
const namesOf = async (connected: TestClient) => (await connected.list()).map((tool) => tool.name);

describe.each(KINDS)("styles as a client meets them (%s)", (kind) => {
  it("meta: a toolset is one tool, and runs its actions on the same road", async () => {
    const connected = await connect(kind, "--style=meta");
    const names = await namesOf(connected);
    expect(names).toEqual(expect.arrayContaining(["get_toolset_tools", "ci", "merge_requests"]));
    const shown = await connected.call("get_toolset_tools", { toolset: "ci", tools: ["pipeline.list"], detail: "schemas" });
    expect(shown.json).toMatchObject({ tools: [{ name: "ci", action: "pipeline.list", input_schema: { type: "object" } }] });
    const byDispatcher = await connected.call("ci", { action: "pipeline.list", params: PROJECT });
    const byName = await connected.call("list_pipelines", PROJECT);
    expect([byDispatcher.isError, byDispatcher.json]).toEqual([false, byName.json]);
    const gone = { action: "branch.delete", params: { ...PROJECT, branch: "no-such-branch" } };
    expect((await connected.call("repository", gone)).json).toMatchObject({ code: "confirmation_required" });
    expect((await connected.call("repository", { ...gone, confirm: true })).json).toMatchObject({ code: "not_found" });
    const wrong = await connected.call("ci", { actions: "pipeline.list" });
    expect(wrong.json).toMatchObject({ code: "invalid_params", fields: { actions: expect.stringContaining("action") } });
    expect((await connected.call("ci", { action: "issue.list", params: PROJECT })).json).toMatchObject({ code: "invalid_params" });
  });

  it("meta: enabling puts the dispatcher of another toolset on the list, told once", async () => {
    const connected = await connect(kind, "--style=meta", "--toolsets=ci");
    expect(await namesOf(connected)).not.toContain("work_items");
    const answer = await connected.call("enable_toolset", { toolset: "work_items" });
    expect(answer.json).toMatchObject({ list_changed: "sent", client_refreshed: true, call_via: "tools" });
    expect(connected.changes()).toBe(1);
    expect((await namesOf(connected)).slice(-2)).toEqual(["work_items", "disable_toolset"]);
    const listed = await connected.call("work_items", { action: "issue.list", params: PROJECT });
    expect(listed.isError, listed.text).toBe(false);
    const off = await connected.call("disable_toolset", { toolset: "work_items" });
    expect(off.json).toMatchObject({ toolsets: [{ status: "disabled", tools: ["work_items"] }] });
    expect(await namesOf(connected)).not.toContain("work_items");
  });

  it("meta, read-only: nothing but reads is offered, and a write is refused with the reason", async () => {
    const connected = await connect(kind, "--style=meta", "--read-only");
    const tools = await connected.list();
    expect(tools.every((tool) => tool.annotations?.readOnlyHint === true)).toBe(true);
    const refused = await connected.call("repository", { action: "branch.delete", params: { ...PROJECT, branch: "main" }, confirm: true });
    expect(refused.isError).toBe(true);
    expect((await connected.call("delete_branch", { ...PROJECT, branch: "main" })).json).toMatchObject({
      code: "not_permitted",
      rule: "read_only",
    });
  });

  it("static: GitLab's default toolsets are there, others can be enabled", async () => {
    const connected = await connect(kind, "--style=static");
    const before = await namesOf(connected);
    expect(before).toEqual(expect.arrayContaining(["enable_toolset", "list_merge_requests", "list_pipelines", "list_issues"]));
    expect(before).not.toContain("list_wiki_pages");
    await connected.call("enable_toolset", { toolset: "wikis" });
    const after = await namesOf(connected);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after).toContain("list_wiki_pages");
    expect((await connected.call("list_wiki_pages", PROJECT)).isError).toBe(false);
  });

  it("dynamic and individual: nothing to enable; individual lists every permitted action", async () => {
    const dynamic = await connect(kind, "--style=dynamic");
    expect(await namesOf(dynamic)).toEqual(["gitlab_find_action", "gitlab_execute_action"]);
    await dynamic.close();
    const all = await namesOf(await connect(kind, "--style=individual"));
    expect(all.length).toBeGreaterThan(1_000);
    expect(all).not.toContain("enable_toolset");
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("who the client says it is", () => {
  const HOSTS = ["claude-code", "Visual Studio Code", "cursor-vscode", "gemini-cli-mcp-client", "codex-mcp-client", "nobody"];

  it("changes nothing: the same handshake, list and answers for every name", async () => {
    const seen: unknown[] = [];
    for (const name of HOSTS) {
      const wire = spawnWire(["--style=meta", "--toolsets=ci", "--capabilities=full", "--settle=1"], { GITLAB_URL: sandbox.url });
      try {
        const hello = await wire.request("initialize", {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name, version: "1" },
        });
        wire.send({ method: "notifications/initialized" });
        const list = await wire.request("tools/list");
        const enabled = await wire.request("tools/call", { name: "enable_toolset", arguments: { toolset: "wikis" } });
        const prompts = await wire.request("prompts/list");
        seen.push([hello.result, list.result, enabled.result, prompts.result]);
      } finally {
        wire.child.kill("SIGKILL");
      }
    }
    for (const other of seen.slice(1)) expect(other).toEqual(seen[0]);
  });

  it("is read only where it is handed on, and no file of the server knows a host by name", () => {
    const src = join(import.meta.dirname, "../../src");
    const files = readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !/^(sandbox|ab)\//.test(file))
      .map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }));
    const holding = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
    // To the User-Agent and the audit; and into the ticket that carries a session over a restart.
    expect(
      holding(/getClientVersion|CLIENT_INFO_META_KEY|clientInfo\b/).filter(
        (file) => !file.startsWith("upstreams/") && !file.startsWith("cli/"),
      ),
    ).toEqual(["surface/server.ts", "transport/legacy-session.ts", "transport/mcp-endpoint.ts"]);
    expect(holding(/context\.client\b/)).toEqual(["executor/audit.ts", "executor/gitlab-send.ts"]);
    expect(holding(/["'`/](claude|vscode|visual studio|copilot|codex|windsurf|gemini|zed)\b/i)).toEqual([]);
  });
});
