import { type GitEntry, type GitStore, isBinary, type Snapshot } from "./git.ts";

/** One step of an edit script: `keep` and `remove` count lines of the old text, `add` lines of the new one. */
export interface Edit {
  readonly kind: "keep" | "remove" | "add";
  readonly oldLine: number;
  readonly newLine: number;
}

function shortestTrace(a: readonly string[], b: readonly string[]): Map<number, number>[] {
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= a.length + b.length; d++) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return trace;
}

/** Myers' shortest edit script between two lists of lines. */
export function editScript(a: readonly string[], b: readonly string[]): Edit[] {
  const trace = shortestTrace(a, b);
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : (reach.get(fromK) ?? 0);
    const fromY = d === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY && a[x - 1] === b[y - 1]) edits.push({ kind: "keep", oldLine: --x, newLine: --y });
    if (d > 0) edits.push(down ? { kind: "add", oldLine: x, newLine: --y } : { kind: "remove", oldLine: --x, newLine: y });
  }
  return edits.reverse();
}

/** Lines with their line ends, so that a missing last newline stays visible. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

const CONTEXT = 3;

function groups(edits: readonly Edit[], context: number): [number, number][] {
  const out: [number, number][] = [];
  edits.forEach((edit, index) => {
    if (edit.kind === "keep") return;
    const last = out[out.length - 1];
    const from = Math.max(0, index - context);
    const to = Math.min(edits.length, index + context + 1);
    if (last && from <= last[1]) last[1] = to;
    else out.push([from, to]);
  });
  return out;
}

const range = (start: number, count: number) => (count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`);

function heading(lines: readonly string[], before: number): string {
  for (let index = before - 1; index >= 0; index--) {
    const text = lines[index] ?? "";
    if (/^[A-Za-z_$]/.test(text)) return ` ${text.trimEnd().slice(0, 80)}`;
  }
  return "";
}

const SIGN = { keep: " ", remove: "-", add: "+" } as const;

/** The hunks of a unified diff, beginning at the first `@@`; empty where the texts are equal. */
export function unifiedHunks(before: string, after: string, context = CONTEXT): string {
  const a = splitLines(before);
  const b = splitLines(after);
  const edits = editScript(a, b);
  const hunks = groups(edits, context).map(([from, to]) => {
    const part = edits.slice(from, to);
    const first = part[0] ?? { oldLine: 0, newLine: 0 };
    const count = (skip: string) => part.filter((edit) => edit.kind !== skip).length;
    const head = `@@ -${range(first.oldLine, count("add"))} +${range(first.newLine, count("remove"))} @@${heading(a, first.oldLine)}\n`;
    const body = part.map((edit) => {
      const text = (edit.kind === "add" ? b[edit.newLine] : a[edit.oldLine]) ?? "";
      return `${SIGN[edit.kind]}${text}${text.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`;
    });
    return head + body.join("");
  });
  return hunks.join("");
}

/** One changed file as GitLab's API writes it. */
export interface FileDiff {
  diff: string;
  new_path: string;
  old_path: string;
  a_mode: string;
  b_mode: string;
  new_file: boolean;
  renamed_file: boolean;
  deleted_file: boolean;
  generated_file: boolean;
  collapsed: boolean;
  too_large: boolean;
}

const textOf = (git: GitStore, entry: GitEntry | undefined) => (entry && git.blobs.get(entry.id)) ?? Buffer.alloc(0);

function diffText(
  git: GitStore,
  from: string | undefined,
  to: string | undefined,
  a: GitEntry | undefined,
  b: GitEntry | undefined,
): string {
  const [before, after] = [textOf(git, a), textOf(git, b)];
  if (before.equals(after)) return "";
  if (!isBinary(before) && !isBinary(after)) return unifiedHunks(before.toString(), after.toString());
  return `Binary files ${from === undefined ? "/dev/null" : `a/${from}`} and ${to === undefined ? "/dev/null" : `b/${to}`} differ\n`;
}

function similarity(git: GitStore, a: GitEntry, b: GitEntry): number {
  if (a.id === b.id) return 1;
  const [before, after] = [textOf(git, a), textOf(git, b)];
  if (isBinary(before) || isBinary(after)) return 0;
  const [x, y] = [splitLines(before.toString()), splitLines(after.toString())];
  const kept = editScript(x, y).filter((edit) => edit.kind === "keep").length;
  return x.length + y.length === 0 ? 0 : (2 * kept) / (x.length + y.length);
}

function findRenames(git: GitStore, gone: Map<string, GitEntry>, born: Map<string, GitEntry>): Map<string, string> {
  const renames = new Map<string, string>();
  for (const [path, entry] of born) {
    const free = [...gone].filter(([old]) => ![...renames.values()].includes(old));
    const best = free.map(([old, from]) => ({ old, score: similarity(git, from, entry) })).sort((p, q) => q.score - p.score)[0];
    if (best && best.score >= 0.5) renames.set(path, best.old);
  }
  return renames;
}

/** Changed files between two snapshots, by path, with renames found. */
export function diffSnapshots(git: GitStore, from: Snapshot, to: Snapshot): FileDiff[] {
  const gone = new Map([...from].filter(([path]) => !to.has(path)));
  const born = new Map([...to].filter(([path]) => !from.has(path)));
  const renames = findRenames(git, gone, born);
  const moved = new Set(renames.values());
  const changed = [...to].filter(([path, entry]) => {
    const old = from.get(path);
    return !old || old.id !== entry.id || old.mode !== entry.mode;
  });
  const make = (oldPath: string | undefined, newPath: string | undefined): FileDiff => {
    const a = oldPath === undefined ? undefined : from.get(oldPath);
    const b = newPath === undefined ? undefined : to.get(newPath);
    const diff = diffText(git, oldPath, newPath, a, b);
    return {
      diff,
      new_path: newPath ?? oldPath ?? "",
      old_path: oldPath ?? newPath ?? "",
      a_mode: a?.mode ?? "0",
      b_mode: b?.mode ?? "0",
      new_file: !a,
      renamed_file: Boolean(a && b && oldPath !== newPath),
      deleted_file: !b,
      generated_file: (newPath ?? oldPath ?? "").endsWith("package-lock.json"),
      collapsed: false,
      too_large: false,
    };
  };
  const rows = changed.map(([path]) => make(renames.get(path) ?? (from.has(path) ? path : undefined), path));
  const removed = [...gone.keys()].filter((path) => !moved.has(path)).map((path) => make(path, undefined));
  return [...rows, ...removed].sort((p, q) => (p.new_path < q.new_path ? -1 : p.new_path > q.new_path ? 1 : 0));
}

/** Added and removed lines of a diff text. */
export function countLines(diff: string): { additions: number; deletions: number } {
  const lines = diff.split("\n");
  return {
    additions: lines.filter((text) => text.startsWith("+")).length,
    deletions: lines.filter((text) => text.startsWith("-")).length,
  };
}

/** The whole text that `git diff` would print for these files. */
export function patchText(files: readonly FileDiff[]): string {
  return files
    .map((file) => {
      const head = [`diff --git a/${file.old_path} b/${file.new_path}`];
      if (file.new_file) head.push(`new file mode ${file.b_mode}`);
      if (file.deleted_file) head.push(`deleted file mode ${file.a_mode}`);
      if (file.renamed_file) head.push(`rename from ${file.old_path}`, `rename to ${file.new_path}`);
      const named = file.diff.startsWith("@@");
      if (named)
        head.push(
          `--- ${file.new_file ? "/dev/null" : `a/${file.old_path}`}`,
          `+++ ${file.deleted_file ? "/dev/null" : `b/${file.new_path}`}`,
        );
      return `${head.join("\n")}\n${file.diff}`;
    })
    .join("");
}
