import { choices } from "../config/fault.ts";
import { OPTIONS, type OptionName } from "../config/options.ts";
import { toBoolean, toList } from "../config/values.ts";
import { nearest } from "../nearest.ts";
import { bothReadOnly, type Wishes } from "../policy/narrow.ts";
import { CODE, Refused } from "./reply.ts";

/** What a client may choose for itself when it connects. */
const CHOICES = [
  "toolsets",
  "tools",
  "excludeTools",
  "allowToolsets",
  "allowTools",
  "readOnly",
  "safeMode",
  "style",
  "enablement",
  "metaSchemas",
  "toolHints",
  "capabilities",
  "splitExecute",
  "prefix",
  "project",
] as const satisfies readonly (OptionName & keyof Wishes)[];

type Choice = (typeof CHOICES)[number];

/** Further names of a choice in the URL, beside its flag. */
const QUERY: Readonly<Record<string, Choice>> = {
  ...Object.fromEntries(CHOICES.map((name) => [OPTIONS[name].flag, name])),
  readonly: "readOnly",
  project: "project",
  exclude_tools: "excludeTools",
};

/** GitLab's own headers and GitHub's: both families at once are joined. */
const HEADERS: readonly (readonly [header: string, name: Choice])[] = [
  ["x-gitlab-enabled-mcp-server-toolsets", "toolsets"],
  ["x-gitlab-enabled-mcp-server-tools", "tools"],
  ["x-gitlab-mcp-server-tool-name-prefix", "prefix"],
  ["x-mcp-toolsets", "toolsets"],
  ["x-mcp-tools", "tools"],
  ["x-mcp-exclude-tools", "excludeTools"],
  ["x-mcp-readonly", "readOnly"],
];

type Said = readonly [where: string, name: Choice, text: string];

const bad = (message: string, data: Readonly<Record<string, unknown>>) =>
  new Refused({ status: 400, code: CODE.invalidParams, message, data });

function unknown(where: string, word: string, valid: readonly string[]): Refused {
  const near = nearest(word, valid, 1)[0];
  return bad(`${where} has no "${word.slice(0, 60)}"${near ? `; the nearest is ${near}` : ""}.`, { unrecognized: [word], valid });
}

/** Choices in the path: `/x/ci,merge_requests/readonly`, `/readonly`. */
function inPath(path: string): Said[] {
  const said: Said[] = [];
  const parts = path.split("/").filter((part) => part !== "");
  while (parts.length > 0) {
    const word = (parts.shift() ?? "").toLowerCase();
    if (word === "readonly") said.push(["path", "readOnly", "true"]);
    else if (word === "x" && parts[0] !== undefined) said.push(["path", "toolsets", decodeURIComponent(parts.shift() ?? "")]);
    else throw unknown("The path", word, ["x/TOOLSETS", "readonly"]);
  }
  return said;
}

function inQuery(query: URLSearchParams): Said[] {
  return [...query].map(([word, text]): Said => {
    const name = Object.hasOwn(QUERY, word.toLowerCase()) ? QUERY[word.toLowerCase()] : undefined;
    if (name === undefined) throw unknown("The query", word, Object.keys(QUERY));
    return [`?${word}`, name, text];
  });
}

const inHeaders = (headers: Headers): Said[] =>
  HEADERS.flatMap(([header, name]): Said[] => {
    const text = headers.get(header)?.trim();
    return text ? [[header, name, text]] : [];
  });

function toSwitch([where, , text]: Said): boolean {
  const on = text === "" ? true : toBoolean(text);
  if (on === undefined) throw bad(`${where} is neither true nor false.`, { unrecognized: [text.slice(0, 60)], valid: ["true", "false"] });
  return on;
}

/** GitLab's server takes a prefix in any form that its tools' names may have. */
function toValue([where, name, text]: Said): unknown {
  const option = OPTIONS[name];
  const valid = choices(option.schema);
  const plain = valid ? text.trim().toLowerCase() : text.trim();
  const parsed = option.schema.safeParse(plain);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? "is not valid";
  throw bad(`${where}: ${why}`, { unrecognized: [text.slice(0, 60)], ...(valid ? { valid } : {}) });
}

/** On, off, or for some toolsets only; of several the most holds. Names that nothing has are refused where the toolsets are known. */
function toReadOnly(said: Said, before: Wishes["readOnly"]): Wishes["readOnly"] {
  const [, , text] = said;
  const names = toBoolean(text) === undefined && text.trim() !== "" ? toList([text]) : undefined;
  return names ? bothReadOnly(before ?? false, names) : before === true || toSwitch(said) || (before ?? false);
}

/** Lists are joined; a switch once on stays on; of two values the nearer to the client, its header, stands. */
function collect(said: readonly Said[]): Wishes {
  const wishes: Record<string, unknown> = {};
  for (const one of said) {
    const [, name, text] = one;
    const { kind } = OPTIONS[name];
    if (name === "readOnly") wishes.readOnly = toReadOnly(one, wishes.readOnly as Wishes["readOnly"]);
    else if (kind === "switch") wishes[name] = wishes[name] === true || toSwitch(one);
    else if (kind === "list") wishes[name] = toList([...((wishes[name] as string[] | undefined) ?? []), text]);
    else wishes[name] = toValue(one);
  }
  return wishes;
}

/**
 * What a client chose by URL and headers. Toolsets and tools are joined; tools alone mean only those: whichever is named replaces
 * what the server would have put on.
 * @throws Refused 400 with `unrecognized` and `valid`.
 */
export function readChoice(path: string, query: URLSearchParams, headers: Headers): Wishes {
  const wishes = collect([...inPath(path), ...inQuery(query), ...inHeaders(headers)]);
  if (wishes.toolsets === undefined && wishes.tools === undefined) return wishes;
  return { ...wishes, toolsets: wishes.toolsets ?? [], tools: wishes.tools ?? [] };
}
