/** One line of a diff with its number on each side; a side that does not have the line has no number. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly old?: number;
  readonly new?: number;
  readonly text: string;
}

export interface Hunk {
  readonly header: string;
  readonly lines: readonly DiffLine[];
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The hunks of one file's diff; file headers before the first of them and marks such as `\ No newline` count nothing. */
export function parseDiff(diff: string): Hunk[] {
  const hunks: { header: string; lines: DiffLine[] }[] = [];
  let [old, fresh] = [0, 0];
  let [oldLeft, freshLeft] = [0, 0];
  for (const line of diff.split("\n")) {
    const header = HEADER.exec(line);
    if (header) {
      [old, fresh] = [Number(header[1]), Number(header[3])];
      [oldLeft, freshLeft] = [Number(header[2] ?? 1), Number(header[4] ?? 1)];
      hunks.push({ header: line, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk || (oldLeft <= 0 && freshLeft <= 0) || line.startsWith("\\")) continue;
    const sign = line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
    hunk.lines.push({ sign, text: line.slice(1), ...(sign === "+" ? {} : { old: old++ }), ...(sign === "-" ? {} : { new: fresh++ }) });
    if (sign !== "+") oldLeft--;
    if (sign !== "-") freshLeft--;
  }
  return hunks;
}

/** `src/*.ts`, `**` over folders, `docs/` for all below; a pattern without a slash fits the name in any folder. */
export function fitsPath(pattern: string, path: string): boolean {
  const plain = pattern.trim().replace(/^\.?\//, "");
  if (plain === path) return true;
  const source = plain
    .replace(/\/$/, "")
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part === "**/") return "(?:.*/)?";
      if (part === "**") return ".*";
      if (part === "*") return "[^/]*";
      return part === "?" ? "[^/]" : part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    })
    .join("");
  const start = plain.replace(/\/$/, "").includes("/") || plain.endsWith("/") ? "^" : "^(?:.*/)?";
  return new RegExp(`${start}${source}(?:/.*)?$`, "u").test(path);
}
