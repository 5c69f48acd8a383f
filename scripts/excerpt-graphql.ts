/**
 * Cuts GitLab's GraphQL schema (SDL) down to what the documents of the rows use: fixtures/facts/graphql.graphql. What is newer than
 * that schema is written down by hand in fixtures/facts/graphql-newer.graphql.
 *
 *   npx tsx scripts/excerpt-graphql.ts path/to/schema.graphql
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import {
  buildASTSchema,
  concatAST,
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  type InputValueDefinitionNode,
  isInputObjectType,
  isRequiredInputField,
  Kind,
  type NamedTypeNode,
  type NameNode,
  parse,
  print,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from "graphql";

interface Row {
  readonly graphql?: string;
  readonly documents?: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, { readonly wire?: string }>>;
}

const DATA = "src/catalog/data";
const OUT = "fixtures/facts/graphql.graphql";
const NEWER = "fixtures/facts/graphql-newer.graphql";

const rows = readdirSync(DATA)
  .map((file) => JSON.parse(readFileSync(`${DATA}/${file}`, "utf8")) as unknown)
  .flatMap((content) => (Array.isArray(content) ? (content as Row[]) : []))
  .flatMap((row) => [row, ...Object.values(row.documents ?? {}).map((graphql) => ({ ...row, graphql }))])
  .filter((row): row is Row & { graphql: string } => row.graphql !== undefined);

const path = argv[2];
if (!path) throw new Error("Give the path of GitLab's schema");
/** Facts only: without descriptions, without directives. */
const full = visit(parse(readFileSync(path, "utf8"), { noLocation: true }), {
  enter: (node) => ("description" in node || "directives" in node ? { ...node, description: undefined, directives: [] } : undefined),
});
const newer = parse(readFileSync(NEWER, "utf8"), { noLocation: true });
const schema = buildASTSchema(concatAST([full, newer]), { assumeValid: true, assumeValidSDL: true });

/** Names of types, of `Type.field` and of `Type.field(argument` that a document uses. */
const used = new Set<string>();

function useInput(type: GraphQLInputType, parts: readonly string[]): void {
  const named = getNamedType(type);
  used.add(named.name);
  if (!isInputObjectType(named)) return;
  for (const field of Object.values(named.getFields())) {
    if (field.name !== parts[0] && !isRequiredInputField(field)) continue;
    used.add(`${named.name}.${field.name}`);
    useInput(field.type, field.name === parts[0] ? parts.slice(1) : []);
  }
}

/** Objects that a parameter gives whole may have every field. */
function useWhole(type: GraphQLInputType): void {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return;
  for (const field of Object.values(named.getFields())) {
    used.add(named.name).add(`${named.name}.${field.name}`).add(getNamedType(field.type).name);
    useWhole(field.type);
  }
}

function leafOf(type: GraphQLInputType, parts: readonly string[]): GraphQLInputType | undefined {
  const [head, ...rest] = parts;
  const named = getNamedType(type);
  if (head === undefined) return type;
  const field = isInputObjectType(named) ? named.getFields()[head] : undefined;
  return field && leafOf(field.type, rest);
}

function useDocument({ graphql, params }: Row & { graphql: string }, known: GraphQLSchema): void {
  const info = new TypeInfo(known);
  const document = parse(graphql);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: ({ name }) => {
        used.add(`${info.getParentType()?.name}.${name.value}`);
        used.add(getNamedType(info.getType())?.name ?? "").add(info.getParentType()?.name ?? "");
      },
      InlineFragment: ({ typeCondition }) => {
        if (typeCondition) used.add(typeCondition.name.value);
      },
      Argument: ({ name }) => {
        used.add(`${info.getParentType()?.name}.${info.getFieldDef()?.name}(${name.value}`);
        const type = info.getArgument()?.type;
        if (type) useInput(type, []);
      },
      ObjectField: ({ name }) => {
        const parent = getNamedType(info.getParentInputType());
        if (parent) used.add(`${parent.name}.${name.value}`);
        const type = info.getInputType();
        if (type) used.add(getNamedType(type).name);
      },
      VariableDefinition: ({ variable, type }) => {
        const found = typeFromAST(known, type as never) as GraphQLInputType | undefined;
        if (!found) return;
        used.add(getNamedType(found).name);
        for (const [name, { wire = name }] of Object.entries(params)) {
          const [root, ...parts] = wire.split(".");
          if (root !== variable.name.value) continue;
          useInput(found, parts);
          const leaf = leafOf(found, parts);
          if (leaf && parts.length > 0) useWhole(leaf);
        }
      },
    }),
  );
}

for (const row of rows) useDocument(row, schema);
visit(newer, { NamedType: ({ name }) => void used.add(name.value) });

const argsOf = (type: string, field: FieldDefinitionNode): readonly InputValueDefinitionNode[] =>
  (field.arguments ?? []).filter(({ name }) => used.has(`${type}.${field.name.value}(${name.value}`));

function cut(node: DefinitionNode): DefinitionNode | undefined {
  if (!("name" in node) || !node.name || !used.has(node.name.value)) return undefined;
  const type = node.name.value;
  const isUsed = ({ name }: { readonly name: NameNode }) => used.has(`${type}.${name.value}`);
  const isKnown = ({ name }: NamedTypeNode) => used.has(name.value);
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const all = node.fields ?? [];
      const fields = all.some(isUsed) ? all.filter(isUsed) : all.slice(0, 1);
      const bare = fields.map((field) => ({ ...field, arguments: argsOf(type, field) }));
      return { ...node, interfaces: (node.interfaces ?? []).filter(isKnown), fields: bare };
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return { ...node, fields: (node.fields ?? []).filter(isUsed) };
    case Kind.UNION_TYPE_DEFINITION:
      return { ...node, types: (node.types ?? []).filter(isKnown) };
    default:
      return node;
  }
}

/** Types that the kept fields mention, beside those that a document names. */
for (let before = -1; before !== used.size; ) {
  before = used.size;
  for (const node of full.definitions) {
    const kept = cut(node);
    if (kept) visit(kept, { NamedType: ({ name }) => void used.add(name.value) });
  }
}

const kept = full.definitions.map(cut).filter((node): node is DefinitionNode => node !== undefined);
const nameOf = (node: DefinitionNode) => ("name" in node ? (node.name?.value ?? "") : "");
const sorted = kept.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
const head = "# GitLab's GraphQL schema (16.3), as far as the rows use it. Made by scripts/excerpt-graphql.ts.\n\n";
writeFileSync(OUT, `${head}${sorted.map((node) => print(node)).join("\n\n")}\n`);
