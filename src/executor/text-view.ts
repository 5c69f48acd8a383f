import { runInNewContext } from "node:vm";
import type { Wanted } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { tellingIndices } from "./composite-log.ts";

/** The reserved arguments that choose lines of a text. */
export const VIEW = ["tail", "head", "grep", "context", "lines", "errors"] as const;

/** Characters of a pattern, and of a line that it is tried on. */
const MOST_PATTERN = 200;
const MOST_LINE = 2_000;
/** Some patterns take for ever on some lines; then they are given up. */
const MATCH_MS = 300;
const MOST_TELLING = 200;

export interface View {
  /** The chosen lines as one text. */
  readonly text: string;
  /** All lines of the text, as they are. */
  readonly whole: boolean;
  /** Read from the end back, as a log is; otherwise from the start on. */
  readonly backward: boolean;
  /** Lines of one answer. */
  readonly most?: number;
  readonly note?: string;
}

function refuse(field: string, problem: string, hint: string): never {
  throw new BridgeError("invalid_params", `${field}: ${problem}`, hint, { fields: { [field]: problem } });
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** `120-180`, `120-`, `-180`, `120`. */
function rangeOf(text: string | undefined, count: number): Range {
  if (text === undefined) return { from: 1, to: count };
  const match = /^\s*(\d*)\s*(?:(-|–|\.\.|:)\s*(\d*))?\s*$/.exec(text);
  const [, from = "", dash, to = ""] = match ?? [];
  if (!match || (from === "" && to === "")) return refuse("lines", `expected a range such as 120-180, got ${text}`, "Lines count from 1.");
  const first = from === "" ? 1 : Number(from);
  const last = dash === undefined ? first : to === "" ? count : Number(to);
  if (first < 1 || last < first) return refuse("lines", `expected a range such as 120-180, got ${text}`, "Lines count from 1.");
  if (first > count) return refuse("lines", `the text has ${count} lines, and ${text} begins after them`, "Give a smaller range.");
  return { from: first, to: Math.min(last, count) };
}

const MATCH = "lines.flatMap((line, index) => (pattern.test(line) ? [index] : []))";

const hasCode = (error: unknown, code: string) => typeof error === "object" && error !== null && "code" in error && error.code === code;

function toPattern(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags.replace(/[gy]/g, ""));
  } catch (error) {
    return refuse("grep", `is no pattern: ${String(error).slice(0, 200)}`, "Give plain text, or /pattern/ or /pattern/i.");
  }
}

/** Indices of the lines that fit a pattern between slashes. */
function matching(source: string, flags: string, lines: readonly string[]): readonly number[] {
  const given = { lines: lines.map((line) => line.slice(0, MOST_LINE)), pattern: toPattern(source, flags) };
  try {
    return runInNewContext(MATCH, given, { timeout: MATCH_MS }) as number[];
  } catch (error) {
    if (!hasCode(error, "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw error;
    return refuse("grep", "this pattern takes too long", "Give plain text, or a pattern without nested repetition.");
  }
}

function fitting(grep: string, lines: readonly string[]): readonly number[] {
  if (grep.length > MOST_PATTERN)
    return refuse("grep", `has ${grep.length} characters; ${MOST_PATTERN} is the most`, "Give a shorter text.");
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(grep);
  if (pattern) return matching(pattern[1] ?? "", pattern[2] ?? "", lines);
  const word = grep.toLowerCase();
  return lines.flatMap((line, index) => (line.toLowerCase().includes(word) ? [index] : []));
}

/** The chosen lines with their numbers, `:` after one that fits and `-` after its neighbours; a gap is told. */
function numbered(chosen: readonly number[], context: number, lines: readonly string[], offset: number): string[] {
  const marks = new Map<number, string>();
  for (const index of chosen)
    for (let near = index - context; near <= index + context; near++)
      if (near >= 0 && near < lines.length && !marks.has(near)) marks.set(near, "-");
  for (const index of chosen) marks.set(index, ":");
  const order = [...marks.keys()].sort((a, b) => a - b);
  return order.flatMap((index, at) => {
    const gap = at > 0 && context > 0 && order[at - 1] !== index - 1 ? ["--"] : [];
    return [...gap, `${index + 1 + offset}${marks.get(index)} ${lines[index]}`];
  });
}

interface Picked {
  readonly lines: readonly string[];
  readonly note: string;
}

/** The lines that fit, tell something, or both. */
function pick(lines: readonly string[], { grep, errors, context = 0 }: Wanted, offset: number): Picked {
  const fits = grep === undefined ? undefined : fitting(grep, lines);
  const telling = errors ? tellingIndices(lines, MOST_TELLING) : undefined;
  const chosen = fits && telling ? fits.filter((index) => telling.includes(index)) : (fits ?? telling ?? []);
  const note = `${chosen.length} of ${lines.length} lines ${grep === undefined ? "look telling" : "fit"}; a number before each is its line.`;
  return { lines: numbered(chosen, context, lines, offset), note };
}

/** What of a text is to be seen: a range of it, in that the lines that fit or tell something; a page of these is its head or tail. */
export function viewOf(text: string, wanted: Wanted, log: boolean): View {
  const { head, tail, grep, errors } = wanted;
  if (head !== undefined && tail !== undefined)
    refuse("tail", "cannot be given together with head", "Give one of them, or lines for a part in the middle.");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const range = rangeOf(wanted.lines, lines.length);
  const part = lines.slice(range.from - 1, range.to);
  const picked = grep !== undefined || errors === true ? pick(part, wanted, range.from - 1) : undefined;
  const most = tail ?? head;
  return {
    text: (picked?.lines ?? part).join("\n"),
    whole: !picked && part.length === lines.length,
    backward: tail !== undefined || (log && !picked && head === undefined && wanted.lines === undefined),
    ...(most === undefined ? {} : { most }),
    ...(picked ? { note: picked.note } : {}),
  };
}
