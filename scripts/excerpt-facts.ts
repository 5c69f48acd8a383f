/**
 * Cuts the facts about GitLab's operations down to those that the rows use: fixtures/facts/operations.json,
 * and lists all of them with their class: fixtures/facts/classes.json.
 *
 *   npx esbuild scripts/excerpt-facts.ts --bundle --platform=node --format=esm | node --input-type=module - path/to/operations.json
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";

interface Field {
  readonly name: string;
  readonly in?: string;
  readonly type: string;
  readonly required?: boolean;
  readonly enum?: readonly unknown[];
  readonly items?: string;
  readonly csv?: boolean;
  readonly fields?: readonly Field[];
  readonly itemFields?: readonly Field[];
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly class: string;
  readonly rawPath?: string;
  readonly params: readonly Field[];
  readonly body?: { readonly fields: readonly Field[] };
}

interface Row {
  readonly http?: readonly [string, string];
  readonly routes?: readonly (readonly [string, string])[];
}

const DATA = "src/catalog/data";
const OUT = "fixtures/facts/operations.json";
const CLASSES = "fixtures/facts/classes.json";

const skeleton = (method: string, path: string) => `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`;

/** Files of rows are arrays; dictionaries lie beside them. */
function wantedRoutes(): Set<string> {
  const rows = readdirSync(DATA)
    .map((file) => JSON.parse(readFileSync(`${DATA}/${file}`, "utf8")) as unknown)
    .flatMap((content) => (Array.isArray(content) ? (content as Row[]) : []));
  return new Set(
    rows.flatMap((row) => [...(row.http ? [row.http] : []), ...(row.routes ?? [])].map(([method, path]) => skeleton(method, path))),
  );
}

function compact(field: Field, place?: string): Field {
  return {
    name: field.name,
    ...(place ? { in: place } : {}),
    type: field.type,
    ...(field.required ? { required: true } : {}),
    ...(field.enum ? { enum: field.enum } : {}),
    ...(field.items ? { items: field.items } : {}),
    ...(field.csv ? { csv: true } : {}),
    ...(field.fields ? { fields: field.fields.map((child) => compact(child)) } : {}),
    ...(field.itemFields ? { itemFields: field.itemFields.map((child) => compact(child)) } : {}),
  };
}

/** A trailing part that GitLab marks as optional, `(/)(*name)`, may be left out by a row. */
function spellings({ method, path, rawPath }: Operation): string[] {
  const optional = rawPath?.endsWith(")") && rawPath.includes("(/)(*");
  return [skeleton(method, path), ...(optional ? [skeleton(method, path.replace(/\/\{[^}]*\}$/, ""))] : [])];
}

const source = argv[2];
if (!source) throw new Error("Give the path of the full operations.json");
const { operations } = JSON.parse(readFileSync(source, "utf8")) as { operations: readonly Operation[] };
const wanted = wantedRoutes();
const lines = operations
  .filter((operation) => spellings(operation).some((key) => wanted.has(key)))
  .map(({ method, path, params, body }) => ({
    method,
    path,
    params: [...params.map((field) => compact(field, field.in)), ...(body?.fields ?? []).map((field) => compact(field, "body"))],
  }))
  .map((operation) => JSON.stringify(operation));
writeFileSync(OUT, `[\n${lines.join(",\n")}\n]\n`);
const classes = operations.map(({ method, path, class: kind }) => JSON.stringify([kind, method, path]));
writeFileSync(CLASSES, `[\n${classes.join(",\n")}\n]\n`);
