import { headOf } from "./budget.ts";
import { estimateTokens } from "./tokens.ts";

const ESCAPE = "\u001b";
const ANSI = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007${ESCAPE}]*(?:\u0007|${ESCAPE}\\\\)|[@-Z\\\\^_])`, "g");
const SECTION = /section_(?:start|end):\d+:[^\r\n]*?(?:\r|$)/gm;
const STAMPED = /^\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE]([ +])/;

/** What a terminal would show in the end: text after the last carriage return of a line. */
const lastOverwrite = (line: string) => line.slice(line.lastIndexOf("\r") + 1);

/** A job log as a person reads it: no colours, no overwritten progress, no section marks, no stamp before each line. */
export function cleanLog(raw: string): string {
  const plain = raw.replace(/\r\n/g, "\n").replace(ANSI, "").replace(SECTION, "");
  const lines: string[] = [];
  for (const line of plain.split("\n")) {
    const stamp = STAMPED.exec(line);
    const text = lastOverwrite(stamp ? line.slice(stamp[0].length) : line);
    if (stamp?.[1] === "+" && lines.length > 0) lines.push(`${lines.pop()}${text}`);
    else lines.push(text);
  }
  return lines.join("\n");
}

/** The text, or undefined where the bytes are something else: nothing is ever replaced. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export interface Window {
  readonly text: string;
  /** Lines shown, counted from 1, of how many. */
  readonly from: number;
  readonly to: number;
  readonly of: number;
  /** Where to go on: the first line that is still to be read (forward), or the line before which to read (backward). */
  readonly next?: number;
}

const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

function fitting(lines: readonly string[], tokens: number): number {
  let used = 0;
  for (const [index, line] of lines.entries()) {
    used += estimateTokens(`${line}\n`);
    if (used > tokens) return index;
  }
  return lines.length;
}

/** The lines from `line` on that fit, `most` of them; a line that is too long alone is cut. */
export function windowForward(text: string, tokens: number, line = 0, most = Number.POSITIVE_INFINITY): Window {
  const all = linesOf(text);
  const rest = all.slice(line);
  const count = Math.min(fitting(rest, tokens), most);
  const shown = count > 0 ? rest.slice(0, count) : rest.slice(0, 1).map((long) => `${headOf(long, tokens)}…`);
  const to = line + shown.length;
  return { text: shown.join("\n"), from: Math.min(line + 1, all.length), to, of: all.length, ...(to < all.length ? { next: to } : {}) };
}

/** The lines that end before `line` (or at the end of the text) and fit, `most` of them. */
export function windowBackward(text: string, tokens: number, line?: number, most = Number.POSITIVE_INFINITY): Window {
  const all = linesOf(text);
  const end = Math.min(line ?? all.length, all.length);
  const before = all.slice(0, end);
  const count = Math.min(fitting([...before].reverse(), tokens), most);
  const shown = count > 0 ? before.slice(end - count) : before.slice(-1).map((long) => `${headOf(long, tokens)}…`);
  const start = end - shown.length;
  return { text: shown.join("\n"), from: Math.min(start + 1, all.length), to: end, of: all.length, ...(start > 0 ? { next: start } : {}) };
}
