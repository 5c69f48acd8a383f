import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");

/** Floors from low to high; rooms on one floor do not know each other. */
const FLOORS: readonly (readonly string[])[] = [
  ["errors", "log", "nearest", "version", "visible"],
  ["config"],
  ["catalog"],
  ["policy"],
  ["registry"],
  ["discovery", "executor", "upstreams"],
  ["surface"],
  ["transport"],
  ["app"],
  ["sandbox", "ab"],
  ["cli"],
  ["main", "index"],
];

/** Rooms that see less than the floors below them. */
const ONLY: Readonly<Record<string, readonly string[]>> = { sandbox: ["sandbox", "catalog"] };

/** Packages have rooms too; a package that is not listed may be used nowhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@gitbeaker/rest": ["executor"],
  undici: ["executor", "upstreams"],
  socks: ["executor"],
  "p-queue": ["executor", "upstreams", "transport"],
  graphql: ["policy", "executor", "sandbox"],
  eventemitter3: ["registry", "upstreams"],
  "@modelcontextprotocol/server": ["surface", "transport", "upstreams", "ab", "cli"],
  "@modelcontextprotocol/client": ["surface", "transport", "upstreams", "ab", "cli"],
  zod: ["config", "catalog", "surface", "upstreams", "ab"],
  yaml: ["config"],
  "gpt-tokenizer": ["ab"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const roomOf = (file: string) => (file.split("/")[0] ?? "").replace(/\.ts$/, "");
const floorOf = (room: string) => FLOORS.findIndex((floor) => floor.includes(room));
const packageOf = (name: string) =>
  name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");

/** What is wrong with one import, or nothing. */
function finding({ from, to }: Import): string | undefined {
  const room = roomOf(from);
  if (to.startsWith("node:")) return undefined;
  if (!to.startsWith(".")) {
    const rooms = PACKAGES[packageOf(to)];
    return rooms?.includes(room) ? undefined : `${from} may not use the package ${packageOf(to)}`;
  }
  const target = normalize(join(dirname(from), to));
  const other = roomOf(target);
  if (other === room && room !== "main" && room !== "index") return undefined;
  if (floorOf(room) < 0 || floorOf(other) < 0) return `${from} or ${target} stands on no floor`;
  if (ONLY[room] && !ONLY[room].includes(other)) return `${from} may not know ${target}`;
  return floorOf(other) < floorOf(room) ? undefined : `${from} may not look up or sideways to ${target}`;
}

/** All import sources of a file, dynamic ones and re-exports included. */
function importsOf(file: string): Import[] {
  const found: Import[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      node.forEach(visit);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    const { type, source } = node as { type?: string; source?: { value?: unknown } };
    if (type && /^(Import|Export\w*)(Declaration|Expression)$/.test(type) && typeof source?.value === "string")
      found.push({ from: relative(SRC, file), to: source.value });
    Object.values(node).forEach(visit);
  };
  visit(parseAst(readFileSync(file, "utf8"), { lang: "ts" }));
  return found;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join(SRC, name));

describe("walls", () => {
  it("every import goes to the own room or a floor below, every package stays in its rooms", () => {
    const imports = files.flatMap(importsOf);
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.map(finding).filter((text) => text !== undefined)).toEqual([]);
  });

  it("bites", () => {
    expect(finding({ from: "catalog/load.ts", to: "../policy/policy.ts" })).toMatch(/look up/);
    expect(finding({ from: "discovery/find.ts", to: "../executor/dispatch.ts" })).toMatch(/sideways/);
    expect(finding({ from: "sandbox/server.ts", to: "../policy/policy.ts" })).toMatch(/may not know/);
    expect(finding({ from: "surface/server.ts", to: "undici" })).toMatch(/package undici/);
    expect(finding({ from: "executor/requester.ts", to: "lodash" })).toMatch(/package lodash/);
    expect(importsOf(join(SRC, "app.ts")).some(({ to }) => to === "./executor/gitlab.ts")).toBe(true);
  });

  it("no file reads the process's environment or arguments but main.ts", () => {
    const readers = files.filter((file) => /process\.(env|argv)\b/.test(readFileSync(file, "utf8"))).map((file) => relative(SRC, file));
    expect(readers).toEqual(["main.ts"]);
  });

  it("files have at most 400 lines", () => {
    const long = files.filter((file) => readFileSync(file, "utf8").split("\n").length > 401).map((file) => relative(SRC, file));
    expect(long).toEqual([]);
  });
});
