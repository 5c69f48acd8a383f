import { CHECKS, type CheckName, type Results } from "./chain-checks.ts";
import { CHAINS, PACKAGES } from "./chains.ts";

const NAMES = Object.keys(CHECKS) as CheckName[];

/** What to know behind each of the aggregators that were run. */
const ADVICE: Readonly<Record<string, string>> = {
  "mcp-proxy":
    "One bridge serves all clients: what one enables, all see. For several people use `--enablement=strict`, or `--style=dynamic`.",
  "supergateway --stateful": "The best of its modes: each session has a bridge of its own.",
  "supergateway, stateless":
    "Each request meets a new bridge, so nothing that was enabled is there for the next: use `--enablement=strict` or `--style=dynamic`; calls by name work all the same.",
  "supergateway, SSE":
    "It passes raw frames between all clients and one bridge, so that one client can be given another's answer. Use it for one client only, or take `--stateful`.",
  "supergateway, from HTTP to stdio": "For clients that know only stdio.",
  "mcp-remote": "For clients that know only stdio; each has a session of its own.",
  "mcp-hub":
    "One bridge serves all clients, and names get `server__` in front. For several people use `--enablement=strict`, or `--style=dynamic`.",
  "this bridge over stdio":
    "Another bridge as an upstream. `effect` in the entry says that its execute tool need not be confirmed twice: the inner bridge confirms what is destructive.",
  "this bridge over HTTP": "The same over HTTP.",
};

interface NotRun {
  readonly name: string;
  readonly config: string;
  readonly advice: string;
}

const entry = (args: readonly string[] = []) => ({
  command: "npx",
  args: ["-y", "gitlab-toolset-bridge", ...args],
  env: { GITLAB_URL: "https://gitlab.example.com", GITLAB_TOKEN: "glpat-…" },
});

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const shell = (text: string) => `\`\`\`sh\n${text}\n\`\`\``;

/** Filled in by the client from its environment. */
const HOLE = ["$", "{GITLAB_TOKEN}"].join("");

/** Example configurations of those that were run. */
const CONFIGS: Readonly<Record<string, string>> = {
  "mcp-proxy": shell("GITLAB_TOKEN=glpat-… npx mcp-proxy --host 127.0.0.1 --port 8080 -- npx -y gitlab-toolset-bridge --enablement=strict"),
  "supergateway --stateful": shell(
    'GITLAB_TOKEN=glpat-… npx supergateway --stdio "npx -y gitlab-toolset-bridge" --outputTransport streamableHttp --stateful --port 8000',
  ),
  "supergateway, stateless": shell(
    'GITLAB_TOKEN=glpat-… npx supergateway --stdio "npx -y gitlab-toolset-bridge --style=dynamic" --outputTransport streamableHttp --port 8000',
  ),
  "supergateway, SSE": shell('GITLAB_TOKEN=glpat-… npx supergateway --stdio "npx -y gitlab-toolset-bridge --style=dynamic" --port 8000'),
  "supergateway, from HTTP to stdio": shell("npx supergateway --streamableHttp https://bridge.example.com/mcp --oauth2Bearer glpat-…"),
  "mcp-remote": json({
    mcpServers: {
      gitlab: { command: "npx", args: ["-y", "mcp-remote", "https://bridge.example.com/mcp", "--header", `PRIVATE-TOKEN:${HOLE}`] },
    },
  }),
  "mcp-hub": json({ mcpServers: { gitlab: entry(["--style=dynamic"]) } }),
  "this bridge over stdio": json({ mcpServers: { work: { ...entry(), effect: { gitlab_execute_action: "write" } } } }),
  "this bridge over HTTP": json({
    mcpServers: {
      work: {
        url: "https://bridge.example.com/mcp",
        headers: { "PRIVATE-TOKEN": HOLE },
        effect: { gitlab_execute_action: "write" },
      },
    },
  }),
};

/** From reading and from others' reports; nothing of this was run here. */
const NOT_RUN: readonly NotRun[] = [
  {
    name: "MetaMCP",
    config: json({ mcpServers: { gitlab: entry(["--style=dynamic"]) } }),
    advice:
      "Each session has a server of its own, but changes of the list are not passed on: enabled tools are reached by name or through the pair.",
  },
  {
    name: "mcphub",
    config: json({ mcpServers: { gitlab: entry(["--style=dynamic"]) } }),
    advice:
      "Older versions lost structured content; the text of every answer is enough by itself. Lists in pages lost tools; this list is one page.",
  },
  {
    name: "1mcp",
    config: json({ mcpServers: { gitlab: { ...entry(["--enablement=strict"]), tags: ["gitlab"] } } }),
    advice:
      "One server for all clients; the callers' own tokens do not reach it. Names get `gitlab_1mcp_` in front: keep `--prefix` empty.",
  },
  {
    name: "ContextForge",
    config: json({
      name: "gitlab",
      url: "https://bridge.example.com/mcp",
      transport: "STREAMABLEHTTP",
      passthrough_headers: ["PRIVATE-TOKEN"],
    }),
    advice:
      "`_` in names becomes `-`; names of actions in answers keep their own form. Register the bridge over HTTP, one session for each of its own.",
  },
  {
    name: "LiteLLM",
    config:
      "```yaml\nmcp_servers:\n  gitlab:\n    url: https://bridge.example.com/mcp\n    transport: http\n    extra_headers: [PRIVATE-TOKEN]\n```",
    advice: "A new connection for each call: nothing enabled is remembered. Use `--style=dynamic` or the header `X-MCP-Toolsets`.",
  },
  {
    name: "Docker's MCP gateway",
    config: "```yaml\nname: gitlab\ntype: server\nimage: gitlab-toolset-bridge\nlongLived: true\n```",
    advice:
      "Without `longLived: true` every call starts a container anew. Its own tools are `mcp-add`, `mcp-find`, `mcp-exec`; ours have other names.",
  },
];

const mark = (value: Results[CheckName]) => (value === true ? "yes" : value === undefined ? "–" : "no");

function section(name: string, results: Results): string {
  const row = CHAINS.find((one) => one.name === name);
  const missing = NAMES.filter((check) => results[check] !== true).map((check) => CHECKS[check].about);
  const version = row?.package ? ` (${row.package} ${PACKAGES[row.package]})` : "";
  return [
    `### ${name}${version}`,
    "",
    `${row?.shape ?? ""}. ${ADVICE[name] ?? ""}`,
    ...(missing.length > 0 ? ["", `Does not hold here: ${missing.join("; ")}.`] : []),
    ...(row?.viaExecute ? ["", `By name: ${row.viaExecute}.`] : []),
    "",
    CONFIGS[name] ?? "",
  ].join("\n");
}

/** docs/aggregators.md from what a run saw. */
export function toAggregatorsPage(all: ReadonlyMap<string, Results>): string {
  const head = ["| behind |", ...NAMES.map((name) => ` ${name} |`)].join("");
  const rows = [...all].map(([name, results]) => `| ${name} | ${NAMES.map((check) => mark(results[check])).join(" | ")} |`);
  return [
    "# Behind aggregators",
    "",
    "Written by `npm run test:chain`, which puts the built server behind real aggregators on loopback, each with two clients on SDK 1.x.",
    "",
    head,
    `|---|${NAMES.map(() => "---|").join("")}`,
    ...rows,
    "",
    ...NAMES.map((name) => `- **${name}**: ${CHECKS[name].about}${CHECKS[name].ours ? " (must hold everywhere)" : ""}`),
    "",
    "Where several people share one bridge, nothing that one of them enables should show for the others: `--enablement=strict` switches",
    "nothing, `--style=dynamic` lists the pair alone. Every permitted action answers by name, listed or not.",
    "",
    "## Run here",
    "",
    [...all].map(([name, results]) => section(name, results)).join("\n\n"),
    "",
    "## Not run here",
    "",
    "From reading their sources and what others report.",
    "",
    NOT_RUN.map(({ name, config, advice }) => `### ${name}\n\n${advice}\n\n${config}`).join("\n\n"),
    "",
  ].join("\n");
}
