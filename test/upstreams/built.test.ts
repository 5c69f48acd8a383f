import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { initialize, spawnWire, type Wire } from "../support/wire.ts";
import { fixture, unframed } from "./chain.ts";

let wire: Wire | undefined;
afterEach(() => {
  wire?.child.kill("SIGKILL");
  wire = undefined;
});

function fileOf(value: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), "upstreams-")), "upstreams.json");
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(execFileSync("cat", [`/proc/${pid}/stat`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return false;
  }
};

type Result = { content: { text: string }[]; tools: { name: string }[] };

describe("the built server with upstreams", () => {
  it.each<[string, unknown, RegExp]>([
    ["an unknown key", { mcpServers: { a: { command: "x", exlude: [] } } }, /"exlude".*the nearest is "exclude"/],
    ["no JSON", "{ nothing", /neither JSON nor YAML/],
    ["a variable that is not set", { mcpServers: { a: { command: ["$", "{NO_SUCH_NAME}"].join("") } } }, /NO_SUCH_NAME, which is not set/],
  ])("%s stops the start with code 2 and one line", async (_what, value, says) => {
    wire = spawnWire(["--sandbox", `--upstreams=${fileOf(value)}`]);
    expect(await wire.exited).toBe(2);
    expect(wire.stderr().trim().split("\n")).toHaveLength(1);
    expect(wire.stderr()).toMatch(says);
  });

  it("a file that is not there stops the start; a toolset that nobody knows too", async () => {
    wire = spawnWire(["--sandbox", "--upstreams=/nonexistent.json"]);
    expect(await wire.exited).toBe(2);
    expect(wire.stderr()).toMatch(/cannot be read \(ENOENT\)/);
    wire = spawnWire(["--sandbox", `--upstreams=${fileOf({ mcpServers: { fix: fixture("legacy.mjs") } })}`, "--toolsets=arithmetik"]);
    expect(await wire.exited).toBe(2);
    expect(wire.stderr()).toMatch(/arithmetik; nearest: arithmetic/);
  });

  it("a toolset that only the upstream knows may be on from the start", async () => {
    wire = spawnWire(["--sandbox", `--upstreams=${fileOf({ mcpServers: { fix: fixture("legacy.mjs") } })}`, "--toolsets=arithmetic"]);
    await initialize(wire);
    const list = await wire.request("tools/list");
    expect((list.result as Result).tools.map(({ name }) => name)).toContain("sum");
  });

  it.each(["the end of stdin", "SIGTERM", "SIGKILL"] as const)(
    "after %s no process of an upstream is left, whatever it ignores",
    async (how) => {
      wire = spawnWire(["--sandbox", `--upstreams=${fileOf({ mcpServers: { fix: fixture("stubborn.mjs") } })}`]);
      await initialize(wire);
      const answer = await wire.request("tools/call", { name: "gitlab_execute_action", arguments: { action: "fix.pids", params: {} } });
      const pids = JSON.parse(unframed((answer.result as Result).content[0]?.text)) as number[];
      expect(pids.filter(isAlive)).toHaveLength(2);
      if (how === "the end of stdin") wire.child.stdin.end();
      else wire.child.kill(how);
      await wire.exited;
      await expect.poll(() => pids.filter(isAlive), { timeout: 5_000 }).toEqual([]);
    },
  );
});
