import { buildASTSchema, concatAST, GraphQLError, type GraphQLSchema, isScalarType, parse, valueFromASTUntyped } from "graphql";
import { fixtureText } from "./fixtures.ts";

/** Who is asking, and what this GitLab is. */
const OWN = `
  extend type Query { currentUser: CurrentUser metadata: Metadata }
  type CurrentUser { id: UserID! username: String! name: String! state: String! publicEmail: String webUrl: String! bot: Boolean! }
  type Metadata { version: String! revision: String! enterprise: Boolean! }
`;

/** Kinds of ids that several types of things have. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  IssuableID: ["Issue", "MergeRequest", "WorkItem"],
  IssueID: ["Issue", "WorkItem"],
  WorkItemID: ["WorkItem", "Issue"],
  NamespaceID: ["Namespace", "Group"],
  NoteID: ["Note", "DiscussionNote", "DiffNote"],
  LabelID: ["Label", "ProjectLabel", "GroupLabel"],
  IterationID: ["Iteration", "EEIteration"],
};

/** What may be any kind of thing. */
const ANY = new Set(["GlobalID", "NoteableID", "TypesNamespaceID"]);

/** A global id must be of the kind that its place asks for, as GitLab sees to. */
export function checkGid(scalar: string, value: unknown): string {
  const text = String(value);
  const kind = /^gid:\/\/gitlab\/([\w:]+)\/[\w-]+$/.exec(text)?.[1];
  if (kind === undefined) throw new GraphQLError(`"${text}" is not a valid Global ID`);
  const plain = `${kind.replaceAll("::", "")}ID`;
  if (!ANY.has(scalar) && plain !== scalar && !SHARED[scalar]?.includes(kind))
    throw new GraphQLError(`"${text}" does not represent an instance of ${scalar.replace(/ID$/, "")}`);
  return text;
}

let schema: GraphQLSchema | undefined;

/** GitLab's schema as far as it is served: the facts of 16.3, what came later, and a little of our own. Built on first use. */
export function graphqlSchema(): GraphQLSchema {
  if (schema) return schema;
  const sources = ["../facts/graphql.graphql", "../facts/graphql-newer.graphql"].map(fixtureText);
  const built = buildASTSchema(concatAST([...sources, OWN].map((text) => parse(text))), { assumeValid: true, assumeValidSDL: true });
  for (const type of Object.values(built.getTypeMap())) {
    if (!isScalarType(type) || !/\wID$/.test(type.name)) continue;
    type.parseValue = (value) => checkGid(type.name, value);
    type.parseLiteral = (node, variables) => checkGid(type.name, valueFromASTUntyped(node, variables));
  }
  schema = built;
  return built;
}
