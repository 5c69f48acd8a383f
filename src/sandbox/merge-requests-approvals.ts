import { findProject, projectLevel, requireUser } from "./access.ts";
import { userBasic, usersBasic } from "./entities.ts";
import { failure, forbidden, notFound, unauthorized } from "./errors.ts";
import { integer, integers, required, text, texts } from "./input.ts";
import { coreJson } from "./merge-requests-json.ts";
import { tryAutoMerge } from "./merge-requests-merge.ts";
import {
  type ApprovalRule,
  approvedBy,
  findMergeRequest,
  hasConflicts,
  isApproved,
  latest,
  type MergeRequest,
  ruleDone,
  targetProject,
} from "./merge-requests-state.ts";
import { ONE, projectRules, requireUpdate } from "./merge-requests-write.ts";
import { addSystemNote, noteable } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { accepted, created, del, get, noContent, ok, post, put, without } from "./reply.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type User, type World } from "./types.ts";

function canApprove(world: World, row: MergeRequest, user: User | undefined): boolean {
  if (!user || row.state !== "opened" || row.author_id === user.id) return false;
  if (row.approvals.some(({ user_id }) => user_id === user.id)) return false;
  return projectLevel(world, user, targetProject(world, row)) >= ROLE.developer;
}

function ruleJson(world: World, rule: ApprovalRule): Json {
  const users = usersBasic(world, rule.user_ids);
  return {
    id: rule.id,
    name: rule.name,
    rule_type: rule.rule_type,
    eligible_approvers: users,
    approvals_required: rule.approvals_required,
    users,
    groups: [],
    contains_hidden_groups: false,
    report_type: null,
    section: null,
    source_rule: null,
    overridden: false,
  };
}

const left = (row: MergeRequest) => Math.max(0, ...row.rules.map((rule) => rule.approvals_required - approvedBy(row, rule).length));

export function approvalsJson(request: Request, row: MergeRequest): Json {
  const { world, user } = request;
  const missing = row.rules.filter((rule) => !ruleDone(row, rule));
  const suggested = [...new Set(missing.flatMap(({ user_ids }) => user_ids))];
  return {
    ...coreJson(row),
    merge_status: row.state === "opened" && hasConflicts(world, row) ? "cannot_be_merged" : "can_be_merged",
    approved: isApproved(row),
    approvals_required: Math.max(0, ...row.rules.map(({ approvals_required }) => approvals_required)),
    approvals_left: left(row),
    require_password_to_approve: false,
    approved_by: row.approvals.map(({ user_id, at }) => ({ user: userBasic(world, user_id), approved_at: at })),
    suggested_approvers: usersBasic(world, suggested),
    approvers: [],
    approver_groups: [],
    user_has_approved: row.approvals.some(({ user_id }) => user_id === user?.id),
    user_can_approve: canApprove(world, row, user),
    approval_rules_left: missing.map(({ id, name, rule_type }) => ({ id, name, rule_type })),
    has_approval_rules: row.rules.length > 0,
    merge_request_approvers_available: true,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: [],
  };
}

function approvalState(request: Request): Reply {
  const row = findMergeRequest(request);
  const rules = row.rules.map((rule) => ({
    ...ruleJson(request.world, rule),
    code_owner: false,
    approved_by: usersBasic(request.world, approvedBy(row, rule)),
    approved: ruleDone(row, rule),
  }));
  return ok({ approval_rules_overwritten: false, rules });
}

function approve(request: Request): Reply {
  const user = requireUser(request);
  const row = findMergeRequest(request);
  if (!canApprove(request.world, row, user)) throw unauthorized();
  const sha = text(request.input, "sha");
  if (sha && sha !== latest(row)?.head_sha) throw failure(409, `SHA does not match HEAD of source branch: ${latest(row)?.head_sha}`);
  row.approvals.push({ user_id: user.id, at: request.world.now() });
  setReview(row, user.id, "approved");
  addSystemNote(request, noteable("MergeRequest", row), "approved this merge request");
  const reply = created(approvalsJson(request, row));
  tryAutoMerge(request.world, row);
  return reply;
}

export function setReview(row: MergeRequest, userId: number, state: MergeRequest["reviewers"][number]["state"]): void {
  for (const reviewer of row.reviewers) if (reviewer.user_id === userId) reviewer.state = state;
}

function unapprove(request: Request): Reply {
  const user = requireUser(request);
  const row = findMergeRequest(request);
  if (!row.approvals.some(({ user_id }) => user_id === user.id)) throw notFound();
  row.approvals = row.approvals.filter(({ user_id }) => user_id !== user.id);
  setReview(row, user.id, "unapproved");
  addSystemNote(request, noteable("MergeRequest", row), "unapproved this merge request");
  return created(approvalsJson(request, row));
}

function reset(request: Request): Reply {
  const row = findMergeRequest(request);
  if (!requireUser(request).bot) throw unauthorized();
  row.approvals = [];
  return accepted();
}

function setRequired(request: Request): Reply {
  const row = findMergeRequest(request);
  requireUpdate(request, row);
  required(request, "approvals_required");
  const any = row.rules.find(({ rule_type }) => rule_type === "any_approver");
  if (any) any.approvals_required = integer(request.input, "approvals_required") ?? any.approvals_required;
  return created(approvalsJson(request, row));
}

function usersOf(request: Request): number[] | undefined {
  const ids = integers(request.input, "user_ids");
  const names = texts(request.input, "usernames");
  if (!ids && !names) return undefined;
  return request.world.users.filter((user) => ids?.includes(user.id) || names?.includes(user.username)).map(({ id }) => id);
}

/** Rules of one merge request, or those that a project starts new ones with. */
interface Home {
  readonly rules: ApprovalRule[];
  readonly name: string;
}

function newRule(request: Request, home: Home): ApprovalRule {
  required(request, "name", "approvals_required");
  const name = text(request.input, "name") ?? "";
  if (home.rules.some((rule) => rule.name === name)) throw failure(400, { name: ["has already been taken"] });
  const user_ids = usersOf(request) ?? [];
  const any =
    text(request.input, "rule_type") === "any_approver" || (user_ids.length === 0 && integers(request.input, "group_ids") === undefined);
  const rule: ApprovalRule = {
    id: request.world.nextId("approval-rule"),
    name,
    rule_type: any ? "any_approver" : "regular",
    approvals_required: integer(request.input, "approvals_required") ?? 0,
    user_ids,
  };
  home.rules.push(rule);
  return rule;
}

const ofMergeRequest = (request: Request): Home => {
  const row = findMergeRequest(request);
  if (request.method !== "GET") requireUpdate(request, row);
  return { rules: row.rules, name: "approval_rule_id" };
};

function ofProject(request: Request): Home {
  const project = findProject(request, request.method === "GET" ? ROLE.reporter : ROLE.maintainer);
  return { rules: projectRules(request.world, project), name: "approval_rule_id" };
}

/** Project rules can be bound to branches; those here hold for all. */
const projectRuleJson = (world: World, rule: ApprovalRule): Json => ({
  ...without(ruleJson(world, rule), "section", "source_rule", "overridden"),
  protected_branches: [],
  applies_to_all_protected_branches: false,
});

function ruleRows(path: string, homeOf: (request: Request) => Home, json: (world: World, rule: ApprovalRule) => Json): Behaviour[] {
  const one = (request: Request) => {
    const home = homeOf(request);
    const rule = home.rules.find(({ id }) => String(id) === request.params[home.name]);
    if (!rule) throw notFound();
    return { home, rule };
  };
  const change = (request: Request): Reply => {
    const { rule } = one(request);
    rule.name = text(request.input, "name") ?? rule.name;
    rule.approvals_required = integer(request.input, "approvals_required") ?? rule.approvals_required;
    rule.user_ids = usersOf(request) ?? rule.user_ids;
    return ok(json(request.world, rule));
  };
  const remove = (request: Request): Reply => {
    const { home, rule } = one(request);
    home.rules.splice(home.rules.indexOf(rule), 1);
    return noContent();
  };
  return [
    get(path, (request) => paged(request, homeOf(request).rules, (rule) => json(request.world, rule))),
    post(path, (request) => created(json(request.world, newRule(request, homeOf(request))))),
    get(`${path}/{approval_rule_id}`, (request) => ok(json(request.world, one(request).rule))),
    put(`${path}/{approval_rule_id}`, change),
    del(`${path}/{approval_rule_id}`, remove),
  ];
}

function settings(request: Request): Reply {
  const row = findMergeRequest(request);
  if (!requireUser(request)) throw forbidden();
  return ok({ rules: row.rules.map((rule) => ruleJson(request.world, rule)), fallback_approvals_required: 0 });
}

export const mergeRequestApprovals: readonly Behaviour[] = [
  get(`${ONE}/approvals`, (request) => ok(approvalsJson(request, findMergeRequest(request)))),
  post(`${ONE}/approvals`, setRequired),
  get(`${ONE}/approval_state`, approvalState),
  get(`${ONE}/approval_settings`, settings),
  post(`${ONE}/approve`, approve),
  post(`${ONE}/unapprove`, unapprove),
  put(`${ONE}/reset_approvals`, reset),
  ...ruleRows(`${ONE}/approval_rules`, ofMergeRequest, ruleJson),
  ...ruleRows("/projects/{project_id}/approval_rules", ofProject, projectRuleJson),
];
