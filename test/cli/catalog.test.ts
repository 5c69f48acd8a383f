import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Host, run } from "../../src/cli/run.ts";

const ROOT = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "catalog-"));
afterAll(() => rmSync(folder, { recursive: true }));

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  for (const name of ["log", "error"] as const) vi.spyOn(console, name).mockImplementation((text: string) => void said.push(text));
});
afterEach(() => vi.restoreAllMocks());

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Runs one command; gives its exit code. */
async function call(argv: readonly string[], env: Host["env"] = {}): Promise<number> {
  const exit = (code: number): never => {
    throw new Exit(code);
  };
  const host: Host = { argv: ["catalog", ...argv], env, cwd: ROOT, exit, home: folder, node: "", script: "", colour: false };
  try {
    await run(host);
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
}

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe("catalog check", () => {
  it("finds nothing without a reason in the excerpt of GitLab's own document", async () => {
    expect([await call(["check"]), said.at(-1)]).toEqual([0, "\nNo difference without a reason."]);
    expect(said.join("\n")).toMatch(/openapi\.json: 3\d\d operations/);
  });

  it("tells what a document has that the rows have not, and fails; YAML, environment and flag lead to it", async () => {
    const yaml = 'openapi: 3.0.0\npaths:\n  "/api/v4/novelties":\n    get:\n      responses: {}\n';
    const document = file("new.yaml", yaml);
    for (const [argv, env] of [
      [["check", "--spec", document], {}],
      [["check"], { GITLAB_OPENAPI: document }],
      [["check", "--spec", document], { GITLAB_OPENAPI: "/nowhere" }],
    ] as const) {
      said.length = 0;
      expect(await call(argv, env)).toBe(1);
      expect(said.join("\n")).toContain("missing (operation): 1\n  GET /novelties");
      expect(said.join("\n")).toMatch(/gone \(operation\): \d{3}/);
    }
  });

  it.each([
    [["check", "--spec", "/nowhere.yaml"], /There is no file \/nowhere\.yaml/],
    [["check", "--spec"], /--spec needs a file/],
    [["check", "--spec", file("bad.yaml", "a: [1\nb: {")], /neither JSON nor YAML/],
    [["check", "--spec", file("empty.json", "{}")], /holds no operations/],
    [["diff", "one"], /Two catalogs/],
    [["diff", "/nowhere", "/nowhere"], /no file or directory/],
    [["dump"], /A file is needed/],
    [["chekc"], /takes check, diff or dump/],
    [[], /takes check, diff or dump/],
  ])("refuses %j", async (argv, words) => {
    expect(await call(argv)).toBe(2);
    expect(said.at(-1)).toMatch(words);
  });
});

describe("catalog diff", () => {
  it("finds the rows equal to their own dump, and tells what another one changes", async () => {
    const dump = join(folder, "dump.json");
    expect(await call(["dump", dump])).toBe(0);
    expect(await call(["diff", join(ROOT, "src/catalog/data"), dump])).toBe(0);
    expect(said.at(-1)).toBe("No difference.");
    const other = file("other.json", JSON.stringify([{ id: "x.get", tool: "get_x", toolset: "core", effect: "read", params: {} }]));
    await call(["diff", dump, other]);
    expect(said.join("\n")).toMatch(/removed: \d{3,}\n/);
    expect(said.join("\n")).toContain("added: 1\n  x.get (core, read)");
  });
});
