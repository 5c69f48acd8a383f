/**
 * The laws of a row that the build itself holds: its shape, its names, its paths. What texts, facts and vendors ask for is held by
 * `test/laws`.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { placeholders, routesOf } from "../src/catalog/route.ts";
import { TOOLSETS } from "../src/catalog/toolsets.ts";
import type { ActionRow } from "../src/catalog/types.ts";

const words = z.array(z.string().min(1));

const SHAPE = {
  type: z.enum(["string", "integer", "number", "boolean", "array", "object"]),
  enum: words.optional(),
  required: z.boolean().optional(),
  about: z.string().optional(),
  format: z.enum(["binary", "date", "date-time", "full_path"]).optional(),
  csv: z.boolean().optional(),
  common: z.boolean().optional(),
  deprecated: z.boolean().optional(),
};

const shape: z.ZodType = z.lazy(() => z.strictObject({ ...SHAPE, ...INNER }));
const INNER = { items: shape.optional(), properties: z.record(z.string(), shape).optional() };

const param = z.strictObject({
  ...SHAPE,
  ...INNER,
  in: z.enum(["path", "query", "body"]),
  wire: z.string().optional(),
  gid: z.string().optional(),
  on: words.optional(),
});

const route = z.tuple([z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]), z.string().regex(/^\/\S*$/)]);

const ROW = z.strictObject({
  id: z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]+$/),
  tool: z
    .string()
    .regex(/^[a-z0-9]+(?:_[a-z0-9]+)*$/)
    .max(32),
  title: z.string().min(1),
  about: z.string().min(1),
  http: route.optional(),
  routes: z.array(route).optional(),
  graphql: z.string().optional(),
  documents: z.record(z.string(), z.string()).optional(),
  composite: z.string().optional(),
  effect: z.enum(["read", "write", "destructive"]),
  essential: z.boolean().optional(),
  admin: z.boolean().optional(),
  tier: z.enum(["free", "premium", "ultimate"]).optional(),
  paging: z.enum(["none", "offset", "keyset"]).optional(),
  returns: z.enum(["object", "array", "text", "binary", "none", "unknown"]).optional(),
  entity: z.string().optional(),
  params: z.record(z.string(), param),
  aliases: words.optional(),
  keywords: words.optional(),
  next: words.optional(),
  secret: z.boolean().optional(),
  since: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

/** Rows as they stand in their files. */
export type Files = Readonly<Record<string, readonly unknown[]>>;

const nameOf = (row: unknown, index: number): string => {
  const id = (row as { readonly id?: unknown } | null)?.id;
  return typeof id === "string" ? id : `row ${index + 1}`;
};

function shapeFindings(row: unknown): string[] {
  const parsed = ROW.safeParse(row);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".") || "row"}: ${message}`);
}

function roadFindings(row: ActionRow): string[] {
  const roads = [row.http, row.graphql, row.composite].filter((road) => road !== undefined).length;
  const wanted = new Set(routesOf(row).flatMap(([, path]) => placeholders(path)));
  const inPath = Object.keys(row.params).filter((name) => row.params[name]?.in === "path");
  return [
    ...(roads === 1 ? [] : ["exactly one of http, graphql, composite"]),
    ...[...wanted].filter((name) => !inPath.includes(name)).map((name) => `{${name}} of the path is no path parameter`),
    ...inPath.filter((name) => !wanted.has(name)).map((name) => `${name}: a path parameter that is in no path`),
  ];
}

/** What is wrong, one line a finding: the file, the row, the law. */
export function rowFindings(files: Files): string[] {
  const seen = new Map<string, string>();
  const twice = (name: string, where: string): string[] => {
    const first = seen.get(name);
    seen.set(name, first ?? where);
    return first === undefined ? [] : [`${name} is the name of ${first} already`];
  };
  return Object.entries(files).flatMap(([file, rows]) =>
    rows.flatMap((row, index) => {
      const where = `${file}: ${nameOf(row, index)}`;
      const broken = shapeFindings(row);
      const { id, tool } = row as ActionRow;
      const findings =
        broken.length > 0 ? broken : [...roadFindings(row as ActionRow), ...[id, tool].flatMap((name) => twice(name, where))];
      return findings.map((finding) => `${where}: ${finding}`);
    }),
  );
}

function rowsIn(url: URL): readonly unknown[] {
  const text = readFileSync(url, "utf8");
  try {
    const rows: unknown = JSON.parse(text);
    if (Array.isArray(rows)) return rows;
  } catch (error) {
    throw new Error(`${url.pathname}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Error(`${url.pathname}: rows are a JSON array`);
}

/** The files of all toolsets. @throws Error naming the file that is no list of rows. */
export function readFiles(): Files {
  const folder = "src/catalog/data";
  return Object.fromEntries(
    TOOLSETS.map(({ name }) => [`${folder}/${name}.json`, rowsIn(new URL(`../${folder}/${name}.json`, import.meta.url))]),
  );
}
