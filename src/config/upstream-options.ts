import * as z from "zod";
import { optionIn } from "./option.ts";
import { onOff, text, token } from "./values.ts";

const option = optionIn("Upstreams");

/** Settings of other MCP servers behind this one. */
export const UPSTREAM_OPTIONS = {
  upstreams: option({
    flag: "upstreams",
    env: "GITLAB_BRIDGE_UPSTREAMS",
    kind: "value",
    schema: text,
    about: "File with other MCP servers, in the mcpServers form: their tools become toolsets here",
    example: "upstreams.json",
  }),
  gitlabMcp: option({
    flag: "gitlab-mcp",
    env: "GITLAB_BRIDGE_GITLAB_MCP",
    kind: "switch",
    schema: onOff,
    about: "Also the tools of the instance's own MCP server (/api/v4/mcp), all of its toolsets",
  }),
  gitlabMcpToken: option({
    flag: "gitlab-mcp-token",
    env: "GITLAB_BRIDGE_GITLAB_MCP_TOKEN",
    kind: "value",
    schema: token,
    about:
      "OAuth token (scope mcp) for --gitlab-mcp, in place of a sign-in; without either the GitLab token, or over HTTP the caller's own",
    secret: true,
    example: "an OAuth access token",
  }),
  prefer: option({
    flag: "prefer",
    env: "GITLAB_BRIDGE_PREFER",
    kind: "value",
    schema: z.enum(["rest", "upstream"]).default("rest"),
    about: "Which is essential where GitLab's MCP server has a tool for an action of ours",
  }),
} as const;
