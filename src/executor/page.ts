import { createHash } from "node:crypto";
import type { Call } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { namedBy, RENDERING } from "../policy/scope.ts";

/** Where the next page begins. `skip`: rows of that page that were already given. */
export type Position =
  | { readonly kind: "offset"; readonly page: number; readonly size: number; readonly skip: number }
  /** What the `Link` header adds to our own query; never a host or a path. */
  | { readonly kind: "link"; readonly query: Readonly<Record<string, string>>; readonly size: number; readonly skip: number }
  /** Lines of a text that are left, counted from its start. */
  | { readonly kind: "lines"; readonly line: number };

const VERSION = 1;

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 6);

const stable = (params: Readonly<Record<string, unknown>>) => Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));

/** Positions as short arrays: a cursor is read and written by models. */
function toParts(position: Position): readonly unknown[] {
  if (position.kind === "offset") return ["o", position.page, position.size, position.skip];
  if (position.kind === "link") return ["l", position.query, position.size, position.skip];
  return ["t", position.line];
}

/** Words of a query that must not travel in a cursor: they would make someone else the caller, name another place, or render texts. */
function isBarred(name: string): boolean {
  const word = name.replace(/\[.*$/, "").toLowerCase();
  if (word === "page_token") return false;
  return /token$|^sudo$|^password$/.test(word) || namedBy(word) !== undefined || RENDERING.includes(word);
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0;

function toPosition([kind, a, b, c]: readonly unknown[]): Position | undefined {
  if (kind === "t" && isCount(a)) return { kind: "lines", line: a };
  if (!isCount(b) || b < 1 || b > 100 || !isCount(c)) return undefined;
  if (kind === "o" && isCount(a) && a > 0) return { kind: "offset", page: a, size: b, skip: c };
  if (kind !== "l" || typeof a !== "object" || a === null || Array.isArray(a)) return undefined;
  const query = Object.entries(a).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  // A cursor comes back through a model, which could have written it.
  if (query.some(([name]) => isBarred(name))) return undefined;
  return { kind: "link", query: Object.fromEntries(query), size: b, skip: c };
}

type Listed = Pick<Call, "action" | "params">;

export function encodeCursor(position: Position, { action, params }: Listed): string {
  const parts = [VERSION, digest(action.id), digest(stable(params)), ...toParts(position)];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

const refuse = (why: string, hint: string) => new BridgeError("invalid_params", `cursor: ${why}`, hint, { fields: { cursor: why } });

function parse(cursor: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(parts) && parts[0] === VERSION ? parts : undefined;
  } catch {
    return undefined;
  }
}

/** @throws BridgeError invalid_params for a cursor that is broken or belongs to another action or other params. */
export function decodeCursor(cursor: string, { action, params }: Listed): Position {
  const parts = parse(cursor);
  const position = parts && toPosition(parts.slice(3));
  if (!parts || !position)
    throw refuse("is not one that was given out", "Pass page.next of the previous answer as it stands, or leave cursor out.");
  if (parts[1] !== digest(action.id))
    throw refuse(`belongs to another action than ${action.id}`, `Leave cursor out to begin ${action.id} at its start.`);
  if (parts[2] !== digest(stable(params)))
    throw refuse("belongs to other params", "Repeat the params of the call that gave the cursor, or leave cursor out to begin anew.");
  return position;
}

type Headers = Readonly<Record<string, string>>;

function nextLink(headers: Headers): URL | undefined {
  const link = /<([^>]+)>\s*;\s*rel="?next"?/i.exec(headers.link ?? "")?.[1];
  return link && URL.canParse(link, "http://gitlab.invalid") ? new URL(link, "http://gitlab.invalid") : undefined;
}

/** What the next link asks for beyond what we sent ourselves. */
function added(link: URL, sent: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of link.searchParams) {
    if (sent.getAll(name).includes(value) || isBarred(name)) continue;
    query[name] = value;
  }
  return query;
}

const isKeyset = (query: Readonly<Record<string, string>>) =>
  ["cursor", "id_after", "id_before", "page_token"].some((name) => name in query);

/** The position after an answer; undefined at the end of the list. `sent` is the query that was sent, without paging words. */
export function nextPosition(headers: Headers, sent: URLSearchParams, size: number): Position | undefined {
  const link = nextLink(headers);
  const query = link ? added(link, sent) : {};
  const page = Number(headers["x-next-page"] || query.page || 0);
  if (isKeyset(query) || (link && !(page > 0))) return { kind: "link", query, size, skip: 0 };
  return page > 0 ? { kind: "offset", page, size, skip: 0 } : undefined;
}

export function totalOf(headers: Headers): number | undefined {
  const text = headers["x-total"];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Lists whose whole length only keyset paging reaches, and whose order it does not change. */
const BY_KEYSET: ReadonlySet<string> = new Set(["repository.tree_list", "job.list"]);

/** The paging words of GitLab for a position. */
export function toPagingQuery(position: Position | undefined, size: number, actionId: string): Readonly<Record<string, string>> {
  if (position?.kind === "offset") return { page: String(position.page), per_page: String(position.size) };
  // GitLab heeds a token only where keyset paging is asked for with it: else the first page comes again.
  const keyset = BY_KEYSET.has(actionId) ? { pagination: "keyset" } : {};
  if (position?.kind === "link") return { ...keyset, ...position.query, per_page: String(position.size) };
  return { ...keyset, per_page: String(size) };
}
