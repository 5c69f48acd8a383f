import type { Action } from "../catalog/types.ts";
import type { Titles } from "./param-titles.ts";
import { type Problems, type Reading, readValue } from "./param-values.ts";

const TAKES = new Set(["merge_request.create", "merge_request.update"]);

const NAMES = /^(is_?)?(draft|wip|work_in_progress)$/i;

/** What GitLab takes for the mark of a draft. */
const MARK = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i;

type Given = Readonly<Record<string, unknown>>;

export interface DraftGiven {
  readonly given: Given;
  readonly draft?: boolean;
}

/** Takes `draft` out of what was given: GitLab has no such parameter where merge requests are written. */
export function takeDraft(action: Action, given: Given, reading: Reading): DraftGiven {
  const name = TAKES.has(action.id) ? Object.keys(given).find((key) => NAMES.test(key)) : undefined;
  if (name === undefined) return { given };
  const { [name]: value, ...rest } = given;
  const draft = value === null || value === "" ? undefined : readValue(value, "draft", { type: "boolean" }, reading);
  return { given: rest, ...(typeof draft === "boolean" ? { draft } : {}) };
}

const strip = (title: string): string => (MARK.test(title) ? strip(title.replace(MARK, "")) : title);

/**
 * The title with or without the mark: it is the only thing by which GitLab knows a draft, so `draft` can be set in no other way. An
 * update that gives no title is made with the one that the merge request has now.
 */
export async function titleFor(draft: boolean, params: Given, titles: Titles, problems: Problems): Promise<string | undefined> {
  const { title, project_id, merge_request_iid } = params;
  const known =
    merge_request_iid === undefined ? undefined : () => titles.titleOfMergeRequest?.(String(project_id), String(merge_request_iid));
  const current = typeof title === "string" ? title : await known?.();
  if (current === undefined) {
    problems.add("draft", "is set through the title, which is not known here; give title too");
    return undefined;
  }
  const bare = strip(current);
  return draft ? `Draft: ${bare}` : bare;
}
