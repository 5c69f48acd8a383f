import { failure, notFound } from "./errors.ts";
import { flag, integer, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, patch, post, put } from "./reply.ts";
import { nameMatches } from "./repository-branches.ts";
import { branchJson } from "./repository-json.ts";
import { type AccessRule, type Opened, openRepository, type ProtectedBranch, type ProtectedTag } from "./repository-state.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type World } from "./types.ts";

const WORDS: Readonly<Record<number, string>> = { 0: "No one", 30: "Developers + Maintainers", 40: "Maintainers", 60: "Admins" };

export function accessRule(world: World, level: number | null, user: number | null = null, group: number | null = null): AccessRule {
  return { id: world.nextId("protection-level"), access_level: level, user_id: user, group_id: group };
}

function ruleJson(world: World, rule: AccessRule): Json {
  const user = world.users.find(({ id }) => id === rule.user_id);
  const group = world.groups.find(({ id }) => id === rule.group_id);
  return {
    id: rule.id,
    access_level: rule.access_level,
    access_level_description: user?.name ?? group?.name ?? WORDS[rule.access_level ?? 40] ?? "Maintainers",
    deploy_key_id: null,
    user_id: rule.user_id,
    group_id: rule.group_id,
  };
}

function branchRuleJson(world: World, row: ProtectedBranch): Json {
  const list = (rules: readonly AccessRule[]) => rules.map((rule) => ruleJson(world, rule));
  return {
    id: row.id,
    name: row.name,
    push_access_levels: list(row.push),
    merge_access_levels: list(row.merge),
    allow_force_push: row.allow_force_push,
    unprotect_access_levels: list(row.unprotect),
    code_owner_approval_required: row.code_owner_approval_required,
    inherited: false,
  };
}

/** `push_access_level` and `allowed_to_push[]` as rules; `fallback` where neither is given. */
function rulesFrom(request: Request, single: string, many: string, fallback: number | undefined): AccessRule[] | undefined {
  const { world, input } = request;
  const level = integer(input, single);
  const rows = Array.isArray(input[many]) ? (input[many] as Json[]) : [];
  const listed = rows
    .filter((row) => row._destroy !== true)
    .map((row) => {
      const number = (name: string) => integer(row, name) ?? null;
      return accessRule(world, number("access_level") ?? (row.user_id || row.group_id ? 40 : null), number("user_id"), number("group_id"));
    });
  if (level !== undefined) listed.unshift(accessRule(world, level));
  if (listed.length > 0) return listed;
  return fallback === undefined ? undefined : [accessRule(world, fallback)];
}

/** Adds a protection of a branch or pattern; maintainers push and merge unless told otherwise. */
export function protectBranch(
  world: World,
  opened: Pick<Opened, "repository">,
  name: string,
  parts: Partial<ProtectedBranch> = {},
): ProtectedBranch {
  const row: ProtectedBranch = {
    id: world.nextId("protected-branch"),
    push: [accessRule(world, ROLE.maintainer)],
    merge: [accessRule(world, ROLE.maintainer)],
    unprotect: [],
    allow_force_push: false,
    code_owner_approval_required: false,
    ...parts,
    name,
  };
  opened.repository.protectedBranches.push(row);
  return row;
}

function findProtected(request: Request): { opened: Opened; row: ProtectedBranch } {
  const opened = openRepository(request, ROLE.maintainer);
  const row = opened.repository.protectedBranches.find(({ name }) => name === request.params.name);
  if (!row) throw notFound();
  return { opened, row };
}

function listProtected(request: Request): Reply {
  const { world, repository } = openRepository(request, ROLE.developer);
  const search = text(request.input, "search") ?? "";
  const rows = repository.protectedBranches.filter((row) => nameMatches(row.name, search));
  return paged(request, rows, (row) => branchRuleJson(world, row));
}

function getProtected(request: Request): Reply {
  const { world, repository } = openRepository(request, ROLE.developer);
  const row = repository.protectedBranches.find(({ name }) => name === request.params.name);
  if (!row) throw notFound();
  return ok(branchRuleJson(world, row));
}

function createProtected(request: Request): Reply {
  const opened = openRepository(request, ROLE.maintainer);
  required(request, "name");
  const name = text(request.input, "name") ?? "";
  if (opened.repository.protectedBranches.some((row) => row.name === name)) throw failure(409, `Protected branch '${name}' already exists`);
  const row = protectBranch(opened.world, opened, name, {
    push: rulesFrom(request, "push_access_level", "allowed_to_push", ROLE.maintainer) ?? [],
    merge: rulesFrom(request, "merge_access_level", "allowed_to_merge", ROLE.maintainer) ?? [],
    unprotect: rulesFrom(request, "unprotect_access_level", "allowed_to_unprotect", undefined) ?? [],
    allow_force_push: flag(request.input, "allow_force_push") ?? false,
    code_owner_approval_required: flag(request.input, "code_owner_approval_required") ?? false,
  });
  return created(branchRuleJson(opened.world, row));
}

function updateProtected(request: Request): Reply {
  const { opened, row } = findProtected(request);
  row.push = rulesFrom(request, "push_access_level", "allowed_to_push", undefined) ?? row.push;
  row.merge = rulesFrom(request, "merge_access_level", "allowed_to_merge", undefined) ?? row.merge;
  row.unprotect = rulesFrom(request, "unprotect_access_level", "allowed_to_unprotect", undefined) ?? row.unprotect;
  row.allow_force_push = flag(request.input, "allow_force_push") ?? row.allow_force_push;
  row.code_owner_approval_required = flag(request.input, "code_owner_approval_required") ?? row.code_owner_approval_required;
  return ok(branchRuleJson(opened.world, row));
}

function deleteProtected(request: Request): Reply {
  const { opened, row } = findProtected(request);
  opened.repository.protectedBranches = opened.repository.protectedBranches.filter((other) => other !== row);
  return noContent();
}

/** The old pair of routes below the branch itself. */
function setOldProtection(request: Request, on: boolean): Reply {
  const opened = openRepository(request, ROLE.maintainer);
  const name = request.params.branch ?? "";
  if (!opened.git.branches.has(name)) throw notFound("Branch");
  const { repository, world } = opened;
  repository.protectedBranches = repository.protectedBranches.filter((row) => row.name !== name);
  if (on) {
    const level = (key: string) => [accessRule(world, flag(request.input, key) ? ROLE.developer : ROLE.maintainer)];
    protectBranch(world, opened, name, { push: level("developers_can_push"), merge: level("developers_can_merge") });
  }
  return ok(branchJson(opened, name, request.user));
}

const tagRuleJson = (world: World, row: ProtectedTag): Json => ({
  name: row.name,
  create_access_levels: row.create.map((rule) => ruleJson(world, rule)),
});

function findProtectedTag(request: Request): { opened: Opened; row: ProtectedTag } {
  const opened = openRepository(request, ROLE.maintainer);
  const row = opened.repository.protectedTags.find(({ name }) => name === request.params.name);
  if (!row) throw notFound();
  return { opened, row };
}

function createProtectedTag(request: Request): Reply {
  const { world, repository } = openRepository(request, ROLE.maintainer);
  required(request, "name");
  const name = text(request.input, "name") ?? "";
  if (repository.protectedTags.some((row) => row.name === name)) throw failure(409, `Protected tag '${name}' already exists`);
  const row: ProtectedTag = { name, create: rulesFrom(request, "create_access_level", "allowed_to_create", ROLE.maintainer) ?? [] };
  repository.protectedTags.push(row);
  return created(tagRuleJson(world, row));
}

function listProtectedTags(request: Request): Reply {
  const { world, repository } = openRepository(request, ROLE.maintainer);
  return paged(request, repository.protectedTags, (row) => tagRuleJson(world, row));
}

function getProtectedTag(request: Request): Reply {
  const { opened, row } = findProtectedTag(request);
  return ok(tagRuleJson(opened.world, row));
}

function deleteProtectedTag(request: Request): Reply {
  const { opened, row } = findProtectedTag(request);
  opened.repository.protectedTags = opened.repository.protectedTags.filter((other) => other !== row);
  return noContent();
}

const BRANCHES = "/projects/{project_id}/protected_branches";
const TAGS = "/projects/{project_id}/protected_tags";
const OLD = "/projects/{project_id}/repository/branches/{branch}";

export const protectionBehaviours: readonly Behaviour[] = [
  get(BRANCHES, listProtected),
  post(BRANCHES, createProtected),
  get(`${BRANCHES}/{name}`, getProtected),
  patch(`${BRANCHES}/{name}`, updateProtected),
  del(`${BRANCHES}/{name}`, deleteProtected),
  put(`${OLD}/protect`, (request) => setOldProtection(request, true)),
  put(`${OLD}/unprotect`, (request) => setOldProtection(request, false)),
  get(TAGS, listProtectedTags),
  post(TAGS, createProtectedTag),
  get(`${TAGS}/{name}`, getProtectedTag),
  del(`${TAGS}/{name}`, deleteProtectedTag),
];
