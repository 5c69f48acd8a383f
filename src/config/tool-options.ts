import * as z from "zod";
import { AB_OPTIONS } from "./ab-options.ts";
import { optionIn } from "./option.ts";
import { SURFACE_OPTIONS } from "./surface-options.ts";
import { integer, list, onOff, STYLES } from "./values.ts";

const option = optionIn("What is on");

/** Which tools a client is shown at connect, and later. */
export const TOOL_OPTIONS = {
  style: option({
    flag: "style",
    env: "GITLAB_BRIDGE_STYLE",
    aliases: ["TOOL_SURFACE", "GITLAB_MCP_TOOL_SURFACE"],
    kind: "value",
    schema: z.enum(STYLES).default("bridge"),
    about: "What the tool list shows first",
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
    perRequest: true,
  }),
  tools: option({
    flag: "tools",
    env: "GITLAB_BRIDGE_TOOLS",
    aliases: ["GITLAB_TOOLS", "GITLAB_MCP_TOOLS"],
    kind: "list",
    schema: list,
    about: "Single tools that are on at connect, beside --toolsets",
    perRequest: true,
  }),
  enablement: option({
    flag: "enablement",
    env: "GITLAB_BRIDGE_ENABLEMENT",
    kind: "value",
    schema: z.enum(["auto", "session", "strict"]).default("auto"),
    about: "strict: the tool list never changes after connect; session: it always may; auto: it may where the client is told",
    perRequest: true,
  }),
  settle: option({
    flag: "settle",
    env: "GITLAB_BRIDGE_SETTLE",
    kind: "value",
    schema: integer(500, 0, 10_000),
    about: "Milliseconds that enable_toolset waits for the client to ask for its list again",
  }),
  splitExecute: option({
    flag: "split-execute",
    env: "GITLAB_BRIDGE_SPLIT_EXECUTE",
    kind: "switch",
    schema: onOff,
    about: "Adds gitlab_read_action, so that a host that asks by annotation asks only for writes",
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
    perRequest: true,
    example: "gitlab_",
  }),
} as const;
