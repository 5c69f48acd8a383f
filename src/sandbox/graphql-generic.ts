import {
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from "graphql";
import { type Context, idOf, userNode } from "./graphql-context.ts";
import { toConnection } from "./graphql-pages.ts";
import { findRow, type Row, rowsOf } from "./graphql-store.ts";
import type { Json, World } from "./types.ts";

const PAGING = new Set([
  "first",
  "last",
  "after",
  "before",
  "sort",
  "includeUnscoped",
  "relationship",
  "includeAncestorGroups",
  "includeHidden",
  "scope",
  "domain",
]);

/** Owners whose rows count as rows of `owner`: itself, and below a group its projects and subgroups. */
function ownersUnder(world: World, owner: string): readonly string[] {
  const group = owner.startsWith("group:") ? world.groups.find(({ id }) => `group:${id}` === owner) : undefined;
  if (!group) return [owner];
  const inside = `${group.full_path}/`;
  return [
    owner,
    ...world.groups.filter(({ full_path }) => full_path.startsWith(inside)).map(({ id }) => `group:${id}`),
    ...world.projects.filter(({ namespace }) => `${namespace}/`.startsWith(inside)).map(({ id }) => `project:${id}`),
  ];
}

const text = (value: unknown) => String(value).toLowerCase();

function fits(row: Row, name: string, wanted: unknown): boolean {
  if (wanted === undefined || wanted === null || PAGING.has(name)) return true;
  if (name === "search") return ["name", "title", "description"].some((key) => text(row[key] ?? "").includes(text(wanted)));
  if (name === "id" || name === "ids") return [wanted].flat().some((id) => idOf(id) === idOf(row.id));
  const own = row[name] ?? row[name.replace(/s$/, "")] ?? row[name.replace(/es$/, "")];
  if (own === undefined) return true;
  const values = [own].flat().map(text);
  return [wanted].flat().some((value) => values.includes(text(value)));
}

const SEVERITIES = ["critical", "high", "medium", "low", "unknown", "info"];

function sorted(rows: readonly Row[], sort: unknown): readonly Row[] {
  const match = /^(\w+?)_(asc|desc)$/i.exec(String(sort ?? ""));
  if (!match) return rows;
  const [, field = "", way = ""] = match;
  const key = field.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const rank = (row: Row) =>
    key === "severity" ? String(9 - SEVERITIES.indexOf(text(row.severity))) : text(row[key] ?? row[`${key}At`] ?? "");
  const sign = /asc/i.test(way) ? 1 : -1;
  return rows.toSorted((a, b) => sign * rank(a).localeCompare(rank(b)));
}

/** Rows of a type that belong to the thing that the field is of, filtered by the field's arguments. */
export function rowsFor(world: World, type: string, owner: unknown, args: Readonly<Json>): readonly Row[] {
  const owners = owner === undefined ? undefined : ownersUnder(world, String(owner));
  const own = rowsOf(world, type).filter((row) => owners === undefined || row.owner === undefined || owners.includes(row.owner));
  return sorted(
    own.filter((row) => Object.entries(args).every(([name, wanted]) => fits(row, name, wanted))),
    args.sort,
  );
}

const isConnection = (type: GraphQLOutputType) => {
  const named = getNamedType(type);
  return isObjectType(named) && named.name.endsWith("Connection") && "nodes" in named.getFields();
};

function nodeTypeOf(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  const nodes = isObjectType(named) ? named.getFields().nodes : undefined;
  return nodes ? getNamedType(nodes.type).name : named.name;
}

/** What stands in a field that must hold something and of which nothing is known. */
function emptyOf(type: GraphQLOutputType, world: World): unknown {
  if (!isNonNullType(type)) return null;
  if (isListType(type.ofType)) return [];
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[0]?.value;
  if (!isScalarType(named)) return {};
  if (named.name === "Boolean") return false;
  if (/^(Int|Float|BigInt)$/.test(named.name)) return 0;
  return named.name === "Time" ? world.now() : "";
}

/** The row that a field's arguments name, or that `<field>Id` of its owner leads to. */
function oneRow(source: Json, args: Readonly<Json>, type: string, field: string, world: World): unknown {
  const linked = source[`${field}Id`];
  if (linked !== undefined)
    return /^User/.test(type) && type !== "UserAchievement" ? userNode(world, Number(idOf(linked))) : findRow(world, type, linked);
  return Object.keys(args).length > 0 ? rowsFor(world, type, source.owner, args)[0] : undefined;
}

/** Answers a field of anything: its own value, else rows of the store. */
export const resolveField: GraphQLFieldResolver<Json | undefined, Context> = (source = {}, args: Json, { world }, info) => {
  const { fieldName, returnType } = info;
  const held = source[fieldName];
  const own = typeof held === "function" ? (held as (args: Json) => unknown)(args) : held;
  if (isConnection(returnType)) {
    if (Array.isArray(own)) return toConnection(own, args);
    const owner = source.owner !== undefined && !source.__typename ? source.owner : (source.id ?? source.owner);
    return own ?? toConnection(rowsFor(world, nodeTypeOf(returnType), owner, args), args);
  }
  if (own !== undefined) return own;
  const named = getNamedType(returnType);
  if (!isObjectType(named)) return emptyOf(returnType, world);
  const bare = isNonNullType(returnType) ? returnType.ofType : returnType;
  if (isListType(bare)) return rowsFor(world, named.name, source.__typename ? source.id : source.owner, args);
  return oneRow(source, args, named.name, fieldName, world) ?? emptyOf(returnType, world);
};
