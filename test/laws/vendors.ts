import type { JsonSchema } from "../../src/catalog/types.ts";

/** A tool as every vendor's API takes it. */
export interface Declared {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** What a vendor refuses or cuts; nothing wrong = no sentence. */
export type Lint = (tool: Declared) => readonly string[];

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value);
const propertiesOf = (schema: JsonSchema) => (isSchema(schema.properties) ? schema.properties : {}) as Readonly<Record<string, JsonSchema>>;

interface Node {
  readonly where: string;
  readonly schema: JsonSchema;
  readonly depth: number;
}

/** Every schema inside a schema, itself first. */
export function nodesOf(schema: JsonSchema, where = "root", depth = 1): readonly Node[] {
  const inside = Object.entries(propertiesOf(schema)).flatMap(([name, child]) => nodesOf(child, `${where}.${name}`, depth + 1));
  const items = isSchema(schema.items) ? nodesOf(schema.items, `${where}[]`, depth + 1) : [];
  return [{ where, schema, depth }, ...inside, ...items];
}

/** An object whose keys nobody can list: GitLab takes any. */
export const isFree = ({ schema }: Node) => schema.type === "object" && Object.keys(propertiesOf(schema)).length === 0;

const named = (pattern: RegExp, tool: Declared) => (pattern.test(tool.name) ? [] : [`name ${tool.name}`]);
const described = (most: number, { description }: Declared) =>
  description.length === 0 || description.length > most ? [`description of ${description.length} characters`] : [];
const foreign = (tool: Declared, words: ReadonlySet<string>) =>
  nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    Object.keys(schema)
      .filter((word) => !words.has(word))
      .map((word) => `${where}: ${word}`),
  );
const enums = (tool: Declared) =>
  nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    Array.isArray(schema.enum) ? [{ where, schema, values: schema.enum as unknown[] }] : [],
  );
const root = ({ inputSchema }: Declared) =>
  inputSchema.type === "object" && isSchema(inputSchema.properties) ? [] : ["root: no object with properties"];

/** Plain words of JSON Schema that all of them read alike. */
const COMMON = ["type", "properties", "required", "items", "enum", "description", "minimum", "maximum"];

/** Tool names of 64 characters, property names of a pattern, no combiner at the root. Claude Code cuts descriptions at 2,048 characters. */
export const anthropic: Lint = (tool) => [
  ...named(/^[a-zA-Z0-9_-]{1,64}$/, tool),
  ...described(2_048, tool),
  ...root(tool),
  ...foreign(tool, new Set([...COMMON, "additionalProperties"])),
  ...nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    Object.keys(propertiesOf(schema))
      .filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
      .map((name) => `${where}: property name ${name}`),
  ),
];

/** Function calling as it is without `strict`. */
export const openai: Lint = (tool) => [
  ...named(/^[a-zA-Z0-9_-]{1,64}$/, tool),
  ...described(1_024, tool),
  ...root(tool),
  ...["oneOf", "anyOf", "allOf", "enum", "not"].filter((word) => word in tool.inputSchema).map((word) => `root: ${word}`),
  ...nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    schema.type === "array" && !isSchema(schema.items) ? [`${where}: array without items`] : [],
  ),
];

/** What a host does to a schema before it says `strict`: every object closed, every property required, the optional ones nullable. */
function toStrict(schema: JsonSchema, optional = false): JsonSchema {
  const properties = propertiesOf(schema);
  const required = (schema.required ?? []) as readonly string[];
  const type = optional ? [schema.type, "null"] : schema.type;
  return {
    ...schema,
    type,
    ...(optional && Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
    ...(schema.type === "object"
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, child]) => [name, toStrict(child, !required.includes(name))]),
          ),
          required: Object.keys(properties),
          additionalProperties: false,
        }
      : {}),
    ...(isSchema(schema.items) ? { items: toStrict(schema.items) } : {}),
  };
}

/** Limits of structured outputs: 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters of names and values. */
export const openaiStrict: Lint = (tool) => {
  const schema = toStrict(tool.inputSchema);
  const nodes = nodesOf(schema);
  const names = nodes.flatMap((node) => Object.keys(propertiesOf(node.schema)));
  const values = nodes.flatMap((node) => (Array.isArray(node.schema.enum) ? (node.schema.enum as unknown[]) : []));
  const long = nodes.filter(
    (node) => Array.isArray(node.schema.enum) && node.schema.enum.length > 250 && node.schema.enum.join("").length > 15_000,
  );
  const allowed = new Set([...COMMON, "additionalProperties"]);
  return [
    ...openai(tool),
    ...nodesOf(tool.inputSchema)
      .filter((node) => node.depth > 1 && isFree(node))
      .map(({ where }) => `${where}: an object with any keys cannot be closed`),
    ...nodes.flatMap((node) =>
      Object.keys(node.schema)
        .filter((word) => !allowed.has(word))
        .map((word) => `${node.where}: ${word}`),
    ),
    ...(names.length > 5_000 ? [`${names.length} properties`] : []),
    ...(values.length > 1_000 ? [`${values.length} enum values`] : []),
    ...(names.join("").length + values.join("").length > 120_000 ? ["names and values of more than 120,000 characters"] : []),
    ...long.map(({ where }) => `${where}: enum of more than 15,000 characters`),
    ...nodes.filter(({ depth }) => depth > 10).map(({ where }) => `${where}: deeper than 10`),
  ];
};

/** Its own dialect of OpenAPI: no `additionalProperties`, enums of non-empty strings, objects with properties, names that start with a letter. */
export const gemini: Lint = (tool) => [
  ...named(/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/, tool),
  ...described(Number.POSITIVE_INFINITY, tool),
  // Hosts drop the word, or send the schema as parametersJsonSchema, which takes it.
  ...foreign(tool, new Set([...COMMON, "additionalProperties"])),
  ...nodesOf(tool.inputSchema).flatMap((node) => (node.depth > 1 && isFree(node) ? [`${node.where}: an object without properties`] : [])),
  ...nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    typeof schema.type === "string" ? [] : [`${where}: type ${JSON.stringify(schema.type)}`],
  ),
  ...enums(tool).flatMap(({ where, schema, values }) =>
    schema.type !== "string" || values.some((value) => typeof value !== "string" || value === "") ? [`${where}: enum`] : [],
  ),
  ...nodesOf(tool.inputSchema).flatMap(({ where, schema }) =>
    ((schema.required ?? []) as string[])
      .filter((name) => !(name in propertiesOf(schema)))
      .map((name) => `${where}: requires ${name}, which is no property`),
  ),
];

export const mistral: Lint = (tool) => [
  ...named(/^[a-zA-Z0-9_-]{1,64}$/, tool),
  ...described(Number.POSITIVE_INFINITY, tool),
  ...root(tool),
  ...foreign(tool, new Set([...COMMON, "additionalProperties"])),
];

export const VENDORS = { anthropic, openai, "openai strict": openaiStrict, gemini, mistral } as const;
