import * as z from "zod";
import { optionIn } from "./option.ts";
import { onOff } from "./values.ts";

const option = optionIn("Server");

/** This server itself. */
export const SERVER_OPTIONS = {
  name: option({
    flag: "name",
    env: "GITLAB_BRIDGE_NAME",
    kind: "value",
    schema: z.string().min(1, "is empty").max(40, "is longer than 40 characters").optional(),
    about: "Name of this entry in the server's title, where several instances are configured",
    example: "work",
  }),
  sandbox: option({
    flag: "sandbox",
    env: "GITLAB_BRIDGE_SANDBOX",
    kind: "switch",
    schema: onOff,
    about: "Run against the embedded GitLab: no instance and no token needed",
  }),
  logLevel: option({
    flag: "log-level",
    env: "GITLAB_BRIDGE_LOG_LEVEL",
    aliases: ["GITLAB_MCP_LOG_LEVEL"],
    kind: "value",
    schema: z.enum(["silent", "error", "warn", "info", "debug"]).default("warn"),
    about: "What is written to stderr",
  }),
} as const;
