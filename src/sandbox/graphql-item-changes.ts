import { type Context, gid, idOf, requestOf, requirePlace, requireWriter, unavailable } from "./graphql-context.ts";
import { epicItem, epicsOf, extraOf, findItem, type Item, issueItem, requireItem, TYPES, typeOf, wordOf } from "./graphql-items.ts";
import { findRow, rowsOf } from "./graphql-store.ts";
import { childrenOf, LINK_KINDS, linksOf, node, noteableOf } from "./graphql-widgets.ts";
import { addSystemNote } from "./notes-store.ts";
import { type Json, ROLE } from "./types.ts";
import { blankIssue } from "./world.ts";

type Input = Readonly<Record<string, unknown>>;
type Mutation = (input: Input, context: Context) => Json;

const part = (input: Input, name: string) => (input[`${name}Widget`] ?? undefined) as Input | undefined;

/** What cannot be done, in GitLab's words; nothing where all is well. */
type Refusal = string | undefined;

function setTitle(item: Item, input: Input): Refusal {
  if (input.title === undefined || input.title === null) return undefined;
  const title = String(input.title);
  if (title.trim() === "") return "Title can't be blank";
  if (title.length > 255) return "Title is too long (maximum is 255 characters)";
  item.row.title = title;
  return undefined;
}

function setState(item: Item, { stateEvent }: Input, context: Context): void {
  if (stateEvent !== "CLOSE" && stateEvent !== "REOPEN") return;
  const closed = stateEvent === "CLOSE";
  Object.assign(item.row, {
    state: closed ? "closed" : "opened",
    closed_at: closed ? context.world.now() : null,
    closed_by_id: closed ? (context.caller.user?.id ?? null) : null,
  });
  addSystemNote(requestOf(context), noteableOf(item), closed ? "closed" : "reopened");
}

function setLabels(item: Item, input: Input, { world }: Context): Refusal {
  const labels = part(input, "labels");
  if (!labels) return undefined;
  const names = (ids: unknown) => ((ids ?? []) as unknown[]).map((id) => world.labels.find((label) => String(label.id) === idOf(id))?.name);
  const [add, remove] = [names(labels.addLabelIds ?? labels.labelIds), names(labels.removeLabelIds)];
  if ([...add, ...remove].includes(undefined)) return "Label does not exist";
  const now = (item.row.labels ?? []) as string[];
  item.row.labels = [...new Set([...now, ...(add as string[])])].filter((name) => !remove.includes(name)).sort();
  return undefined;
}

function setPeople(item: Item, input: Input, { world }: Context): Refusal {
  const ids = part(input, "assignees")?.assigneeIds as readonly unknown[] | undefined;
  if (!ids) return undefined;
  const numbers = ids.map((id) => Number(idOf(id)));
  if (numbers.some((id) => !world.users.some((user) => user.id === id))) return "Assignee does not exist";
  if (item.place.kind === "project") item.row.assignee_ids = numbers;
  else extraOf(world, item).assignee_ids = numbers;
  return undefined;
}

function setMilestone(item: Item, input: Input, { world }: Context): Refusal {
  const milestone = part(input, "milestone");
  if (!milestone) return undefined;
  const id = milestone.milestoneId === null || milestone.milestoneId === undefined ? null : Number(idOf(milestone.milestoneId));
  if (id !== null && !world.milestones.some((row) => row.id === id)) return "Milestone does not exist";
  if (item.place.kind === "project") item.row.milestone_id = id;
  else extraOf(world, item).milestone_id = id;
  return undefined;
}

function isAbove(context: Context, item: Item, id: number): boolean {
  for (let at: Item | undefined = item; at; ) {
    if (at.id === id) return true;
    const parent: number | undefined = extraOf(context.world, at).parent;
    at = parent === undefined ? undefined : findItem(context, parent);
  }
  return false;
}

/** Types that may stand below a type. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  Epic: ["Epic", "Issue"],
  Issue: ["Task"],
  Incident: ["Task"],
  Objective: ["Objective", "Key Result"],
};

function place(context: Context, child: Item, parent: Item): Refusal {
  const [low, high] = [typeOf(context.world, child), typeOf(context.world, parent)];
  if (isAbove(context, parent, child.id)) return `#${child.row.iid} cannot be added: it's already an ancestor`;
  if (!BELOW[high]?.includes(low)) return `#${child.row.iid} cannot be added: it's not allowed to add this type of parent item`;
  extraOf(context.world, child).parent = parent.id;
  return undefined;
}

function setHierarchy(item: Item, input: Input, context: Context): Refusal {
  const hierarchy = part(input, "hierarchy");
  if (!hierarchy) return undefined;
  if (hierarchy.parentId === null) delete extraOf(context.world, item).parent;
  else if (hierarchy.parentId !== undefined) {
    const refusal = place(context, item, requireItem(context, hierarchy.parentId, ROLE.guest));
    if (refusal) return refusal;
  }
  const children = ((hierarchy.childrenIds ?? []) as unknown[]).map((id) => requireItem(context, id, ROLE.guest));
  return children.map((child) => place(context, child, item)).find((refusal) => refusal !== undefined);
}

function setStatus(item: Item, input: Input, { world }: Context): Refusal {
  const status = part(input, "status");
  if (!status) return undefined;
  const found = rowsOf(world, "WorkItemStatus").find((row) => row.name === status.name || idOf(row.id) === idOf(status.status));
  if (!found) return "Status is not provided or not found";
  extraOf(world, item).status = String(found.name);
  return undefined;
}

function setRest(item: Item, input: Input, { world }: Context): void {
  const extra = extraOf(world, item);
  const dates = part(input, "startAndDueDate");
  if (dates?.startDate !== undefined) extra.start_date = dates.startDate as string | null;
  if (dates?.dueDate !== undefined) item.row.due_date = dates.dueDate;
  const description = part(input, "description")?.description ?? input.description;
  if (description !== undefined) item.row.description = description;
  const weight = part(input, "weight");
  if (weight) item.row.weight = weight.weight ?? null;
  const health = part(input, "healthStatus");
  if (health) extra.health = health.healthStatus as string | null;
  const iteration = part(input, "iteration");
  if (iteration) extra.iteration = iteration.iterationId ? Number(idOf(iteration.iterationId)) : null;
  if (typeof input.confidential === "boolean") item.row.confidential = input.confidential;
}

function setEmoji(item: Item, input: Input, { world, caller }: Context): Refusal {
  const award = part(input, "awardEmoji");
  if (!award) return undefined;
  const user = caller.user?.id ?? 0;
  const target = noteableOf(item);
  const own = world.emoji.findIndex(
    (row) => row.awardable_type === target.type && row.awardable_id === target.id && row.user_id === user && row.name === award.name,
  );
  if (award.action === "REMOVE") {
    if (own < 0) return "Award emoji not found";
    world.emoji.splice(own, 1);
  } else if (own >= 0) return "Name has already been taken";
  else {
    const at = world.now();
    world.emoji.push({
      id: world.nextId("emoji"),
      awardable_type: target.type,
      awardable_id: target.id,
      name: String(award.name),
      user_id: user,
      created_at: at,
      updated_at: at,
    });
  }
  return undefined;
}

/** Changes a work item as the input says; the first thing that cannot be is told. */
function change(item: Item, input: Input, context: Context): Refusal {
  const refusal =
    setTitle(item, input) ??
    setLabels(item, input, context) ??
    setPeople(item, input, context) ??
    setMilestone(item, input, context) ??
    setHierarchy(item, input, context) ??
    setStatus(item, input, context) ??
    setEmoji(item, input, context);
  if (refusal) return refusal;
  setState(item, input, context);
  setRest(item, input, context);
  item.row.updated_at = context.world.now();
  return undefined;
}

const told = (context: Context, item: Item, refusal: Refusal): Json => ({
  workItem: refusal ? null : node(context, item),
  errors: refusal ? [refusal] : [],
});

const update: Mutation = (input, context) => {
  requireWriter(context);
  const item = requireItem(context, input.id);
  return told(context, item, change(item, input, context));
};

function blankEpic(context: Context, group: number, input: Input): Json {
  const { world, caller } = context;
  const rows = epicsOf(world, group);
  const next = (name: "id" | "iid", from: readonly Json[]) => Math.max(0, ...from.map((row) => Number(row[name]))) + 1;
  const everywhere = world.groups.flatMap(({ id }) => epicsOf(world, id));
  const user = caller.user;
  return {
    id: next("id", everywhere),
    iid: next("iid", rows),
    group_id: group,
    title: String(input.title),
    description: null,
    state: "opened",
    labels: [],
    author: user ? { id: user.id, username: user.username, name: user.name } : null,
    created_at: world.now(),
    updated_at: world.now(),
  };
}

const create: Mutation = (input, context) => {
  const where = requirePlace(context, input.namespacePath ?? input.projectPath);
  const type = TYPES[idOf(input.workItemTypeId)];
  if (!type) throw unavailable();
  if ((where.kind === "group") !== (type === "Epic"))
    return { workItem: null, errors: [`Work item type ${type} is not allowed in this namespace`] };
  if (String(input.title).trim() === "") return { workItem: null, errors: ["Title can't be blank"] };
  const { world } = context;
  const item =
    where.kind === "group"
      ? epicItem(where, blankEpic(context, where.row.id, input))
      : issueItem(where, {
          ...blankIssue(world, where.row.id, context.caller.user?.id ?? 0, String(input.title)),
          issue_type: wordOf(type),
        });
  const refusal = change(item, input, context);
  if (!refusal && where.kind === "group") epicsOf(world, where.row.id).push(item.row);
  else if (!refusal) world.issues.push(item.row as never);
  return told(context, item, refusal);
};

const remove: Mutation = (input, context) => {
  requireWriter(context);
  const { world } = context;
  const item = requireItem(context, input.id);
  const rows: unknown[] = item.place.kind === "group" ? epicsOf(world, item.place.row.id) : world.issues;
  rows.splice(rows.indexOf(item.row), 1);
  for (const child of childrenOf(context, item)) delete extraOf(world, child).parent;
  return { errors: [] };
};

const convert: Mutation = (input, context) => {
  requireWriter(context);
  const item = requireItem(context, input.id);
  const type = TYPES[idOf(input.workItemTypeId)];
  if (!type) throw unavailable();
  if (item.place.kind === "group" || type === "Epic") return { workItem: null, errors: ["Work item type cannot be changed to this one"] };
  item.row.issue_type = wordOf(type);
  return told(context, item, undefined);
};

const batch: Mutation = (input, context) => {
  requirePlace(context, input.fullPath, ROLE.planner);
  const items = (input.ids as unknown[]).map((id) => requireItem(context, id));
  const { ids: _ids, fullPath: _path, ...rest } = input;
  const errors = items.map((item) => change(item, rest, context)).filter((refusal) => refusal !== undefined);
  return { updatedWorkItemCount: items.length - errors.length, errors };
};

const subscribe: Mutation = (input, context) => {
  const user = requireWriter(context);
  const item = requireItem(context, input.id, ROLE.guest);
  const subscriptions = item.row.subscriptions;
  if (subscriptions instanceof Map) subscriptions.set(user.id, input.subscribed === true);
  return told(context, item, undefined);
};

const link: Mutation = (input, context) => {
  requireWriter(context);
  const { world } = context;
  const item = requireItem(context, input.id, ROLE.guest);
  const others = (input.workItemsIds as unknown[]).map((id) => requireItem(context, id, ROLE.guest));
  const known = (far: Item) =>
    linksOf(world).some((row) => [row.source_id, row.target_id].includes(item.id) && [row.source_id, row.target_id].includes(far.id));
  if (others.some((far) => far.id === item.id || known(far)))
    return { workItem: null, errors: ["Item(s) already assigned or cannot be linked to itself"] };
  for (const far of others) {
    linksOf(world).push({
      id: world.nextId("issue-link"),
      source_id: item.id,
      target_id: far.id,
      link_type: LINK_KINDS[String(input.linkType ?? "RELATED")] ?? "relates_to",
      created_at: world.now(),
    });
  }
  return told(context, item, undefined);
};

const unlink: Mutation = (input, context) => {
  requireWriter(context);
  const rows = linksOf(context.world);
  const item = requireItem(context, input.id, ROLE.guest);
  const gone = (input.workItemsIds as unknown[]).map((id) => Number(idOf(id)));
  const ends = rows.filter(
    (row) => [row.source_id, row.target_id].includes(item.id) && gone.some((id) => [row.source_id, row.target_id].includes(id)),
  );
  if (ends.length === 0) return { workItem: null, errors: ["No matching link found."] };
  for (const row of ends) rows.splice(rows.indexOf(row), 1);
  return told(context, item, undefined);
};

const closing: Mutation = (input, context) => {
  requireWriter(context);
  const item = requireItem(context, input.id, ROLE.guest);
  const number = /!(\d+)$/.exec(String(input.mergeRequestReference))?.[1];
  if (number === undefined) return { closingMergeRequest: null, errors: ["Merge request reference is not valid"] };
  const mergeRequest = {
    iid: number,
    title: `Merge request !${number}`,
    state: "opened",
    webUrl: `${context.world.url}/-/merge_requests/${number}`,
  };
  const row = findRow(context.world, "WorkItemClosingMergeRequest", item.id);
  return {
    closingMergeRequest: row ?? { id: gid("MergeRequestsClosingIssues", item.id), fromMrDescription: false, mergeRequest },
    workItem: node(context, item),
    errors: [],
  };
};

export const ITEM_MUTATIONS: Readonly<Record<string, Mutation>> = {
  workItemUpdate: update,
  workItemCreate: create,
  workItemDelete: remove,
  workItemConvert: convert,
  workItemBulkUpdate: batch,
  workItemSubscribe: subscribe,
  workItemAddLinkedItems: link,
  workItemRemoveLinkedItems: unlink,
  workItemAddClosingMergeRequest: closing,
};
