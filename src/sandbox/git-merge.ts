import { type GitEntry, type GitStore, isBinary, putBlob, type Snapshot } from "./git.ts";
import { type Edit, editScript, splitLines } from "./git-diff.ts";

/** A changed stretch: lines `from`..`to` of the base are replaced by `lines`. */
interface Change {
  readonly from: number;
  to: number;
  readonly lines: string[];
}

function changesOf(edits: readonly Edit[], after: readonly string[]): Change[] {
  const out: Change[] = [];
  let open: Change | undefined;
  for (const edit of edits) {
    if (edit.kind === "keep") {
      open = undefined;
      continue;
    }
    if (!open) {
      open = { from: edit.oldLine, to: edit.oldLine, lines: [] };
      out.push(open);
    }
    if (edit.kind === "remove") open.to = edit.oldLine + 1;
    else open.lines.push(after[edit.newLine] ?? "");
  }
  return out;
}

const same = (a: Change, b: Change) => a.from === b.from && a.to === b.to && a.lines.join("") === b.lines.join("");

/** Line-level three-way merge; `undefined` where both sides changed the same or touching lines differently. */
export function mergeTexts(base: string, ours: string, theirs: string): string | undefined {
  const lines = splitLines(base);
  const [left, right] = [ours, theirs].map((text) => changesOf(editScript(lines, splitLines(text)), splitLines(text)));
  const all: Change[] = [...(left ?? [])];
  for (const change of right ?? []) {
    if (all.some((other) => same(other, change))) continue;
    if ((left ?? []).some((other) => change.from <= other.to && other.from <= change.to)) return undefined;
    all.push(change);
  }
  all.sort((a, b) => a.from - b.from);
  let at = 0;
  const out: string[] = [];
  for (const change of all) {
    out.push(...lines.slice(at, change.from), ...change.lines);
    at = change.to;
  }
  return [...out, ...lines.slice(at)].join("");
}

export interface Merged {
  readonly snapshot: Snapshot;
  /** Paths that both sides changed in ways that do not fit together. */
  readonly conflicts: readonly string[];
}

const equal = (a: GitEntry | undefined, b: GitEntry | undefined) => a?.id === b?.id && a?.mode === b?.mode;

function mergeEntry(git: GitStore, base: GitEntry | undefined, ours: GitEntry, theirs: GitEntry): GitEntry | undefined {
  const [b, o, t] = [base, ours, theirs].map((entry) => (entry && git.blobs.get(entry.id)) ?? Buffer.alloc(0));
  if (!b || !o || !t || [b, o, t].some(isBinary)) return undefined;
  const text = mergeTexts(b.toString(), o.toString(), t.toString());
  return text === undefined ? undefined : { mode: equal(base, ours) ? theirs.mode : ours.mode, id: putBlob(git, Buffer.from(text)) };
}

/** Three-way merge of whole trees. With conflicts the snapshot keeps our side of them. */
export function mergeSnapshots(git: GitStore, base: Snapshot, ours: Snapshot, theirs: Snapshot): Merged {
  const result = new Map(ours);
  const conflicts: string[] = [];
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [b, o, t] = [base.get(path), ours.get(path), theirs.get(path)];
    if (equal(o, t) || equal(b, t)) continue;
    if (equal(b, o)) {
      if (t) result.set(path, t);
      else result.delete(path);
      continue;
    }
    const merged = o && t && mergeEntry(git, b, o, t);
    if (merged) result.set(path, merged);
    else conflicts.push(path);
  }
  return { snapshot: result, conflicts: conflicts.sort() };
}
