import { describe, expect, it } from "vitest";
import type { Option } from "../../src/config/option.ts";
import { OPTIONS } from "../../src/config/options.ts";
import { settingsTable, usage } from "../../src/config/usage.ts";

const options: Option[] = Object.values(OPTIONS);
const named = (option: Option) => [option.env, ...(option.aliases ?? []), ...(option.translated ?? []).map(({ env }) => env)];

describe("the table itself", () => {
  it("no flag and no own name twice", () => {
    expect(new Set(options.map(({ flag }) => flag)).size).toBe(options.length);
    expect(new Set(options.map(({ env }) => env)).size).toBe(options.length);
  });
  it("a name brought along sets one thing (a proxy for everything sets two)", () => {
    const names = options.flatMap(named).filter((name) => !/^all_proxy$/i.test(name));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
  it.each(options.map((option) => [option.flag, option] as const))("--%s is documented", (flag, option) => {
    expect(flag).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(option.about).toMatch(/^[A-Za-z].{10,}[^.]$/);
    expect(option.env).toMatch(/^(GITLAB_(URL|TOKEN(_FILE|_COMMAND)?)|GITLAB_BRIDGE_[A-Z_]+|(HTTPS?|NO)_PROXY)$/);
  });
});

describe("usage", () => {
  const help = usage();
  it("fits 100 columns", () => expect(help.split("\n").filter((line) => line.length > 100)).toEqual([]));
  it.each(options.map((option) => [option.flag, option] as const))("--%s stands in it, with all its names", (flag, option) => {
    const block = help.slice(help.search(new RegExp(`^  --${flag}\\b(?!-)`, "m")) + 2);
    const own = block.split(/\n(?: {2}-|\n)/)[0] ?? "";
    for (const name of named(option)) expect(own).toContain(name);
    expect(own.replace(/\s+/g, " ")).toContain(option.about);
  });
  it("tells defaults, ranges and what differs over HTTP", () => {
    expect(help).toContain("default https://gitlab.com");
    expect(help).toContain("default flag; over HTTP human");
    expect(help).toContain("default 2; 0 to 5");
    expect(help).toContain("--style bridge|toolsets|dynamic|");
  });
});

describe("settingsTable", () => {
  const table = settingsTable();
  const rows = table.split("\n").filter((line) => line.startsWith("| `--"));
  it("has one row for each setting, of four cells", () => {
    expect(rows).toHaveLength(options.length);
    for (const row of rows) expect(row.split(/(?<!\\)\|/)).toHaveLength(6);
  });
  it.each(options.map((option) => [option.flag, option] as const))("--%s with its names", (flag, option) => {
    const row = rows.find((line) => new RegExp(`^\\| \`--${flag}[ \`]`).test(line)) ?? "";
    for (const name of named(option)) expect(row).toContain(`\`${name}\``);
  });
  it("shows no secret and no default of one", () => expect(table).not.toMatch(/glpat/));
});
