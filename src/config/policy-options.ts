import { optionIn } from "./option.ts";
import { list, onOff, patterns, text } from "./values.ts";

const option = optionIn("What is allowed");

/** What may be used and reached at all. */
export const POLICY_OPTIONS = {
  allowToolsets: option({
    flag: "allow-toolsets",
    env: "GITLAB_BRIDGE_ALLOW_TOOLSETS",
    kind: "list",
    schema: list,
    about: "Only these toolsets may ever be used",
    perRequest: true,
  }),
  allowTools: option({
    flag: "allow-tools",
    env: "GITLAB_BRIDGE_ALLOW_TOOLS",
    kind: "list",
    schema: list,
    about: "Only these actions may ever be used (beside --allow-toolsets): ids, tool names, patterns with *",
    perRequest: true,
  }),
  excludeTools: option({
    flag: "exclude-tools",
    env: "GITLAB_BRIDGE_EXCLUDE_TOOLS",
    aliases: ["EXCLUDE_TOOLS", "GITLAB_MCP_EXCLUDE_TOOLS"],
    kind: "list",
    schema: list,
    about: "Never these: ids, tool names, patterns with *, toolset:NAME",
    perRequest: true,
  }),
  denyRegex: option({
    flag: "deny-regex",
    env: "GITLAB_BRIDGE_DENY_REGEX",
    aliases: ["GITLAB_DENIED_TOOLS_REGEX"],
    kind: "list",
    lines: true,
    schema: patterns,
    about: "Never actions whose id or tool name this regular expression finds; may be repeated (in the environment one per line)",
    perRequest: true,
    example: "^delete_",
  }),
  allowProjects: option({
    flag: "allow-projects",
    env: "GITLAB_BRIDGE_ALLOW_PROJECTS",
    aliases: ["GITLAB_ALLOWED_PROJECT_IDS"],
    kind: "list",
    schema: list,
    about: "Only these projects (full paths or ids) can be reached, also by lists, searches and addresses",
    perRequest: true,
    example: "group/project,42",
  }),
  allowGroups: option({
    flag: "allow-groups",
    env: "GITLAB_BRIDGE_ALLOW_GROUPS",
    kind: "list",
    schema: list,
    about: "Only these groups (full paths or ids) and everything below them can be reached (beside --allow-projects)",
    perRequest: true,
    example: "group/subgroup",
  }),
  policy: option({
    flag: "policy",
    env: "GITLAB_BRIDGE_POLICY",
    kind: "value",
    schema: text,
    about: "YAML or JSON file with further limits, which can only narrow the flags; read again on SIGHUP",
    example: "/etc/gitlab-bridge/policy.yaml",
  }),
  allowRaw: option({
    flag: "allow-raw",
    env: "GITLAB_BRIDGE_ALLOW_RAW",
    kind: "switch",
    schema: onOff,
    about: "Also requests written by hand (toolset raw): any REST path, any GraphQL document; the same limits hold for them",
  }),
} as const;
