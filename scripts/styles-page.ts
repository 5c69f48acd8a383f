import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { createBridge } from "../src/app.ts";
import { loadSettings } from "../src/config/load.ts";
import { createLog } from "../src/log.ts";
import { offered } from "../src/surface/capabilities.ts";
import { advertisesListChanged, type Connection, type Link, maySwitch } from "../src/surface/connection.ts";
import { entryToolsFor } from "../src/surface/entry.ts";
import { toInstructions } from "../src/surface/instructions.ts";
import { listTools } from "../src/surface/list.ts";
import { listPrompts } from "../src/surface/prompts.ts";
import { listResources, listTemplates } from "../src/surface/resources.ts";

/** Tokens of o200k_base: a text as it is, anything else as the JSON that goes over the wire. */
const tokensOf = (value: unknown): number => encode(typeof value === "string" ? value : JSON.stringify(value)).length;

/** A connection as a client with these flags gets it; nothing is sent. */
function connectionFor(flags: readonly string[]): Connection {
  const { settings } = loadSettings({ argv: flags, env: {}, transport: "stdio" });
  return createBridge({ settings, log: createLog({ level: "silent" }), version: "0.0.0", cwd: "/" }).connect();
}

/** Rounded, so that a new word in one description does not change the page. */
function rounded(tokens: number): string {
  const step = tokens < 1_000 ? 50 : tokens < 20_000 ? 500 : 5_000;
  return (Math.round(tokens / step) * step).toLocaleString("en-US");
}

/** Choices at connect that are measured. */
const MEASURED: readonly (readonly string[])[] = [
  ["--style=bridge"],
  ["--style=bridge", "--toolsets=ci"],
  ["--style=bridge", "--toolsets=default"],
  ["--style=toolsets"],
  ["--style=dynamic"],
  ["--style=meta"],
  ["--style=meta", "--toolsets=default"],
  ["--style=meta", "--toolsets=default", "--meta-schemas=compact"],
  ["--style=meta", "--toolsets=default", "--meta-schemas=full"],
  ["--style=meta", "--meta-schemas=compact"],
  ["--style=meta", "--meta-schemas=full"],
  ["--style=static"],
  ["--style=static", "--toolsets=all"],
  ["--style=individual", "--toolsets=default"],
  ["--style=individual"],
  ["--style=individual", "--read-only"],
];

function listTable(): string {
  const rows = MEASURED.map((flags) => {
    const tools = listTools(connectionFor(flags));
    const tokens = tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
    return `| \`${flags.join(" ")}\` | ${tools.length < 60 ? tools.length : rounded(tools.length)} | ${rounded(tokens)} |`;
  });
  return ["| flags | tools | tokens of the first list |", "|---|---:|---:|", ...rows].join("\n");
}

function besideTable(): string {
  const rows = ["minimal", "full"].map((level) => {
    const connection = connectionFor([`--capabilities=${level}`]);
    const prompts = level === "full" ? listPrompts(connection) : [];
    const parts = [offered(connection.settings), listResources(), listTemplates(connection), prompts];
    const instructions = tokensOf(toInstructions(connection, entryToolsFor(connection)));
    return `| \`--capabilities=${level}\` | ${rounded(parts.reduce<number>((sum, part) => sum + tokensOf(part), 0))} | ${rounded(instructions)} |`;
  });
  return ["| flag | resources, prompts, completions | instructions |", "|---|---:|---:|", ...rows].join("\n");
}

interface Client {
  readonly title: string;
  readonly era: Link["era"];
  readonly transport: Link["transport"];
  readonly listens: boolean;
}

const CLIENTS: readonly Client[] = [
  { title: "up to 2025-11-25, stdio", era: "legacy", transport: "stdio", listens: true },
  { title: "up to 2025-11-25, HTTP session", era: "legacy", transport: "http", listens: true },
  { title: "2026-07-28, stdio, listening", era: "modern", transport: "stdio", listens: true },
  { title: "2026-07-28, stdio, not listening", era: "modern", transport: "stdio", listens: false },
  { title: "2026-07-28, HTTP", era: "modern", transport: "http", listens: false },
];

const MODES = ["auto", "session", "strict"] as const;

function refreshTable(): string {
  const rows = CLIENTS.map(({ title, era, transport, listens }) => {
    const cells = MODES.map((mode) => {
      const { settings } = connectionFor([`--enablement=${mode}`]);
      const link: Link = { era, transport, canTell: () => listens };
      if (!maySwitch(settings, link)) return "stays; run by execute";
      return advertisesListChanged(settings, era, transport) && listens ? "grows, told" : "grows, not told";
    });
    return `| ${title} | ${cells.join(" | ")} |`;
  });
  return [`| revision and transport | ${MODES.map((mode) => `\`${mode}\``).join(" | ")} |`, "|---|---|---|---|", ...rows].join("\n");
}

const CALLS = `| style | calls until the first answer of GitLab | and of the next action nearby |
|---|---|---|
| \`bridge\`, \`dynamic\` | 2: find, execute | 1 where its id is known, else 2 |
| \`bridge\`, \`toolsets\` by enabling | 3: look into the toolset, enable, call | 1 |
| \`meta\` | 2: parameters by \`get_toolset_tools\`, the dispatcher; 1 with \`compact\` or \`full\` | 1 to 2 |
| \`static\` | 1 for what is listed, else as \`toolsets\` | 1 |
| \`individual\` | 1, after the host's own search | 1 |`;

const CHOICE = `| the host … | style | why |
|---|---|---|
| is not known, or several use the server | \`bridge\` | both ways are there, and each answer names the one that works |
| never asks for its list again | \`dynamic\`, or \`bridge\` | nothing is to be enabled; with \`bridge\`, what is enabled also runs through execute |
| asks again when it is told | \`toolsets\`, or \`bridge\` | what was enabled is called by name, and asked for by name |
| allows few tools (40 and the like) | \`dynamic\`, \`bridge\`; \`meta\` with \`--toolsets\` | \`meta\` with every toolset has more than 40 tools |
| shows its user a list to tick | \`meta\` | one line per part of GitLab |
| reads the list once and wants names | \`static\` with \`--toolsets\` | no discovery, known cost |
| searches or defers tools by itself | \`individual\` with \`--tool-hints=anthropic\` where it reads these | its own search sees every text; nothing else is needed |
| lets people attach things or pick prompts | any, with \`--capabilities=full\` | resources, prompts and completions cost tokens in every session |
| asks its user before each tool that is not marked as reading | any with execute, and \`--split-execute\` | reads run through a tool of their own |`;

/** docs/styles.md: what an operator chooses by, measured from the objects themselves. */
export function stylesPage(): string {
  return `# Styles: which for which host

Written by \`npm run docs\` from the objects themselves. Tokens are those of o200k_base (gpt-tokenizer), rounded. All styles stand on the same catalog, policy
and road; a style changes what is shown, never what is permitted. Nothing depends on the name that a client gives itself.

## Choosing

${CHOICE}

Set it by \`--style\`, \`GITLAB_BRIDGE_STYLE\` or \`TOOL_SURFACE\`; \`META_TOOLS=true\` means \`meta\` where none of them is set. Over HTTP a
client may choose for its own connection.

## The first list

For one who is no administrator, with no limits.

${listTable()}

A dispatcher of \`meta\` takes \`{ action, params, confirm? }\`. \`--meta-schemas\` says what it shows of the parameters: \`opaque\` nothing,
\`compact\` the signatures, \`full\` the input schemas of as many actions as fit 4,000 tokens, the essential ones first. They stand in the
description of \`params\`, since some hosts cut the description of a tool.

## Calls

${CALLS}

## What refreshes

What \`enable_toolset\` does to the list of a client, by \`--enablement\`. Where the list stays, its answer leads to \`gitlab_execute_action\`.
That tool answers in every style, but only \`bridge\` and \`dynamic\` list it: a host that neither asks for its list again nor calls what
is not on it needs one of these two.

${refreshTable()}

In \`meta\` it adds the dispatcher of a toolset that is not on, in \`static\` the tools of another toolset; \`dynamic\` and \`individual\` do not list it.

## Beside the tools

${besideTable()}
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync("docs/styles.md", stylesPage());
