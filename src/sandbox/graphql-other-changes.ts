import { allowed, type Input, type Mutation, placeById } from "./graphql-changes.ts";
import { type Context, gid, idOf, placeNode, requireWriter, unavailable } from "./graphql-context.ts";
import { addRow, findRow, type Row } from "./graphql-store.ts";
import { type Json, ROLE } from "./types.ts";

const severities: Mutation = (input, context) => {
  requireWriter(context);
  const rows = many(input.vulnerabilityIds, "Vulnerability", context);
  for (const row of rows) row.severity = input.severity;
  return { vulnerabilities: rows, errors: [] };
};

const dismissals: Mutation = (input, context) => {
  requireWriter(context);
  const rows = many(input.vulnerabilityIds, "Vulnerability", context);
  for (const row of rows)
    Object.assign(row, {
      state: "DISMISSED",
      dismissalReason: input.dismissalReason ?? null,
      stateComment: input.comment ?? null,
      dismissedAt: context.world.now(),
    });
  return { vulnerabilities: rows, errors: [] };
};

function many(ids: unknown, type: string, context: Context): Row[] {
  const rows = (ids as unknown[]).map((id) => findRow(context.world, type, id));
  if (rows.includes(undefined)) throw unavailable();
  return rows as Row[];
}

const attributes: Mutation = (input, context) => {
  requireWriter(context);
  const category = findRow(context.world, "SecurityCategory", input.categoryId);
  if (!category) throw unavailable();
  const made = (input.attributes as Json[]).map((fields) => addRow(context.world, "SecurityAttribute", { ...fields }, category.id));
  return { securityAttributes: made, errors: [] };
};

const projectAttributes: Mutation = (input, context) => {
  requireWriter(context);
  const place = allowed(context, placeById(context, input.projectId), ROLE.maintainer);
  const [add, remove] = [
    many(input.addAttributeIds ?? [], "SecurityAttribute", context),
    many(input.removeAttributeIds ?? [], "SecurityAttribute", context),
  ];
  return { addedCount: add.length, removedCount: remove.length, project: placeNode(context.world, place), errors: [] };
};

const frameworks: Mutation = (input, context) => {
  requireWriter(context);
  const place = allowed(context, placeById(context, input.projectId), ROLE.owner);
  const chosen = many(input.complianceFrameworkIds, "ComplianceFramework", context);
  context.world.part("graphql-frameworks", () => new Map<number, readonly Row[]>()).set(place.row.id, chosen);
  return { project: { ...placeNode(context.world, place), complianceFrameworks: chosen }, errors: [] };
};

const priorities: Mutation = (input, context) => {
  requireWriter(context);
  const rows = many(input.userAchievementIds, "UserAchievement", context);
  for (const [index, row] of rows.entries()) row.priority = index;
  return { userAchievements: rows, errors: [] };
};

const todoChange =
  (change: (input: Input, context: Context) => Json): Mutation =>
  (input, context) => {
    const user = requireWriter(context);
    const todo = context.world.todos.find((row) => row.user_id === user.id && String(row.id) === idOf(input.id));
    if (!todo) throw unavailable();
    Object.assign(todo, change(input, context), { updated_at: context.world.now() });
    const { snoozed_until } = todo as unknown as { snoozed_until?: string | null };
    return { todo: { id: gid("Todo", todo.id), state: todo.state, body: todo.body, snoozedUntil: snoozed_until ?? null }, errors: [] };
  };

const todoDelete: Mutation = (input, context) => {
  const user = requireWriter(context);
  const gone = new Set((input.ids as unknown[]).map(idOf));
  const kept = context.world.todos.filter((row) => row.user_id !== user.id || !gone.has(String(row.id)));
  context.world.todos.splice(0, context.world.todos.length, ...kept);
  return { errors: [] };
};

/** Mutations that are more than one rule. */
export const OTHER_MUTATIONS: Readonly<Record<string, Mutation>> = {
  vulnerabilitiesDismiss: dismissals,
  vulnerabilitiesSeverityOverride: severities,
  securityAttributeCreate: attributes,
  securityAttributeProjectUpdate: projectAttributes,
  projectUpdateComplianceFrameworks: frameworks,
  userAchievementPrioritiesUpdate: priorities,
  todoRestore: todoChange(() => ({ state: "pending" })),
  todoSnooze: todoChange((input) => ({ snoozed_until: input.snoozeUntil })),
  todoUnSnooze: todoChange(() => ({ snoozed_until: null })),
  todoDeleteMany: todoDelete,
};
