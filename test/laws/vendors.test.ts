import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { type SchemaOptions, toInputSchema } from "../../src/catalog/schema.ts";
import type { Action } from "../../src/catalog/types.ts";
import { ENTRY_TOOLS } from "../../src/surface/entry.ts";
import { listTools } from "../../src/surface/list.ts";
import { annotationsFor } from "../../src/surface/signature.ts";
import { connectionFor } from "../support/bridge.ts";
import { type Declared, isFree, nodesOf, VENDORS } from "./vendors.ts";

const VARIANTS: readonly SchemaOptions[] = [
  { detail: "listed" },
  { detail: "full" },
  { detail: "listed", project: true },
  { detail: "full", project: true },
];

/**
 * Objects whose keys nobody can list, by the name of the parameter. OpenAI's strict mode cannot close them (a host sends such a tool
 * without it), and Gemini's own dialect wants properties (its `parametersJsonSchema`, which hosts use, does not).
 */
const FREE: Readonly<Record<string, string>> = {
  params: "the parameters of another action",
  query: "whatever the path takes",
  body: "whatever the path takes",
  variables: "names that the caller's document or pipeline gives",
  inputs: "names that the project's CI configuration gives",
  job_inputs: "names that the project's CI configuration gives",
  metadata: "described by the component that is published",
  custom_attributes: "names that an administrator gives",
  custom_values: "names that an administrator gives",
  filters: "the filters of a list, stored as they are",
  display_settings: "stored as they are",
  approver_ids: "GitLab's document says object and means a list or a word",
  approved_by_ids: "GitLab's document says object and means a list or a word",
  parameters: "each strategy of a feature flag has its own",
  project_vulnerabilities_history: "a chart, passed on as it is",
  group_vulnerabilities_over_time: "a chart, passed on as it is",
  project_security_status: "a chart, passed on as it is",
  "additional_context[]": "each category has its own",
  optional_stages: "names that the importer gives",
  repository_storages_weighted: "names of the instance's storages",
  resource_usage_limits: "names of the instance's limits",
};

const lastName = (where: string) => where.replace(/^.*\./, "");
const allowed = (finding: string) => {
  const [where = "", what = ""] = finding.split(": ");
  return /^an object (with any keys|without properties)/.test(what) && lastName(where) in FREE;
};

/** Each tool with each schema that a client can ever see of it, and every other text in that place. */
function declared(action: Action): readonly Declared[] {
  const schemas = new Map(VARIANTS.map((options) => toInputSchema(action, options)).map((schema) => [JSON.stringify(schema), schema]));
  return [...schemas.values()].map((inputSchema) => ({ name: action.tool, description: action.about, inputSchema }));
}

const lists = (...flags: string[]) => listTools(connectionFor(...flags)) as readonly Declared[];

describe.each(Object.entries(VENDORS))("function declarations of %s", (_vendor, lint) => {
  it("take every action, listed and in full, with a current project and without", () => {
    const found = loadActions().flatMap((action) =>
      declared(action).flatMap((tool) => lint(tool).map((finding) => `${tool.name} ${finding}`)),
    );
    expect(found.filter((finding) => !allowed(finding.slice(finding.indexOf(" ") + 1)))).toEqual([]);
  });

  it("take every entry tool and every dispatcher, with the longest prefix", () => {
    const prefix = `--prefix=${"p".repeat(32)}`;
    const seen = [
      ...ENTRY_TOOLS,
      ...lists("--split-execute", prefix, "--admin"),
      ...["opaque", "compact", "full"].flatMap((detail) => lists("--style=meta", "--admin", prefix, `--meta-schemas=${detail}`)),
    ] as readonly Declared[];
    expect(
      seen
        .flatMap((tool) => lint(tool).map((finding) => `${tool.name} ${finding}`))
        .filter((line) => !allowed(line.slice(line.indexOf(" ") + 1))),
    ).toEqual([]);
  });

  it("bite", () => {
    const sound: Declared = {
      name: "get_thing",
      description: "One thing.",
      inputSchema: { type: "object", properties: { id: { type: "string", description: "Id" } }, required: ["id"] },
    };
    expect(lint(sound)).toEqual([]);
    expect(lint({ ...sound, name: "get thing" })).not.toEqual([]);
    expect(lint({ ...sound, name: "x".repeat(65) })).not.toEqual([]);
    expect(lint({ ...sound, description: "" })).not.toEqual([]);
  });
});

describe("what only one vendor minds", () => {
  const tool = (inputSchema: object, change: Partial<Declared> = {}): Declared => ({
    name: "get_thing",
    description: "One thing.",
    inputSchema: { type: "object", properties: { a: inputSchema } },
    ...change,
  });
  it.each([
    ["anthropic", tool({ type: "string" }, { description: "x".repeat(2_049) })],
    ["anthropic", tool({ type: "object", properties: { "a b": { type: "string" } } })],
    ["anthropic", tool({ anyOf: [{ type: "string" }] })],
    ["openai", tool({ type: "string" }, { description: "x".repeat(1_025) })],
    ["openai", tool({ type: "array" })],
    ["openai", tool({}, { inputSchema: { type: "object", properties: {}, anyOf: [] } })],
    ["openai strict", tool({ type: "object" })],
    ["openai strict", tool({ type: "string", enum: Array.from({ length: 1_001 }, (_, at) => `v${at}`) })],
    ["openai strict", tool({ type: "string", default: "x" })],
    ["gemini", tool({ type: "string" }, { name: "9things" })],
    ["gemini", tool({ type: ["string", "null"] })],
    ["gemini", tool({ type: "string", enum: ["a", ""] })],
    ["gemini", tool({ type: "integer", enum: [1] })],
    ["gemini", tool({ type: "object" })],
    ["gemini", tool({ type: "object", properties: { b: { type: "string" } }, required: ["c"] })],
    ["mistral", tool({ type: "string" }, { name: "a.b" })],
    ["mistral", tool({ type: "string", $ref: "#/x" })],
  ] as const)("%s, case %#", (vendor, broken) => expect(VENDORS[vendor](broken)).not.toEqual([]));

  it("every reason for free keys is still needed", () => {
    const free = [...loadActions().flatMap(declared), ...(ENTRY_TOOLS as readonly Declared[])].flatMap(({ inputSchema }) =>
      nodesOf(inputSchema).filter((node) => node.depth > 1 && isFree(node)),
    );
    expect([...new Set(free.map(({ where }) => lastName(where)))].sort()).toEqual(Object.keys(FREE).sort());
  });
});

describe("annotations", () => {
  it("say of every action which of the three it is, and nothing that is MCP's default", () => {
    for (const action of loadActions()) {
      const { idempotentHint, ...rest } = annotationsFor(action);
      const expected = action.effect === "read" ? { readOnlyHint: true } : { destructiveHint: action.effect === "destructive" };
      expect(rest, action.id).toEqual(expected);
      expect([undefined, true], action.id).toContain(idempotentHint);
      if (action.effect === "read") expect(idempotentHint, action.id).toBeUndefined();
    }
  });

  it("call idempotent only what ends the same however often it is sent", () => {
    const idempotent = loadActions().filter((action) => annotationsFor(action).idempotentHint);
    expect(idempotent.length).toBeGreaterThan(200);
    expect(idempotent.every(({ http }) => http?.[0] === "PUT" || http?.[0] === "DELETE")).toBe(true);
    const again = [
      "repository.file_update",
      "repository.submodule_update",
      "merge_request.rebase",
      "suggestion.apply",
      "suggestion.apply_batch",
    ];
    expect(idempotent.map(({ id }) => id).filter((id) => again.includes(id))).toEqual([]);
  });

  it("of the entry tools: browsing and switching read, and execute is destructive unless nothing but reads may run", () => {
    const hints = (...flags: string[]) =>
      Object.fromEntries(ENTRY_TOOLS.map((tool) => [tool.name, tool.annotations(connectionFor(...flags))]));
    const switching = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
    const browsing = { readOnlyHint: true, openWorldHint: false };
    const expected = {
      list_available_toolsets: browsing,
      get_toolset_tools: browsing,
      enable_toolset: switching,
      gitlab_find_action: browsing,
      gitlab_read_action: { readOnlyHint: true, openWorldHint: true },
      gitlab_execute_action: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      disable_toolset: switching,
    };
    expect(hints()).toEqual(expected);
    expect(hints("--read-only")).toEqual({ ...expected, gitlab_execute_action: { readOnlyHint: true, openWorldHint: true } });
  });
});
