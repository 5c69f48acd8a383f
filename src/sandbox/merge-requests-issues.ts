import { canSeeProject, lookUpProject } from "./access.ts";
import { addTargetEvent } from "./activity.ts";
import { seesIssue } from "./issue-entities.ts";
import { latest, type MergeRequest, targetProject, versionCommits } from "./merge-requests-state.ts";
import { addSystemNote, noteable } from "./notes-store.ts";
import type { Issue, Request, World } from "./types.ts";

const CLOSING =
  /\b(?:clos(?:e|es|ed|ing)|fix(?:es|ed|ing)?|resolv(?:e|es|ed|ing)|implement(?:s|ed|ing)?)\s*:?\s+((?:(?:issues?\s+)?[\w./-]*#\d+(?:\s*(?:,|and)\s*)?)+)/gi;

function issueAt(world: World, row: MergeRequest, reference: string): Issue | undefined {
  const [path, iid] = reference.split("#");
  const project = path ? lookUpProject(world, path) : targetProject(world, row);
  return world.issues.find((issue) => issue.project_id === project?.id && String(issue.iid) === iid);
}

function named(world: World, row: MergeRequest, texts: readonly string[]): Issue[] {
  const found = texts.flatMap((text) => [...text.matchAll(/[\w./-]*#\d+/g)].flatMap(([reference]) => issueAt(world, row, reference) ?? []));
  return [...new Set(found)];
}

const words = (world: World, row: MergeRequest) => [
  row.description ?? "",
  ...versionCommits(world, row, latest(row)).map(({ message }) => message),
];

/** Issues that the merge will close: `Closes #1`, in the description or a commit. */
export function closingIssues(world: World, row: MergeRequest): Issue[] {
  const parts = words(world, row).flatMap((text) => [...text.matchAll(CLOSING)].map((match) => match[1] ?? ""));
  return named(world, row, parts);
}

/** Issues that are named anywhere in it. */
export const relatedIssues = (world: World, row: MergeRequest): Issue[] => named(world, row, [row.title, ...words(world, row)]);

export function visibleIssues(request: Request, issues: readonly Issue[]): Issue[] {
  return issues.filter((issue) => {
    const project = lookUpProject(request.world, String(issue.project_id));
    return project !== undefined && canSeeProject(request.world, request.user, project) && seesIssue(request, issue);
  });
}

export function closeIssues(request: Request, row: MergeRequest): void {
  for (const issue of closingIssues(request.world, row).filter(({ state }) => state === "opened")) {
    const now = request.world.now();
    Object.assign(issue, { state: "closed", closed_at: now, closed_by_id: request.user?.id ?? null, updated_at: now });
    addSystemNote(request, noteable("Issue", issue), `closed via merge request !${row.iid}`);
    addTargetEvent(request, "Issue", issue, "closed");
  }
}
