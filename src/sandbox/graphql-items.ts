import { type Context, gid, idOf, levelIn, ownerOf, type Place, placeNode, requestOf, unavailable, userNode } from "./graphql-context.ts";
import { rowsOf } from "./graphql-store.ts";
import { seesIssue } from "./issue-entities.ts";
import { type Json, ROLE, type World } from "./types.ts";

/** A work item: an issue of a project, or an epic of a group. `row` is the very record that REST shows. */
export interface Item {
  readonly id: number;
  readonly place: Place;
  readonly row: Json;
}

/** What REST's records have no room for. */
export interface Extra {
  parent?: number;
  type?: string;
  status?: string;
  start_date?: string | null;
  due_date?: string | null;
  health?: string | null;
  iteration?: number | null;
  color?: string;
  assignee_ids?: number[];
  weight?: number | null;
  milestone_id?: number | null;
}

/** Epics are counted from here on as work items; their own ids are others. */
const EPICS = 900_000;

export const TYPES: Readonly<Record<string, string>> = {
  1: "Issue",
  2: "Incident",
  3: "Test Case",
  4: "Requirement",
  5: "Task",
  6: "Objective",
  7: "Key Result",
  8: "Epic",
  9: "Ticket",
};

export const wordOf = (type: string) => type.toLowerCase().replace(" ", "_");

export function extraOf(world: World, item: Pick<Item, "id">): Extra {
  const extras = world.part("graphql-items", () => new Map<number, Extra>());
  const extra = extras.get(item.id) ?? {};
  extras.set(item.id, extra);
  return extra;
}

export function epicsOf(world: World, group: number): Json[] {
  const path = `/groups/${group}/epics`;
  const rows = world.tables.get(path) ?? [];
  world.tables.set(path, rows);
  return rows;
}

export const epicItem = (place: Place, row: Json): Item => ({ id: EPICS + Number(row.id), place, row });

export const issueItem = (place: Place, row: object): Item => ({ id: Number((row as Json).id), place, row: row as Json });

/** Everything of one project, or of one group itself. */
function itemsOf(context: Context, place: Place): Item[] {
  const { world } = context;
  if (place.kind === "group") return epicsOf(world, place.row.id).map((row) => epicItem(place, row));
  const seen = world.issues.filter((issue) => issue.project_id === place.row.id && seesIssue(requestOf(context), issue));
  return seen.map((issue) => issueItem(place, issue));
}

function placesUnder({ world }: Context, place: Place): Place[] {
  if (place.kind === "project") return [];
  const inside = `${place.row.full_path}/`;
  const groups = world.groups.filter(({ full_path }) => full_path.startsWith(inside)).map((row): Place => ({ kind: "group", row }));
  const projects = world.projects
    .filter(({ namespace }) => `${namespace}/`.startsWith(inside))
    .map((row): Place => ({ kind: "project", row }));
  return [...groups, ...projects];
}

/** The work items of a place, and of what lies below it where that is asked for. */
export function itemsIn(context: Context, place: Place, below = false): Item[] {
  return [place, ...(below ? placesUnder(context, place) : [])].flatMap((one) => itemsOf(context, one));
}

/** The work item of this global id, if the caller may see it. */
export function findItem(context: Context, id: unknown): Item | undefined {
  const number = Number(idOf(id));
  const { world } = context;
  if (number < EPICS) {
    const issue = world.issues.find((row) => row.id === number);
    const project = issue && world.projects.find((row) => row.id === issue.project_id);
    return issue && project && seesIssue(requestOf(context), issue) ? issueItem({ kind: "project", row: project }, issue) : undefined;
  }
  for (const group of world.groups) {
    const epic = epicsOf(world, group.id).find((row) => Number(row.id) === number - EPICS);
    if (epic) return epicItem({ kind: "group", row: group }, epic);
  }
  return undefined;
}

/** @throws where it is not there or the caller may not change it. */
export function requireItem(context: Context, id: unknown, role: number = ROLE.planner): Item {
  const item = findItem(context, id);
  const own = item !== undefined && item.row.author_id === context.caller.user?.id;
  if (!item || (levelIn(context, item.place) < role && !own)) throw unavailable();
  return item;
}

export function typeOf(world: World, item: Item): string {
  if (item.place.kind === "group") return extraOf(world, item).type ?? "Epic";
  const word = extraOf(world, item).type ?? String(item.row.issue_type ?? "issue");
  return Object.values(TYPES).find((type) => wordOf(type) === wordOf(word)) ?? "Issue";
}

export const typeNode = (type: string): Json => ({
  id: gid("WorkItems::Type", Object.keys(TYPES).find((id) => TYPES[id] === type) ?? 1),
  name: type,
  iconName: `work-item-${wordOf(type).replace("_", "-")}`,
});

export function statusOf(world: World, item: Item): Json {
  const name = extraOf(world, item).status ?? (item.row.state === "closed" ? "Done" : "To do");
  return rowsOf(world, "WorkItemStatus").find((row) => row.name === name) ?? { name };
}

const authorOf = (row: Json): number => Number(row.author_id ?? (row.author as Json | undefined)?.id ?? 0);

/** A work item as GraphQL shows it; `widgets` are added by who knows them. */
export function itemNode({ world }: Context, item: Item, widgets: () => readonly Json[]): Json {
  const { row, place } = item;
  const path = place.kind === "project" ? place.row.path_with_namespace : `groups/${place.row.full_path}`;
  return {
    __typename: "WorkItem",
    id: gid("WorkItem", item.id),
    iid: String(row.iid),
    title: row.title,
    description: row.description ?? null,
    state: row.state === "closed" ? "CLOSED" : "OPEN",
    confidential: row.confidential ?? false,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
    closedAt: row.closed_at ?? null,
    webUrl: `${world.url}/${path}/-/${place.kind === "project" ? "work_items" : "epics"}/${row.iid}`,
    author: userNode(world, authorOf(row)),
    namespace: placeNode(world, place),
    workItemType: typeNode(typeOf(world, item)),
    owner: ownerOf(place),
    widgets,
  };
}
