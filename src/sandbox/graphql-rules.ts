import type { Input, Rule } from "./graphql-changes.ts";
import { type Context, placeOf, userNode } from "./graphql-context.ts";
import { addRow, findRow } from "./graphql-store.ts";
import { type Json, ROLE } from "./types.ts";

const MAINTAINER = { role: ROLE.maintainer };
const ALERT = { type: "AlertManagementAlert", does: "change", shows: "alert", by: "iid", role: ROLE.developer } as const;
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
  updateAlertStatus: ALERT,
  alertSetAssignees: {
    ...ALERT,
    set: (input, { world }) => ({
      assignees: (input.assigneeUsernames as string[])
        .map((name) => userNode(world, world.users.find(({ username }) => username === name)?.id))
        .filter((user) => user !== null),
    }),
  },
  createAlertIssue: {
    ...ALERT,
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
