import { badParams, failure } from "./errors.ts";
import { integer, text } from "./input.ts";
import type { Json, Reply, Request } from "./types.ts";

const MOST_PER_PAGE = 100;
const COUNTED = 10_000;
const OFFSET_LIMIT = 50_000;

export interface Keyset<T> {
  /** The value that orders the rows, e.g. `id`; rows are sorted by it here. */
  readonly key: (row: T) => string | number;
  /** Further `order_by` values that keyset paging knows, by name. */
  readonly others?: Readonly<Record<string, (row: T) => string | number>>;
  readonly defaultOrder?: string;
  readonly sort?: "asc" | "desc";
  /** Name of the parameter that leads on, `cursor` unless told; `id_after` and `page_token` are GitLab's others. */
  readonly parameter?: "cursor" | "id_after" | "page_token";
}

export interface PageOptions<T> {
  /** Offered when asked for with `pagination=keyset`. */
  readonly keyset?: Keyset<T>;
  /** Totals are left out, as GitLab does on lists that are dear to count. */
  readonly uncounted?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The address of this request with other query parameters. */
function linkTo(request: Request, changes: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) add(`${name}[]`, item);
    else if (value !== null && typeof value === "object") for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item);
    else if (value !== undefined && value !== null) query.append(name, String(value));
  };
  const { private_token: _secret, access_token: _other, ...rest } = request.query;
  for (const [name, value] of Object.entries({ ...rest, ...changes })) add(name, value);
  return `${request.world.url}/api/v4${request.path}?${query}`;
}

function perPage(request: Request): number {
  const asked = integer(request.input, "per_page") ?? 20;
  if (asked < 1) throw badParams("per_page does not have a valid value");
  return Math.min(asked, MOST_PER_PAGE);
}

function pageNumber(request: Request): number {
  const asked = integer(request.input, "page") ?? 1;
  if (asked < 1) throw badParams("page does not have a valid value");
  return asked;
}

function offsetReply<T>(request: Request, rows: readonly T[], present: (row: T) => unknown, options: PageOptions<T>): Reply {
  const size = perPage(request);
  const page = pageNumber(request);
  if ((page - 1) * size > OFFSET_LIMIT) {
    throw failure(405, {
      error: `Offset pagination has a maximum allowed offset of ${OFFSET_LIMIT} for requests that return objects of this type. Remaining records can be retrieved using keyset pagination.`,
    });
  }
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const counted = !options.uncounted && rows.length <= COUNTED;
  const at = (number: number) => linkTo(request, { page: number, per_page: size });
  const next = page < pages ? page + 1 : undefined;
  const links = [
    page > 1 && `<${at(Math.min(page - 1, pages))}>; rel="prev"`,
    next && `<${at(next)}>; rel="next"`,
    `<${at(1)}>; rel="first"`,
    counted && `<${at(pages)}>; rel="last"`,
  ];
  const headers = {
    "x-page": String(page),
    "x-per-page": String(size),
    "x-next-page": next ? String(next) : "",
    "x-prev-page": page > 1 ? String(page - 1) : "",
    ...(counted ? { "x-total": String(rows.length), "x-total-pages": String(pages) } : {}),
    link: links.filter(Boolean).join(", "),
    ...options.headers,
  };
  return { status: 200, json: rows.slice((page - 1) * size, page * size).map(present), headers };
}

/** Where a cursor stands: the last row shown, by the value that orders the rows and by its own key. */
interface Place {
  readonly order: string | number;
  readonly key: string | number;
}

const encode = (place: Place) => Buffer.from(JSON.stringify(place)).toString("base64url");

function decode(cursor: string): Place {
  try {
    const { order, key } = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as Partial<Place>;
    if (order !== undefined && key !== undefined) return { order, key };
  } catch {
    // told below
  }
  throw badParams("cursor is invalid");
}

const compare = (one: string | number, other: string | number) => (one < other ? -1 : one > other ? 1 : 0);

type Key<T> = (row: T) => string | number;

function orderOf<T>(request: Request, keyset: Keyset<T>): { order: Key<T>; direction: number } {
  const usual = keyset.defaultOrder ?? "id";
  const name = text(request.input, "order_by") ?? usual;
  const order = name === usual ? keyset.key : keyset.others?.[name];
  if (!order) throw failure(405, { error: "Keyset pagination is not yet available for this type of request" });
  return { order, direction: (text(request.input, "sort") ?? keyset.sort ?? "desc") === "asc" ? 1 : -1 };
}

/** Rows after the place that the request names; a row that has gone meanwhile does no harm. */
function rest<T>(request: Request, rows: readonly T[], keyset: Keyset<T>, by: Key<T>, direction: number): T[] {
  const name = keyset.parameter ?? "cursor";
  const sent = text(request.input, name);
  const sorted = [...rows].sort((one, other) => direction * (compare(by(one), by(other)) || compare(keyset.key(one), keyset.key(other))));
  if (!sent) return sorted;
  if (name !== "cursor") {
    const at = sorted.findIndex((row) => String(keyset.key(row)) === sent);
    if (at >= 0) return sorted.slice(at + 1);
    return sorted.filter((row) => direction * compare(keyset.key(row), typeof keyset.key(row) === "number" ? Number(sent) : sent) > 0);
  }
  const place = decode(sent);
  return sorted.filter((row) => direction * (compare(by(row), place.order) || compare(keyset.key(row), place.key)) > 0);
}

/** Pages by `Link` alone: the cursor names the last row, not its number, so that rows made or deleted meanwhile shift nothing. */
function keysetReply<T>(
  request: Request,
  rows: readonly T[],
  present: (row: T) => unknown,
  keyset: Keyset<T>,
  options: PageOptions<T>,
): Reply {
  const size = perPage(request);
  const { order, direction } = orderOf(request, keyset);
  const left = rest(request, rows, keyset, order, direction);
  const shown = left.slice(0, size);
  const last = shown.at(-1);
  const headers: Record<string, string> = { "x-per-page": String(size), ...options.headers };
  if (last !== undefined && left.length > size) {
    const name = keyset.parameter ?? "cursor";
    const follow = name === "cursor" ? encode({ order: order(last), key: keyset.key(last) }) : String(keyset.key(last));
    headers.link = `<${linkTo(request, { [name]: follow, per_page: size })}>; rel="next"`;
  }
  return { status: 200, json: shown.map(present), headers };
}

/** One page of a list, with GitLab's headers. `present` makes the JSON of a row. */
export function paged<T>(request: Request, rows: readonly T[], present: (row: T) => unknown, options: PageOptions<T> = {}): Reply {
  const wanted = text(request.input, "pagination") === "keyset";
  if (wanted && options.keyset) return keysetReply(request, rows, present, options.keyset, options);
  return offsetReply(request, rows, present, options);
}

/** Rows by `order_by` and `sort`, from a table of orders; the first is the default. */
export function ordered<T>(
  input: Readonly<Json>,
  rows: readonly T[],
  orders: Readonly<Record<string, (row: T) => string | number>>,
  defaultSort: "asc" | "desc" = "desc",
): T[] {
  const name = text(input, "order_by") ?? Object.keys(orders)[0] ?? "";
  const key = orders[name];
  const sort = text(input, "sort") ?? defaultSort;
  if (!key) throw badParams("order_by does not have a valid value");
  if (sort !== "asc" && sort !== "desc") throw badParams("sort does not have a valid value");
  const direction = sort === "asc" ? 1 : -1;
  return [...rows].sort((one, other) => direction * compare(key(one), key(other)));
}
