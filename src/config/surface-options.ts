import * as z from "zod";
import { optionIn } from "./option.ts";

const option = optionIn("What is on");

/** What a client is shown beside its choice of tools; no permission hangs on these. */
export const SURFACE_OPTIONS = {
  metaSchemas: option({
    flag: "meta-schemas",
    env: "GITLAB_BRIDGE_META_SCHEMAS",
    aliases: ["META_PARAM_SCHEMA", "GITLAB_MCP_META_PARAM_SCHEMA"],
    kind: "value",
    schema: z.enum(["opaque", "compact", "full"]).default("opaque"),
    about: "Style meta: what a dispatcher shows of its actions' parameters: nothing, signatures, or input schemas as far as they fit",
    perRequest: true,
  }),
  toolHints: option({
    flag: "tool-hints",
    env: "GITLAB_BRIDGE_TOOL_HINTS",
    kind: "value",
    schema: z.enum(["off", "anthropic"]).default("off"),
    about: "anthropic: words for the tool search of hosts that defer tools, and a mark on the few tools to keep in view",
    perRequest: true,
  }),
  capabilities: option({
    flag: "capabilities",
    env: "GITLAB_BRIDGE_CAPABILITIES",
    aliases: ["CAPABILITY_SURFACE", "GITLAB_MCP_CAPABILITY_SURFACE"],
    kind: "value",
    schema: z.enum(["minimal", "full"]).default("minimal"),
    about: "full: also resources for what people attach, prompts, and completions of their arguments",
    perRequest: true,
  }),
};
