import { ancestry, groupOf } from "./access.ts";
import type { Issue, Json, Label, Milestone, Project, World } from "./types.ts";

const THEIRS = { project: "project_id", group: "group_id" } as const;

export function milestoneJson(world: World, milestone: Milestone): Json {
  const owner =
    milestone.source === "project" ? world.projects.find(({ id }) => id === milestone.source_id)?.path_with_namespace : undefined;
  const group = world.groups.find(({ id }) => id === milestone.source_id)?.full_path;
  const base = milestone.source === "project" ? `${world.url}/${owner}` : `${world.url}/groups/${group}`;
  return {
    id: milestone.id,
    iid: milestone.iid,
    [THEIRS[milestone.source]]: milestone.source_id,
    title: milestone.title,
    description: milestone.description,
    state: milestone.state,
    created_at: milestone.created_at,
    updated_at: milestone.updated_at,
    due_date: milestone.due_date,
    start_date: milestone.start_date,
    expired: milestone.due_date !== null && milestone.due_date < world.now().slice(0, 10),
    web_url: `${base}/-/milestones/${milestone.iid}`,
  };
}

/** Black or white, whichever can be read on the colour. */
export function textColor(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? "#1F1E24" : "#FFFFFF";
}

/** Label objects for `with_labels_details`. */
export function labelBasic(label: Label): Json {
  return {
    id: label.id,
    name: label.name,
    description: label.description,
    description_html: label.description ?? "",
    text_color: textColor(label.color),
    color: label.color,
    archived: false,
  };
}

/** `1h 30m` from seconds, with GitLab's 8 hours a day and 5 days a week; null for nothing. */
export function humanTime(seconds: number): string | null {
  if (seconds === 0) return null;
  const units: readonly (readonly [string, number])[] = [
    ["mo", 576_000],
    ["w", 144_000],
    ["d", 28_800],
    ["h", 3_600],
    ["m", 60],
    ["s", 1],
  ];
  let left = Math.abs(seconds);
  const parts: string[] = [];
  for (const [name, size] of units) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count}${name}`);
    left -= count * size;
  }
  return `${seconds < 0 ? "-" : ""}${parts.join(" ")}`;
}

export const timeStats = (row: Pick<Issue, "time_estimate" | "total_time_spent">): Json => ({
  time_estimate: row.time_estimate,
  total_time_spent: row.total_time_spent,
  human_time_estimate: humanTime(row.time_estimate),
  human_total_time_spent: humanTime(row.total_time_spent),
});

/** Milestones that an issue of the project may have. */
export function milestonesOf(world: World, project: Project): Milestone[] {
  const groups = ancestry(world, groupOf(world, project)).map(({ id }) => id);
  return world.milestones.filter((row) => (row.source === "project" ? row.source_id === project.id : groups.includes(row.source_id)));
}

/** The milestone of an issue or merge request as JSON, or null. */
export function shownMilestone(world: World, id: number | null): Json | null {
  const milestone = world.milestones.find((row) => row.id === id);
  return milestone ? milestoneJson(world, milestone) : null;
}
