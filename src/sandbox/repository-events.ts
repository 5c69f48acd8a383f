import { addEvent } from "./activity.ts";
import { logOf } from "./git-history.ts";
import { titleOf } from "./repository-json.ts";
import { type Push, repositoryLinks, repositoryOf } from "./repository-state.ts";
import type { World } from "./types.ts";

/** A push as a line of the activity feed. */
function record(world: World, push: Push): void {
  const { git } = repositoryOf(world, push.project);
  const [before, after] = [push.before, push.after];
  const known = before && git.commits.has(before) ? new Set(logOf(git, before).map(({ id }) => id)) : undefined;
  const fresh = after && before ? logOf(git, after, known) : [];
  const tip = after ? git.commits.get(after) : undefined;
  addEvent(world, {
    project_id: push.project.id,
    author_id: push.user.id,
    action_name: !before ? "pushed new" : after ? "pushed to" : "deleted",
    target_type: null,
    target_id: null,
    target_iid: null,
    target_title: null,
    push_data: {
      commit_count: fresh.length,
      action: !before ? "created" : after ? "pushed" : "removed",
      ref_type: push.tag ? "tag" : "branch",
      commit_from: before ?? null,
      commit_to: after ?? null,
      ref: push.ref,
      commit_title: tip ? titleOf(tip) : null,
      ref_count: null,
    },
  });
  push.project.last_activity_at = world.now();
}

/** From now on the activity feed tells of pushes. */
export function followPushes(world: World): void {
  repositoryLinks(world).pushed.push(record);
}
