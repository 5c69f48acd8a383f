import { lookUpProject } from "./access.ts";
import { addEvent, addTodo } from "./activity.ts";
import { milestonesOf } from "./entities-planning.ts";
import { fixture, fixtureText } from "./fixtures.ts";
import { addNote, noteable } from "./notes-store.ts";
import { type Release, releasesOf } from "./releases.ts";
import { repositoryLinks } from "./repository-state.ts";
import type { Issue, Project, World } from "./types.ts";
import { blankIssue } from "./world.ts";

interface SeedIssue {
  readonly project: string;
  readonly iid: number;
  readonly title: string;
  readonly author: string;
  readonly created_at: string;
  readonly labels: string[];
  readonly milestone?: string;
  readonly assignees?: readonly string[];
  readonly closed_at?: string;
  readonly closed_by?: string;
  readonly description?: string;
  /** File with a long description. */
  readonly file?: string;
  readonly confidential?: boolean;
  readonly weight?: number;
  readonly due_date?: string;
  readonly time_estimate?: number;
  readonly total_time_spent?: number;
  readonly emoji?: readonly (readonly [user: string, name: string])[];
  readonly notes?: readonly { readonly by: string; readonly at: string; readonly body: string }[];
}

const userId = (world: World, username: string): number => {
  const user = world.users.find((row) => row.username === username);
  if (!user) throw new Error(`seed: no user ${username}`);
  return user.id;
};

function projectOf(world: World, path: string): Project {
  const project = lookUpProject(world, path);
  if (!project) throw new Error(`seed: no project ${path}`);
  return project;
}

function issueFrom(world: World, seed: SeedIssue): Issue {
  const project = projectOf(world, seed.project);
  const milestone = milestonesOf(world, project).find(({ title }) => title === seed.milestone);
  const issue: Issue = {
    ...blankIssue(world, project.id, userId(world, seed.author), seed.title),
    iid: seed.iid,
    description: seed.file ? fixtureText(seed.file) : (seed.description ?? null),
    state: seed.closed_at ? "closed" : "opened",
    closed_at: seed.closed_at ?? null,
    closed_by_id: seed.closed_by ? userId(world, seed.closed_by) : null,
    assignee_ids: (seed.assignees ?? []).map((name) => userId(world, name)),
    labels: [...seed.labels],
    milestone_id: milestone?.id ?? null,
    created_at: seed.created_at,
    updated_at: seed.notes?.at(-1)?.at ?? seed.closed_at ?? seed.created_at,
    confidential: seed.confidential ?? false,
    weight: seed.weight ?? null,
    due_date: seed.due_date ?? null,
    time_estimate: seed.time_estimate ?? 0,
    total_time_spent: seed.total_time_spent ?? 0,
  };
  world.usedId(`issue-iid-${project.id}`, issue.iid);
  return issue;
}

function talk(world: World, seed: SeedIssue, issue: Issue): void {
  for (const { by, at, body } of seed.notes ?? []) {
    addNote(world, noteable("Issue", issue), { author_id: userId(world, by), body, created_at: at });
  }
  for (const [by, name] of seed.emoji ?? []) {
    world.emoji.push({
      id: world.nextId("emoji"),
      awardable_type: "Issue",
      awardable_id: issue.id,
      name,
      user_id: userId(world, by),
      created_at: issue.updated_at,
      updated_at: issue.updated_at,
    });
  }
}

function remember(world: World, issue: Issue): void {
  const about = {
    project_id: issue.project_id,
    target_type: "Issue",
    target_id: issue.id,
    target_iid: issue.iid,
    target_title: issue.title,
  };
  addEvent(world, { ...about, author_id: issue.author_id, action_name: "opened", created_at: issue.created_at });
  if (issue.closed_at)
    addEvent(world, { ...about, author_id: issue.closed_by_id ?? issue.author_id, action_name: "closed", created_at: issue.closed_at });
  if (issue.state === "closed") return;
  for (const user_id of issue.assignee_ids.filter((id) => id !== issue.author_id)) {
    addTodo(world, {
      user_id,
      author_id: issue.author_id,
      project_id: issue.project_id,
      action_name: "assigned",
      target_type: "Issue",
      target_id: issue.id,
      body: issue.title,
    });
  }
}

/** Issues with comments, emoji, to-do items and the feed. */
export function seedIssueFixtures(world: World): void {
  world.usedId("issue", 500);
  world.usedId("note", 3_000);
  world.usedId("todo", 700);
  for (const seed of fixture<SeedIssue[]>("issues")) {
    const issue = issueFrom(world, seed);
    world.issues.push(issue);
    talk(world, seed, issue);
    remember(world, issue);
  }
  world.events.sort((one, other) => one.created_at.localeCompare(other.created_at));
}

type SeedRelease = Pick<Release, "tag_name" | "name" | "description" | "milestones"> & {
  readonly project: string;
  readonly author: string;
  readonly at: string;
  readonly links: readonly (readonly [name: string, url: string, type: string])[];
};

/** Releases of the tags that the repository has. */
export function seedReleases(world: World): void {
  repositoryLinks(world).release = (where, project, tag) => {
    const release = releasesOf(where).find((row) => row.project_id === project.id && row.tag_name === tag);
    return release ? { tag_name: release.tag_name, description: release.description } : null;
  };
  for (const { project, author, at, links, ...rest } of fixture<SeedRelease[]>("releases")) {
    releasesOf(world).push({
      ...rest,
      project_id: projectOf(world, project).id,
      author_id: userId(world, author),
      created_at: at,
      released_at: at,
      links: links.map(([name, url, link_type]) => ({ id: world.nextId("release-link"), name, url, link_type, filepath: null })),
      evidences: 1,
    });
  }
}

/** Rows that the generic engine serves from the start, by collection. */
export function seedTables(world: World): void {
  for (const [collection, rows] of Object.entries(fixture<Record<string, Record<string, unknown>[]>>("tables"))) {
    world.tables.set(collection, rows);
    const resource = collection.split("/").at(-1) ?? "";
    for (const { id } of rows) if (typeof id === "number") world.usedId(resource, id);
  }
}
