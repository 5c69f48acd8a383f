import type { Project, World } from "./types.ts";

function drop<T>(rows: T[], gone: (row: T) => boolean): void {
  for (let at = rows.length - 1; at >= 0; at -= 1) if (gone(rows[at] as T)) rows.splice(at, 1);
}

/** Takes a project and what belongs to it out of the world. */
export function removeProject(world: World, project: Project): void {
  const inside = ({ source, source_id }: { source: string; source_id: number }) => source === "project" && source_id === project.id;
  drop(world.projects, (row) => row === project);
  drop(world.issues, (row) => row.project_id === project.id);
  drop(world.notes, (row) => row.project_id === project.id);
  drop(world.todos, (row) => row.project_id === project.id);
  drop(world.events, (row) => row.project_id === project.id);
  drop(world.labels, inside);
  drop(world.milestones, inside);
  drop(world.members, inside);
}
