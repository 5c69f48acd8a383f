import type { Connection } from "./connection.ts";
import { STYLE_ROWS } from "./styles.ts";
import type { EntryTool } from "./tool.ts";
import { disableToolset } from "./tools/disable-toolset.ts";
import { enableToolset } from "./tools/enable-toolset.ts";
import { getToolsetTools } from "./tools/get-toolset-tools.ts";
import { gitlabExecuteAction, gitlabReadAction } from "./tools/gitlab-execute-action.ts";
import { gitlabFindAction } from "./tools/gitlab-find-action.ts";
import { listAvailableToolsets } from "./tools/list-available-toolsets.ts";

/** All tools that are ours. Which are listed is the style's choice; all of them answer. */
export const ENTRY_TOOLS: readonly EntryTool[] = [
  listAvailableToolsets,
  getToolsetTools,
  enableToolset,
  gitlabFindAction,
  gitlabReadAction,
  gitlabExecuteAction,
  disableToolset,
];

export const entryTool = (name: string): EntryTool | undefined => ENTRY_TOOLS.find((tool) => tool.name === name);

/** Entry tools before the actions, in order. `gitlab_read_action` comes with --split-execute, just before execute. */
export function entryToolsFor(connection: Connection): readonly EntryTool[] {
  const listed = STYLE_ROWS[connection.settings.style].entry;
  const split = connection.settings.splitExecute && listed.includes(gitlabExecuteAction.name);
  return ENTRY_TOOLS.filter((tool) => listed.includes(tool.name) || (split && tool === gitlabReadAction));
}
