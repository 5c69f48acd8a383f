import { isDeepStrictEqual } from "node:util";
import { placeholders } from "../../src/catalog/route.ts";
import type { Action, Route } from "../../src/catalog/types.ts";
import { DIFFERENCES, ROUTES } from "../laws/differences.ts";
import { type Fact, loadFacts, type Operation, skeleton } from "../laws/facts.ts";
import type { Sent } from "../support/recorder.ts";

const FACTS = loadFacts();
const PAGING = ["page", "per_page", "pagination", "cursor", "page_token"];

/** Uploads whose bytes are the whole body, everything else standing in the query; the documents show a form. */
const BARE: Readonly<Record<string, string>> = {
  "generic_package.file_upload": "GitLab's pages send it with --upload-file",
  "terraform_state.set": "Terraform sends its state as the body",
};

/** The operation that a route stands for, as GitLab's documents have it. */
function operationOf(route: Route): Operation | undefined {
  const key = skeleton(...route);
  const fact = FACTS.get(key);
  if (fact) return fact;
  const other = FACTS.get(ROUTES[key]?.fact ?? "");
  return other && { ...other, path: other.path.replace(/\/\{[^}]*\}$/, "") };
}

const factOf = (operation: Operation, wire: string): Fact | undefined =>
  operation.params.find(
    ({ name, in: place }) => place !== "path" && (name === wire || name.startsWith(`${wire}[`) || name.startsWith(`${wire}.`)),
  );

type Entry = readonly [name: string, value: string];

/** How a value stands in a query: lists as `name[]`, objects as `name[key]`. */
function toEntries(name: string, value: unknown): Entry[] {
  if (Array.isArray(value)) return value.flatMap((item) => toEntries(`${name}[]`, item));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => toEntries(`${name}[${key}]`, inner));
  return [[name, String(value)]];
}

/** Lists that GitLab takes joined by commas, at any depth. */
function join(operation: Operation, fact: Fact, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return fact.csv ? value.join(",") : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const own = operation.params.find((one) => one.name === `${name}[${key}]`) ?? fact.fields?.find((one) => one.name === key);
      return [key, own ? join(operation, own, `${name}[${key}]`, inner) : inner];
    }),
  );
}

const inOrder = (entries: readonly Entry[]) => entries.map((entry) => entry.join("=")).sort();

interface Meant {
  readonly query: Entry[];
  readonly body: Record<string, unknown>;
  readonly findings: string[];
}

const JSON_TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  array: (value) => Array.isArray(value),
};

function sortOut(row: Action, operation: Operation, meant: Readonly<Record<string, unknown>>): Meant {
  const out: Meant = { query: [], body: {}, findings: [] };
  for (const [name, value] of Object.entries(meant)) {
    const param = row.params[name];
    if (!param || param.in === "path") continue;
    const wire = param.wire ?? name;
    const fact = factOf(operation, wire);
    if (!fact) {
      out.findings.push(`${name}: GitLab does not know ${wire}`);
      continue;
    }
    const joined = join(operation, fact, wire, value);
    const place = `${row.id} ${name}: in query, fact body` in DIFFERENCES ? "query" : fact.in;
    const bare = row.id in BARE && fact.name !== "file";
    if (place === "query" || bare) out.query.push(...toEntries(wire, joined));
    else out.body[wire] = joined;
    const fits = fact.name === wire && !(`${row.id} ${name}: type ${param.type}, fact ${fact.type}` in DIFFERENCES);
    if (fits && JSON_TYPES[fact.type]?.(value) === false) out.findings.push(`${name}: sent as ${typeof value}, GitLab takes ${fact.type}`);
  }
  return out;
}

function pathFindings(route: Route, operation: Operation, meant: Readonly<Record<string, unknown>>, sent: Sent): string[] {
  const names = placeholders(route[1]);
  const wanted = operation.path.split("/").map((part) => {
    if (!/\{[^}]*\}/.test(part)) return part;
    return part.replace(/\{[^}]*\}/g, () => encodeURIComponent(String(meant[names.shift() ?? ""])));
  });
  const path = `/api/v4${wanted.join("/")}`;
  return sent.url.pathname === path ? [] : [`path ${sent.url.pathname}, expected ${path}`];
}

/** Forms carry texts: lists as `name[]`, the file as itself. */
function formFindings(sent: Record<string, unknown>, body: Readonly<Record<string, unknown>>): string[] {
  const wanted = Object.entries(body).flatMap(([name, value]) => toEntries(name, value));
  const names = [...new Set(wanted.map(([name]) => name))].sort();
  if (!isDeepStrictEqual(Object.keys(sent).sort(), names)) return [`form ${Object.keys(sent).sort()}, expected ${names}`];
  return wanted
    .filter(([name, value]) => !(sent[name] as string[]).includes("file") && !(sent[name] as string[]).includes(value))
    .map(([name]) => `form ${name} is another`);
}

const bareFindings = (sent: Sent): string[] =>
  sent.body instanceof Blob && sent.body.size === 1 ? [] : ["the body is not the one byte of the file"];

const isForm = (sent: Sent, body: Readonly<Record<string, unknown>>): boolean =>
  Object.values(body).some((value) => typeof value === "string" && value.startsWith("data:")) && sent.body !== undefined;

/** In what a request that left differs from what GitLab's documents say about the route. */
export function requestFindings(row: Action, route: Route, meant: Readonly<Record<string, unknown>>, sent: Sent): string[] {
  const operation = operationOf(route);
  if (!operation) return ["no such operation"];
  const { query, body, findings } = sortOut(row, operation, meant);
  const paged = row.paging !== undefined && row.paging !== "none";
  const entries = [...sent.url.searchParams].filter(([name]) => !(paged && PAGING.includes(name)));
  const [sentQuery, wanted] = [inOrder(entries), inOrder(query)];
  const alien = [...sentQuery.filter((one) => !wanted.includes(one)), ...wanted.filter((one) => !sentQuery.includes(one))];
  const hasBody = Object.keys(body).length > 0;
  const bodyFindings =
    row.id in BARE
      ? bareFindings(sent)
      : isForm(sent, body)
        ? formFindings(sent.body as Record<string, unknown>, body)
        : isDeepStrictEqual(sent.body, hasBody ? body : undefined)
          ? []
          : [`body ${JSON.stringify(sent.body)}, expected ${JSON.stringify(hasBody ? body : undefined)}`];
  return [
    ...findings,
    ...(sent.method === operation.method ? [] : [`method ${sent.method}`]),
    ...pathFindings(route, operation, meant, sent),
    ...(isDeepStrictEqual(sentQuery, wanted) ? [] : [`query: ${alien.join(", ")}`]),
    ...bodyFindings,
  ];
}
