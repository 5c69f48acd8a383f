/**
 * Cuts GitLab's OpenAPI document down to the operations of the first toolsets, without its prose: fixtures/facts/openapi.json.
 *
 *   npx tsx scripts/excerpt-openapi.ts path/to/openapi_v3.yaml
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { loadActions } from "../src/catalog/load.ts";
import { routesOf } from "../src/catalog/route.ts";
import { plainPath, skeletonOf } from "../src/catalog/spec.ts";
import { parseDocument } from "../src/config/yaml.ts";

const TOOLSETS = ["meta", "core", "merge_requests", "work_items", "repository", "ci"];
const OUT = "fixtures/facts/openapi.json";
const METHODS = ["get", "post", "put", "patch", "delete"];

type Plain = Record<string, unknown>;
const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

/** Keys that hold sentences or samples, wherever they stand but as names of properties. */
const PROSE = ["description", "summary", "title", "example", "examples", "default", "pattern"];

const source = argv[2];
if (!source) throw new Error("Give the path of GitLab's OpenAPI document");
const document = parseDocument(readFileSync(source, "utf8"), source) as Plain;

function resolve(value: unknown): unknown {
  if (!isPlain(value) || typeof value.$ref !== "string") return value;
  return resolve(
    value.$ref
      .replace(/^#\//, "")
      .split("/")
      .reduce<unknown>((at, key) => (isPlain(at) ? at[key] : undefined), document),
  );
}

function bare(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one));
  const found = resolve(value);
  if (!isPlain(found)) return found;
  const kept = Object.entries(found).filter(([key]) => isNames || !PROSE.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, bare(inner, key === "properties" && !isNames)]));
}

/** Of an answer only whether it is a list. */
function answers(value: unknown): Plain {
  const good = Object.entries(isPlain(value) ? value : {}).filter(([status]) => status.startsWith("2"));
  return Object.fromEntries(
    good.map(([status, answer]) => {
      const media = Object.entries((resolve(answer) as Plain).content ?? {}) as [string, Plain][];
      const content = media.map(([type, { schema }]) => {
        const found = resolve(schema);
        return [type, { schema: { type: isPlain(found) && found.type === "array" ? "array" : "object" } }] as const;
      });
      return [status, content.length > 0 ? { content: Object.fromEntries(content) } : {}];
    }),
  );
}

const wanted = new Set(
  loadActions()
    .filter(({ toolset }) => TOOLSETS.includes(toolset))
    .flatMap((row) => routesOf(row).map((route) => skeletonOf(...route))),
);
const lines = Object.entries(document.paths as Record<string, Plain>).flatMap(([path, item]) => {
  const operations = METHODS.filter((method) => isPlain(item[method]) && wanted.has(skeletonOf(method, plainPath(path)))).map((method) => {
    const { parameters, requestBody, responses } = item[method] as Plain;
    const operation = {
      ...(parameters ? { parameters: bare(parameters) } : {}),
      ...(requestBody ? { requestBody: bare(requestBody) } : {}),
      responses: answers(responses),
    };
    return [method, operation] as const;
  });
  return operations.length > 0 ? [`${JSON.stringify(path)}: ${JSON.stringify(Object.fromEntries(operations))}`] : [];
});
writeFileSync(
  OUT,
  `{\n"openapi": "3.0.0",\n"info": {"title": "Excerpt of GitLab's REST API", "version": "v4"},\n"x-toolsets": ${JSON.stringify(TOOLSETS)},\n"paths": {\n${lines.join(",\n")}\n}\n}\n`,
);
