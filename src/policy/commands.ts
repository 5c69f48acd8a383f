import { GITLAB, loadActions } from "../catalog/load.ts";
import type { Action } from "../catalog/types.ts";
import { textsIn } from "./scope-text.ts";

/** A line of a text that GitLab carries out (`/merge`), and the action of ours that does the same. */
export interface Command {
  readonly line: string;
  readonly action: Action;
}

/** Commands that have an action of their own, the first that exists: `*` is the kind of thing that the text belongs to. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  merge: ["merge_request.merge"],
  ship: ["merge_request.merge"],
  rebase: ["merge_request.rebase"],
  approve: ["merge_request.approve"],
  unapprove: ["merge_request.unapprove"],
  submit_review: ["merge_request.draft_note_publish_all"],
  create_merge_request: ["merge_request.create"],
  move: ["issue.move"],
  move_to: ["issue.move"],
  clone: ["issue.clone"],
  clone_to: ["issue.clone"],
  relate: ["*.link_create", "*.link_add"],
  blocks: ["*.link_create", "*.link_add"],
  blocked_by: ["*.link_create", "*.link_add"],
  unlink: ["*.link_remove"],
  tag: ["tag.create"],
  subscribe: ["*.subscribe"],
  unsubscribe: ["*.unsubscribe"],
  todo: ["*.todo_create"],
  done: ["todo.mark_done"],
  estimate: ["*.time_estimate_set"],
  remove_estimate: ["*.time_estimate_reset"],
  spend: ["*.spent_time_add"],
  remove_time_spent: ["*.spent_time_reset"],
  react: ["*.emoji_add"],
  award: ["*.emoji_add"],
};

/** Commands that only write a word. */
const WORDS: ReadonlySet<string> = new Set(["shrug", "tableflip", "cc"]);

const LINE = /^[ \t]*\/([a-z_]+)(?:[ \t][^\n]*)?$/gim;

let byId: ReadonlyMap<string, Action> | undefined;

function actionById(id: string): Action | undefined {
  byId ??= new Map(loadActions().map((action) => [action.id, action]));
  return byId.get(id);
}

/** What every other command does is to change the thing. */
function standsFor(word: string, { id, source }: Action): Action | undefined {
  const kind = source === GITLAB ? (id.split(".")[0] ?? "") : "";
  const ids = [...(OWN[word] ?? []), ...(WORDS.has(word) ? [] : ["*.update"])];
  return ids.map((one) => actionById(one.replace("*", kind))).find((action) => action !== undefined);
}

/** The commands in the texts of a write: what they do is judged like the actions that do the same. */
export function commandsIn(action: Action, params: Readonly<Record<string, unknown>>): readonly Command[] {
  if (action.effect === "read") return [];
  const words = textsIn(action, params).flatMap((text) =>
    [...text.matchAll(LINE)].map(([line, word = ""]) => ({ line: line.trim(), word })),
  );
  const found = new Map<string, Command>();
  for (const { line, word } of words) {
    const alike = standsFor(word.toLowerCase(), action);
    if (alike && alike.id !== action.id) found.set(alike.id, { line, action: alike });
  }
  return [...found.values()];
}
