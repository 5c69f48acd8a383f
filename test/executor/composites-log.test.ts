import { describe, expect, it } from "vitest";
import { tellingLines, toPlainLines } from "../../src/executor/composite-log.ts";

const filler = (count: number) => Array.from({ length: count }, (_, index) => `Downloading package ${index} of many`);

const rspec = [
  "\u001b[0KRunning with gitlab-runner 17.5.0 (abc12345)\u001b[0;m",
  "section_start:1700000000:step_script\r\u001b[0K\u001b[0K\u001b[36;1mExecuting step_script\u001b[0;m",
  ...filler(300),
  "12 examples, 2 failures, 0 errors",
  "Failures:",
  "",
  "  1) Cart adds the tax once",
  "     \u001b[31mFailure/Error: expect(cart.total).to eq(119)\u001b[0m",
  "",
  "       expected: 119",
  "            got: 100",
  "     # ./spec/cart_spec.rb:12",
  ...filler(40),
  "section_end:1700000100:step_script\r\u001b[0K",
  "Cleaning up project directory and file based variables",
  "\u001b[31;1mERROR: Job failed: exit code 1\u001b[0;m",
  "",
].join("\n");

describe("plain lines", () => {
  it("look as they did on the screen", () => {
    const log =
      "\u001b[32mgreen\u001b[0m\n10%\r50%\r100%\r\n2026-01-02T03:04:05.123456Z 01O stamped\nsection_start:1:a_b[collapsed=true]\r\u001b[0Ktitle\nbell\u0007\ttab";
    expect(toPlainLines(log)).toEqual(["green", "100%", "stamped", "title", "bell\ttab"]);
  });
});

describe("telling lines", () => {
  it("hold the failure with what was expected and how the job ended, and little else", () => {
    const lines = tellingLines(rspec);
    const log = lines.join("\n");
    for (const part of [
      "1) Cart adds the tax once",
      "expect(cart.total).to eq(119)",
      "expected: 119",
      "got: 100",
      "ERROR: Job failed: exit code 1",
    ]) {
      expect(log).toContain(part);
    }
    expect(log).not.toContain("\u001b");
    expect(log).not.toContain("section_");
    expect(lines.filter((line) => line.startsWith("Downloading")).length).toBeLessThanOrEqual(2);
  });

  it("say each thing once", () => {
    const same = Array.from({ length: 200 }, (_, index) => `src/a.ts(${index},7): error TS2304: Cannot find name 'x${index}'.`);
    const lines = tellingLines([...same, "ERROR: Job failed: exit code 2"].join("\n"));
    expect(lines.length).toBeLessThanOrEqual(6);
    expect(lines[0]).toBe(same[0]);
    expect(lines.at(-1)).toBe("ERROR: Job failed: exit code 2");
  });

  it("are never more than asked for, nor wider", () => {
    const loud = Array.from(
      { length: 500 },
      (_, index) => `${"abcdefghij".charAt(index % 10)}${"q".repeat(index)} error: ${"y".repeat(400)}`,
    );
    for (const max of [2, 6, 25]) {
      const lines = tellingLines(loud.join("\n"), max);
      expect(lines.length).toBeLessThanOrEqual(max);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(200);
    }
  });

  it.each([
    ["npm ERR! code ELIFECYCLE"],
    ["Traceback (most recent call last):"],
    ["AssertionError: 1 != 2"],
    ["--- FAIL: TestThing (0.00s)"],
    ["FAIL src/cart.test.ts"],
    ["✗ adds the tax"],
    ["  Expected: 119"],
    ["bash: jq: command not found"],
    ["java.lang.NullPointerException: x"],
    ["fatal: unable to access the repository"],
  ])("find %s among much else", (line) => {
    expect(tellingLines([...filler(200), line, ...filler(200)].join("\n"))).toContain(line);
  });

  it("are the end of the log where nothing looks like an error", () => {
    const lines = tellingLines([...filler(50), "the last words"].join("\n"));
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe("the last words");
  });

  it("are none for an empty log", () => {
    expect(tellingLines("")).toEqual([]);
    expect(tellingLines("\n\u001b[0K\n")).toEqual([]);
  });
});
