import {
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from "graphql";
import type { Caller } from "./auth.ts";
import { mutationOf } from "./graphql-changes.ts";
import type { Context } from "./graphql-context.ts";
import { resolveField } from "./graphql-generic.ts";
import { ITEM_MUTATIONS } from "./graphql-item-changes.ts";
import { NOTE_MUTATIONS } from "./graphql-notes.ts";
import { OTHER_MUTATIONS } from "./graphql-other-changes.ts";
import { FIELDS } from "./graphql-queries.ts";
import { RULES } from "./graphql-rules.ts";
import { graphqlSchema } from "./graphql-schema.ts";
import { TIME_MUTATIONS } from "./graphql-time.ts";
import type { Json, Reply, World } from "./types.ts";

const reply = (json: unknown): Reply => ({ status: 200, json });
const refused = (errors: readonly unknown[]): Reply => reply({ errors });

type Mutation = (input: Json, context: Context) => Json;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  ...Object.fromEntries(Object.entries(RULES).map(([name, rule]) => [name, mutationOf(rule)])),
  ...OTHER_MUTATIONS,
  ...ITEM_MUTATIONS,
  ...NOTE_MUTATIONS,
  ...TIME_MUTATIONS,
};

const resolver: GraphQLFieldResolver<Json | undefined, Context> = (source, args: Json, context, info) => {
  const { parentType, fieldName } = info;
  if (parentType.name === "Mutation") {
    const run = MUTATIONS[fieldName];
    if (!run) throw new GraphQLError(`The sandbox does not know the mutation ${fieldName}`);
    context.world.tick();
    return run(args.input as Json, context);
  }
  const field = FIELDS[`${parentType.name}.${fieldName}`];
  return field ? field(source ?? {}, args, context) : resolveField(source, args, context, info);
};

const placesOf = ({ locations }: GraphQLError) => locations ?? [];

/** GitLab's own words for what a document asks and the schema does not have. */
function toGitLabError(error: GraphQLError, kind: string): Json {
  const field = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(error.message);
  const argument = /^Unknown argument "(\w+)" on field "\w+\.(\w+)"/.exec(error.message);
  const type = /^Unknown type "(\w+)"/.exec(error.message);
  if (field) {
    const [, fieldName = "", typeName = ""] = field;
    const message = `Field '${fieldName}' doesn't exist on type '${typeName}'`;
    return { message, locations: placesOf(error), path: [kind, fieldName], extensions: { code: "undefinedField", typeName, fieldName } };
  }
  const message = argument
    ? `Field '${argument[2]}' doesn't accept argument '${argument[1]}'`
    : type
      ? `${type[1]} isn't a defined input type`
      : error.message;
  return { message, locations: placesOf(error) };
}

function chosen(document: DocumentNode, name: unknown): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return operations.find((node) => node.name?.value === name) ?? operations[0];
}

async function run(context: Context, document: DocumentNode, operation: OperationDefinitionNode, variables: Json): Promise<Reply> {
  const schema = graphqlSchema();
  const errors = validate(schema, document);
  if (errors.length > 0) return refused(errors.map((error) => toGitLabError(error, operation.operation)));
  const result = await execute({
    schema,
    document,
    operationName: operation.name?.value ?? null,
    variableValues: variables,
    contextValue: context,
    fieldResolver: resolver,
    typeResolver: (value) => String((value as Json).__typename),
  });
  const told = result.errors?.map(({ message, locations, path }) => ({ message, locations: locations ?? [], ...(path ? { path } : {}) }));
  return reply({ ...(result.data === undefined ? {} : { data: result.data }), ...(told ? { errors: told } : {}) });
}

/** Answers what the rows ask of GitLab's GraphQL; the rest is reported as unknown, in GitLab's words. */
export async function answerGraphql(world: World, caller: Caller, body: Readonly<Json>): Promise<Reply> {
  const { query, operationName, variables } = body;
  if (typeof query !== "string" || query.trim() === "") return refused([{ message: "No query string was present" }]);
  try {
    const document = parse(query);
    const operation = chosen(document, operationName);
    const given = typeof variables === "object" && variables !== null ? (variables as Json) : {};
    return operation ? await run({ world, caller }, document, operation, given) : refused([{ message: "An operation name is required" }]);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refused([{ message: error.message, locations: error.locations ?? [] }]);
  }
}
