/** What a YAML text can hold here. */
export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml };

/** The text is not the YAML that pipelines are written in. */
export class YamlError extends Error {
  override readonly name = "YamlError";
}

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

const fail = (what: string, line: number): never => {
  throw new YamlError(`(<unknown>): ${what} at line ${line} column 1`);
};

/** Cuts a comment off, outside quotes. */
function uncomment(text: string): string {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (quote) {
      if (sign === quote) quote = "";
    } else if (sign === '"' || sign === "'") {
      if (at === 0 || /[\s[{:,-]/.test(text[at - 1] ?? "")) quote = sign;
    } else if (sign === "#" && (at === 0 || /\s/.test(text[at - 1] ?? ""))) return text.slice(0, at);
  }
  return text;
}

function scalar(text: string, line: number): Yaml {
  const value = text.trim();
  if (value === "" || value === "~" || value === "null") return null;
  if (value === "true" || value === "false") return value === "true";
  if (/^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (/^\[.*\]$/s.test(value)) return inlineParts(value.slice(1, -1)).map((part) => scalar(part, line));
  if (/^\{.*\}$/s.test(value)) {
    return Object.fromEntries(
      inlineParts(value.slice(1, -1))
        .map((part) => pairOf(part, line))
        .map(([key, rest]) => [key, scalar(rest, line)]),
    );
  }
  if (/^["'[{]/.test(value)) {
    const quoted = /^"((?:[^"\\]|\\.)*)"$|^'((?:[^']|'')*)'$/s.exec(value);
    if (!quoted) return fail("did not find expected ',' or ']' or closing quote while parsing a flow node", line);
    return quoted[1] === undefined ? (quoted[2] ?? "").replaceAll("''", "'") : quoted[1].replace(/\\n/g, "\n").replace(/\\(["\\])/g, "$1");
  }
  return value;
}

function inlineParts(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let part = "";
  for (const sign of text) {
    if (quote) quote = sign === quote ? "" : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if ("[{".includes(sign)) depth += 1;
    else if ("]}".includes(sign)) depth -= 1;
    if (sign === "," && depth === 0 && !quote) {
      parts.push(part);
      part = "";
    } else part += sign;
  }
  return [...parts, part].filter((one) => one.trim() !== "");
}

const KEY = /^("[^"]*"|'[^']*'|[^\s#&*!|>'"%@`{}[\],][^:]*?|[^\s#&*!|>'"%@`{}[\],:][^\s]*?)\s*:(?:\s+(.*))?$/s;

function pairOf(text: string, line: number): [string, string] {
  const match = KEY.exec(text.trim());
  if (!match) return fail("could not find expected ':' while scanning a simple key", line);
  return [(match[1] ?? "").replace(/^["']|["']$/g, ""), match[2] ?? ""];
}

/** Reads one text; state is the list of lines and where we are. */
class Reader {
  private at = 0;
  private readonly lines: Line[];
  private readonly raw: string[];

  constructor(text: string) {
    this.raw = text.split("\n");
    const tab = this.raw.findIndex((row) => /^\s*\t/.test(row));
    if (tab >= 0) fail("found character that cannot start any token while scanning for the next token", tab + 1);
    this.lines = this.raw.map((row, index) => ({
      indent: row.length - row.trimStart().length,
      text: uncomment(row).trim(),
      number: index + 1,
    }));
  }

  private peek(): Line | undefined {
    while (this.lines[this.at] && (this.lines[this.at]?.text === "" || this.lines[this.at]?.text === "---")) this.at += 1;
    return this.lines[this.at];
  }

  read(): Yaml {
    const first = this.peek();
    const value = first ? this.node(first.indent) : null;
    const rest = this.peek();
    if (rest) fail("did not find expected key while parsing a block mapping", rest.number);
    return value;
  }

  private node(indent: number): Yaml {
    const line = this.peek();
    if (!line) return null;
    if (/^-(\s|$)/.test(line.text)) return this.list(indent);
    if (KEY.test(line.text)) return this.map(indent);
    this.at += 1;
    return scalar(line.text, line.number);
  }

  private list(indent: number): Yaml[] {
    const items: Yaml[] = [];
    for (let line = this.peek(); line && line.indent === indent && /^-(\s|$)/.test(line.text); line = this.peek()) {
      const rest = line.text.slice(1).trim();
      const inner = indent + (line.text.length - rest.length);
      if (rest === "") {
        this.at += 1;
        const next = this.peek();
        items.push(next && next.indent > indent ? this.node(next.indent) : null);
      } else if (/^[|>][+-]?$/.test(rest)) {
        this.at += 1;
        items.push(this.block(indent, rest));
      } else if (KEY.test(rest) && !/^["'].*["']$/.test(rest)) {
        this.lines[this.at] = { indent: inner, text: rest, number: line.number };
        items.push(this.map(inner));
      } else {
        this.at += 1;
        items.push(scalar(rest, line.number));
      }
    }
    return items;
  }

  private map(indent: number): Yaml {
    const map: { [key: string]: Yaml } = {};
    for (let line = this.peek(); line && line.indent === indent && !/^-(\s|$)/.test(line.text); line = this.peek()) {
      const [key, rest] = pairOf(line.text, line.number);
      this.at += 1;
      map[key] = this.value(indent, rest, line.number);
    }
    const next = this.peek();
    if (next && next.indent > indent) fail("did not find expected key while parsing a block mapping", next.number);
    return map;
  }

  private value(indent: number, rest: string, number: number): Yaml {
    if (/^[|>][+-]?$/.test(rest)) return this.block(indent, rest);
    const plain = rest.replace(/^&\S+\s*/, "");
    if (plain !== "") return scalar(plain, number);
    const next = this.peek();
    if (!next || next.indent < indent) return null;
    if (next.indent === indent) return /^-(\s|$)/.test(next.text) ? this.list(indent) : null;
    return this.node(next.indent);
  }

  private block(indent: number, mark: string): string {
    const rows: string[] = [];
    for (; this.at < this.raw.length; this.at++) {
      const row = this.raw[this.at] ?? "";
      if (row.trim() !== "" && row.length - row.trimStart().length <= indent) break;
      rows.push(row);
    }
    const depth = Math.min(...rows.filter((row) => row.trim() !== "").map((row) => row.length - row.trimStart().length));
    const text = rows.map((row) => row.slice(depth));
    return `${text.join(mark.startsWith(">") ? " " : "\n").trimEnd()}\n`;
  }
}

/** The part of YAML that pipeline files use: maps, lists, scalars, inline and block forms. @throws YamlError */
export function parseYaml(text: string): Yaml {
  return new Reader(text).read();
}
