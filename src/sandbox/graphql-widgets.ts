import { type Context, gid, requestOf, userNode } from "./graphql-context.ts";
import { extraOf, findItem, type Item, itemNode, statusOf } from "./graphql-items.ts";
import { isSubscribed } from "./issuables.ts";
import { labelsOf } from "./labels.ts";
import { discussionsOf, notesOn, seesNote } from "./notes-store.ts";
import type { Issue, Json, Label, Note, World } from "./types.ts";

/** A link of issues, as REST keeps it too. */
export interface Link {
  id: number;
  source_id: number;
  target_id: number;
  link_type: string;
  created_at: string;
}

export const linksOf = (world: World): Link[] => world.part<Link[]>("issue-links", () => []);

const BACK: Readonly<Record<string, string>> = { blocks: "is_blocked_by", is_blocked_by: "blocks", relates_to: "relates_to" };

/** GraphQL's words for the kinds of links, and REST's. */
export const LINK_KINDS: Readonly<Record<string, string>> = { RELATED: "relates_to", BLOCKS: "blocks", BLOCKED_BY: "is_blocked_by" };

export function node(context: Context, item: Item): Json {
  return itemNode(context, item, () => widgetsOf(context, item));
}

const labelNode = (label: Label): Json => ({ id: gid("Label", label.id), title: label.name, color: label.color });

function labelsOn(world: World, item: Item): Json[] {
  const known = item.place.kind === "project" ? labelsOf(world, item.place.row) : world.labels;
  const names = (item.row.labels ?? []) as readonly string[];
  return names.flatMap((name) => known.filter((label) => label.name === name).slice(0, 1)).map(labelNode);
}

function milestoneOf(world: World, id: unknown): Json | null {
  const found = world.milestones.find((row) => row.id === id);
  return found ? { id: gid("Milestone", found.id), iid: String(found.iid), title: found.title } : null;
}

export function childrenOf(context: Context, item: Item): Item[] {
  const extras = context.world.part("graphql-items", () => new Map<number, { parent?: number }>());
  const ids = [...extras].filter(([, extra]) => extra.parent === item.id).map(([id]) => id);
  return ids.map((id) => findItem(context, id)).filter((child) => child !== undefined);
}

function linkedTo(context: Context, item: Item, filter: unknown): Json[] {
  return linksOf(context.world).flatMap((link) => {
    if (link.source_id !== item.id && link.target_id !== item.id) return [];
    const forward = link.source_id === item.id;
    const far = findItem(context, forward ? link.target_id : link.source_id);
    const kind = forward ? link.link_type : (BACK[link.link_type] ?? link.link_type);
    if (!far || (filter !== undefined && filter !== null && LINK_KINDS[String(filter)] !== kind)) return [];
    return [
      { linkId: gid("WorkItems::RelatedWorkItemLink", link.id), linkType: kind, workItem: node(context, far), createdAt: link.created_at },
    ];
  });
}

/** Where the comments of a work item are kept. */
export const noteableOf = (item: Item) =>
  item.place.kind === "project"
    ? ({ type: "Issue", id: item.id, iid: Number(item.row.iid), project_id: item.place.row.id } as const)
    : ({ type: "Epic", id: Number(item.row.id), iid: Number(item.row.iid), project_id: null } as const);

export function noteNode({ world }: Context, note: Note, thread: readonly Note[] = [note]): Json {
  const shown = (one: Note): Json => ({
    __typename: "Note",
    id: gid("Note", one.id),
    body: one.body,
    internal: one.internal,
    system: one.system,
    createdAt: one.created_at,
    updatedAt: one.updated_at,
    author: userNode(world, one.author_id),
    url: `${world.url}/-/notes/${one.id}`,
  });
  const discussion = () => ({ id: gid("Discussion", note.discussion_id), resolved: note.resolved, notes: thread.map(shown) });
  return { ...shown(note), discussion };
}

function discussionsOn(context: Context, item: Item, filter: unknown): Json[] {
  const notes = notesOn(context.world, noteableOf(item)).filter((note) => seesNote(requestOf(context), note));
  const wanted =
    filter === "ONLY_COMMENTS"
      ? notes.filter(({ system }) => !system)
      : filter === "ONLY_ACTIVITY"
        ? notes.filter(({ system }) => system)
        : notes;
  return discussionsOf(wanted).map((thread) => ({
    id: gid("Discussion", thread[0]?.discussion_id ?? ""),
    resolved: thread.some(({ resolved }) => resolved),
    notes: thread.map((note) => noteNode(context, note, thread)),
  }));
}

/** The parts of a work item, each with its own fields. */
function widgetsOf(context: Context, item: Item): Json[] {
  const { world } = context;
  const { row } = item;
  const extra = extraOf(world, item);
  const people = (extra.assignee_ids ?? row.assignee_ids ?? []) as readonly number[];
  const parent = extra.parent === undefined ? undefined : findItem(context, extra.parent);
  const children = () => childrenOf(context, item).map((child) => node(context, child));
  const widget = (name: string, fields: Json): Json => ({ __typename: `WorkItemWidget${name}`, ...fields });
  return [
    widget("Assignees", { assignees: people.map((id) => userNode(world, id)) }),
    widget("Labels", { labels: labelsOn(world, item) }),
    widget("Milestone", { milestone: milestoneOf(world, extra.milestone_id ?? row.milestone_id) }),
    widget("StartAndDueDate", { startDate: extra.start_date ?? row.start_date ?? null, dueDate: extra.due_date ?? row.due_date ?? null }),
    widget("Status", { status: statusOf(world, item) }),
    widget("Weight", { weight: row.weight ?? null }),
    widget("HealthStatus", { healthStatus: extra.health ?? null }),
    widget("Iteration", {
      iteration: extra.iteration ? { id: gid("Iteration", extra.iteration), title: `Iteration ${extra.iteration}` } : null,
    }),
    widget("Color", { color: extra.color ?? row.color ?? null }),
    widget("Notifications", {
      subscribed: item.place.kind === "project" && isSubscribed(requestOf(context), "Issue", row as unknown as Issue),
    }),
    widget("Hierarchy", { hasChildren: childrenOf(context, item).length > 0, parent: parent ? node(context, parent) : null, children }),
    widget("LinkedItems", { linkedItems: (args: Json) => linkedTo(context, item, args.filter) }),
    widget("Notes", { discussions: (args: Json) => discussionsOn(context, item, args.filter) }),
    widget("Development", { willAutoCloseByMergeRequest: false, closingMergeRequests: [], relatedBranches: [] }),
  ];
}
