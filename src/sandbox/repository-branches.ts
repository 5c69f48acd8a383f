import { projectLevel } from "./access.ts";
import { badParams, failure, forbidden, notFound } from "./errors.ts";
import { type GitTag, putTag, resolveRef } from "./git.ts";
import { isAncestor } from "./git-history.ts";
import { oneOf, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { accepted, created, del, get, noContent, ok, post } from "./reply.ts";
import { branchJson, tagJson } from "./repository-json.ts";
import {
  allows,
  announcePush,
  checkRefName,
  mayPush,
  type Opened,
  openRepository,
  protectionsOf,
  tagProtectionsOf,
} from "./repository-state.ts";
import { moveBranch, signatureOf } from "./repository-write.ts";
import { type Behaviour, type Reply, type Request, ROLE, type User } from "./types.ts";

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** `^text`, `text$` and `text`, as the search of branches and tags knows them. */
export function nameMatches(name: string, search: string): boolean {
  const [low, wanted] = [name.toLowerCase(), search.toLowerCase()];
  if (wanted.startsWith("^")) return low.startsWith(wanted.slice(1));
  return wanted.endsWith("$") ? low.endsWith(wanted.slice(0, -1)) : low.includes(wanted);
}

function regexOf(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch {
    throw badParams("regex is invalid");
  }
}

function listBranches(request: Request): Reply {
  const opened = openRepository(request);
  const search = text(request.input, "search") ?? "";
  const regex = regexOf(text(request.input, "regex") ?? "");
  const sort = oneOf(request.input, "sort", ["name_asc", "updated_asc", "updated_desc"]) ?? "name_asc";
  const dateOf = (name: string) => opened.git.commits.get(opened.git.branches.get(name) ?? "")?.committer.date ?? "";
  const names = [...opened.git.branches.keys()].filter((name) => nameMatches(name, search) && regex.test(name)).sort(order);
  if (sort !== "name_asc") names.sort((a, b) => order(dateOf(a), dateOf(b)) * (sort === "updated_asc" ? 1 : -1));
  return paged(request, names, (name) => branchJson(opened, name, request.user), {
    keyset: { key: (name) => name, defaultOrder: "name", sort: "asc", parameter: "page_token" },
  });
}

function findBranch(request: Request, role: number = ROLE.none): { opened: Opened; name: string } {
  const opened = openRepository(request, role);
  const name = request.params.branch ?? "";
  if (!opened.git.branches.has(name)) throw notFound("Branch");
  return { opened, name };
}

function getBranch(request: Request): Reply {
  const { opened, name } = findBranch(request);
  return ok(branchJson(opened, name, request.user));
}

function createBranch(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  required(request, "branch", "ref");
  const name = text(request.input, "branch") ?? "";
  const ref = text(request.input, "ref") ?? "";
  checkRefName(name, "Branch");
  if (opened.git.branches.has(name)) throw failure(400, "Branch already exists");
  const start = resolveRef(opened.git, ref);
  if (!start) throw failure(400, `Invalid reference name: ${ref}`);
  if (!mayPush(opened.world, opened.project, request.user, name))
    throw forbidden("You are not allowed to create protected branches on this project.");
  moveBranch(opened.world, opened.project, opened.git, name, start.id, request.user as User);
  return created(branchJson(opened, name, request.user));
}

function deleteBranch(request: Request): Reply {
  const { opened, name } = findBranch(request, ROLE.developer);
  if (name === opened.project.default_branch) throw failure(400, "The default branch of a project cannot be deleted.");
  const level = projectLevel(opened.world, request.user, opened.project);
  if (protectionsOf(opened.repository, name).length > 0 && level < ROLE.maintainer) {
    throw forbidden(
      "You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.",
    );
  }
  moveBranch(opened.world, opened.project, opened.git, name, undefined, request.user as User);
  return noContent();
}

function deleteMerged(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  const base = opened.git.branches.get(opened.project.default_branch ?? "") ?? "";
  for (const [name, id] of [...opened.git.branches]) {
    const kept = name === opened.project.default_branch || protectionsOf(opened.repository, name).length > 0;
    if (!kept && id !== base && isAncestor(opened.git, id, base))
      moveBranch(opened.world, opened.project, opened.git, name, undefined, request.user as User);
  }
  return accepted();
}

const versionKey = (name: string) => name.replace(/\d+/g, (digits) => digits.padStart(8, "0"));

function listTags(request: Request): Reply {
  const opened = openRepository(request);
  const search = text(request.input, "search") ?? "";
  const by = oneOf(request.input, "order_by", ["name", "updated", "version"]) ?? "updated";
  const sort = oneOf(request.input, "sort", ["asc", "desc"]) ?? "desc";
  const dateOf = (tag: GitTag) => tag.date ?? opened.git.commits.get(tag.commit)?.committer.date ?? "";
  const key = { name: (tag: GitTag) => tag.name, updated: dateOf, version: (tag: GitTag) => versionKey(tag.name) }[by];
  const tags = [...opened.git.tags.values()].filter((tag) => nameMatches(tag.name, search));
  tags.sort((a, b) => (order(key(a), key(b)) || order(a.name, b.name)) * (sort === "asc" ? 1 : -1));
  return paged(request, tags, (tag) => tagJson(opened, tag), {
    keyset: { key: (tag) => tag.name, defaultOrder: "name", sort: "asc", parameter: "page_token" },
  });
}

function findTag(request: Request, role: number = ROLE.none): { opened: Opened; tag: GitTag } {
  const opened = openRepository(request, role);
  const tag = opened.git.tags.get(request.params.tag_name ?? "");
  if (!tag) throw notFound("Tag");
  return { opened, tag };
}

function getTag(request: Request): Reply {
  const { opened, tag } = findTag(request);
  return ok(tagJson(opened, tag));
}

function requireTagRights(opened: Opened, name: string, user: User | undefined): void {
  const rules = tagProtectionsOf(opened.repository, name);
  const level = projectLevel(opened.world, user, opened.project);
  if (rules.length > 0 && !rules.some((rule) => allows(rule.create, user?.id, level))) {
    throw forbidden("You are not allowed to create this tag as it is protected.");
  }
}

function createTag(request: Request): Reply {
  const opened = openRepository(request, ROLE.developer);
  required(request, "tag_name", "ref");
  const name = text(request.input, "tag_name") ?? "";
  checkRefName(name, "Tag");
  requireTagRights(opened, name, request.user);
  if (opened.git.tags.has(name)) throw failure(400, `Tag ${name} already exists`);
  const target = resolveRef(opened.git, text(request.input, "ref") ?? "");
  if (!target) throw failure(400, `Target ${text(request.input, "ref")} is invalid`);
  const user = request.user as User;
  const message = text(request.input, "message") ?? "";
  const tag = putTag(opened.git, name, target.id, message, message ? signatureOf(user, opened.world.now()) : undefined);
  announcePush(opened.world, { project: opened.project, ref: name, tag: true, after: target.id, user, source: "push" });
  return created(tagJson(opened, tag));
}

function deleteTag(request: Request): Reply {
  const { opened, tag } = findTag(request, ROLE.developer);
  if (tagProtectionsOf(opened.repository, tag.name).length > 0) requireTagRights(opened, tag.name, request.user);
  opened.git.tags.delete(tag.name);
  announcePush(opened.world, {
    project: opened.project,
    ref: tag.name,
    tag: true,
    before: tag.commit,
    user: request.user as User,
    source: "push",
  });
  return noContent();
}

function unsignedTag(request: Request): Reply {
  findTag(request);
  throw notFound("GPG Signature");
}

const BRANCHES = "/projects/{project_id}/repository/branches";
const TAGS = "/projects/{project_id}/repository/tags";

export const branchBehaviours: readonly Behaviour[] = [
  get(BRANCHES, listBranches),
  get(`${BRANCHES}/{branch}`, getBranch),
  post(BRANCHES, createBranch),
  del(`${BRANCHES}/{branch}`, deleteBranch),
  del("/projects/{project_id}/repository/merged_branches", deleteMerged),
  get(TAGS, listTags),
  get(`${TAGS}/{tag_name}`, getTag),
  get(`${TAGS}/{tag_name}/signature`, unsignedTag),
  post(TAGS, createTag),
  del(`${TAGS}/{tag_name}`, deleteTag),
];
