import { canSeeProject, findProject, lookUpProject, projectLevel, requireUser } from "./access.ts";
import { failure, forbidden, notFound } from "./errors.ts";
import { oneOf, required, text } from "./input.ts";
import { issueJson, seesIssue } from "./issue-entities.ts";
import { findIssue, ISSUE_KIND } from "./issues.ts";
import { created, del, get, ok, post } from "./reply.ts";
import { type Behaviour, type Issue, type Json, type Reply, type Request, ROLE, type World } from "./types.ts";

interface Link {
  id: number;
  source_id: number;
  target_id: number;
  link_type: "relates_to" | "blocks" | "is_blocked_by";
  created_at: string;
}

const linksOf = (world: World) => world.part<Link[]>("issue-links", () => []);
const other = (kind: string) => (kind === "blocks" ? "is_blocked_by" : kind === "is_blocked_by" ? "blocks" : kind);

/** Links of an issue with the issue at the far end, seen from here. */
function seenFrom(request: Request, issue: Issue): { link: Link; far: Issue; kind: string }[] {
  return linksOf(request.world).flatMap((link) => {
    if (link.source_id !== issue.id && link.target_id !== issue.id) return [];
    const forward = link.source_id === issue.id;
    const far = request.world.issues.find(({ id }) => id === (forward ? link.target_id : link.source_id));
    if (!far || !seesIssue(request, far)) return [];
    return [{ link, far, kind: forward ? link.link_type : other(link.link_type) }];
  });
}

function linkJson(request: Request, link: Link): Json {
  const end = (id: number) => {
    const issue = request.world.issues.find((row) => row.id === id);
    return issue ? issueJson(request, issue) : null;
  };
  return { id: link.id, source_issue: end(link.source_id), target_issue: end(link.target_id), link_type: link.link_type };
}

function one(request: Request): Link {
  const issue = findIssue(request);
  const found = seenFrom(request, issue).find(({ link }) => String(link.id) === request.params.issue_link_id);
  if (!found) throw notFound();
  return found.link;
}

function requirePlanner(request: Request): void {
  if (projectLevel(request.world, requireUser(request), findProject(request)) < ROLE.guest) throw forbidden();
}

function create(request: Request): Reply {
  const issue = findIssue(request);
  requirePlanner(request);
  required(request, "target_project_id", "target_issue_iid");
  const kind = oneOf(request.input, "link_type", ["relates_to", "blocks", "is_blocked_by"]) ?? "relates_to";
  const project = lookUpProject(request.world, text(request.input, "target_project_id") ?? "");
  if (!project || !canSeeProject(request.world, request.user, project)) throw notFound("Project");
  const far = request.world.issues.find(
    (row) => row.project_id === project.id && String(row.iid) === text(request.input, "target_issue_iid"),
  );
  if (!far || !seesIssue(request, far)) throw notFound();
  if (far.id === issue.id) throw failure(400, "cannot be related to itself");
  if (seenFrom(request, issue).some((row) => row.far.id === far.id)) throw failure(409, "Issue(s) already assigned");
  const link: Link = {
    id: request.world.nextId("issue-link"),
    source_id: issue.id,
    target_id: far.id,
    link_type: kind,
    created_at: request.world.now(),
  };
  linksOf(request.world).push(link);
  return created(linkJson(request, link));
}

function remove(request: Request): Reply {
  requirePlanner(request);
  const link = one(request);
  const rows = linksOf(request.world);
  const json = linkJson(request, link);
  rows.splice(rows.indexOf(link), 1);
  return ok(json);
}

function list(request: Request): Reply {
  const rows = seenFrom(request, findIssue(request)).map(({ link, far, kind }) => ({
    ...issueJson(request, far),
    issue_link_id: link.id,
    link_type: kind,
    link_created_at: link.created_at,
    link_updated_at: link.created_at,
  }));
  return ok(rows);
}

const BASE = `${ISSUE_KIND.path}/links`;

export const issueLinkBehaviours: readonly Behaviour[] = [
  get(BASE, list),
  post(BASE, create),
  get(`${BASE}/{issue_link_id}`, (request) => ok(linkJson(request, one(request)))),
  del(`${BASE}/{issue_link_id}`, remove),
];
