import { lookUpProject } from "./access.ts";
import type { Issue, Part, World } from "./types.ts";

const START = Date.parse("2026-11-02T09:00:00.000Z");

/** Every entity's id counter goes on far above the seeds, so that ids made at run time are easy to tell apart. */
function createCounters(): Pick<World, "nextId" | "usedId"> {
  const counters = new Map<string, number>();
  return {
    nextId: (name) => {
      const id = (counters.get(name) ?? 0) + 1;
      counters.set(name, id);
      return id;
    },
    usedId: (name, id) => {
      counters.set(name, Math.max(counters.get(name) ?? 0, id));
    },
  };
}

function createClock(): Pick<World, "now" | "tick"> {
  let seconds = 0;
  return {
    now: () => new Date(START + seconds * 1000).toISOString(),
    tick: () => {
      seconds += 1;
    },
  };
}

/** An issue with everything at rest; the caller changes what it wants. */
export function blankIssue(world: World, projectId: number, authorId: number, title: string): Issue {
  const iids = world.issues.filter((issue) => issue.project_id === projectId).map(({ iid }) => iid);
  world.usedId(`issue-iid-${projectId}`, Math.max(0, ...iids));
  return {
    id: world.nextId("issue"),
    iid: world.nextId(`issue-iid-${projectId}`),
    project_id: projectId,
    title,
    description: null,
    state: "opened",
    author_id: authorId,
    assignee_ids: [],
    labels: [],
    milestone_id: null,
    created_at: world.now(),
    updated_at: world.now(),
    closed_at: null,
    closed_by_id: null,
    discussion_locked: null,
    time_estimate: 0,
    total_time_spent: 0,
    subscriptions: new Map(),
    confidential: false,
    due_date: null,
    weight: null,
    issue_type: "issue",
    severity: "UNKNOWN",
    moved_to_id: null,
  };
}

function seedIssues(world: World, projectPath: string, count: number): Issue[] {
  const project = lookUpProject(world, projectPath);
  if (!project) throw new Error(`no project ${projectPath}`);
  const made = Array.from({ length: count }, (_, index) => ({
    ...blankIssue(world, project.id, project.creator_id, `Numbered issue ${index + 1} of ${count}`),
    labels: ["numbered"],
  }));
  world.issues.push(...made);
  return made;
}

/** A world filled by the parts, in their order. */
export function createWorld(parts: readonly Part[], url: string): World {
  const states = new Map<string, unknown>();
  const world: World = {
    url,
    ...createClock(),
    ...createCounters(),
    users: [],
    tokens: [],
    groups: [],
    projects: [],
    members: [],
    labels: [],
    milestones: [],
    issues: [],
    notes: [],
    todos: [],
    events: [],
    emoji: [],
    resourceEvents: [],
    tables: new Map(),
    hooks: {},
    search: new Map(),
    onProject: [],
    part: <T>(name: string, make: () => T): T => {
      if (!states.has(name)) states.set(name, make());
      return states.get(name) as T;
    },
    seedIssues: (projectPath, count) => seedIssues(world, projectPath, count),
  };
  for (const part of parts) part.seed?.(world);
  return world;
}
