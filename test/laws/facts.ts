import { readFileSync } from "node:fs";
import { placeholders, routesOf, scopeOf } from "../../src/catalog/route.ts";
import type { Action, Param, Route, Shape } from "../../src/catalog/types.ts";
import { PATH_TYPES, ROUTES } from "./differences.ts";

/** A parameter or field as GitLab's own documents state it. */
export interface Fact {
  readonly name: string;
  readonly in?: "path" | "query" | "body";
  readonly type: string;
  readonly required?: boolean;
  readonly enum?: readonly unknown[];
  readonly items?: string;
  /** Sent as one value, joined by commas. */
  readonly csv?: boolean;
  readonly fields?: readonly Fact[];
  readonly itemFields?: readonly Fact[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly params: readonly Fact[];
}

/** Paging is the bridge's own business (`cursor`, `limit`, `all`); rows carry none of it. */
const PAGING = ["page", "per_page", "pagination", "cursor", "page_token"];

/** Cut from GitLab's documents, and what came after them, written down from GitLab's pages. */
const FACTS_FILES = ["operations", "operations-newer"].map((name) => new URL(`../../fixtures/facts/${name}.json`, import.meta.url));

export const skeleton = (method: string, path: string): string => `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`;

export type Facts = ReadonlyMap<string, Operation>;

export const toFacts = (operations: readonly Operation[]): Facts =>
  new Map(operations.map((operation) => [skeleton(operation.method, operation.path), operation]));

export const loadFacts = (): Facts => toFacts(FACTS_FILES.flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as Operation[]));

/** What a JSON type of ours may be called in the facts. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  string: ["string", "string|integer", "integer|string", "file", "File", "File|string", "Gitlab::Color", "any"],
  integer: ["integer", "string|integer", "integer|string", "any"],
  number: ["Float", "BigDecimal", "number"],
  boolean: ["boolean"],
  array: ["array", "Array", "string|Array", "string|[String]", "[Integer]|[String]"],
  object: ["object", "object|Array"],
};

const fitsType = (ours: string, fact: string) => SPELLINGS[ours]?.includes(fact) ?? false;

/** `not[author_id]` and `head.ref` become fields of `not` and `head`, at any depth (fields are folded again when compared). */
function fold(facts: readonly Fact[]): Fact[] {
  const tops: Fact[] = [];
  for (const fact of facts) {
    const [, top = fact.name, inner, tail = ""] = /^([^[.]+)(?:\[([^\]]*)\]|\.(?=.))(.*)$/.exec(fact.name) ?? [];
    const index = tops.findIndex(({ name }) => name === top);
    if (top === fact.name) {
      if (index < 0) tops.push(fact);
      continue;
    }
    const owner = tops[index] ?? { name: top, type: "object", ...(fact.in ? { in: fact.in } : {}) };
    const grown = { ...owner, fields: [...(owner.fields ?? []), { ...fact, name: `${inner ?? ""}${tail}` }] };
    if (index < 0) tops.push(grown);
    else tops[index] = grown;
  }
  return tops;
}

const strings = (values: readonly unknown[] | undefined) =>
  (values ?? []).filter((value) => typeof value === "string" && value !== "") as string[];

const sameSet = (left: readonly string[], right: readonly string[]) =>
  new Set(left).size === new Set([...left, ...right]).size && new Set(right).size === new Set([...left, ...right]).size;

/** Differences between a shape of ours and the facts about it, on every route that knows it. */
function compareShape(where: string, shape: Shape, facts: readonly Fact[]): string[] {
  const findings = facts
    .filter((fact) => !fitsType(shape.type, fact.type))
    .map((fact) => `${where}: type ${shape.type}, fact ${fact.type}`);
  const target = shape.type === "array" ? shape.items : shape;
  const allowed = [...new Set(facts.flatMap((fact) => strings(fact.enum)))];
  if (target?.type === "string" && !sameSet(target.enum ?? [], allowed)) {
    findings.push(`${where}: values ${(target.enum ?? []).join(",")}; fact ${allowed.join(",")}`);
  }
  const items = shape.items?.type ?? "string";
  const otherItems = shape.type === "array" ? facts.filter((fact) => fact.items !== undefined && !fitsType(items, fact.items)) : [];
  findings.push(...otherItems.map((fact) => `${where}: items ${items}, fact ${fact.items}`));
  if (facts.some((fact) => (fact.csv === true) !== (shape.csv === true))) findings.push(`${where}: comma-joined differs`);
  if (facts.some((fact) => /^file/i.test(fact.type)) && shape.format !== "binary") findings.push(`${where}: a file, but not binary`);
  return [
    ...findings,
    ...compareFields(
      where,
      target?.properties ?? {},
      facts.flatMap((fact) => fold([...(fact.fields ?? []), ...(fact.itemFields ?? [])])),
    ),
  ];
}

function compareFields(where: string, properties: Readonly<Record<string, Shape>>, facts: readonly Fact[]): string[] {
  const unknown = Object.keys(properties).filter((name) => !facts.some((fact) => fact.name === name));
  const missing = facts.filter((fact) => !(fact.name in properties));
  return [
    ...unknown.map((name) => `${where}.${name}: not in the facts`),
    ...missing.map((fact) => `${where}.${fact.name}: missing in the row`),
    ...Object.entries(properties).flatMap(([name, shape]) => {
      const own = facts.filter((fact) => fact.name === name);
      if (own.length === 0) return [];
      const same = own.every((fact) => fact.required === true) === (shape.required === true);
      return [...compareShape(`${where}.${name}`, shape, own), ...(same ? [] : [`${where}.${name}: required differs`])];
    }),
  ];
}

interface Met {
  readonly route: Route;
  readonly scope: string;
  readonly operation: Operation;
}

/** Parameters of an operation that a row has to know: no paging, no twin of a path parameter. */
function bodyAndQuery(operation: Operation): Fact[] {
  const inPath = placeholders(operation.path);
  return fold(operation.params.filter((fact) => fact.in !== "path" && !PAGING.includes(fact.name) && !inPath.includes(fact.name)));
}

function comparePath(row: Action, { route, operation }: Met): string[] {
  const theirs = placeholders(operation.path);
  return placeholders(route[1]).flatMap((name, index) => {
    const fact = operation.params.find((param) => param.in === "path" && param.name === theirs[index]);
    const type = row.params[name]?.type ?? "string";
    if (!fact || fitsType(type, fact.type) || PATH_TYPES[name]?.type === type) return [];
    return [`${row.id} ${name}: type ${type}, fact ${fact.type}`];
  });
}

function compareParam(row: Action, name: string, param: Param, met: readonly Met[]): string[] {
  const where = `${row.id} ${name}`;
  const wire = param.wire ?? name;
  const knowing = met.filter(({ scope }) => param.on === undefined || param.on.includes(scope));
  const facts = knowing.flatMap(({ operation }) => bodyAndQuery(operation).filter((fact) => fact.name === wire));
  if (facts.length < knowing.length) return [`${where}: not in the facts of every route`];
  const misplaced = facts.filter((fact) => fact.in !== param.in).map((fact) => `${where}: in ${param.in}, fact ${fact.in}`);
  const required = facts.every((fact) => fact.required === true) === (param.required === true) ? [] : [`${where}: required differs`];
  return [...misplaced, ...required, ...compareShape(where, param, facts)];
}

function missingParams(row: Action, met: readonly Met[]): string[] {
  return met.flatMap(({ scope, operation, route }) =>
    bodyAndQuery(operation)
      .filter((fact) => {
        const own = Object.entries(row.params).find(([name, param]) => (param.wire ?? name) === fact.name && param.in !== "path");
        return !own || (own[1].on !== undefined && !own[1].on.includes(scope));
      })
      .map((fact) => `${row.id} ${fact.name}: missing for ${route.join(" ")}`),
  );
}

/** Method, path, parameter names, places, types and values of the rows equal the facts; every difference is told. */
export function factsFindings(rows: readonly Action[], facts: Facts): string[] {
  return rows.flatMap((row) => {
    const found = routesOf(row).map((route) => {
      const key = skeleton(...route);
      return { route, scope: scopeOf(row, route), operation: facts.get(key) ?? facts.get(ROUTES[key]?.fact ?? "") };
    });
    const met = found.filter((one): one is Met => one.operation !== undefined);
    const params = met.length > 0 ? Object.entries(row.params).filter(([, param]) => param.in !== "path") : [];
    return [
      ...found.filter(({ operation }) => !operation).map(({ route }) => `${row.id}: no such operation: ${route.join(" ")}`),
      ...met.flatMap((one) => comparePath(row, one)),
      ...params.flatMap(([name, param]) => compareParam(row, name, param, met)),
      ...missingParams(row, met),
    ];
  });
}
