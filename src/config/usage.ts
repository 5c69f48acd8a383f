import { choices, ROWS, range } from "./fault.ts";
import type { Option } from "./option.ts";
import type { OptionName } from "./options.ts";

const WIDTH = 100;
const COLUMN = 30;

const GROUPS = [...new Set(ROWS.map(([, option]) => option.group))];

const NOUNS: Partial<Record<OptionName, string>> = {
  timeout: "MS",
  budget: "TOKENS",
  url: "URL",
  tokenCommand: "COMMAND",
  noProxy: "HOSTS",
  denyRegex: "PATTERN",
  policy: "FILE",
  audit: "FILE",
  ab: "style:NAME=N,…",
  abLog: "FILE",
};

/** What stands behind a flag: the words it knows, or a noun. */
function valueNoun(name: OptionName, option: Option): string {
  if (option.kind === "switch") return option.names ? "[=NAME,…]" : "";
  const words = choices(option.schema);
  if (words) return words.join("|");
  if (NOUNS[name]) return NOUNS[name];
  if (range(option.schema)) return "N";
  if (option.flag.endsWith("-file")) return "FILE";
  return option.kind === "list" ? "NAME,…" : option.flag.endsWith("proxy") ? "URL" : "TEXT";
}

/** The default in words; empty where there is none to speak of. */
function fallback(option: Option): string {
  const value: unknown = option.schema.parse(undefined);
  if (value === undefined || value === "" || value === false || (Array.isArray(value) && value.length === 0)) return "";
  return option.onHttp === undefined ? String(value) : `${String(value)}; over HTTP ${option.onHttp}`;
}

/** All environment names, the own one first. */
const names = (option: Option): string[] => [
  option.env,
  ...(option.aliases ?? []),
  ...(option.translated ?? []).map(({ env, stdioOnly }) => (stdioOnly ? `${env} (stdio only)` : env)),
];

function wrap(words: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function optionLines(name: OptionName, option: Option): string[] {
  const noun = valueNoun(name, option);
  const head = `  --${option.flag}${noun === "" ? "" : ` ${noun}`}`;
  const preset = fallback(option);
  const limits = range(option.schema);
  const extra = [preset && `default ${preset}`, limits && `${limits.least} to ${limits.most}`, `env ${names(option).join(", ")}`];
  const text = [...wrap(option.about, WIDTH - COLUMN), ...wrap(extra.filter(Boolean).join("; "), WIDTH - COLUMN)];
  const body = text.map((line) => `${" ".repeat(COLUMN)}${line}`);
  const [first = "", ...rest] = body;
  return head.length < COLUMN - 1 ? [`${head.padEnd(COLUMN)}${first.trimStart()}`, ...rest] : [head, ...body];
}

/** Help for a terminal: every setting under its group, with default and environment names. */
export function usage(): string {
  const blocks = GROUPS.map((group) => {
    const rows = ROWS.filter(([, option]) => option.group === group);
    return [`${group}:`, ...rows.flatMap(([name, option]) => optionLines(name, option))].join("\n");
  });
  const manners = wrap(
    "A flag is stronger than the environment. Switches take =true and =false and have a --no- form; lists take commas and may be repeated; a blank variable counts as not set.",
    WIDTH,
  );
  return `${[...blocks, manners.join("\n")].join("\n\n")}\n`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const code = (text: string): string => `\`${cell(text)}\``;

function tableRow(name: OptionName, option: Option): string {
  const noun = valueNoun(name, option);
  const [own = "", ...others] = names(option);
  const also = others.length === 0 ? "" : `<br>also ${others.map((other) => other.replace(/^\S+/, (word) => code(word))).join(", ")}`;
  const preset = fallback(option);
  const [first = "", ...rest] = preset.split("; ");
  const shownDefault = preset === "" ? "" : [code(first), ...rest.map((part) => part.replace(/\S+$/, (word) => code(word)))].join("; ");
  const flag = code(`--${option.flag}${noun === "" ? "" : ` ${noun}`}`);
  return `| ${flag} | ${code(own)}${also} | ${shownDefault} | ${cell(option.about)} |`;
}

/** The settings as Markdown tables, one per group; README and reference hold exactly this. */
export function settingsTable(): string {
  const head = "| Flag | Environment | Default | What it does |\n|---|---|---|---|";
  const sections = GROUPS.map((group) => {
    const rows = ROWS.filter(([, option]) => option.group === group).map(([name, option]) => tableRow(name, option));
    return `**${group}**\n\n${head}\n${rows.join("\n")}`;
  });
  return `${sections.join("\n\n")}\n`;
}
