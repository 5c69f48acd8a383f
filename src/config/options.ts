import * as z from "zod";
import { AB_OPTIONS } from "./ab-options.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import { NETWORK_OPTIONS } from "./network-options.ts";
import { SECRET_OPTIONS } from "./secret-options.ts";
import { SURFACE_OPTIONS } from "./surface-options.ts";
import { UPSTREAM_OPTIONS } from "./upstream-options.ts";
import { instanceUrl, integer, list, onOff, onOffOrNames, patterns, STYLES, text, token } from "./values.ts";

/** How a value stands on the command line: a bare switch, one value, or a comma list. */
export type OptionKind = "switch" | "value" | "list";

/** A name of another server whose values mean something else here. */
export interface Translated {
  readonly env: string;
  /** What a switch of that server asks of this option; absent = nothing. */
  readonly on?: string;
  readonly off?: string;
  /** On HTTP it stops the start: one person's choice may not hold for everybody. */
  readonly stdioOnly?: boolean;
}

export interface Option<S extends z.ZodType = z.ZodType> {
  readonly flag: string;
  readonly env: string;
  /** Names that people bring from other GitLab servers. */
  readonly aliases?: readonly string[];
  /** Switches of other servers that set this option; the weakest names of all. */
  readonly translated?: readonly Translated[];
  readonly kind: OptionKind;
  /** A switch that also takes names: on for these only. */
  readonly names?: boolean;
  /** A list whose entries may hold commas: one per flag, one per line of the environment. */
  readonly lines?: boolean;
  readonly schema: S;
  readonly about: string;
  readonly group: "GitLab" | "Network" | "What is on" | "What is allowed" | "Safety" | "Answers" | "Upstreams" | "HTTP" | "Server";
  /** Never printed, logged or shown. */
  readonly secret?: boolean;
  /** A connection may set it for itself, narrowing only. */
  readonly perRequest?: boolean;
  /** Default on HTTP, where it is another than on stdio. */
  readonly onHttp?: string;
  /** A good value, for help and for the message about a bad one. */
  readonly example?: string;
}

const option = <S extends z.ZodType>(definition: Option<S>): Option<S> => Object.freeze(definition);

/** THE table: flag, environment, help, README, reference and types come from it. */
export const OPTIONS = {
  url: option({
    flag: "url",
    env: "GITLAB_URL",
    aliases: ["GITLAB_API_URL", "GITLAB_INSTANCE_URL", "GITLAB_BASE_URL", "GITLAB_MCP_URL"],
    kind: "value",
    schema: instanceUrl.default("https://gitlab.com"),
    about: "Address of the GitLab instance; a relative root and a trailing /api/v4 are understood",
    group: "GitLab",
    example: "https://gitlab.example.com",
  }),
  token: option({
    flag: "token",
    env: "GITLAB_TOKEN",
    aliases: ["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_MCP_TOKEN"],
    kind: "value",
    schema: token,
    about: "Access token (personal, project, group or OAuth)",
    group: "GitLab",
    secret: true,
    example: "glpat-…",
  }),
  tokenFile: option({
    flag: "token-file",
    env: "GITLAB_TOKEN_FILE",
    kind: "value",
    schema: text,
    about: "File that holds the token; read again when GitLab answers 401",
    group: "GitLab",
    example: "/run/secrets/gitlab",
  }),
  tokenCommand: option({
    flag: "token-command",
    env: "GITLAB_TOKEN_COMMAND",
    kind: "value",
    schema: text,
    about: "Command that prints the token, run on first use and again when GitLab answers 401",
    group: "GitLab",
    example: "pass show gitlab",
  }),
  project: option({
    flag: "default-project",
    env: "GITLAB_BRIDGE_DEFAULT_PROJECT",
    aliases: ["GITLAB_PROJECT_ID", "GITLAB_DEFAULT_PROJECT"],
    kind: "value",
    schema: text,
    about: "Project for calls that name none; without it the git remote of the working directory, if its host is the instance",
    group: "GitLab",
    perRequest: true,
    example: "group/project",
  }),
  ...NETWORK_OPTIONS,
  style: option({
    flag: "style",
    env: "GITLAB_BRIDGE_STYLE",
    aliases: ["TOOL_SURFACE", "GITLAB_MCP_TOOL_SURFACE"],
    kind: "value",
    schema: z.enum(STYLES).default("bridge"),
    about: "What the tool list shows first",
    group: "What is on",
    perRequest: true,
    translated: [{ env: "META_TOOLS", on: "meta", off: "individual" }],
  }),
  ...AB_OPTIONS,
  ...SURFACE_OPTIONS,
  toolsets: option({
    flag: "toolsets",
    env: "GITLAB_BRIDGE_TOOLSETS",
    aliases: ["GITLAB_TOOLSETS", "GITLAB_MCP_TOOLSETS"],
    kind: "list",
    schema: list,
    about: "Toolsets that are on at connect (their essential tools); default and all are words for sets",
    group: "What is on",
    perRequest: true,
  }),
  tools: option({
    flag: "tools",
    env: "GITLAB_BRIDGE_TOOLS",
    aliases: ["GITLAB_TOOLS", "GITLAB_MCP_TOOLS"],
    kind: "list",
    schema: list,
    about: "Single tools that are on at connect, beside --toolsets",
    group: "What is on",
    perRequest: true,
  }),
  enablement: option({
    flag: "enablement",
    env: "GITLAB_BRIDGE_ENABLEMENT",
    kind: "value",
    schema: z.enum(["auto", "session", "strict"]).default("auto"),
    about: "strict: the tool list never changes after connect; session: it always may; auto: it may where the client is told",
    group: "What is on",
    perRequest: true,
  }),
  settle: option({
    flag: "settle",
    env: "GITLAB_BRIDGE_SETTLE",
    kind: "value",
    schema: integer(500, 0, 10_000),
    about: "Milliseconds that enable_toolset waits for the client to ask for its list again",
    group: "What is on",
  }),
  splitExecute: option({
    flag: "split-execute",
    env: "GITLAB_BRIDGE_SPLIT_EXECUTE",
    kind: "switch",
    schema: onOff,
    about: "Adds gitlab_read_action, so that a host that asks by annotation asks only for writes",
    group: "What is on",
    perRequest: true,
  }),
  prefix: option({
    flag: "prefix",
    env: "GITLAB_BRIDGE_PREFIX",
    kind: "value",
    schema: z
      .string()
      .regex(/^([a-z_][a-z0-9_]{0,31})?$/, "must be up to 32 of a-z, 0-9 and _, no digit first")
      .default(""),
    about: "Put before every tool name",
    group: "What is on",
    perRequest: true,
    example: "gitlab_",
  }),
  allowToolsets: option({
    flag: "allow-toolsets",
    env: "GITLAB_BRIDGE_ALLOW_TOOLSETS",
    kind: "list",
    schema: list,
    about: "Only these toolsets may ever be used",
    group: "What is allowed",
    perRequest: true,
  }),
  allowTools: option({
    flag: "allow-tools",
    env: "GITLAB_BRIDGE_ALLOW_TOOLS",
    kind: "list",
    schema: list,
    about: "Only these actions may ever be used (beside --allow-toolsets): ids, tool names, patterns with *",
    group: "What is allowed",
    perRequest: true,
  }),
  excludeTools: option({
    flag: "exclude-tools",
    env: "GITLAB_BRIDGE_EXCLUDE_TOOLS",
    aliases: ["EXCLUDE_TOOLS", "GITLAB_MCP_EXCLUDE_TOOLS"],
    kind: "list",
    schema: list,
    about: "Never these: ids, tool names, patterns with *, toolset:NAME",
    group: "What is allowed",
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
    group: "What is allowed",
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
    group: "What is allowed",
    perRequest: true,
    example: "group/project,42",
  }),
  allowGroups: option({
    flag: "allow-groups",
    env: "GITLAB_BRIDGE_ALLOW_GROUPS",
    kind: "list",
    schema: list,
    about: "Only these groups (full paths or ids) and everything below them can be reached (beside --allow-projects)",
    group: "What is allowed",
    perRequest: true,
    example: "group/subgroup",
  }),
  policy: option({
    flag: "policy",
    env: "GITLAB_BRIDGE_POLICY",
    kind: "value",
    schema: text,
    about: "YAML or JSON file with further limits, which can only narrow the flags; read again on SIGHUP",
    group: "What is allowed",
    example: "/etc/gitlab-bridge/policy.yaml",
  }),
  allowRaw: option({
    flag: "allow-raw",
    env: "GITLAB_BRIDGE_ALLOW_RAW",
    kind: "switch",
    schema: onOff,
    about: "Also requests written by hand (toolset raw): any REST path, any GraphQL document; the same limits hold for them",
    group: "What is allowed",
  }),
  readOnly: option({
    flag: "read-only",
    env: "GITLAB_BRIDGE_READ_ONLY",
    aliases: ["GITLAB_READ_ONLY", "GITLAB_READ_ONLY_MODE", "GITLAB_MCP_READ_ONLY"],
    kind: "switch",
    names: true,
    schema: onOffOrNames,
    about: "Only reads; everything else is withheld and cannot be sent. With names of toolsets: only reads in these",
    group: "Safety",
    perRequest: true,
  }),
  safeMode: option({
    flag: "safe-mode",
    env: "GITLAB_BRIDGE_SAFE_MODE",
    aliases: ["GITLAB_SAFE_MODE", "GITLAB_MCP_SAFE_MODE"],
    kind: "switch",
    schema: onOff,
    about: "Writes answer with a preview and send nothing",
    group: "Safety",
    perRequest: true,
  }),
  admin: option({
    flag: "admin",
    env: "GITLAB_BRIDGE_ADMIN",
    kind: "switch",
    schema: onOff,
    about: "Show actions for administrators even when the user is not known to be one",
    group: "Safety",
  }),
  tier: option({
    flag: "tier",
    env: "GITLAB_BRIDGE_TIER",
    kind: "value",
    schema: z.enum(["free", "premium", "ultimate"]).optional(),
    about: "Withhold actions above this tier; without it a tier only explains a failure",
    group: "Safety",
  }),
  confirm: option({
    flag: "confirm",
    env: "GITLAB_BRIDGE_CONFIRM",
    kind: "value",
    schema: z.enum(["flag", "human", "off"]).default("flag"),
    about: "Destructive actions: flag = confirm: true or ask; human = always ask the person; off = run",
    group: "Safety",
    onHttp: "human",
    translated: [
      { env: "YOLO_MODE", on: "off", stdioOnly: true },
      { env: "AUTOPILOT", on: "off", stdioOnly: true },
    ],
  }),
  ...SECRET_OPTIONS,
  maxWrites: option({
    flag: "max-writes-per-minute",
    env: "GITLAB_BRIDGE_MAX_WRITES_PER_MINUTE",
    kind: "value",
    schema: integer(30, 1, 10_000),
    about: "Writes that one user may make in any 60 seconds; the next is refused with the time to wait",
    group: "Safety",
    perRequest: true,
  }),
  audit: option({
    flag: "audit",
    env: "GITLAB_BRIDGE_AUDIT",
    kind: "value",
    schema: text,
    about: "File (or stderr) for one JSON line per action that ran or was refused; no contents",
    group: "Safety",
    example: "stderr",
  }),
  auditIdentity: option({
    flag: "audit-identity",
    env: "GITLAB_BRIDGE_AUDIT_IDENTITY",
    kind: "value",
    schema: z.enum(["name", "hash"]).default("name"),
    about: "How the user stands in the audit: id and name, or a hash of them",
    group: "Safety",
  }),
  refusalContact: option({
    flag: "refusal-contact",
    env: "GITLAB_BRIDGE_REFUSAL_CONTACT",
    kind: "value",
    schema: z.string().min(1, "is empty").max(200, "is longer than 200 characters").optional(),
    about: "Whom a refused user should ask; shown in refusals",
    group: "Safety",
    example: "the platform team",
  }),
  budget: option({
    flag: "result-budget",
    env: "GITLAB_BRIDGE_RESULT_BUDGET",
    kind: "value",
    schema: integer(8_000, 500, 100_000),
    about: "Tokens that one answer may have, estimated",
    group: "Answers",
  }),
  filesDir: option({
    flag: "files-dir",
    env: "GITLAB_BRIDGE_FILES_DIR",
    kind: "value",
    schema: text,
    about: "Directory that downloads may be saved to (save_as) and uploads taken from (file:NAME); stdio only",
    group: "Answers",
    example: "/home/me/gitlab-files",
  }),
  ...UPSTREAM_OPTIONS,
  ...HTTP_OPTIONS,
  name: option({
    flag: "name",
    env: "GITLAB_BRIDGE_NAME",
    kind: "value",
    schema: z.string().min(1, "is empty").max(40, "is longer than 40 characters").optional(),
    about: "Name of this entry in the server's title, where several instances are configured",
    group: "Server",
    example: "work",
  }),
  sandbox: option({
    flag: "sandbox",
    env: "GITLAB_BRIDGE_SANDBOX",
    kind: "switch",
    schema: onOff,
    about: "Run against the embedded GitLab: no instance and no token needed",
    group: "Server",
  }),
  logLevel: option({
    flag: "log-level",
    env: "GITLAB_BRIDGE_LOG_LEVEL",
    aliases: ["GITLAB_MCP_LOG_LEVEL"],
    kind: "value",
    schema: z.enum(["silent", "error", "warn", "info", "debug"]).default("warn"),
    about: "What is written to stderr",
    group: "Server",
  }),
} as const;

export type OptionName = keyof typeof OPTIONS;

/** All settings, parsed once and frozen. */
export type Settings = { readonly [K in OptionName]: z.output<(typeof OPTIONS)[K]["schema"]> };
