import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawStyle } from "../../src/surface/trial.ts";
import type { TrialLine } from "../../src/surface/trial-line.ts";
import { CLIENT_KINDS, type ClientKind, connectStdio } from "../support/clients.ts";
import { type Crowd, markOf, startCrowd, tokenOf } from "../support/http.ts";

const SALT = "a-salt-for-the-tests";
const SHARES = [
  { style: "bridge", weight: 1 },
  { style: "dynamic", weight: 1 },
] as const;

let crowd: Crowd;
let home: string;
let number = 0;
beforeAll(async () => {
  crowd = await startCrowd();
  home = mkdtempSync(join(tmpdir(), "live-stdio-"));
});
afterAll(async () => {
  await crowd.close();
  rmSync(home, { recursive: true, force: true });
});

const someone = (style: string) =>
  Array.from({ length: 500 }, (_, index) => index + 1).find((user) => drawStyle(SHARES, SALT, `${crowd.url}\n${user}`) === style) ?? 0;
const newFile = () => join(home, `${number++}.jsonl`);
const flags = (file: string) => ["--ab=style:bridge=1,dynamic=1", `--ab-log=${file}`, `--ab-salt=${SALT}`, `--url=${crowd.url}`];
const lines = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TrialLine);

const FIRST = { bridge: "list_available_toolsets", dynamic: "gitlab_find_action" } as const;

describe.each(CLIENT_KINDS)("styles compared over stdio, %s", (kind: ClientKind) => {
  it.each(["bridge", "dynamic"] as const)("a user of %s always gets it, and instructions speak of it", async (style) => {
    const user = someone(style);
    const file = newFile();
    for (let start = 0; start < 2; start++) {
      const client = await connectStdio(kind, { args: flags(file), env: { GITLAB_TOKEN: tokenOf(user) } });
      expect((await client.list())[0]?.name).toBe(FIRST[style]);
      if (style === "dynamic") expect(client.instructions()).not.toContain("enable_toolset");
      await client.call("gitlab_find_action", { query: "list issues" });
      await client.close();
    }
    const written = lines(file);
    const kinds = ["assignment", "list", "call"];
    expect(written.map((line) => line.kind)).toEqual([...kinds, ...kinds]);
    expect(new Set(written.map((line) => line.style))).toEqual(new Set([style]));
    expect(new Set(written.map((line) => line.user)).size).toBe(1);
    expect(new Set(written.map((line) => line.session)).size).toBe(2);
    expect(readFileSync(file, "utf8")).not.toContain(markOf(user));
  });

  it("without a token has the default style, and is left out", async () => {
    const file = newFile();
    const client = await connectStdio(kind, { args: flags(file) });
    expect((await client.list())[0]?.name).toBe(FIRST.bridge);
    await client.close();
    expect(lines(file)).toEqual([expect.objectContaining({ kind: "excluded", reason: "no_user", style: "bridge", transport: "stdio" })]);
  });
});
