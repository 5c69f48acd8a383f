import { GraphQLError } from "graphql";
import type { Json } from "./types.ts";

const MOST = 100;

const toCursor = (position: number) => Buffer.from(JSON.stringify({ position: String(position) })).toString("base64url");

function fromCursor(cursor: unknown): number {
  try {
    const { position } = JSON.parse(Buffer.from(String(cursor), "base64url").toString("utf8")) as { position?: string };
    if (Number.isInteger(Number(position))) return Number(position);
  } catch {
    // told below
  }
  throw new GraphQLError("Please provide a valid cursor");
}

/** A list in GitLab's form of a connection: at most a hundred, `after` a cursor. */
export function toConnection(rows: readonly unknown[], args: Readonly<Json>): Json {
  const start = args.after === undefined || args.after === null ? 0 : fromCursor(args.after);
  const size = Math.min(typeof args.first === "number" ? args.first : MOST, MOST);
  const nodes = rows.slice(start, start + size);
  const end = start + nodes.length;
  return {
    nodes,
    count: rows.length,
    pageInfo: {
      hasNextPage: end < rows.length,
      hasPreviousPage: start > 0,
      startCursor: nodes.length > 0 ? toCursor(start) : null,
      endCursor: nodes.length > 0 ? toCursor(end) : null,
    },
  };
}
