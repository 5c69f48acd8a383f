import { stripVTControlCharacters } from "node:util";

const SECTION = /section_(?:start|end):\d+:[\w.-]+(?:\[[^\]]*\])?/g;
/** Stamp that newer runners put before each line: `2026-01-02T03:04:05.123456Z 01O `, `+` for a continued one. */
const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE]\+? ?/;

/** Lines of a job log as they looked on the screen: no colours, no section marks, of an overwritten line the last state. */
export function toPlainLines(log: string): string[] {
  return log.split(/\r?\n/).map((line) => {
    const plain = stripVTControlCharacters(line).replace(STAMP, "").replace(SECTION, "");
    const states = plain.split("\r").filter((state) => state.trim() !== "");
    return (states.at(-1) ?? "").replace(/[^\P{Cc}\t]/gu, "").trimEnd();
  });
}

/** What makes a line tell something, strongest first; the first that fits counts. */
const SIGNS: readonly (readonly [weight: number, pattern: RegExp])[] = [
  [0, /^(\s*at |\s*#\s*0x|.*\b0 (errors?|failures?|failed)\b|.*\b(errors?|failures?|failed)[:=]\s*0\b)/i],
  [0, /(Cleaning up|Uploading artifacts|WARNING: .*no matching files|ERROR: No files to upload)/],
  [5, /\b(AssertionError|Traceback|panic:|FATAL|Segmentation fault|OutOfMemory|out of memory|Unhandled\w*|Uncaught)\b/i],
  [5, /^\s*(Expected|Received|expected|actual|got)\b.*[:=]/],
  [5, /\b[A-Z]\w*(Error|Exception)\b/],
  [4, /(^|\W)(error|fatal)(\[\w+\])?:/i],
  [4, /^\s*(E\s{2,}|✗|✖|×|✘|not ok\b|FAIL(ED)?\b|--- FAIL|\d+\)\s)/],
  [
    4,
    /\b(npm ERR!|npm error|yarn error|BUILD FAILED|Failure\/Error:|command not found|No such file|Permission denied|cannot find|undefined reference)/i,
  ],
  [3, /\b(failed|failures?|failing|could not|unable to|denied|timed out|refused|not found)\b/i],
  [2, /\b(exit (code|status)|exited with|Job failed)\b/i],
  [2, /\berrors?\b/i],
];

const weigh = (line: string): number => SIGNS.find(([, pattern]) => pattern.test(line))?.[0] ?? 0;

/** Two lines that differ in numbers, hashes and times only say the same. */
const gist = (line: string) =>
  line
    .trim()
    .toLowerCase()
    .replace(/[0-9a-f]{7,}|\d+/g, "#");

const FAREWELL = /^ERROR: Job failed/;

/** Indices of the lines worth showing: strongest first, each with its neighbours, until there are enough. */
function choose(lines: readonly string[], max: number): Set<number> {
  const seen = new Set<string>();
  const told = lines
    .map((line, index) => ({ index, weight: weigh(line), gist: gist(line) }))
    .filter((line) => line.weight > 0 && !seen.has(line.gist) && seen.add(line.gist));
  const chosen = new Set<number>();
  for (const { index, weight } of told.toSorted((a, b) => b.weight - a.weight || a.index - b.index)) {
    const around = weight >= 4 ? [index, index + 1, index + 2, index - 1] : [index];
    for (const near of around) {
      if (chosen.size < max && near >= 0 && lines[near]?.trim() && !FAREWELL.test(lines[near] ?? "")) chosen.add(near);
    }
  }
  return chosen;
}

/**
 * Indices of the lines that tell why a job failed: what looks like an error, with its neighbours, each kind of line once, in the
 * order of the log; without any such line, the end of it.
 */
export function tellingIndices(lines: readonly string[], max: number): number[] {
  const filled = lines.flatMap((line, index) => (line.trim() ? [index] : []));
  const chosen = choose(lines, max - 1);
  const farewell = filled.findLast((index) => FAREWELL.test(lines[index] ?? ""));
  if (chosen.size === 0) for (const index of filled.slice(-Math.min(max, 12))) chosen.add(index);
  if (farewell !== undefined) chosen.add(farewell);
  return [...chosen].toSorted((a, b) => a - b);
}

/** The telling lines themselves, cut to a width; equal neighbours once. */
export function tellingLines(log: string, max = 25, width = 200): string[] {
  const lines = toPlainLines(log);
  const shown: string[] = [];
  let before = "";
  for (const index of tellingIndices(lines, max)) {
    const line = (lines[index] ?? "").slice(0, width);
    if (line.trim() !== before) shown.push(line);
    before = line.trim();
  }
  return shown;
}
