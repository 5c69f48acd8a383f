import {
  type Context,
  gid,
  idOf,
  levelIn,
  ownerOf,
  type Place,
  placeNode,
  placeOf,
  requirePlace,
  requireWriter,
  unavailable,
  userNode,
} from "./graphql-context.ts";
import { addRow, findRow, type Row, removeRow, rowsOf } from "./graphql-store.ts";
import { type Json, ROLE, type World } from "./types.ts";

type Input = Readonly<Record<string, unknown>>;
type Mutation = (input: Input, context: Context) => Json;

/** A mutation that makes, changes or removes one row, as data. */
interface Rule {
  readonly type: string;
  readonly does: "add" | "change" | "remove" | "none";
  /** Field of the payload that shows the row. */
  readonly shows?: string;
  /** Input that names the row; `iid` and `uuid` are looked up as fields. */
  readonly by?: string;
  /** Input that names the place or the thing that the row belongs to. */
  readonly owner?: string;
  /** Input that holds the fields. */
  readonly from?: string;
  readonly set?: (input: Input, context: Context) => Json;
  readonly role?: number;
}

const PLACED = ["projectPath", "fullPath", "groupPath", "namespacePath"];

/** The project or group of a global id. */
function placeById({ world }: Context, id: unknown): Place | undefined {
  const number = Number(idOf(id));
  const kind = String(id).split("/").at(-2);
  const project = kind === "Project" ? world.projects.find((row) => row.id === number) : undefined;
  if (project) return { kind: "project", row: project };
  const group = kind === "Project" ? undefined : world.groups.find((row) => row.id === number);
  return group && { kind: "group", row: group };
}

/** Who owns the row: checked to be there, and the caller to be allowed. */
function ownerFor(input: Input, rule: Rule, context: Context): string | undefined {
  const named = PLACED.find((name) => input[name] !== undefined && input[name] !== null);
  if (named) return ownerOf(requirePlace(context, input[named], rule.role));
  const id = rule.owner === undefined ? undefined : input[rule.owner];
  if (id === undefined) return undefined;
  if (/\/(Project|Group|Namespace)\/\d+$/.test(String(id))) return ownerOf(allowed(context, placeById(context, id), rule.role));
  return String(id);
}

function allowed(context: Context, place: Place | undefined, role: number = ROLE.guest): Place {
  if (!place || levelIn(context, place) < role) throw unavailable();
  return place;
}

/** The place that a row lies in, through the things that own it. */
function placeOfRow(context: Context, row: Row): Place | undefined {
  const { world } = context;
  const [kind, id] = String(row.owner ?? "").split(":");
  if (kind === "project" || kind === "group") return placeById(context, gid(kind === "project" ? "Project" : "Group", id ?? ""));
  const above = ["Achievement", "SecurityCategory", "WorkItemSavedViewType"]
    .map((type) => findRow(world, type, row.owner))
    .find((found) => found?.id === row.owner);
  return above && placeOfRow(context, above);
}

function requireRow(input: Input, rule: Rule, context: Context): Row {
  const by = rule.by ?? "id";
  const owner = ownerFor(input, { ...rule, ...(rule.does === "add" ? {} : { owner: "none" }) }, context);
  const rows = rowsOf(context.world, rule.type).filter((row) => owner === undefined || row.owner === owner);
  const row =
    by === "iid" || by === "uuid"
      ? rows.find((one) => String(one[by]) === String(input[by]))
      : rows.find((one) => idOf(one.id) === idOf(input[by]));
  const place = row && placeOfRow(context, row);
  if (!row || (place && levelIn(context, place) < (rule.role ?? ROLE.guest))) throw unavailable();
  return row;
}

const IGNORED = new Set(["id", "clientMutationId", ...PLACED]);

/** Fields of an input, as a row keeps them. */
function fieldsOf(input: Input, rule: Rule, context: Context): Json {
  const given = (rule.from === undefined ? input : (input[rule.from] as Input)) ?? {};
  const plain = Object.entries(given).filter(
    ([name, value]) => !IGNORED.has(name) && name !== rule.by && name !== rule.owner && value !== undefined,
  );
  return { ...Object.fromEntries(plain), ...rule.set?.(input, context) };
}

function blank(fields: Json): string | undefined {
  const empty = ["name", "title"].find((name) => fields[name] !== undefined && String(fields[name]).trim() === "");
  return empty && `${empty[0]?.toUpperCase()}${empty.slice(1)} can't be blank`;
}

function taken(world: World, rule: Rule, fields: Json, owner: string | undefined): string | undefined {
  if (fields.name === undefined) return undefined;
  const twin = rowsOf(world, rule.type).some((row) => row.owner === owner && String(row.name) === String(fields.name));
  return twin ? "Name has already been taken" : undefined;
}

/** Runs a rule. */
export const mutationOf =
  (rule: Rule): Mutation =>
  (input, context) => {
    requireWriter(context);
    const { world } = context;
    const shown = (row: Row | null, errors: readonly string[] = []) => ({
      ...(rule.shows ? { [rule.shows]: row } : {}),
      ...(row ? { ...row } : {}),
      errors,
    });
    if (rule.does === "none") {
      ownerFor(input, rule, context);
      return { errors: [] };
    }
    if (rule.does === "add") {
      const owner = ownerFor(input, rule, context);
      const fields = fieldsOf(input, rule, context);
      const refusal = blank(fields) ?? taken(world, rule, fields, owner);
      return refusal ? shown(null, [refusal]) : shown(addRow(world, rule.type, fields, owner));
    }
    const row = requireRow(input, rule, context);
    if (rule.does === "remove") {
      removeRow(world, rule.type, row);
      return shown(row);
    }
    const fields = fieldsOf(input, rule, context);
    const refusal = blank(fields);
    if (refusal) return shown(null, [refusal]);
    Object.assign(row, fields, { updatedAt: world.now() });
    return shown(row);
  };

const MAINTAINER = { role: ROLE.maintainer };
const now =
  (name: string) =>
  (_: Input, { world }: Context) => ({ [name]: world.now() });

const state = (name: string, at: string | undefined): Rule => ({
  type: "Vulnerability",
  does: "change",
  shows: "vulnerability",
  role: ROLE.developer,
  set: (input, context) => {
    const row = findRow(context.world, "Vulnerability", input.id);
    addRow(
      context.world,
      "VulnerabilityStateTransitionType",
      {
        fromState: row?.state,
        toState: name,
        comment: input.comment ?? null,
        dismissalReason: input.dismissalReason ?? null,
        authorId: context.caller.user?.id,
      },
      row?.id,
    );
    return {
      state: name,
      stateComment: input.comment ?? null,
      comment: undefined,
      dismissalReason: name === "DISMISSED" ? (input.dismissalReason ?? null) : null,
      ...(at ? { [at]: context.world.now() } : {}),
    };
  },
});

/** Mutations by name. */
export const RULES: Readonly<Record<string, Rule>> = {
  achievementsCreate: { type: "Achievement", does: "add", shows: "achievement", owner: "namespaceId", ...MAINTAINER },
  achievementsUpdate: { type: "Achievement", does: "change", shows: "achievement", by: "achievementId", ...MAINTAINER },
  achievementsDelete: { type: "Achievement", does: "remove", shows: "achievement", by: "achievementId", ...MAINTAINER },
  achievementsAward: {
    type: "UserAchievement",
    does: "add",
    shows: "userAchievement",
    owner: "achievementId",
    set: (input, { caller }) => ({
      achievementId: input.achievementId,
      awardedByUserId: caller.user?.id,
      showOnProfile: true,
      revokedAt: null,
    }),
  },
  achievementsRevoke: {
    type: "UserAchievement",
    does: "change",
    shows: "userAchievement",
    by: "userAchievementId",
    set: now("revokedAt"),
    ...MAINTAINER,
  },
  userAchievementsUpdate: { type: "UserAchievement", does: "change", shows: "userAchievement", by: "userAchievementId" },
  userAchievementsDelete: { type: "UserAchievement", does: "remove", shows: "userAchievement", by: "userAchievementId", role: ROLE.owner },
  createCustomEmoji: { type: "CustomEmoji", does: "add", shows: "customEmoji", role: ROLE.developer },
  destroyCustomEmoji: { type: "CustomEmoji", does: "remove", shows: "customEmoji", role: ROLE.developer },
  createComplianceFramework: { type: "ComplianceFramework", does: "add", shows: "framework", from: "params", role: ROLE.owner },
  updateComplianceFramework: {
    type: "ComplianceFramework",
    does: "change",
    shows: "complianceFramework",
    from: "params",
    role: ROLE.owner,
  },
  destroyComplianceFramework: { type: "ComplianceFramework", does: "remove", role: ROLE.owner },
  valueStreamCreate: { type: "ValueStream", does: "add", shows: "valueStream", role: ROLE.reporter },
  valueStreamUpdate: { type: "ValueStream", does: "change", shows: "valueStream", role: ROLE.reporter },
  valueStreamDestroy: { type: "ValueStream", does: "remove", shows: "valueStream", role: ROLE.reporter },
  branchRuleCreate: {
    type: "BranchRule",
    does: "add",
    shows: "branchRule",
    set: () => ({ isProtected: true, isDefault: false }),
    ...MAINTAINER,
  },
  branchRuleUpdate: { type: "BranchRule", does: "change", shows: "branchRule", ...MAINTAINER },
  branchRuleDelete: { type: "BranchRule", does: "remove", shows: "branchRule", ...MAINTAINER },
  branchRuleSquashOptionUpdate: {
    type: "BranchRule",
    does: "change",
    by: "branchRuleId",
    set: (input) => ({ squashOption: { option: input.squashOption } }),
    ...MAINTAINER,
  },
  projectTargetBranchRuleCreate: {
    type: "ProjectTargetBranchRule",
    does: "add",
    shows: "targetBranchRule",
    owner: "projectId",
    ...MAINTAINER,
  },
  projectTargetBranchRuleDestroy: { type: "ProjectTargetBranchRule", does: "remove", ...MAINTAINER },
  catalogResourcesCreate: {
    type: "CiCatalogResource",
    does: "add",
    role: ROLE.owner,
    set: (input, context) => ({ fullPath: input.projectPath, name: placeOf(context, input.projectPath)?.row.name }),
  },
  catalogResourcesDestroy: { type: "CiCatalogResource", does: "none", role: ROLE.owner },
  updateAlertStatus: { type: "AlertManagementAlert", does: "change", shows: "alert", by: "iid", role: ROLE.developer },
  alertSetAssignees: {
    type: "AlertManagementAlert",
    does: "change",
    shows: "alert",
    by: "iid",
    role: ROLE.developer,
    set: (input, { world }) => ({
      assignees: (input.assigneeUsernames as string[])
        .map((name) => userNode(world, world.users.find(({ username }) => username === name)?.id))
        .filter((user) => user !== null),
    }),
  },
  createAlertIssue: {
    type: "AlertManagementAlert",
    does: "change",
    shows: "alert",
    by: "iid",
    role: ROLE.developer,
    set: (input, { world }) => ({
      issue: { iid: "900", title: `Alert ${String(input.iid)}`, webUrl: `${world.url}/-/issues/incident/900` },
    }),
  },
  timelineEventCreate: {
    type: "TimelineEventType",
    does: "add",
    shows: "timelineEvent",
    owner: "incidentId",
    set: (_, { caller }) => ({ authorId: caller.user?.id }),
  },
  timelineEventUpdate: { type: "TimelineEventType", does: "change", shows: "timelineEvent" },
  timelineEventDestroy: { type: "TimelineEventType", does: "remove", shows: "timelineEvent" },
  vulnerabilityCreate: {
    type: "Vulnerability",
    does: "add",
    shows: "vulnerability",
    owner: "project",
    ...MAINTAINER,
    set: (input, { world }) => ({
      title: input.name,
      name: undefined,
      detectedAt: world.now(),
      reportType: "GENERIC",
      scanner: input.scanner,
      primaryIdentifier: (input.identifiers as Json[])[0],
    }),
  },
  vulnerabilityConfirm: state("CONFIRMED", "confirmedAt"),
  vulnerabilityDismiss: state("DISMISSED", "dismissedAt"),
  vulnerabilityResolve: state("RESOLVED", "resolvedAt"),
  vulnerabilityRevertToDetected: state("DETECTED", undefined),
  securityFindingDismiss: {
    type: "PipelineSecurityReportFinding",
    does: "change",
    shows: "securityFinding",
    by: "uuid",
    set: () => ({ state: "DISMISSED" }),
  },
  securityFindingRevertToDetected: {
    type: "PipelineSecurityReportFinding",
    does: "change",
    shows: "securityFinding",
    by: "uuid",
    set: () => ({ state: "DETECTED" }),
  },
  securityFindingCreateIssue: {
    type: "PipelineSecurityReportFinding",
    does: "change",
    by: "uuid",
    set: (_, { world }) => ({ issue: { iid: "901", title: "Security finding", webUrl: `${world.url}/-/issues/901` } }),
  },
  securityCategoryCreate: { type: "SecurityCategory", does: "add", shows: "securityCategory", owner: "namespaceId", ...MAINTAINER },
  securityCategoryUpdate: { type: "SecurityCategory", does: "change", shows: "securityCategory", ...MAINTAINER },
  securityCategoryDestroy: { type: "SecurityCategory", does: "remove", ...MAINTAINER },
  securityAttributeUpdate: { type: "SecurityAttribute", does: "change", shows: "securityAttribute", ...MAINTAINER },
  securityAttributeDestroy: { type: "SecurityAttribute", does: "remove", ...MAINTAINER },
  securityScanProfileAttach: { type: "ScanProfileType", does: "none" },
  securityScanProfileDetach: { type: "ScanProfileType", does: "none" },
  bulkUpdateSecurityAttributes: { type: "SecurityAttribute", does: "none" },
  securityPolicyProjectAssign: { type: "SecurityPolicyType", does: "none", role: ROLE.owner },
  securityPolicyProjectUnassign: { type: "SecurityPolicyType", does: "none", role: ROLE.owner },
  workItemSavedViewCreate: {
    type: "WorkItemSavedViewType",
    does: "add",
    shows: "savedView",
    set: (input, { caller, world }) => ({
      authorId: caller.user?.id,
      isPrivate: input.private ?? true,
      private: input.private ?? true,
      subscribed: true,
      shareUrl: `${world.url}/-/work_items/views`,
    }),
  },
  workItemSavedViewUpdate: { type: "WorkItemSavedViewType", does: "change", shows: "savedView" },
  workItemSavedViewDelete: { type: "WorkItemSavedViewType", does: "remove", shows: "savedView" },
  workItemSavedViewSubscribe: { type: "WorkItemSavedViewType", does: "change", shows: "savedView", set: () => ({ subscribed: true }) },
  workItemSavedViewUnsubscribe: { type: "WorkItemSavedViewType", does: "change", shows: "savedView", set: () => ({ subscribed: false }) },
};

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
