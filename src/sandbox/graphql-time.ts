import { type Context, gid, idOf, placeNode, requireWriter, unavailable, userNode } from "./graphql-context.ts";
import { findItem, requireItem } from "./graphql-items.ts";
import { addRow, findRow, type Row, removeRow, rowsOf } from "./graphql-store.ts";
import { type Json, ROLE } from "./types.ts";

type Input = Readonly<Record<string, unknown>>;
type Mutation = (input: Input, context: Context) => Json;

const UNITS: Readonly<Record<string, number>> = { mo: 4 * 5 * 8 * 3600, w: 5 * 8 * 3600, d: 8 * 3600, h: 3600, m: 60, s: 1 };

/** `1h 30m` in seconds, a day of eight hours; undefined where it is no time. */
function toSeconds(text: string): number | undefined {
  const parts = [...text.matchAll(/(-?\d+(?:\.\d+)?)\s*(mo|w|d|h|m|s)/g)];
  if (parts.length === 0 || text.replace(/(-?\d+(?:\.\d+)?)\s*(mo|w|d|h|m|s)/g, "").trim() !== "") return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? "s"] ?? 1), 0);
}

function timelogNode(context: Context, row: Row): Json {
  const item = findItem(context, row.owner);
  const issue = item ? { id: gid("Issue", item.id), iid: String(item.row.iid), title: item.row.title } : null;
  return {
    ...row,
    owner: undefined,
    user: userNode(context.world, Number(row.userId)),
    project: item ? placeNode(context.world, item.place) : null,
    issue,
    mergeRequest: null,
  };
}

/** Logged time, newest first or as asked. */
export function timelogs(args: Json, context: Context): Json[] {
  const { world } = context;
  const user = world.users.find(({ username }) => username === args.username);
  const inPlace = (row: Row) => {
    const place = findItem(context, row.owner)?.place;
    if (!place) return false;
    if (args.projectId && !(place.kind === "project" && String(place.row.id) === idOf(args.projectId))) return false;
    const group = args.groupId ? world.groups.find(({ id }) => String(id) === idOf(args.groupId)) : undefined;
    return (
      !args.groupId || (place.kind === "project" && group !== undefined && `${place.row.namespace}/`.startsWith(`${group.full_path}/`))
    );
  };
  const inTime = (at: string) => (!args.startTime || at >= String(args.startTime)) && (!args.endTime || at <= String(args.endTime));
  const found = rowsOf(world, "Timelog").filter(
    (row) => (args.username === undefined || Number(row.userId) === user?.id) && inPlace(row) && inTime(String(row.spentAt)),
  );
  const sign = /_DESC$/i.test(String(args.sort ?? "SPENT_AT_ASC")) ? -1 : 1;
  const key = /^TIME_SPENT/i.test(String(args.sort)) ? "timeSpent" : "spentAt";
  return found
    .toSorted((a, b) => sign * (String(a[key]).padStart(30) < String(b[key]).padStart(30) ? -1 : 1))
    .map((row) => timelogNode(context, row));
}

const create: Mutation = (input, context) => {
  const user = requireWriter(context);
  const item = requireItem(context, input.issuableId, ROLE.reporter);
  const timeSpent = toSeconds(String(input.timeSpent));
  if (timeSpent === undefined) return { timelog: null, errors: ["Time spent must be formatted correctly. For example: 1h 30m."] };
  const row = addRow(
    context.world,
    "Timelog",
    { timeSpent, summary: input.summary, spentAt: input.spentAt ?? context.world.now(), userId: user.id },
    gid("WorkItem", item.id),
  );
  item.row.total_time_spent = Number(item.row.total_time_spent ?? 0) + timeSpent;
  return { timelog: timelogNode(context, row), errors: [] };
};

const remove: Mutation = (input, context) => {
  const user = requireWriter(context);
  const row = findRow(context.world, "Timelog", input.id);
  if (!row || (Number(row.userId) !== user.id && !user.admin)) throw unavailable();
  const item = findItem(context, row.owner);
  if (item) item.row.total_time_spent = Number(item.row.total_time_spent ?? 0) - Number(row.timeSpent);
  const timelog = timelogNode(context, row);
  removeRow(context.world, "Timelog", row);
  return { timelog, errors: [] };
};

export const TIME_MUTATIONS: Readonly<Record<string, Mutation>> = { timelogCreate: create, timelogDelete: remove };
