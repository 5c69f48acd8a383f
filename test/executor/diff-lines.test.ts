import { describe, expect, it } from "vitest";
import { fitsPath, parseDiff } from "../../src/executor/diff-lines.ts";

const DIFF = [
  "--- a/x",
  "+++ b/x",
  "@@ -3,4 +3,5 @@ function one() {",
  " kept",
  "-gone",
  "--- looks like a header",
  "+came",
  "+++ looks like one too",
  "+@@ -1 +1 @@ and like a hunk",
  " end",
  "@@ -20 +21 @@",
  "-last",
  "\\ No newline at end of file",
  "+LAST",
  "\\ No newline at end of file",
  "",
].join("\n");

describe("a diff", () => {
  it("numbers its lines on both sides, whatever they look like", () => {
    const lines = parseDiff(DIFF).map((hunk) =>
      hunk.lines.map(({ sign, old, new: fresh, text }) => `${sign}|${old ?? ""}|${fresh ?? ""}|${text}`),
    );
    expect(lines).toEqual([
      [
        " |3|3|kept",
        "-|4||gone",
        "-|5||-- looks like a header",
        "+||4|came",
        "+||5|++ looks like one too",
        "+||6|@@ -1 +1 @@ and like a hunk",
        " |6|7|end",
      ],
      ["-|20||last", "+||21|LAST"],
    ]);
  });

  it("is empty where there is none", () => {
    expect(parseDiff("")).toEqual([]);
    expect(parseDiff("Binary files differ")).toEqual([]);
  });
});

describe("paths", () => {
  it.each([
    ["src/a.ts", "src/a.ts", true],
    ["src/a.ts", "lib/src/a.ts", false],
    ["*.ts", "src/deep/a.ts", true],
    ["*.ts", "src/a.tsx", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/x/y/a.ts", true],
    ["**/test/**", "a/test/b/c.ts", true],
    ["src", "src/a.ts", true],
    ["src/", "src/a.ts", true],
    ["./src/a.ts", "src/a.ts", true],
    ["a.b", "axb", false],
    ["package-lock.json", "web/package-lock.json", true],
    ["(x)?.ts", "(x)y.ts", true],
  ])("%s fits %s: %s", (pattern, path, fits) => {
    expect(fitsPath(pattern, path)).toBe(fits);
  });
});
