import { pipelinesOf } from "./ci-state.ts";
import { type Context, idOf, placeNode, placeOf, userNode } from "./graphql-context.ts";
import { rowsFor } from "./graphql-generic.ts";
import { extraOf, findItem, type Item, itemsIn, statusOf, TYPES, typeNode, typeOf, wordOf } from "./graphql-items.ts";
import { findNote } from "./graphql-notes.ts";
import { toConnection } from "./graphql-pages.ts";
import { findRow, type Row, rowsOf } from "./graphql-store.ts";
import { timelogs } from "./graphql-time.ts";
import { node, noteNode } from "./graphql-widgets.ts";
import type { Json } from "./types.ts";

type Field = (source: Json, args: Json, context: Context) => unknown;

const place =
  (kind?: "project" | "group"): Field =>
  (_, { fullPath }, context) => {
    const found = placeOf(context, fullPath);
    return found && (kind === undefined || found.kind === kind) ? placeNode(context.world, found) : null;
  };

const placeFrom = ({ fullPath }: Json, context: Context) => placeOf(context, fullPath);

const list = (value: unknown) => (value === undefined || value === null ? undefined : (value as readonly unknown[]).map(String));

const usernames = ({ world }: Context, item: Item) => {
  const ids = (extraOf(world, item).assignee_ids ?? item.row.assignee_ids ?? []) as readonly number[];
  return ids.map((id) => world.users.find((user) => user.id === id)?.username);
};

/** Tests of the arguments that are given; all must hold. */
function fits(context: Context, item: Item, args: Json): boolean {
  const { world } = context;
  const { row } = item;
  const labels = (row.labels ?? []) as readonly string[];
  const author = Number(row.author_id ?? (row.author as Json | undefined)?.id);
  const status = (args.status as Json | undefined)?.name;
  const milestone = world.milestones.find(({ id }) => id === (extraOf(world, item).milestone_id ?? row.milestone_id))?.title;
  const tests: readonly [unknown, () => boolean][] = [
    [args.state === "all" ? undefined : args.state, () => row.state === args.state],
    [args.types, () => list(args.types)?.includes(wordOf(typeOf(world, item)).toUpperCase()) ?? true],
    [args.search, () => `${row.title} ${row.description ?? ""}`.toLowerCase().includes(String(args.search).toLowerCase())],
    [args.labelName, () => list(args.labelName)?.every((name) => labels.includes(name)) ?? true],
    [args.assigneeUsernames, () => list(args.assigneeUsernames)?.every((name) => usernames(context, item).includes(name)) ?? true],
    [args.authorUsername, () => userNode(world, author)?.username === args.authorUsername],
    [args.milestoneTitle, () => list(args.milestoneTitle)?.includes(String(milestone)) ?? true],
    [
      args.parentIds,
      () =>
        list(args.parentIds)
          ?.map(idOf)
          .includes(String(extraOf(world, item).parent)) ?? true,
    ],
    [args.iids, () => list(args.iids)?.includes(String(row.iid)) ?? true],
    [status, () => statusOf(world, item).name === status],
    [args.confidential, () => (row.confidential ?? false) === args.confidential],
    [args.createdAfter, () => String(row.created_at) >= String(args.createdAfter)],
    [args.createdBefore, () => String(row.created_at) <= String(args.createdBefore)],
    [args.updatedAfter, () => String(row.updated_at) >= String(args.updatedAfter)],
    [args.updatedBefore, () => String(row.updated_at) <= String(args.updatedBefore)],
    [args.dueBefore, () => row.due_date !== null && row.due_date !== undefined && String(row.due_date) <= String(args.dueBefore)],
  ];
  return tests.every(([given, test]) => given === undefined || given === null || test());
}

const SORTS: Readonly<Record<string, string>> = {
  CREATED: "created_at",
  UPDATED: "updated_at",
  DUE_DATE: "due_date",
  START_DATE: "start_date",
  TITLE: "title",
  WEIGHT: "weight",
};

function found(source: Json, args: Json, context: Context): Item[] {
  const where = placeFrom(source, context);
  if (!where) return [];
  const all = itemsIn(context, where, args.includeDescendants === true).filter(
    (item) => !(args.excludeProjects === true && item.place.kind === "project"),
  );
  const [, field = "CREATED", way = "DESC"] = /^(\w+)_(ASC|DESC)$/i.exec(String(args.sort ?? "CREATED_DESC")) ?? [];
  const key = SORTS[field.toUpperCase()] ?? "created_at";
  const sign = way.toUpperCase() === "ASC" ? 1 : -1;
  return all
    .filter((item) => fits(context, item, args))
    .sort(
      (a, b) =>
        sign * (`${a.row[key] ?? "~"} ${String(a.id).padStart(9, "0")}` < `${b.row[key] ?? "~"} ${String(b.id).padStart(9, "0")}` ? -1 : 1),
    );
}

const workItems: Field = (source, args, context) => {
  const page = toConnection(found(source, args, context), args) as { nodes: Item[] };
  return { ...page, nodes: page.nodes.map((item) => node(context, item)) };
};

const counts: Field = (source, args, context) => {
  const items = found(source, args, context);
  const closed = items.filter(({ row }) => row.state === "closed").length;
  return { all: items.length, closed, opened: items.length - closed };
};

const byIid: Field = (source, { iid }, context) => {
  const where = placeFrom(source, context);
  const item = where && itemsIn(context, where).find(({ row }) => String(row.iid) === String(iid));
  return item ? node(context, item) : null;
};

const types: Field = (source, args, context) => {
  const group = placeFrom(source, context)?.kind === "group";
  const names = Object.values(TYPES).filter((name) => (name === "Epic") === group);
  return toConnection(names.map(typeNode), args);
};

/** `#12`, `group/app#3`, `group&2`. */
const byReference: Field = (_, args, context) => {
  const items = (args.refs as string[]).flatMap((ref) => {
    const [, path, iid] = /^([^#&]*)[#&](\d+)$/.exec(ref) ?? [];
    const where = placeOf(context, path || args.contextNamespacePath);
    const item = where && itemsIn(context, where).find(({ row }) => String(row.iid) === iid);
    return item ? [node(context, item)] : [];
  });
  return toConnection(items, args);
};

/** A pipeline with what its scans found. */
const pipeline: Field = (source, { iid }, context) => {
  const project = context.world.projects.find(({ path_with_namespace }) => path_with_namespace === source.fullPath);
  const one = project && pipelinesOf(context.world, project).find((row) => String(row.iid) === String(iid));
  if (!project || !one) return null;
  const findings = () => rowsFor(context.world, "PipelineSecurityReportFinding", source.owner, {});
  const section = (type: string) => ({
    vulnerabilitiesCount: findings().filter(({ reportType }) => reportType === type).length,
    scannedResourcesCount: 0,
  });
  return {
    owner: source.owner,
    iid: String(one.iid),
    securityReportSummary: {
      sast: section("SAST"),
      secretDetection: section("SECRET_DETECTION"),
      dependencyScanning: section("DEPENDENCY_SCANNING"),
      containerScanning: section("CONTAINER_SCANNING"),
    },
  };
};

const severityCounts: Field = (source, args, context) => {
  const rows = rowsFor(context.world, "Vulnerability", source.owner, args);
  return Object.fromEntries(
    ["critical", "high", "medium", "low", "info", "unknown"].map((name) => [
      name,
      rows.filter(({ severity }) => String(severity).toLowerCase() === name).length,
    ]),
  );
};

const visibleVulnerability: Field = (_, { id }, context) => {
  const row = findRow(context.world, "Vulnerability", id);
  return row && placeOf(context, context.world.projects.find((project) => `project:${project.id}` === row.owner)?.path_with_namespace)
    ? row
    : null;
};

const owned = (row: Json, context: Context) => {
  const project = context.world.projects.find((one) => `project:${one.id}` === row.owner);
  return project ? placeNode(context.world, { kind: "project", row: project }) : null;
};

const user: Field = (_, { username }, { world }) => {
  const one = world.users.find((row) => row.username === username);
  return one
    ? {
        ...userNode(world, one.id),
        userAchievements: rowsOf(world, "UserAchievement").filter((row) => idOf(row.userId) === String(one.id)),
      }
    : null;
};

const me: Field = (_, __, { world, caller }) => {
  if (!caller.user) return null;
  return { ...userNode(world, caller.user.id), __typename: "CurrentUser", publicEmail: null };
};

const chosenFrameworks: Field = (source, args, { world }) => {
  const chosen = world.part("graphql-frameworks", () => new Map<number, readonly Row[]>());
  const own = source.complianceFrameworks as readonly Row[] | undefined;
  return toConnection(own ?? chosen.get(Number(idOf(source.id))) ?? [], args);
};

/** Fields that are more than a value or rows of the store. */
export const FIELDS: Readonly<Record<string, Field>> = {
  "Query.project": place("project"),
  "Query.group": place("group"),
  "Query.namespace": place(),
  "Query.currentUser": me,
  "Query.metadata": () => ({ version: "18.9.0-ee", revision: "5a9d0c1be7f", enterprise: true }),
  "Query.user": user,
  "Query.note": (_, { id }, context) => {
    const note = findNote(context, id);
    return note
      ? noteNode(
          context,
          note,
          context.world.notes.filter(({ discussion_id }) => discussion_id === note.discussion_id),
        )
      : null;
  },
  "Query.workItem": (_, { id }, context) => {
    const item = findItem(context, id);
    return item ? node(context, item) : null;
  },
  "Query.workItemsByReference": byReference,
  "Query.timelogs": (_, args, context) => toConnection(timelogs(args, context), args),
  "Query.vulnerability": visibleVulnerability,
  "Vulnerability.project": (row, _, context) => owned(row, context),
  "Namespace.workItem": byIid,
  "Namespace.workItems": workItems,
  "Namespace.workItemStateCounts": counts,
  "Namespace.workItemTypes": types,
  "Namespace.statuses": (_, args, { world }) => toConnection(rowsOf(world, "WorkItemStatus"), args),
  "WorkItemSavedViewType.workItems": (view, args, context) => {
    const owner =
      context.world.projects.find(({ id }) => `project:${id}` === view.owner)?.path_with_namespace ??
      context.world.groups.find(({ id }) => `group:${id}` === view.owner)?.full_path;
    return workItems({ fullPath: owner }, { ...(view.filters as Json), ...args }, context);
  },
  "Project.pipeline": pipeline,
  "Project.incidentManagementTimelineEvents": (_, { incidentId, ...args }, { world }) =>
    toConnection(
      rowsOf(world, "TimelineEventType").filter(({ owner }) => idOf(owner) === idOf(incidentId)),
      args,
    ),
  "Project.vulnerabilitySeveritiesCount": severityCounts,
  "Project.complianceFrameworks": chosenFrameworks,
};
