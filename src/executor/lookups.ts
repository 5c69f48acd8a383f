import { fillPath } from "./address.ts";
import type { Milestone, Scope, Titles } from "./param-titles.ts";
import { isPlain } from "./slim.ts";

/** Reads a path below the API root; `template` is what the door judges it by. */
export type Read = (path: string, template: string) => Promise<unknown>;

export type Words = Readonly<Record<string, string>>;

/** A read below the project or group that a call is about. */
export function readBelow(read: Read, scope: Scope, name: string, query: Words): Promise<unknown> {
  const template = "project_id" in scope ? `/projects/{project_id}/${name}` : `/groups/{group_id}/${name}`;
  return read(`${fillPath(template, scope)}?${new URLSearchParams(query)}`, template);
}

function toMilestones(found: unknown): Milestone[] {
  const rows = Array.isArray(found) ? found.filter(isPlain) : [];
  return rows.flatMap(({ id, title, state }) =>
    typeof id === "number" && typeof title === "string" ? [{ id, title, ...(typeof state === "string" ? { state } : {}) }] : [],
  );
}

const REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}";

/** How titles and ids of GitLab's things are found out for parameters. */
export function createTitles(read: Read): Titles {
  return {
    async milestones(scope, title) {
      const query = { include_ancestors: "true", per_page: "100", ...(title === undefined ? {} : { title }) };
      return toMilestones(await readBelow(read, scope, "milestones", query));
    },
    async titleOfMergeRequest(project_id, merge_request_iid) {
      const found = await read(fillPath(REQUEST, { project_id, merge_request_iid }), REQUEST);
      return isPlain(found) && typeof found.title === "string" ? found.title : undefined;
    },
  };
}
