import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import { loadDifferences, loadLeftOut } from "../../src/catalog/spec-reasons.ts";
import type { Action } from "../../src/catalog/types.ts";
import { ROUTES } from "./differences.ts";
import { skeleton } from "./facts.ts";
import { aRow } from "./law.ts";

type Classed = readonly [kind: string, method: string, path: string];

const CLASSES = JSON.parse(readFileSync(new URL("../../fixtures/facts/classes.json", import.meta.url), "utf8")) as Classed[];

const { reasons, operations } = loadLeftOut();
const leftOut = Object.keys(operations);
const keyOf = (name: string) => skeleton(...(name.split(" ") as [string, string]));

function inRows(rows: readonly Action[]): Set<string> {
  const keys = rows.flatMap((row) => routesOf(row).map((route) => skeleton(...route)));
  return new Set(keys.flatMap((key) => [key, ROUTES[key]?.fact ?? key]));
}

/** Operations for people and administrators that are neither in a row nor left out with a reason. */
function forgotten(rows: readonly Action[], out: readonly string[]): string[] {
  const known = new Set([...inRows(rows), ...out.map(keyOf)]);
  return CLASSES.filter(([kind, method, path]) => (kind === "user" || kind === "admin") && !known.has(skeleton(method, path))).map(
    ([, method, path]) => `${method} ${path}`,
  );
}

/** Left-out operations that do not exist, or that a row has. */
function stale(rows: readonly Action[], out: readonly string[]): string[] {
  const real = new Set(CLASSES.map(([, method, path]) => skeleton(method, path)));
  const used = inRows(rows);
  return out.filter((name) => !real.has(keyOf(name)) || used.has(keyOf(name)));
}

describe("all of GitLab's operations", () => {
  test("for people and administrators are in a row, or left out with a reason", () => {
    expect(CLASSES.length).toBeGreaterThan(1_800);
    expect(forgotten(loadActions(), leftOut)).toEqual([]);
  });

  test("none is left out that a row has, or that does not exist", () => {
    expect(stale(loadActions(), leftOut)).toEqual([]);
  });

  test("bites", () => {
    const without = loadActions().filter(({ id }) => id !== "issue.create");
    expect(forgotten(without, leftOut)).toContain("POST /projects/{id}/issues");
    expect(stale(loadActions(), ["POST /projects/{id}/issues", "GET /nothing"])).toHaveLength(2);
    expect(stale([aRow({ http: ["GET", "/geo_nodes"] })], leftOut)).toEqual(["GET /geo_nodes"]);
  });

  test("every reason is told and used", () => {
    expect(new Set(Object.values(operations))).toEqual(new Set(Object.keys(reasons)));
    const known = loadDifferences();
    expect(new Set(Object.values(known.differences))).toEqual(new Set(Object.keys(known.reasons)));
  });

  test("differences from the document are those of living rows and parameters", () => {
    const rows = new Map(loadActions().map((row) => [row.id, row]));
    const routes = new Set(loadActions().flatMap((row) => routesOf(row).map((route) => route.join(" "))));
    const names = new Set(loadActions().flatMap((row) => Object.keys(row.params)));
    const dead = Object.keys(loadDifferences().differences).filter((key) => {
      if (/^[A-Z]+ \//.test(key)) return !routes.has(key);
      const [id = "", name = "", aspect = ""] = key.split(" ");
      const param = name.split(".")[0] ?? "";
      if (id === "*") return !names.has(param);
      const row = rows.get(id);
      return !row || (aspect !== "absent" && aspect !== "list" && !(param in row.params));
    });
    expect(dead).toEqual([]);
  });
});
