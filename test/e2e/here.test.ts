import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { initialize, spawnWire, type Wire } from "../support/wire.ts";

/** A server that is started in a working copy, as an editor starts it. */

type Json = Record<string, unknown>;

let sandbox: Sandbox;
let wire: Wire;

beforeAll(async () => {
  sandbox = await startSandbox();
  const copy = mkdtempSync(join(tmpdir(), "bridge-copy-"));
  mkdirSync(join(copy, ".git"));
  mkdirSync(join(copy, "src", "deep"), { recursive: true });
  writeFileSync(join(copy, ".git", "config"), `[remote "origin"]\n\turl = ${sandbox.url}/acme/webshop.git\n`);
  wire = spawnWire([], { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria }, join(copy, "src", "deep"));
  await initialize(wire);
}, 30_000);

afterAll(async () => {
  wire.child.kill("SIGKILL");
  await wire.exited;
  await sandbox.close();
});

async function execute(action: string, params: Json): Promise<{ readonly json: Json; readonly text: string; readonly isError: boolean }> {
  const answer = await wire.request("tools/call", { name: "gitlab_execute_action", arguments: { action, params } });
  const { structuredContent, content, isError } = (answer.result ?? {}) as {
    structuredContent?: Json;
    content?: Json[];
    isError?: boolean;
  };
  return { json: structuredContent ?? {}, text: String(content?.[0]?.text), isError: isError === true };
}

it("the project of the working copy stands in where a call names none, and is told", async () => {
  const { json, text } = await execute("issue.get", { issue_iid: 12 });
  expect(json).toMatchObject({ iid: 12, project: "acme/webshop" });
  expect(text).toMatch(/^project: acme\/webshop$/m);
});

it("an explicit project wins", async () => {
  const { json } = await execute("issue.list", { project_id: "acme/mobile-app" });
  expect(json.project).toBe("acme/mobile-app");
});

it("signatures and schemas say that the project may be left out", async () => {
  const answer = await wire.request("tools/call", { name: "gitlab_find_action", arguments: { query: "get one issue", limit: 3 } });
  expect(JSON.stringify(answer.result)).toContain("issue.get(project_id?");
});

it("me is the user of the token, as an id and in place of a name", async () => {
  const made = await execute("issue.create", { title: "Mine", assignee_ids: ["me"] });
  expect(made.isError, made.text).toBe(false);
  const mine = await execute("issue.list", { assignee_username: "@me", search: "Mine", select: ["title", "assignees.username"] });
  expect(mine.json.items).toEqual([{ title: "Mine", assignees: [{ username: "maria" }] }]);
});

it("an address stands in for ids; one of another host is refused, with nothing sent", async () => {
  const { json } = await execute("merge_request.get", { url: `${sandbox.url}/acme/webshop/-/merge_requests/42`, select: ["iid"] });
  expect(json).toMatchObject({ iid: 42, project: "acme/webshop" });
  const foreign = await execute("merge_request.get", { url: "https://elsewhere.example/acme/webshop/-/merge_requests/42" });
  expect(foreign.json).toMatchObject({ code: "invalid_params", fields: { url: expect.stringContaining(sandbox.url) } });
});

it("several reads in one call: in order, each with its own error", async () => {
  const { json, text } = await execute("batch.run", {
    calls: [
      { action: "merge_request.get", params: { merge_request_iid: 42, select: ["iid"] } },
      { action: "issue.get", params: { issue_iid: 99_999 } },
      { action: "project.get", params: { select: ["path_with_namespace"] } },
    ],
  });
  expect(json).toMatchObject({
    results: [
      { action: "merge_request.get", result: { iid: 42 } },
      { action: "issue.get", error: { code: "not_found" } },
      { action: "project.get", result: { path_with_namespace: "acme/webshop" } },
    ],
    failed: 1,
  });
  expect(text).toContain("not_found");
});
