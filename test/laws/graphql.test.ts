import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from "graphql";
import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { isList } from "../../src/catalog/schema.ts";
import type { Action, Param, Shape } from "../../src/catalog/types.ts";
import { ALL, NEWER, OLD } from "./graphql-facts.ts";
import { aRow, type Law } from "./law.ts";

/** A row with twins of its document, as one row for each: with the params that it then takes, all of which the executor asks for. */
function formsOf(row: Action): readonly Action[] {
  if (!row.documents) return [row];
  const taking = (graphql: string, takes: (name: string) => boolean): Action => ({
    ...row,
    graphql,
    params: Object.fromEntries(
      Object.entries(row.params).flatMap(([name, param]) => (takes(name) ? [[name, { ...param, required: true }]] : [])),
    ),
  });
  const twins = Object.keys(row.documents);
  return [
    taking(row.graphql ?? "", (name) => !twins.includes(name)),
    ...Object.entries(row.documents).map(([twin, graphql]) => taking(graphql, (name) => name === twin)),
  ];
}

const documents = (rows: readonly Action[]) =>
  rows.flatMap(formsOf).filter((row): row is Action & { graphql: string } => row.graphql !== undefined);

/** A law over rows with a document that parses and holds one operation; what does not is told by `sound`. */
const overOperations =
  (find: (row: Action, operation: OperationDefinitionNode) => readonly string[]): Law =>
  (rows) =>
    documents(rows).flatMap((row) => {
      const [operation, ...others] = operationsOf(row.graphql);
      return operation && others.length === 0 ? find(row, operation).map((finding) => `${row.id}: ${finding}`) : [];
    });

function operationsOf(document: string): readonly OperationDefinitionNode[] {
  try {
    return parse(document).definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
  } catch {
    return [];
  }
}

const sound: Law = (rows) =>
  documents(rows).flatMap((row) => {
    const operations = operationsOf(row.graphql);
    const [only] = operations;
    if (operations.length !== 1 || !only) return [`${row.id}: not exactly one operation`];
    return only.name ? [] : [`${row.id}: its operation has no name`];
  });

const valid: Law = overOperations((row) => validate(ALL, parse(row.graphql ?? "")).map(({ message }) => message));

const kinds: Law = overOperations((row, { operation }) => {
  const reads = row.effect === "read";
  return reads === (operation === "query") ? [] : [`a ${operation}, but its effect is ${row.effect}`];
});

const typeOf = (schema: GraphQLSchema, node: Parameters<typeof typeFromAST>[1]): GraphQLInputType | undefined => {
  const type = typeFromAST(schema, node as never);
  return type && isInputType(type) ? type : undefined;
};

function variablesOf(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadonlyMap<string, GraphQLInputType | undefined> {
  return new Map(variableDefinitions.map(({ variable, type }) => [variable.name.value, typeOf(schema, type)]));
}

const wireOf = (name: string, { wire = name }: Param) => wire.split(".");

/** The input type at the end of a wire path; undefined where the schema has no such place. */
function placeOf(type: GraphQLInputType | undefined, path: readonly string[]): GraphQLInputType | undefined {
  const [head, ...rest] = path;
  if (!type || head === undefined) return type;
  const named = getNamedType(type);
  return isInputObjectType(named) ? placeOf(named.getFields()[head]?.type, rest) : undefined;
}

const SCALARS: Readonly<Record<string, readonly Shape["type"][]>> = {
  Int: ["integer"],
  Float: ["number", "integer"],
  Boolean: ["boolean"],
  String: ["string"],
  JSON: ["object"],
};

/** Scalars that stand for ids, and what may be sent for them; all others are texts. */
const isId = (name: string) => name === "ID" || name.endsWith("ID");

function compareShape(where: string, shape: Shape & { readonly gid?: string }, type: GraphQLInputType): readonly string[] {
  const bare = getNullableType(type);
  if (isListType(bare) && shape.type === "array") {
    const items = { ...(shape.items ?? { type: "string" }), ...(shape.gid === undefined ? {} : { gid: shape.gid }) } as Shape;
    return compareShape(`${where}[]`, items, bare.ofType);
  }
  const named = getNamedType(bare);
  // GraphQL takes one value where a list is asked for.
  if (shape.type === "array") return [`${where}: a list, but GitLab takes one ${named.name}`];
  if (isEnumType(named)) {
    const values = named.getValues().map(({ name }) => name);
    const alien = (shape.enum ?? ["(any text)"]).filter((value) => !values.includes(value));
    return alien.length === 0 ? [] : [`${where}: ${named.name} has no ${alien.join(", ")}`];
  }
  if (isInputObjectType(named))
    return shape.type === "object" ? compareFields(where, shape, named.getFields()) : [`${where}: ${named.name} is an object`];
  if (isId(named.name) && named.name !== "ID")
    return shape.gid || /global id/i.test(shape.about ?? "") ? [] : [`${where}: ${named.name} without gid`];
  const fits = SCALARS[named.name] ?? ["string"];
  if (shape.gid) return isId(named.name) ? [] : [`${where}: a global id, but GitLab takes ${named.name}`];
  return fits.includes(shape.type) ? [] : [`${where}: ${shape.type}, but GitLab takes ${named.name}`];
}

type Fields = ReturnType<Extract<ReturnType<typeof getNamedType>, { getFields(): unknown }>["getFields"]>;

function compareFields(where: string, shape: Shape, fields: Fields): readonly string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => {
    const field = (fields as Readonly<Record<string, { type: GraphQLInputType } | undefined>>)[name];
    return field ? compareShape(`${where}.${name}`, inner, field.type) : [`${where}.${name}: not in the schema`];
  });
}

const params: Law = overOperations((row, operation) => {
  const variables = variablesOf(ALL, operation);
  return Object.entries(row.params).flatMap(([name, param]) => {
    const [root = "", ...path] = wireOf(name, param);
    if (!variables.has(root)) return [`${name}: no variable $${root}`];
    const type = placeOf(variables.get(root), path);
    return type ? compareShape(name, param, type) : [`${name}: the schema has no ${[root, ...path].join(".")}`];
  });
});

const PAGING = ["first", "after"];

/** Names of variables and of fields of inputs that GitLab cannot do without, as far as the params reach. */
function neededBy(type: GraphQLInputType | undefined, path: string, given: readonly string[]): readonly string[] {
  const named = type && getNamedType(type);
  if (!named || !isInputObjectType(named)) return [];
  return Object.values(named.getFields()).flatMap((field) => {
    const here = `${path}.${field.name}`;
    const deeper = given.some((wire) => wire.startsWith(`${here}.`));
    if (given.includes(path)) return [];
    return [
      ...(isRequiredInputField(field) && !deeper && path.split(".").length === 1 ? [here] : []),
      ...(deeper ? neededBy(field.type, here, given) : []),
    ];
  });
}

const complete: Law = overOperations((row, operation) => {
  const variables = variablesOf(ALL, operation);
  const entries = Object.entries(row.params).map(([name, param]) => ({
    wire: wireOf(name, param).join("."),
    required: param.required === true,
  }));
  const wires = entries.map(({ wire }) => wire);
  const roots = new Set(wires.map((wire) => wire.split(".")[0]));
  const unfed = [...variables.keys()].filter((name) => !roots.has(name) && !PAGING.includes(name));
  const needed = [...variables].flatMap(([name, type]) => [
    ...(isNonNullType(type) && !wires.some((wire) => wire.startsWith(`${name}.`)) ? [name] : []),
    ...neededBy(type, name, wires),
  ]);
  const fed = (wire: string) =>
    entries.some((entry) => entry.wire === wire && entry.required) || entries.filter((entry) => entry.wire === wire).length > 1;
  return [
    ...unfed.map((name) => `no param gives $${name}`),
    ...needed.filter((wire) => !fed(wire)).map((wire) => `${wire} is needed, but not required`),
  ];
});

/** A list asks for one page, and for where the next begins. */
const paged: Law = overOperations((row, operation) => {
  const names = [...variablesOf(ALL, operation).keys()];
  const asks = PAGING.every((name) => names.includes(name)) && /pageInfo \{ hasNextPage endCursor \}/.test(row.graphql ?? "");
  const plain = PAGING.every((name) => !names.includes(name)) && !/pageInfo/.test(row.graphql ?? "");
  const is = row.paging === "keyset";
  if (!(is ? asks && isList(row) : plain)) return ["a paged list takes $first and $after and asks for pageInfo, nothing else does"];
  return [];
});

/** What the schema of 16.3 does not have came later, and the row says when. */
const since: Law = overOperations((row, operation) => {
  const variables = variablesOf(OLD, operation);
  const known = Object.entries(row.params).every(([name, param]) => {
    const [root = "", ...path] = wireOf(name, param);
    return placeOf(variables.get(root), path) !== undefined;
  });
  const old = known && validate(OLD, parse(row.graphql ?? "")).length === 0;
  return old || row.since !== undefined ? [] : ["needs a GitLab newer than 16.3, but does not say since when"];
});

const MAX_DOCUMENT = 1_600;

const small: Law = (rows) =>
  documents(rows)
    .filter(({ graphql }) => graphql.length > MAX_DOCUMENT)
    .map(({ id, graphql }) => `${id}: ${graphql.length} characters, ${MAX_DOCUMENT} is the most`);

const LAWS: Readonly<Record<string, Law>> = {
  "a document is one operation with a name": sound,
  "a document fits GitLab's schema": valid,
  "queries read, mutations do not": kinds,
  "params have a place in the schema, and its types and values": params,
  "variables are fed, and what GitLab needs is required": complete,
  "lists are paged": paged,
  "what is newer says since when": since,
  "documents are small": small,
};

const aDocument = (change: Partial<Action>): Action => {
  const { http: _, ...bare } = aRow();
  const graphql = "query getWorkItem($id: WorkItemID!) { workItem(id: $id) { id title } }";
  return {
    ...bare,
    graphql,
    params: { work_item_id: { in: "body", type: "integer", gid: "WorkItem", wire: "id", required: true } },
    ...change,
  };
};

const BROKEN: readonly (readonly [keyof typeof LAWS & string, Partial<Action>])[] = [
  ["a document is one operation with a name", { graphql: "query { workItem { id } }" }],
  ["a document is one operation with a name", { graphql: "query a { __typename } query b { __typename }" }],
  ["a document is one operation with a name", { graphql: "query {" }],
  ["a document fits GitLab's schema", { graphql: "query getWorkItem($id: WorkItemID!) { workItem(id: $id) { colour } }" }],
  ["queries read, mutations do not", { effect: "write" }],
  [
    "queries read, mutations do not",
    { graphql: "mutation change($id: WorkItemID!) { workItemSubscribe(input: { id: $id, subscribed: true }) { errors } }" },
  ],
  [
    "params have a place in the schema, and its types and values",
    { params: { work_item_id: { in: "body", type: "integer", required: true } } },
  ],
  [
    "params have a place in the schema, and its types and values",
    { params: { work_item_id: { in: "body", type: "integer", wire: "id", required: true } } },
  ],
  [
    "params have a place in the schema, and its types and values",
    { params: { work_item_id: { in: "body", type: "integer", wire: "id.deep", gid: "WorkItem", required: true } } },
  ],
  ["variables are fed, and what GitLab needs is required", { params: {} }],
  [
    "variables are fed, and what GitLab needs is required",
    { params: { work_item_id: { in: "body", type: "integer", gid: "WorkItem", wire: "id" } } },
  ],
  ["lists are paged", { paging: "keyset", returns: "array" }],
  ["documents are small", { graphql: `query getWorkItem($id: WorkItemID!) { ${"workItem(id: $id) { id title } ".repeat(60)} }` }],
];

describe("GraphQL rows", () => {
  test("there are at least sixty", () => expect(documents(loadActions()).length).toBeGreaterThanOrEqual(60));

  test.each(Object.entries(LAWS))("%s", (_, law) => {
    expect(law(loadActions())).toEqual([]);
    expect(law([aDocument({})])).toEqual([]);
  });

  test.each(BROKEN)("the law bites: %s %j", (name, change) => {
    expect(LAWS[name]?.([aDocument(change)])).not.toEqual([]);
  });

  test("a row that needs something newer has to say so", () => {
    const row = aDocument({ graphql: "query getWorkItem($id: String!) { namespace(fullPath: $id) { workItem(iid: $id) { id } } }" });
    expect(since([row])).toHaveLength(1);
    expect(since([{ ...row, since: "16.10" }])).toEqual([]);
  });

  test("nothing newer is written down that no row asks for", () => {
    const text = documents(loadActions())
      .map(({ graphql }) => graphql)
      .join("\n");
    const roots = NEWER.definitions.flatMap((part) =>
      part.kind === Kind.OBJECT_TYPE_EXTENSION && /^(Query|Mutation|Namespace|Project|Group)$/.test(part.name.value)
        ? (part.fields ?? [])
        : [],
    );
    expect(roots.map(({ name }) => name.value).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });
});
