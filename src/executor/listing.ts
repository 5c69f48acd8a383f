import type { Call, CallContext, CallScope, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { countFitting, cutToFit } from "./budget.ts";
import { decodeCursor, encodeCursor, type Position } from "./page.ts";
import { estimateJson } from "./tokens.ts";

/** One page as GitLab gave it. */
export interface RawPage {
  readonly items: readonly unknown[];
  readonly next?: Position;
  readonly total?: number;
}

/** Rows made ready for the reader. */
export interface Shaped {
  readonly items: readonly unknown[];
  readonly omitted: number;
}

export interface ListParts {
  /** Tokens that the answer may have. */
  readonly budget: number;
  /** GitLab pages this list; otherwise it comes whole. */
  readonly paged: boolean;
  readonly read: (position: Position | undefined, size: number) => Promise<RawPage>;
  readonly shape: (items: readonly unknown[]) => Shaped;
}

export const DEFAULT_LIMIT = 20;
export const MOST_LIMIT = 100;
export const MOST_ROWS = 1_000;
/** Pages in a row of which nothing may be shown, before the reader is given the cursor instead. */
const MOST_EMPTY = 10;

export const FILTERED = "only what belongs to the projects and groups that this server allows is shown, and no total is told";

/** A row with the place where a later call finds it again. */
interface Placed {
  readonly item: unknown;
  readonly at: Position;
}

/** A page without the rows that this caller may not reach. */
interface KeptPage extends RawPage {
  /** How many rows GitLab gave. */
  readonly read: number;
  readonly filtered: boolean;
}

interface Gathered {
  readonly rows: readonly Placed[];
  readonly filtered: boolean;
  readonly next?: Position;
  readonly total?: number;
  readonly omitted: number;
}

function startOf(call: Call): Position | undefined {
  const { cursor, page } = call.wanted;
  if (cursor === undefined) return page !== undefined && page > 1 ? { kind: "offset", page, size: requested(call), skip: 0 } : undefined;
  const position = decodeCursor(cursor, call);
  if (position.kind !== "lines") return position;
  throw new BridgeError("invalid_params", "cursor: belongs to a text, not to a list", "Leave cursor out to begin the list at its start.");
}

const requested = ({ wanted }: Call): number => (wanted.all ? MOST_LIMIT : Math.min(wanted.limit ?? DEFAULT_LIMIT, MOST_LIMIT));

const sizeOf = (call: Call, start: Position | undefined): number => (start && start.kind !== "lines" ? start.size : requested(call));

const skipOf = (position: Position | undefined) => (position && position.kind !== "lines" ? position.skip : 0);

/** A place on the first page is one that no link leads to yet: it begins like the list itself, by numbers or by keys. */
const withSkip = (position: Position | undefined, size: number, skip: number): Position =>
  position && position.kind !== "lines" ? { ...position, skip } : { kind: "link", query: {}, size, skip };

function stopIfCancelled(context: CallContext, rows: number): void {
  if (!context.signal.aborted) return;
  throw new BridgeError(
    "cancelled",
    `The list was cancelled after ${rows} rows.`,
    "Nothing was changed. Call again only if it is still wanted.",
  );
}

/** Totals would tell of what is left out. */
async function keepRows(page: RawPage, scope: CallScope | undefined): Promise<KeptPage> {
  const read = page.items.length;
  if (!scope) return { ...page, read, filtered: false };
  const { items, filtered } = await scope.keep(page.items);
  const { total, ...rest } = page;
  return { ...rest, items, read, filtered, ...(total === undefined || filtered ? {} : { total }) };
}

async function gatherRows(call: Call, context: CallContext, parts: ListParts): Promise<Gathered> {
  const rows: Placed[] = [];
  const start = startOf(call);
  const size = sizeOf(call, start);
  let position = start;
  let omitted = 0;
  let used = 0;
  let total: number | undefined;
  let filtered = false;
  for (let pages = 1; ; pages++) {
    stopIfCancelled(context, rows.length);
    const page = await keepRows(await parts.read(position, size), context.scope);
    filtered ||= page.filtered;
    const skip = skipOf(position);
    const shaped = parts.shape(page.items.slice(skip));
    const here = position;
    rows.push(...shaped.items.map((item, index) => ({ item, at: withSkip(here, size, skip + index) })));
    omitted = Math.max(omitted, shaped.omitted);
    total ??= page.total;
    used += estimateJson(shaped.items);
    if (call.wanted.all)
      context.progress?.({ progress: rows.length, ...(total === undefined ? {} : { total: Math.min(total, MOST_ROWS) }) });
    const more = page.next !== undefined && page.read > 0;
    const looksOn = page.filtered && rows.length === 0 && pages < MOST_EMPTY;
    if (!more || !(call.wanted.all || looksOn) || rows.length >= MOST_ROWS || used > parts.budget)
      return { rows, filtered, omitted, ...(more && page.next ? { next: page.next } : {}), ...(total === undefined ? {} : { total }) };
    position = page.next;
  }
}

interface Cut {
  readonly items: readonly unknown[];
  readonly next?: Position;
  readonly truncated?: string;
}

/** An own list that comes whole is paged here; a paged one is cut only by its cap. */
function mostRows({ wanted }: Call, parts: ListParts): number {
  if (wanted.all) return MOST_ROWS;
  return parts.paged ? MOST_LIMIT : (wanted.limit ?? MOST_ROWS);
}

function cut({ rows, next }: Gathered, call: Call, parts: ListParts): Cut {
  const items = rows.map(({ item }) => item);
  const fitting = Math.min(countFitting(items, parts.budget), mostRows(call, parts));
  const go = "go on with cursor: page.next";
  if (fitting >= items.length)
    return { items, ...(next ? { next } : {}), ...(next && call.wanted.all ? { truncated: `${items.length} rows read; ${go}` } : {}) };
  if (fitting > 0) {
    const left = rows[fitting]?.at;
    const few = fitting < mostRows(call, parts) ? "did not fit" : "are left";
    return {
      items: items.slice(0, fitting),
      ...(left ? { next: left } : {}),
      truncated: `${items.length - fitting} of the ${items.length} rows read ${few}; ${go}, or use select`,
    };
  }
  const first = cutToFit(items[0], parts.budget);
  const after = rows[1]?.at ?? next;
  const how = after ? `; ${go} for the other rows` : "";
  return { items: [first.value], ...(after ? { next: after } : {}), truncated: `${first.cuts.join("; ")}${how}` };
}

/** A list from the start or from a cursor: one page, or every page up to the cap, cut at the border of a row where the budget ends. */
export async function runList(call: Call, context: CallContext, parts: ListParts): Promise<Extract<Outcome, { kind: "list" }>> {
  const gathered = await gatherRows(call, context, parts);
  const { items, next, truncated } = cut(gathered, call, parts);
  const { total, omitted, filtered } = gathered;
  return {
    kind: "list",
    items,
    page: { ...(next ? { next: encodeCursor(next, call) } : {}), ...(total === undefined ? {} : { total }) },
    ...(filtered ? { filtered: FILTERED } : {}),
    ...(omitted > 0 ? { omitted } : {}),
    ...(truncated ? { truncated } : {}),
  };
}
