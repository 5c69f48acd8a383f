import { readFileSync } from "node:fs";
import { type OperationDefinitionNode, parse, type SelectionSetNode } from "graphql";
import { describe, expect, test } from "vitest";
import { loadActions, otherName } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { Action, Source } from "../../src/catalog/types.ts";
import { names } from "../../src/policy/rules.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { aRow } from "./law.ts";

type Reference = readonly [id: string, tool: string, requests: readonly string[]];

interface Apart {
  readonly why: Readonly<Record<string, string>>;
  /** Ids that no action of ours does, or that mean another one here, by reason. */
  readonly ids: Readonly<Record<string, string>>;
  /** Ids whose action of ours sends another request to the same end. */
  readonly otherwise: Readonly<Record<string, string>>;
}

const facts = <T>(name: string): T => JSON.parse(readFileSync(new URL(`../../fixtures/facts/${name}.json`, import.meta.url), "utf8")) as T;
const REFERENCES = facts<Reference[]>("reference");
const APART = facts<Apart>("reference-apart");

const bare = (request: string) => request.replace(/\{[^}]*\}|[:*][a-z_]+/g, "{}");

/** Every field that a document selects, as a path from its root; the name of an operation does not count. */
function positionsOf(document: string): string[] {
  const walk = (set: SelectionSetNode | undefined, path: string): string[] =>
    (set?.selections ?? []).flatMap((part) => {
      if (part.kind !== "Field") return walk(part.kind === "InlineFragment" ? part.selectionSet : undefined, path);
      const here = path === "" ? part.name.value : `${path}.${part.name.value}`;
      return [here, ...walk(part.selectionSet, here)];
    });
  return parse(document)
    .definitions.filter((part): part is OperationDefinitionNode => part.kind === "OperationDefinition")
    .flatMap((part) => walk(part.selectionSet, "").map((position) => `${part.operation} ${position}`));
}

/** What a row sends; a composite sends what its parts send, which only its author can say. */
const sentBy = (row: Action): readonly string[] =>
  row.graphql === undefined ? routesOf(row).map((route) => bare(route.join(" "))) : positionsOf(row.graphql);

const isGraphql = (request: string) => /^(query|mutation) /.test(request);

function findings(rows: readonly Action[], references: readonly Reference[], apart: Pick<Apart, "ids" | "otherwise">): string[] {
  const registry = createRegistry([{ name: "gitlab", toolsets: () => TOOLSETS, actions: () => rows } as unknown as Source]);
  const sent = new Map(rows.map((row) => [row.id, new Set(sentBy(row))]));
  const anywhere = new Set([...sent.values()].flatMap((set) => [...set]));
  const check = (name: string, requests: readonly string[], otherwise: boolean): string[] => {
    let action: Action;
    try {
      action = registry.resolve(name);
    } catch {
      return [`${name}: nothing answers to it`];
    }
    const own = sent.get(action.id);
    if (otherwise || action.composite !== undefined) return [];
    const alien = requests.filter((request) => !own?.has(bare(request)));
    return alien.length === 0 ? [] : [`${name}: ${action.id} does not send ${alien.join("; ")}`];
  };
  return references.flatMap(([id, tool, requests]) => {
    if (id in apart.ids) return [];
    // GraphQL names wait for a row that asks for the same thing.
    if (requests.every(isGraphql) && requests.length > 0 && !requests.some((request) => anywhere.has(request))) return [];
    return [id, tool].flatMap((name) => check(name, requests, id in apart.otherwise));
  });
}

describe("ids and tool names of another GitLab server", () => {
  test("lead to the action that sends the same requests, or stand apart with a reason", () => {
    expect(REFERENCES).toHaveLength(1_098);
    expect(findings(loadActions(), REFERENCES, APART)).toEqual([]);
  });

  test("stand apart only where it is so, and rarely", () => {
    const open = findings(loadActions(), REFERENCES, { ids: {}, otherwise: {} });
    const idle = [...Object.keys(APART.ids), ...Object.keys(APART.otherwise)].filter((id) => {
      const tool = REFERENCES.find(([name]) => name === id)?.[1];
      return !open.some((finding) => finding.startsWith(`${id}:`) || finding.startsWith(`${tool}:`));
    });
    expect(idle).toEqual([]);
    expect(Object.keys(APART.ids).length).toBeLessThanOrEqual(30);
    const used = new Set([...Object.values(APART.ids), ...Object.values(APART.otherwise)]);
    expect(used).toEqual(new Set(Object.keys(APART.why)));
  });

  test("never stand in the way of a name of ours, and lead to living actions", () => {
    const rows = loadActions();
    const ids = new Set(rows.map(({ id }) => id));
    const table = JSON.parse(readFileSync(new URL("../../src/catalog/data/aliases.json", import.meta.url), "utf8")) as Record<
      string,
      string
    >;
    expect(Object.entries(table).filter(([, id]) => !ids.has(id))).toEqual([]);
    const own = new Set(rows.flatMap(({ id, tool, aliases = [] }) => [id, tool, ...aliases]));
    expect(Object.keys(table).filter((name) => own.has(name))).toEqual([]);
    const registry = createRegistry([{ name: "gitlab", toolsets: () => TOOLSETS, actions: () => rows } as unknown as Source]);
    for (const row of rows) expect(registry.resolve(row.id)).toBe(row);
  });

  test("mean the same in lists of what is allowed", () => {
    const row = loadActions().find(({ id }) => id === otherName("gitlab_delete_custom_attribute"));
    expect(row && names("gitlab_delete_custom_attribute", row)).toBe(true);
    expect(names("gitlab_delete_custom_attribute", aRow())).toBe(false);
    expect(otherName("constructor")).toBeUndefined();
  });

  test("bites", () => {
    const reference: Reference = ["old.name", "old_tool", ["GET /projects/:id/things/:thing_id"]];
    const none = { ids: {}, otherwise: {} };
    expect(findings([aRow()], [reference], none)).toHaveLength(2);
    expect(findings([aRow({ aliases: ["old.name", "old_tool"] })], [reference], none)).toEqual([]);
    const other = aRow({ http: ["GET", "/things"], aliases: ["old.name", "old_tool"] });
    expect(findings([other], [reference], none)).toEqual([
      "old.name: thing.get does not send GET /projects/:id/things/:thing_id",
      "old_tool: thing.get does not send GET /projects/:id/things/:thing_id",
    ]);
    const { http: _, ...bare } = aRow();
    const graphql: Reference = ["old.query", "old_query", ["query project.things"]];
    const asks = { ...bare, graphql: "query($a: ID!) { project(fullPath: $a) { ... on Project { things { id } } } }" };
    expect(findings([aRow()], [graphql], none)).toEqual([]);
    expect(findings([asks], [graphql], none)).toHaveLength(2);
    expect(findings([{ ...asks, aliases: ["old.query", "old_query"] }], [graphql], none)).toEqual([]);
  });
});
