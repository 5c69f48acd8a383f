import * as z from "zod";
import { optionIn } from "./option.ts";
import { instanceUrl, integer, list, onOff, text } from "./values.ts";

const option = optionIn("HTTP");

/** Goes into a header as it is. */
const visible = (least: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{${least},}$`), `must be at least ${least} visible characters`);

/** Settings of `--http`; on stdio they mean nothing. */
export const HTTP_OPTIONS = {
  http: option({
    flag: "http",
    env: "GITLAB_BRIDGE_HTTP",
    kind: "switch",
    schema: onOff,
    about: "Serve Streamable HTTP at /mcp for many people instead of one client on stdio",
  }),
  host: option({
    flag: "host",
    env: "GITLAB_BRIDGE_HOST",
    kind: "value",
    schema: z
      .string()
      .regex(/^[\w.:-]+$/, "must be an address or a host name")
      .default("127.0.0.1"),
    about: "Address to listen on",
    example: "0.0.0.0",
  }),
  port: option({
    flag: "port",
    env: "GITLAB_BRIDGE_PORT",
    kind: "value",
    schema: integer(8787, 0, 65_535),
    about: "Port to listen on; 0 takes a free one",
  }),
  basePath: option({
    flag: "base-path",
    env: "GITLAB_BRIDGE_BASE_PATH",
    kind: "value",
    schema: z
      .string()
      .regex(/^(\/[\w.~-]+)*$/, "must start with / and not end with it")
      .default(""),
    about: "Path in front of /mcp and of every other path that is served",
    example: "/gitlab",
  }),
  publicUrl: option({
    flag: "public-url",
    env: "GITLAB_BRIDGE_PUBLIC_URL",
    kind: "value",
    schema: instanceUrl.optional(),
    about: "Address under which clients reach this server, with the path up to /mcp; its host and origin are allowed",
    example: "https://mcp.example.com/gitlab",
  }),
  allowedHosts: option({
    flag: "allowed-hosts",
    env: "GITLAB_BRIDGE_ALLOWED_HOSTS",
    kind: "list",
    schema: list,
    about: "Further names that a Host header may hold; loopback names and IP addresses need none",
    example: "mcp.example.com",
  }),
  allowedOrigins: option({
    flag: "allowed-origins",
    env: "GITLAB_BRIDGE_ALLOWED_ORIGINS",
    kind: "list",
    schema: list,
    about: "Web pages (origins) that may call this server from a browser",
    example: "https://app.example.com",
  }),
  trustedProxies: option({
    flag: "trusted-proxies",
    env: "GITLAB_BRIDGE_TRUSTED_PROXIES",
    kind: "list",
    schema: list,
    about: "Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Host are believed",
    example: "10.0.0.0/8",
  }),
  auth: option({
    flag: "auth",
    env: "GITLAB_BRIDGE_AUTH",
    kind: "value",
    schema: z.enum(["caller", "server", "gitlab"]).optional(),
    about:
      "caller = each caller's own GitLab token; server = one GitLab token behind --http-tokens; gitlab = OAuth at GitLab; without it server where a GitLab token is set, else caller",
  }),
  httpTokens: option({
    flag: "http-tokens",
    env: "GITLAB_BRIDGE_HTTP_TOKENS",
    kind: "list",
    schema: z.array(visible(16)).readonly().default([]),
    about: "With --auth=server: bearer tokens that clients must send; needed on any address but loopback",
    secret: true,
    example: "a-long-random-word",
  }),
  oauthClientId: option({
    flag: "oauth-client-id",
    env: "GITLAB_BRIDGE_OAUTH_CLIENT_ID",
    kind: "value",
    schema: text,
    about: "With --auth=gitlab: id of the application registered at GitLab, told to clients",
    example: "0123abcd",
  }),
  instances: option({
    flag: "instances",
    env: "GITLAB_BRIDGE_INSTANCES",
    kind: "list",
    schema: z.array(instanceUrl).readonly().default([]),
    about: "Further GitLab addresses that a caller may choose with the header X-GitLab-URL",
    example: "https://gitlab.example.org",
  }),
  sessionKey: option({
    flag: "session-key",
    env: "GITLAB_BRIDGE_SESSION_KEY",
    kind: "value",
    schema: visible(32).optional(),
    about: "Secret that signs session ids, so that they live on after a restart; without it one is made at each start",
    secret: true,
    example: "the output of: openssl rand -hex 32",
  }),
  sessionIdle: option({
    flag: "session-idle",
    env: "GITLAB_BRIDGE_SESSION_IDLE",
    kind: "value",
    schema: integer(1_440, 1, 43_200),
    about: "Minutes until a session that is not used ends",
  }),
  maxSessions: option({
    flag: "max-sessions",
    env: "GITLAB_BRIDGE_MAX_SESSIONS",
    kind: "value",
    schema: integer(2_000, 1, 100_000),
    about: "Sessions held at once; the longest unused one makes room",
  }),
  maxBody: option({
    flag: "max-body",
    env: "GITLAB_BRIDGE_MAX_BODY",
    kind: "value",
    schema: integer(4_194_304, 1_024, 67_108_864),
    about: "Bytes that one request may have",
  }),
  maxCalls: option({
    flag: "max-calls",
    env: "GITLAB_BRIDGE_MAX_CALLS",
    kind: "value",
    schema: integer(8, 1, 256),
    about: "Calls of one person that run at the same time; more wait",
  }),
  rateLimit: option({
    flag: "rate-limit",
    env: "GITLAB_BRIDGE_RATE_LIMIT",
    kind: "value",
    schema: integer(600, 1, 1_000_000),
    about: "Requests a minute of one person (of one address without a token)",
  }),
  metricsPort: option({
    flag: "metrics-port",
    env: "GITLAB_BRIDGE_METRICS_PORT",
    kind: "value",
    schema: z.coerce.number().int().min(0).max(65_535).optional(),
    about: "Serve /metrics on a port of its own",
    example: "9464",
  }),
  metricsToken: option({
    flag: "metrics-token",
    env: "GITLAB_BRIDGE_METRICS_TOKEN",
    kind: "value",
    schema: visible(16).optional(),
    about: "Serve /metrics beside /mcp to those who send this bearer token",
    secret: true,
    example: "a-long-random-word",
  }),
} as const;
