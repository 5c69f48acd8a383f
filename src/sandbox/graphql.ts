import { type DocumentNode, GraphQLError, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from "graphql";
import type { Caller } from "./auth.ts";
import type { Json, Reply, World } from "./types.ts";

const reply = (json: unknown): Reply => ({ status: 200, json });
const refused = (errors: readonly unknown[]): Reply => reply({ errors });

type Resolver = (world: World, caller: Caller) => unknown;

/** The root fields that are answered. */
const FIELDS: Readonly<Record<string, Resolver>> = {
  currentUser: (world, { user }) =>
    user
      ? {
          __typename: "CurrentUser",
          id: `gid://gitlab/User/${user.id}`,
          username: user.username,
          name: user.name,
          state: user.state,
          publicEmail: null,
          webUrl: `${world.url}/${user.username}`,
          bot: user.bot,
        }
      : null,
  metadata: () => ({ __typename: "Metadata", version: "18.9.0-ee", revision: "5a9d0c1be7f", enterprise: true }),
};

const place = (node: { loc?: { startToken: { line: number; column: number } } | undefined }) =>
  node.loc ? [{ line: node.loc.startToken.line, column: node.loc.startToken.column }] : [];

/** Picks the asked fields; what the type does not have is reported as GitLab reports it. */
function pick(value: Json, selection: SelectionSetNode, path: readonly string[], errors: unknown[]): Json {
  const result: Json = {};
  for (const node of selection.selections) {
    if (node.kind !== Kind.FIELD) continue;
    const name = node.name.value;
    const key = node.alias?.value ?? name;
    if (!(name in value)) {
      const type = String(value.__typename);
      errors.push({
        message: `Field '${name}' doesn't exist on type '${type}'`,
        locations: place(node),
        path: [...path, key],
        extensions: { code: "undefinedField", typeName: type, fieldName: name },
      });
    } else {
      const inner = value[name];
      const nested = node.selectionSet && inner !== null && typeof inner === "object";
      result[key] = nested && node.selectionSet ? pick(inner as Json, node.selectionSet, [...path, key], errors) : inner;
    }
  }
  return result;
}

function chosen(document: DocumentNode, name: unknown): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operations.find((node) => node.name?.value === name) ?? operations[0];
}

function run(world: World, caller: Caller, operation: OperationDefinitionNode): Reply {
  const type = operation.operation === "query" ? "Query" : "Mutation";
  const errors: unknown[] = [];
  const root: Json = { __typename: type };
  for (const node of operation.selectionSet.selections) {
    if (node.kind !== Kind.FIELD || type !== "Query") continue;
    const resolver = FIELDS[node.name.value];
    if (resolver) root[node.name.value] = resolver(world, caller);
  }
  const data = pick(root, operation.selectionSet, [operation.operation], errors);
  return errors.length > 0 ? refused(errors) : reply({ data });
}

/** Answers a small part of GitLab's GraphQL; the rest is reported as unknown fields. */
export async function answerGraphql(world: World, caller: Caller, body: Readonly<Json>): Promise<Reply> {
  const { query, operationName } = body;
  if (typeof query !== "string" || query.trim() === "") return refused([{ message: "No query string was present" }]);
  try {
    const operation = chosen(parse(query), operationName);
    return operation ? run(world, caller, operation) : refused([{ message: "An operation name is required" }]);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refused([{ message: error.message, locations: error.locations ?? [] }]);
  }
}
