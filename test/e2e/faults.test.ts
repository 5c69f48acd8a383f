import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { connectStdio, type TestClient } from "../support/clients.ts";

const ISSUES = { action: "issue.list", params: { project_id: "acme/webshop" } };
const CREATE = { action: "issue.create", params: { project_id: "acme/webshop", title: "Once" } };

let sandbox: Sandbox;
let client: TestClient | undefined;
beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await sandbox.close();
});

async function connect(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<TestClient> {
  client = await connectStdio("sdk1", { args: flags, env: { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria, ...env } });
  return client;
}
const run = (connected: TestClient, call: Record<string, unknown>) => connected.call("gitlab_execute_action", call);
const posts = () => sandbox.requests.filter((request) => request.method === "POST" && request.path.endsWith("/issues")).length;

describe("a GitLab that does not do what it should", () => {
  it("hangs: a read ends with `timeout`, a write with `outcome_unknown` and the read that checks it; neither is sent twice", async () => {
    const connected = await connect(["--timeout=400", "--retries=0"]);
    sandbox.fail({ kind: "hang" });
    expect((await run(connected, ISSUES)).json).toMatchObject({ code: "timeout" });
    expect((await run(connected, CREATE)).json).toMatchObject({
      code: "outcome_unknown",
      check: { action: expect.stringMatching(/^issue\./) },
    });
    expect(posts()).toBe(1);
  });

  it("refuses the connection, answers HTML, a broken body, 503: each is told as what it is", async () => {
    const connected = await connect(["--retries=0"]);
    for (const [kind, code] of [
      ["html", "not_gitlab"],
      ["truncated", "gitlab_unavailable"],
      ["503", "gitlab_unavailable"],
      ["429", "rate_limited"],
    ] as const) {
      const end = sandbox.fail({ kind, retryAfter: 120 });
      const result = await run(connected, ISSUES);
      end();
      expect([kind, result.isError, result.json.code]).toEqual([kind, true, code]);
      expect(String(result.json.hint).length).toBeGreaterThan(10);
    }
    await connected.close();
    const alone = await connect([], { GITLAB_URL: "http://127.0.0.1:9" });
    expect((await run(alone, ISSUES)).json).toMatchObject({
      code: "gitlab_unavailable",
      message: expect.stringMatching(/127\.0\.0\.1:9|refused/i),
    });
  });

  it("comes back in time for a read that is tried again; a write is not", async () => {
    const connected = await connect();
    sandbox.fail({ kind: "502", times: 1 });
    expect((await run(connected, ISSUES)).isError).toBe(false);
    sandbox.fail({ kind: "502", times: 1 });
    expect((await run(connected, CREATE)).json).toMatchObject({ code: "outcome_unknown" });
    expect(posts()).toBe(1);
  });

  it("a call that the client cancels stops at GitLab too, and the server goes on", async () => {
    const connected = await connect();
    const end = sandbox.fail({ kind: "hang" });
    const controller = new AbortController();
    const pending = connected.call("gitlab_execute_action", ISSUES, { signal: controller.signal }).catch((error: unknown) => error);
    await expect.poll(() => sandbox.requests.length).toBeGreaterThan(0);
    controller.abort();
    expect(await pending).toBeInstanceOf(Error);
    end();
    expect((await run(connected, ISSUES)).isError).toBe(false);
  });
});

describe("whose token", () => {
  it("no token: a private thing says where to make one, with which scope, and which setting takes it", async () => {
    const connected = await connect([], { GITLAB_TOKEN: "" });
    const read = await run(connected, ISSUES);
    expect(read.isError).toBe(true);
    expect(read.text).toContain("/-/user_settings/personal_access_tokens");
    expect(read.text).toMatch(/read_api/);
    expect(read.text).toMatch(/GITLAB_TOKEN|--token/);
    const write = await run(connected, CREATE);
    expect(write.json).toMatchObject({ code: "unauthenticated" });
    expect(posts()).toBe(0);
  });

  it("an expired token, one that only reads, a stranger: 401, 403 and 404 are told apart", async () => {
    const expired = await connect([], { GITLAB_TOKEN: sandbox.tokens.expired });
    expect((await run(expired, ISSUES)).json).toMatchObject({ code: "unauthenticated", status: 401 });
    await expired.close();
    const reader = await connect([], { GITLAB_TOKEN: sandbox.tokens.reader });
    expect((await run(reader, ISSUES)).isError).toBe(false);
    const refused = await run(reader, CREATE);
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/scope/);
    const missing = await run(reader, { action: "project.get", params: { project_id: "acme/nowhere" } });
    expect(missing.json).toMatchObject({ code: "not_found", status: 404 });
  });
});

describe("wrong input", () => {
  it("unknown action, unknown argument, wrong type: named, with the nearest and the signature, and nothing is sent", async () => {
    const connected = await connect();
    const before = sandbox.requests.length;
    expect((await run(connected, { action: "issue.lst", params: {} })).json).toMatchObject({
      code: "unknown_action",
      nearest: expect.arrayContaining(["issue.list"]),
    });
    const argument = await run(connected, { action: "issue.list", params: { project_id: "acme/webshop", stat: "opened" } });
    expect(argument.json).toMatchObject({ code: "invalid_params", signature: expect.stringContaining("issue.list(") });
    expect(argument.text).toMatch(/stat.*state/s);
    const type = await run(connected, { action: "issue.get", params: { project_id: "acme/webshop", issue_iid: "seven" } });
    expect(type.json).toMatchObject({ code: "invalid_params", fields: { issue_iid: expect.any(String) } });
    const entry = await connected.call("enable_toolset", { toolst: "ci" });
    expect(entry.json).toMatchObject({ code: "invalid_params", fields: { toolst: expect.stringContaining("toolset") } });
    expect(sandbox.requests.length).toBe(before);
  });
});
