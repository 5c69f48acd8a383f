import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { CLIENT_KINDS, connectStdio, DIST } from "../support/clients.ts";
import { keepPrinted } from "../support/printed.ts";
import { initialize, spawnWire, type Wire } from "../support/wire.ts";

let wire: Wire | undefined;
afterEach(() => {
  wire?.child.kill("SIGKILL");
  wire = undefined;
});

const folder = () => mkdtempSync(join(tmpdir(), "policy-"));

async function call(running: Wire, name: string, args: Record<string, unknown>) {
  const { result } = await running.request("tools/call", { name, arguments: args });
  return result as { isError?: boolean; structuredContent: Record<string, unknown>; content: { text?: string }[] };
}
const execute = (running: Wire, action: string, params: Record<string, unknown>) =>
  call(running, "gitlab_execute_action", { action, params, confirm: true });
const names = async (running: Wire) =>
  ((await running.request("tools/list")).result as { tools: { name: string }[] }).tools.map((tool) => tool.name);

const NOTE = { project_id: "acme/webshop", issue_iid: 1, body: "Seen." };

describe("a policy file", () => {
  it("holds from the start, is read again on SIGHUP for clients that are connected, and a bad one changes nothing", async () => {
    const file = join(folder(), "policy.yaml");
    writeFileSync(file, "exclude_tools: [branch.delete]\n");
    wire = spawnWire(["--sandbox", "--policy", file, "--toolsets=work_items"]);
    const running = wire;
    await initialize(running);
    expect((await execute(running, "issue.note_create", NOTE)).isError).toBeUndefined();
    expect((await execute(running, "branch.delete", { project_id: 101, branch: "x" })).structuredContent).toMatchObject({
      rule: "ceiling",
    });
    expect(await names(running)).toContain("create_issue");

    writeFileSync(file, "read_only: [work_items]\n");
    running.child.kill("SIGHUP");
    await expect.poll(() => running.stderr()).toContain("was read again");
    expect((await execute(running, "issue.note_create", NOTE)).structuredContent).toMatchObject({
      code: "not_permitted",
      rule: "read_only",
    });
    expect(await names(running)).not.toContain("create_issue");
    expect(await names(running)).toContain("list_issues");
    // The client is told, once.
    const told = () => running.lines.filter(({ method }) => method === "notifications/tools/list_changed").length;
    expect(told()).toBe(1);

    writeFileSync(file, "read_onli: true\n");
    running.child.kill("SIGHUP");
    await expect.poll(() => running.stderr()).toMatch(/the old one stays\. .*read_onli is not a key; the nearest is read_only/);
    expect((await execute(running, "issue.note_create", NOTE)).structuredContent).toMatchObject({ rule: "read_only" });
    expect((await execute(running, "issue.list", { project_id: 101 })).isError).toBeUndefined();
    expect(told()).toBe(1);
  });

  it.each(CLIENT_KINDS)("read again on SIGHUP holds for a client of kind %s, which is told once where it can be", async (kind) => {
    const file = join(folder(), "policy.yaml");
    writeFileSync(file, "exclude_tools: [branch.delete]\n");
    const client = await connectStdio(kind, { args: ["--sandbox", "--policy", file, "--toolsets=work_items", "--confirm=off"] });
    try {
      const listed = async () => (await client.list()).map((tool) => tool.name);
      expect(await listed()).toContain("create_issue");
      writeFileSync(file, "read_only: [work_items]\n");
      process.kill(client.pid() ?? Number.NaN, "SIGHUP");
      await expect.poll(listed, { timeout: 10_000 }).not.toContain("create_issue");
      const refused = await client.call("gitlab_execute_action", { action: "issue.note_create", params: NOTE });
      expect(refused.json).toMatchObject({ code: "not_permitted", rule: "read_only" });
      expect(client.changes()).toBe(kind === "sdk2-modern-deaf" ? 0 : 1);
    } finally {
      await client.close();
    }
  });

  it("bad or contradicting settings stop the start with one line and exit code 2", async () => {
    const file = join(folder(), "policy.yaml");
    for (const [text, args, says] of [
      ["confirm: human\n", ["--confirm=off"], /confirm: human and --confirm/],
      ["deny_regex: ['(?!x)']\n", [], /looks ahead/],
      ["allow_toolsets: [cii]\n", [], /no cii; nearest: ci/],
      ["allow_toolsets: [ci]\n", ["--tools=list_issues"], /--tools names list_issues/],
    ] as const) {
      writeFileSync(file, text);
      wire = spawnWire(["--policy", file, ...args]);
      expect(await wire.exited).toBe(2);
      expect(wire.stderr().trim().split("\n")).toHaveLength(1);
      expect(wire.stderr()).toMatch(says);
    }
    wire = spawnWire(["--policy", "/no/such/file"]);
    expect(await wire.exited).toBe(2);
    expect(wire.stderr()).toContain("/no/such/file cannot be read (ENOENT)");
  });

  it("doctor policy explains verdict and rule of an action, and sums up every toolset", () => {
    const file = join(folder(), "policy.yaml");
    writeFileSync(file, "read_only: [ci]\nexclude_tools: [branch.delete]\nallow_projects: [acme/webshop]\n");
    const doctor = (...args: string[]) =>
      execFileSync(process.execPath, [DIST, "doctor", "policy", file, ...args], { encoding: "utf8" })
        .trim()
        .split("\n");
    expect(doctor("job.retry", "delete_branch", "issue.list", "tag.delete", "group.create")).toEqual([
      "job.retry (write, toolset ci): refused by the rule read_only: the toolset ci is read-only here (--read-only)",
      "branch.delete (destructive, toolset repository): refused by the rule ceiling: it is outside what this server allows (--exclude-tools)",
      "issue.list (read, toolset work_items): permitted",
      "tag.delete (destructive, toolset repository): permitted; the rule confirm asks first (--confirm)",
      "group.create (write, toolset groups): refused by the rule scope: it cannot be limited to the projects that this server allows (--allow-projects)",
    ]);
    const summary = doctor();
    const ci = summary.find((line) => line.startsWith("ci:"));
    expect(ci).toMatch(/\d+ refused \(read_only\)/);
    expect(ci).toMatch(/\d+ permitted/);
    expect(doctor("tag.delete", "--confirm=off")[0]).toMatch(/: permitted$/);
    expect(spawnSync(process.execPath, [DIST, "doctor"]).status).toBe(2);
    expect(spawnSync(process.execPath, [DIST, "doctor", "policy", file, "no.such"]).status).toBe(2);
  });
});

describe("the audit of a running server", () => {
  it("goes to a file or to stderr, one JSON line per action, tokens and contents never in it", async () => {
    const file = join(folder(), "audit.jsonl");
    for (const where of [file, "stderr"]) {
      wire = spawnWire(["--sandbox", "--audit", where, "--read-only=ci"]);
      const running = wire;
      await initialize(running);
      await execute(running, "issue.note_create", NOTE);
      await execute(running, "job.retry", { project_id: 101, job_id: 1 });
      const text = where === "stderr" ? running.stderr() : readFileSync(file, "utf8");
      keepPrinted(text);
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines).toMatchObject([
        { action: "issue.note_create", verdict: "permitted", status: 201, project: "acme/webshop", iid: 1, client: "wire" },
        { action: "job.retry", verdict: "refused", rule: "read_only", status: "not_permitted" },
      ]);
      expect(text).not.toMatch(/Seen\.|sandbox-token/);
      running.child.kill("SIGKILL");
    }
  });
});

describe("everything that a server prints", () => {
  it("holds no token in use and no value of a CI variable: stdout, stderr, answers, previews, errors, audit", async () => {
    const token = "glpat-Own5erverT0kenOfThisRun";
    for (const flags of [["--confirm=off"], ["--safe-mode"]]) {
      wire = spawnWire(["--sandbox", "--log-level=debug", "--audit=stderr", ...flags], { GITLAB_TOKEN: token });
      const running = wire;
      await initialize(running);
      await execute(running, "user.current_get", {});
      running.child.kill("SIGKILL");
      // A token that GitLab does not know stays unshown in its refusal; the seeded one reads and writes.
      for (const text of [JSON.stringify(running.lines), running.stderr()]) expect(text).not.toContain(token);

      wire = spawnWire(["--sandbox", "--log-level=debug", "--audit=stderr", ...flags], { HOME: folder() });
      const seeded = wire;
      await initialize(seeded);
      for (const [action, params] of [
        ["variable.list", { project_id: 101, full: true }],
        ["variable.get", { project_id: 101, key: "REGISTRY_PASSWORD" }],
        ["variable.update", { project_id: 101, key: "REGISTRY_PASSWORD", value: "s3cret-value-of-this-run" }],
        ["variable.create", { project_id: 101, key: "NEW_ONE", value: "s3cret-value-of-this-run" }],
        ["variable.create", { project_id: 101, key: "not a key", value: "s3cret-value-of-this-run" }],
        ["access_token.create", { project_id: 101, name: "x", scopes: ["api"], access_level: 40 }],
        ["personal_access_token.self_get", {}],
        ["batch.run", { calls: [{ action: "variable.list", params: { project_id: 101 } }] }],
        ["no.such_action", { token: "s3cret-value-of-this-run" }],
      ] as [string, Record<string, unknown>][])
        await execute(seeded, action, params);
      const printed = JSON.stringify(seeded.lines) + seeded.stderr();
      expect(seeded.stderr()).toContain('"action":"variable.list"');
      expect(printed).not.toMatch(/sandbox-token-|sandbox-registry-password|release-bot|s3cret-value-of-this-run/);
      seeded.child.kill("SIGKILL");
    }
  });
});
