import type { Json, Project, World } from "./types.ts";

/** A project shared with a group: its members have at most `group_access` in the project. */
export interface Share {
  id: number;
  project_id: number;
  group_id: number;
  group_access: number;
  expires_at: string | null;
}

export const sharesOf = (world: World, project: Project): Share[] =>
  world.part<Share[]>("shares", () => []).filter(({ project_id }) => project_id === project.id);

export function addShare(world: World, share: Share): void {
  world.part<Share[]>("shares", () => []).push(share);
}

export function dropShare(world: World, share: Share): void {
  const all = world.part<Share[]>("shares", () => []);
  all.splice(all.indexOf(share), 1);
}

/** As a project shows the groups that it is shared with. */
export const sharesJson = (world: World, project: Project): Json[] =>
  sharesOf(world, project).flatMap(({ group_id, group_access, expires_at }) => {
    const group = world.groups.find(({ id }) => id === group_id);
    if (!group) return [];
    return [{ group_id, group_name: group.name, group_full_path: group.full_path, group_access_level: group_access, expires_at }];
  });
