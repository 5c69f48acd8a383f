import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { requiredParams, toInputSchema } from "../../src/catalog/schema.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { Action } from "../../src/catalog/types.ts";
import { expectKept, type Law } from "./law.ts";

const MAX_TOOLS = 20;
const MAX_TOKENS = 4_000;

/** Tokens (o200k) of name, description and input schema of a toolset's essential tools, rounded up to the next 50. */
const PINNED: Readonly<Record<string, number>> = {
  raw: 250,
  meta: 300,
  core: 1_200,
  merge_requests: 3_300,
  work_items: 3_350,
  repository: 3_450,
  ci: 2_800,
  projects: 2_350,
  planning: 2_350,
  members: 1_750,
  releases: 1_300,
  tokens: 1_950,
  analytics: 650,
  monitoring: 950,
  compliance: 550,
  audit: 400,
  identity: 1_750,
  licensing: 400,
  geo: 550,
  users: 800,
  ci_variables: 950,
  protections: 1_650,
  groups: 1_350,
  webhooks: 1_300,
  approvals: 1_050,
  imports: 1_650,
  snippets: 1_150,
  notifications: 400,
  integrations: 1_700,
  admin: 2_000,
  code_security: 1_250,
  infrastructure: 850,
  duo_agent_platform: 400,
  environments: 2_150,
  feature_flags: 1_000,
  packages: 1_200,
  pages: 600,
  registry: 850,
  runners: 1_100,
  virtual_registries: 1_000,
  wikis: 750,
};

const tokensOf = (row: Action): number =>
  encode(JSON.stringify({ name: row.tool, description: row.about, inputSchema: toInputSchema(row, { detail: "listed" }) })).length;

const essentialsOf = (rows: readonly Action[], toolset: string) => rows.filter((row) => row.toolset === toolset && row.essential);
const total = (rows: readonly Action[], toolset: string) => essentialsOf(rows, toolset).reduce((sum, row) => sum + tokensOf(row), 0);

const budget: Law = (rows) =>
  TOOLSETS.flatMap(({ name }) => [
    ...(essentialsOf(rows, name).length <= MAX_TOOLS
      ? []
      : [`${name}: ${essentialsOf(rows, name).length} essential tools, ${MAX_TOOLS} is the most`]),
    ...(total(rows, name) <= MAX_TOKENS ? [] : [`${name}: ${total(rows, name)} tokens, ${MAX_TOKENS} is the most`]),
  ]);

/** Optional parameters that a listed schema shows: few, or the model reads them all each time. */
const MAX_COMMON = 8;
const fewCommon: Law = (rows) =>
  rows.flatMap((row) => {
    const common = Object.entries(row.params).filter(
      ([name, param]) => param.common && param.in !== "path" && !requiredParams(row).includes(name),
    );
    return common.length <= MAX_COMMON ? [] : [`${row.id}: ${common.length} common parameters, ${MAX_COMMON} is the most`];
  });

const notDeprecated: Law = (rows) =>
  rows.flatMap((row) =>
    Object.entries(row.params)
      .filter(([, param]) => param.common && param.deprecated)
      .map(([name]) => `${row.id} ${name}: old, but shown`),
  );

const many = (count: number, change: Partial<Action> = {}): Action[] =>
  Array.from({ length: count }, (_, index) => ({
    ...(loadActions()[0] as Action),
    id: `thing${index}.get`,
    toolset: "core",
    essential: true,
    params: {},
    ...change,
  }));

const wide = (common: boolean, deprecated = false): Action["params"] =>
  Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`name${index}`, { in: "query", type: "string", about: "Name", common, deprecated }] as const),
  );

describe("the essential core", () => {
  test("at most 20 tools and 4,000 tokens a toolset", () => {
    expectKept(budget);
    expect(budget(many(20))).toEqual([]);
    expect(budget(many(21))).toHaveLength(1);
    expect(budget(many(20, { about: "many words ".repeat(200) }))).toHaveLength(1);
  });

  test("every toolset has one", () => {
    expect(TOOLSETS.filter(({ name }) => essentialsOf(loadActions(), name).length === 0)).toEqual([]);
  });

  test("listed schemas show few optional parameters, none of them old", () => {
    expectKept(fewCommon);
    expectKept(notDeprecated);
    expect(fewCommon(many(1, { params: wide(true) }))).toHaveLength(1);
    expect(fewCommon(many(1, { params: wide(false) }))).toEqual([]);
    expect(notDeprecated(many(1, { params: wide(true, true) }))).toHaveLength(9);
  });

  test("tokens per toolset are as pinned", () => {
    const measured = Object.fromEntries(TOOLSETS.map(({ name }) => [name, Math.ceil(total(loadActions(), name) / 50) * 50]));
    expect(measured).toEqual(PINNED);
  });
});
