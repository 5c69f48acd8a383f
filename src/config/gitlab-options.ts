import { optionIn } from "./option.ts";
import { instanceUrl, text, token } from "./values.ts";

const option = optionIn("GitLab");

/** Which GitLab, and as whom. */
export const GITLAB_OPTIONS = {
  url: option({
    flag: "url",
    env: "GITLAB_URL",
    aliases: ["GITLAB_API_URL", "GITLAB_INSTANCE_URL", "GITLAB_BASE_URL", "GITLAB_MCP_URL"],
    kind: "value",
    schema: instanceUrl.default("https://gitlab.com"),
    about: "Address of the GitLab instance; a relative root and a trailing /api/v4 are understood",
    example: "https://gitlab.example.com",
  }),
  token: option({
    flag: "token",
    env: "GITLAB_TOKEN",
    aliases: ["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_MCP_TOKEN"],
    kind: "value",
    schema: token,
    about: "Access token (personal, project, group or OAuth)",
    secret: true,
    example: "glpat-…",
  }),
  tokenFile: option({
    flag: "token-file",
    env: "GITLAB_TOKEN_FILE",
    kind: "value",
    schema: text,
    about: "File that holds the token; read again when GitLab answers 401",
    example: "/run/secrets/gitlab",
  }),
  tokenCommand: option({
    flag: "token-command",
    env: "GITLAB_TOKEN_COMMAND",
    kind: "value",
    schema: text,
    about: "Command that prints the token, run on first use and again when GitLab answers 401",
    example: "pass show gitlab",
  }),
  project: option({
    flag: "default-project",
    env: "GITLAB_BRIDGE_DEFAULT_PROJECT",
    aliases: ["GITLAB_PROJECT_ID", "GITLAB_DEFAULT_PROJECT"],
    kind: "value",
    schema: text,
    about: "Project for calls that name none; without it the git remote of the working directory, if its host is the instance",
    perRequest: true,
    example: "group/project",
  }),
} as const;
