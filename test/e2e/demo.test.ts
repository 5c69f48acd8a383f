import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { DIST } from "../support/clients.ts";
import { secretsIn } from "../support/printed.ts";

describe("the tour", () => {
  it("ends well, and shows no secret", { timeout: 180_000 }, async () => {
    const child = spawn(process.execPath, [DIST, "demo"], { env: { PATH: process.env.PATH ?? "" } });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        printed += chunk.toString("utf8");
      });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code, printed.slice(-500)).toBe(0);
    expect(printed).toContain("Everything did what it should.");
    expect(secretsIn(printed)).toEqual([]);
  });
});
