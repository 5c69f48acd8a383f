import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { type SchemaOptions, toInputSchema, validatorOf } from "../../src/catalog/schema.ts";
import type { Action, JsonSchema } from "../../src/catalog/types.ts";
import { aRow, expectBites, expectKept, type Law } from "./law.ts";

/** Keywords that at least one vendor refuses, or reads otherwise than the rest. */
const HOSTILE = [
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "$ref",
  "$defs",
  "definitions",
  "if",
  "then",
  "else",
  "const",
  "nullable",
  "patternProperties",
  "prefixItems",
];
const TYPES = ["string", "integer", "number", "boolean", "array", "object"];

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value);

/** What Anthropic, OpenAI, Gemini or Mistral would stumble over in a schema. */
function lint(schema: JsonSchema, where = "root"): string[] {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const findings = [
    ...HOSTILE.filter((word) => word in schema).map((word) => `${where}: ${word}`),
    ...(typeof schema.type === "string" && TYPES.includes(schema.type) ? [] : [`${where}: type ${JSON.stringify(schema.type)}`]),
    ...(schema.type === "array" && !isSchema(schema.items) ? [`${where}: an array without items`] : []),
    ...required.filter((name) => !(name in properties)).map((name) => `${where}: requires ${name}, which is no property`),
  ];
  if (schema.enum !== undefined) {
    const values = Array.isArray(schema.enum) ? schema.enum : [];
    if (schema.type !== "string" || values.length === 0 || values.some((value) => typeof value !== "string" || value === ""))
      findings.push(`${where}: enum`);
  }
  for (const [name, child] of Object.entries(properties)) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) findings.push(`${where}: property name ${name}`);
    if (!isSchema(child)) findings.push(`${where}.${name}: no schema`);
    else
      findings.push(
        ...(typeof child.description === "string" && child.description !== "" ? [] : [`${where}.${name}: no description`]),
        ...lint(child, `${where}.${name}`),
      );
  }
  return isSchema(schema.items) ? [...findings, ...lint(schema.items, `${where}[]`)] : findings;
}

const SEEN: readonly SchemaOptions[] = [{ detail: "listed" }, { detail: "full" }, { detail: "listed", project: true }];

const shape: Law = (rows) =>
  rows.flatMap((row) =>
    SEEN.flatMap((options) => {
      const schema = toInputSchema(row, options);
      const root = schema.type === "object" ? [] : ["root: not an object"];
      return [...root, ...lint(schema)].map((finding) => `${row.id} (${options.detail}) ${finding}`);
    }),
  );

/** Each row compiles, takes a call that gives what is required, and refuses a parameter that it does not know. */
const compiles: Law = (rows) =>
  rows.flatMap((row) => {
    try {
      const validator = validatorOf(row);
      const schema = toInputSchema(row, { detail: "full", project: true });
      const call = sample(schema) as Readonly<Record<string, unknown>>;
      return [
        ...(validator.safeParse(call).success ? [] : [`${row.id}: refuses a sound call`]),
        ...(validator.safeParse({ ...call, no_such_parameter: 1 }).success ? [`${row.id}: takes an unknown parameter`] : []),
      ];
    } catch (error) {
      return [`${row.id}: does not compile: ${String(error)}`];
    }
  });

/** The smallest value that a schema should take. */
function sample(schema: JsonSchema): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (schema.required ?? []) as readonly string[];
  const values: Readonly<Record<string, () => unknown>> = {
    string: () => "x",
    integer: () => 1,
    number: () => 0.5,
    boolean: () => true,
    array: () => [sample(schema.items as JsonSchema)],
    object: () => Object.fromEntries(required.map((name) => [name, sample(properties[name] as JsonSchema)])),
  };
  return values[String(schema.type)]?.();
}

const broken = (param: unknown): Partial<Action> => ({ params: { ...aRow().params, kind: param as Action["params"][string] } });

describe("schemas", () => {
  test("have the shape that every vendor takes", () => {
    expectKept(shape);
    expectBites(shape, broken({ in: "query", type: ["string", "null"], about: "Kind" }), broken({ in: "query", type: "string" }));
    expectBites(shape, broken({ in: "body", type: "object", about: "Kind", properties: { "a[b]": { type: "string", about: "A" } } }));
    expectBites(shape, broken({ in: "query", type: "string", about: "Kind", enum: ["a", ""] }));
  });

  test.each([
    ["a union", { type: "object", properties: { a: { description: "A", anyOf: [{ type: "string" }] } } }],
    ["a reference", { type: "object", properties: { a: { description: "A", type: "string", $ref: "#/x" } } }],
    ["an array without items", { type: "object", properties: { a: { description: "A", type: "array" } } }],
    ["no type", {}],
    ["a required property that is not there", { type: "object", properties: {}, required: ["a"] }],
    [
      "a fault inside items",
      { type: "object", properties: { a: { description: "A", type: "array", items: { type: "object", oneOf: [] } } } },
    ],
  ])("the lint sees %s", (_, schema) => {
    expect(lint(schema as JsonSchema)).not.toEqual([]);
  });

  test("every row compiles and judges", () => {
    expectKept(compiles);
    expectBites(compiles, broken({ in: "query", type: "nonsense", required: true, about: "Kind" }));
  });

  test("the common and required parameters are a part of all parameters", () => {
    for (const row of loadActions()) {
      const names = (detail: "listed" | "full") => Object.keys(toInputSchema(row, { detail }).properties as object);
      expect(names("full")).toEqual(expect.arrayContaining(names("listed")));
    }
  });
});
