import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { Action, CallContext, Facts, Outcome, Source } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { AUDIT_SCHEMA, type AuditLine } from "../../src/executor/audit.ts";
import { openAudit } from "../../src/executor/audit-file.ts";
import { createRoad } from "../../src/executor/dispatch.ts";
import { createLog } from "../../src/log.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";
import { settingsFor } from "../support/settings.ts";

type Json = Record<string, unknown>;

const FACTS: Facts = { user: { id: 2, username: "maria" } };
const schema = z.fromJSONSchema(AUDIT_SCHEMA as unknown as Parameters<typeof z.fromJSONSchema>[0]);

let road: SandboxRoad | undefined;
afterEach(() => road?.close());

async function open(identity: "name" | "hash", ...flags: string[]) {
  const lines: AuditLine[] = [];
  const audit = { identity, session: "s-1", write: (line: AuditLine) => void lines.push(line) };
  road = await openRoad({ flags, audit, facts: () => FACTS });
  const running = road;
  const ask = async (name: string, params: Json, more: Partial<CallContext> = {}) =>
    await running.run(name, params, undefined, more).catch((error: unknown) => error);
  const run = (name: string, params: Json) => ask(name, params);
  return { lines, run, ask, sandbox: running.sandbox };
}

const CREATE = { project_id: "acme/webshop", title: "A title that no audit may hold", description: "nor this text" };

describe("the audit", () => {
  it("has one line for each action that ran or was refused, shown, asked or failed, and every line fits the published schema", async () => {
    const { lines, run } = await open("name", "--exclude-tools=branch.delete");
    await run("issue.create", CREATE);
    await run("issue.get", { project_id: "acme/webshop", issue_iid: 1 });
    await run("branch.delete", { project_id: "acme/webshop", branch: "main" });
    await run("tag.delete", { project_id: "acme/webshop", tag_name: "v1" });
    await run("issue.get", { project_id: "acme/webshop", issue_iid: 99_999 });
    await run("issue.get", { project_id: "acme/webshop", issue_id: "seven" });
    expect(
      lines.map(({ action, effect, verdict, rule, status, project, iid }) => [action, effect, verdict, rule, status, project, iid]),
    ).toEqual([
      ["issue.create", "write", "permitted", undefined, 201, "acme/webshop", undefined],
      ["issue.get", "read", "permitted", undefined, 200, "acme/webshop", 1],
      ["branch.delete", "destructive", "refused", "ceiling", "not_permitted", "acme/webshop", undefined],
      ["tag.delete", "destructive", "refused", "confirm", "confirmation_required", "acme/webshop", undefined],
      ["issue.get", "read", "failed", undefined, 404, "acme/webshop", 99_999],
      ["issue.get", "read", "refused", undefined, "invalid_params", "acme/webshop", undefined],
    ]);
    for (const line of lines) {
      expect(schema.safeParse(line).error?.issues, JSON.stringify(line)).toBeUndefined();
      expect(line).toMatchObject({ user_id: 2, user_name: "maria", session: "s-1", instance: expect.stringMatching(/^http:/) });
      expect(line.duration_ms).toBeGreaterThanOrEqual(0);
    }
    expect(lines[0]?.request_id).toMatch(/\S{8,}/);
    expect(JSON.stringify(lines)).not.toMatch(/no audit may hold|nor this text/);
  });

  it("tells a preview, and the parts of a batch beside the batch", async () => {
    const { lines, run } = await open("name", "--safe-mode");
    await run("issue.create", CREATE);
    await run("batch.run", { calls: [{ action: "issue.get", params: { project_id: 101, issue_iid: 1 } }] });
    expect(lines.map(({ action, verdict, part }) => [action, verdict, part])).toEqual([
      ["issue.create", "previewed", undefined],
      ["issue.get", "permitted", true],
      ["batch.run", "permitted", undefined],
    ]);
  });

  it("tells who was asked, what could not be carried out, and what an argument makes of a call", async () => {
    const { lines, ask } = await open("name", "--allow-raw");
    const branch = { project_id: "acme/webshop", branch: "no-such" };
    await ask("branch.delete", branch, { canAsk: true });
    await ask("branch.delete", { ...branch, confirm: true });
    await ask("commit.create", {
      project_id: "acme/webshop",
      branch: "tidy",
      start_branch: "main",
      commit_message: "x",
      actions: [{ action: "delete", file_path: "README.md" }],
      confirm: true,
    });
    await ask("gitlab.rest", { method: "GET", path: "/projects/101" }, { client: "inspector\u0007 1" });
    expect(lines.map(({ action, effect, verdict, rule, status }) => [action, effect, verdict, rule, status])).toEqual([
      ["branch.delete", "destructive", "asked", "confirm", "ok"],
      ["branch.delete", "destructive", "failed", undefined, 404],
      ["commit.create", "destructive", "permitted", undefined, 201],
      ["gitlab.rest", "read", "permitted", undefined, 200],
    ]);
    expect(lines[1]?.request_id).toMatch(/\S{8,}/);
    expect(lines[3]?.client).toBe("inspector  1");
  });

  it("of a call that nobody looked at tells its place only where that is one", async () => {
    const { lines, run } = await open("name", "--read-only");
    await run("issue.create", { project_id: "Ignore all this and\nread me", issue_iid: "7 or so", title: "x" });
    await run("issue.note_create", { project_id: "acme/webshop", issue_iid: 7, body: "x" });
    await run("gitlab.rest", { method: "GET", path: "/projects/101/issues/1" });
    expect(lines.map(({ project, iid }) => [project, iid])).toEqual([
      [undefined, undefined],
      ["acme/webshop", 7],
      [undefined, undefined],
    ]);
  });

  it("finds out who calls where nobody has asked yet, once, and lives without where GitLab does not tell", async () => {
    for (const told of [true, false]) {
      const lines: AuditLine[] = [];
      road = await openRoad({ audit: { identity: "name", write: (line) => void lines.push(line) }, flags: ["--read-only", "--retries=0"] });
      if (!told) road.sandbox.fail({ kind: "503", match: { path: /\/user$/ } });
      await road.run("issue.create", CREATE).catch(() => undefined);
      await road.run("issue.get", { project_id: 101, issue_iid: 1 });
      expect(lines.map(({ verdict, user_name }) => [verdict, user_name])).toEqual([
        ["refused", told ? "maria" : undefined],
        ["permitted", told ? "maria" : undefined],
      ]);
      expect(road.sandbox.requests.filter(({ path }) => path.endsWith("/user"))).toHaveLength(1);
      await road.close();
    }
    road = undefined;
  });

  it("tells every end of a call: cancelled, in time or not, of another server, by hand, of a composite; never what was in it", async () => {
    const { lines, ask, sandbox } = await open("name", "--allow-raw", "--retries=0", "--timeout=1000", "--confirm=human");
    const secret = "words that no line may hold";
    await ask("issue.note_create", { project_id: "acme/webshop", issue_iid: 1, body: secret }, { signal: AbortSignal.abort() });
    sandbox.fail({ kind: "hang", times: 1, match: { path: /issues\/1$/ } });
    await ask("issue.get", { project_id: "acme/webshop", issue_iid: 1 });
    sandbox.fail({ kind: "hang", times: 1, match: { method: "POST", path: /notes$/ } });
    await ask("issue.note_create", { project_id: "acme/webshop", issue_iid: 1, body: secret });
    await ask("gitlab.rest", { method: "POST", path: "/projects/101/issues/1/notes", body: { body: secret } });
    await ask("gitlab.graphql", { document: `{ currentUser { username } } # ${secret}` });
    await ask("branch.delete", { project_id: "acme/webshop", branch: "main", confirm: true });
    await ask("merge_request.overview", { project_id: "acme/webshop", merge_request_iid: 42 });
    const own = lines.filter(({ part }) => !part);
    expect(own.map(({ action, verdict, rule, status, project, iid }) => [action, verdict, rule, status, project, iid])).toEqual([
      ["issue.note_create", "failed", undefined, "cancelled", "acme/webshop", 1],
      ["issue.get", "failed", undefined, "timeout", "acme/webshop", 1],
      ["issue.note_create", "failed", undefined, "outcome_unknown", "acme/webshop", 1],
      ["gitlab.rest", "permitted", undefined, 201, "101", 1],
      ["gitlab.graphql", "permitted", undefined, 200, undefined, undefined],
      ["branch.delete", "refused", "confirm", "confirmation_required", "acme/webshop", undefined],
      ["merge_request.overview", "permitted", undefined, "ok", "acme/webshop", 42],
    ]);
    expect(lines.filter(({ part }) => part).length).toBeGreaterThan(2);
    for (const line of lines) expect(schema.safeParse(line).error?.issues, JSON.stringify(line)).toBeUndefined();
    expect(JSON.stringify(lines)).not.toContain("no line may hold");
  });

  it("of another server's tool: done, failed there, away, refused here, and its links", async () => {
    const lines: AuditLine[] = [];
    const action: Action = {
      id: "other.tool",
      tool: "tool",
      title: "T",
      about: "",
      effect: "write",
      params: {},
      schema: { type: "object" },
      toolset: "other",
      source: "other",
    };
    let end: () => Promise<Outcome> = async () => ({ kind: "relayed", result: { content: [{ type: "text", text: "secret words" }] } });
    const source: Source = {
      name: "other",
      toolsets: () => [{ name: "other", title: "Other", about: "" }],
      actions: () => [action],
      run: () => end(),
      preview: async () => ({}),
    };
    const context = { principal: { instance: "https://gitlab.test" }, signal: new AbortController().signal, canAsk: false, meta: {} };
    let flags: readonly string[] = [];
    const upstream = createRoad({
      registry: createRegistry([source]),
      policy: createPolicy(() => settingsFor(...flags)),
      facts: () => FACTS,
      normalize: () => ({ instance: "https://gitlab.test" }),
      audit: { identity: "name", write: (line) => void lines.push(line) },
    });
    const call = () => upstream.run({ name: "other.tool", params: { secret: "words" } }, context).catch(() => undefined);
    await call();
    end = async () => ({ kind: "relayed", result: { content: [], isError: true } });
    await call();
    end = () => Promise.reject(new BridgeError("upstream_unavailable", "gone: secret words", "Call again."));
    await call();
    end = () => Promise.reject(new TypeError("a bug, with secret words"));
    await call();
    await upstream.follow("other.tool", context, async () => ({ contents: [{ text: "secret words" }] }));
    flags = ["--read-only"];
    await call();
    await upstream.follow("other.tool", context, async () => ({ contents: [] })).catch(() => undefined);
    expect(lines.map(({ verdict, rule, status, effect }) => [verdict, rule, status, effect])).toEqual([
      ["permitted", undefined, "ok", "write"],
      ["failed", undefined, "tool_error", "write"],
      ["failed", undefined, "upstream_unavailable", "write"],
      ["failed", undefined, "internal", "write"],
      ["permitted", undefined, "ok", "read"],
      ["refused", "read_only", "not_permitted", "write"],
      ["refused", "read_only", "not_permitted", "read"],
    ]);
    for (const line of lines) expect(schema.safeParse(line).error?.issues, JSON.stringify(line)).toBeUndefined();
    expect(JSON.stringify(lines)).not.toContain("words");
  });

  it("every field of the published schema is told by some run, and nothing beside", async () => {
    const seen = new Set<string>();
    const note = (lines: readonly AuditLine[]) => {
      for (const line of lines) for (const key of Object.keys(line)) seen.add(key);
    };
    for (const identity of ["name", "hash"] as const) {
      const { lines, ask } = await open(identity, "--exclude-tools=branch.delete");
      await ask("issue.get", { project_id: 101, issue_iid: 1 }, { client: "inspector" });
      await ask("branch.delete", { project_id: 101, branch: "x" });
      await ask("batch.run", { calls: [{ action: "issue.get", params: { project_id: 101, issue_iid: 1 } }] });
      note(lines);
      await road?.close();
    }
    expect([...seen].toSorted()).toEqual(Object.keys(AUDIT_SCHEMA.properties).toSorted());
    road = undefined;
  });

  it("can know the user by a hash alone, the same one each time", async () => {
    const { lines, run } = await open("hash");
    await run("issue.get", { project_id: 101, issue_iid: 1 });
    await run("issue.get", { project_id: 101, issue_iid: 2 });
    for (const line of lines) expect(line).not.toHaveProperty("user_id");
    expect(JSON.stringify(lines)).not.toContain("maria");
    expect(lines[0]?.user_hash).toMatch(/^[0-9a-f]{24}$/);
    expect(lines[1]?.user_hash).toBe(lines[0]?.user_hash);
  });

  it("is appended to a file that only its owner reads; one that cannot be written stops the start", () => {
    const file = join(mkdtempSync(join(tmpdir(), "audit-")), "audit.jsonl");
    const log = createLog({ level: "silent" });
    const line: AuditLine = {
      time: new Date(0).toISOString(),
      instance: "https://gitlab.test",
      action: "issue.get",
      effect: "read",
      verdict: "permitted",
      status: 200,
      duration_ms: 1,
      project: "glpat-abcdefghijklmnop",
      client: '-----BEGIN PRIVATE KEY-----","verdict":"private-token": ',
    };
    for (let start = 0; start < 2; start++) {
      const audit = openAudit(file, log);
      audit.write(line);
      audit.close();
    }
    const lines = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as AuditLine);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      action: "issue.get",
      project: "glpat-[masked]",
      verdict: "permitted",
      client: "-----BEGIN PRIVATE KEY-----[masked]",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(() => openAudit("/no/such/folder/audit", log)).toThrow(/--audit: \/no\/such\/folder\/audit cannot be written \(ENOENT\)/);
  });
});
