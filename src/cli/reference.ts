import { loadActions, paramText } from "../catalog/load.ts";
import { routesOf } from "../catalog/route.ts";
import { RESERVED, toSignature } from "../catalog/schema.ts";
import { TOOLSETS } from "../catalog/toolsets.ts";
import type { Action, Param, ToolsetRow } from "../catalog/types.ts";
import { settingsTable } from "../config/usage.ts";
import { ENTRY_TOOLS } from "../surface/entry.ts";

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function paramLine(name: string, param: Param): string {
  const marks = [param.type, ...(param.required ? ["required"] : []), ...(param.enum ? [param.enum.join(", ")] : [])].join("; ");
  return `- \`${name}\` (${marks}): ${param.about ?? paramText(name) ?? ""}`;
}

function sinceWords({ since }: Action): readonly string[] {
  if (since === undefined) return [];
  if (typeof since === "string") return [`since GitLab ${since}`];
  return Object.entries(since).map(([scope, version]) => `with \`${scope}\` since GitLab ${version}`);
}

/** What the reference says of one action. */
export function actionSection(action: Action): string {
  const routes = routesOf(action).map(([method, path]) => `\`${method} ${path}\``);
  const facts = [
    action.effect,
    `tool \`${action.tool}\``,
    ...(action.essential ? ["essential"] : []),
    ...(action.tier && action.tier !== "free" ? [action.tier] : []),
    ...sinceWords(action),
  ];
  return [
    `## ${action.id}`,
    "",
    `${action.title}. ${action.about}`,
    "",
    `${facts.join(" · ")}${routes.length > 0 ? ` · ${routes.join(" · ")}` : ""}`,
    "",
    `\`${toSignature(action)}\``,
    "",
    ...Object.entries(action.params).map(([name, param]) => paramLine(name, param)),
  ].join("\n");
}

function toolsetPage(toolset: ToolsetRow, actions: readonly Action[]): string {
  return `# ${toolset.title} (\`${toolset.name}\`)\n\n${toolset.about}. ${actions.length} actions.\n\n${actions.map(actionSection).join("\n\n")}\n`;
}

function toolsetTable(actions: readonly Action[]): string {
  const rows = TOOLSETS.map((toolset) => {
    const own = actions.filter((action) => action.toolset === toolset.name);
    const count = (effect: string) => own.filter((action) => action.effect === effect).length;
    const essential = own.filter((action) => action.essential).length;
    return `| [${toolset.name}](toolsets/${toolset.name}.md) | ${toolset.about} | ${own.length} | ${essential} | ${count("read")} | ${count("write")} | ${count("destructive")} |`;
  });
  return ["| toolset | for | actions | essential | read | write | destructive |", "|---|---|---|---|---|---|---|", ...rows].join("\n");
}

function entryTable(): string {
  const rows = ENTRY_TOOLS.map((tool) => {
    const inputs = Object.keys((tool.inputSchema.properties ?? {}) as object).map((name) => `\`${name}\``);
    return `| \`${tool.name}\` | ${inputs.join(", ") || "–"} | ${cell(tool.description)} |`;
  });
  return ["| tool | input | what it does |", "|---|---|---|", ...rows].join("\n");
}

function reservedList(): string {
  return Object.entries(RESERVED)
    .map(([name, { schema }]) => `- \`${name}\` (${schema.type}): ${schema.description}`)
    .join("\n");
}

/** All generated pages of docs/reference: path → content. */
export function generateDocs(): ReadonlyMap<string, string> {
  const actions = loadActions();
  const pages = new Map<string, string>();
  pages.set(
    "docs/reference/index.md",
    `# Reference\n\nWritten by the program itself (\`npm run docs\`).\n\n## Entry tools\n\n${entryTable()}\n\n## Arguments that every action takes\n\n${reservedList()}\n\n## Toolsets\n\n${toolsetTable(actions)}\n\n## Settings\n\n${settingsTable()}\n`,
  );
  for (const toolset of TOOLSETS) {
    const own = actions.filter((action) => action.toolset === toolset.name);
    pages.set(`docs/reference/toolsets/${toolset.name}.md`, toolsetPage(toolset, own));
  }
  return pages;
}

const SECTIONS: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  tools: entryTable,
};

/** The README with its generated sections made anew. @throws Error when a marker is missing. */
export function spliceReadme(readme: string): string {
  return Object.entries(SECTIONS).reduce((text, [name, make]) => {
    const open = `<!-- generated: ${name} -->`;
    const close = `<!-- end: ${name} -->`;
    const from = text.indexOf(open);
    const to = text.indexOf(close);
    if (from < 0 || to < from) throw new Error(`README.md has no section ${name}`);
    return `${text.slice(0, from + open.length)}\n${make()}\n${text.slice(to)}`;
  }, readme);
}
