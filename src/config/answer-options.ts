import { optionIn } from "./option.ts";
import { integer, text } from "./values.ts";

const option = optionIn("Answers");

/** How much of what GitLab says comes back, and where files go. */
export const ANSWER_OPTIONS = {
  budget: option({
    flag: "result-budget",
    env: "GITLAB_BRIDGE_RESULT_BUDGET",
    kind: "value",
    schema: integer(8_000, 500, 100_000),
    about: "Tokens that one answer may have, estimated",
  }),
  filesDir: option({
    flag: "files-dir",
    env: "GITLAB_BRIDGE_FILES_DIR",
    kind: "value",
    schema: text,
    about: "Directory that downloads may be saved to (save_as) and uploads taken from (file:NAME); stdio only",
    example: "/home/me/gitlab-files",
  }),
} as const;
