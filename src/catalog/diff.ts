import { routesOf } from "./route.ts";
import type { ActionRow, Param } from "./types.ts";

/** A row with the toolset it belongs to, as a dump holds it. */
export interface DumpedRow extends ActionRow {
  readonly toolset: string;
}

export type ChangeKind =
  | "removed"
  | "renamed"
  | "tool renamed"
  | "moved"
  | "effect"
  | "required"
  | "param removed"
  | "param changed"
  | "route"
  | "essential"
  | "added"
  | "param added";

/** Kinds in the order in which they are told: what breaks configurations and callers first. */
export const CHANGE_KINDS: readonly ChangeKind[] = [
  "removed",
  "renamed",
  "tool renamed",
  "moved",
  "effect",
  "required",
  "param removed",
  "param changed",
  "route",
  "essential",
  "added",
  "param added",
];

export interface Change {
  readonly kind: ChangeKind;
  readonly text: string;
}

/** What an action does, whatever it is called: its routes, document or composite. */
const deedOf = (row: ActionRow): string =>
  row.graphql ??
  row.composite ??
  routesOf(row)
    .map(([method, path]) => `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`)
    .sort()
    .join("; ");

const typeText = (param: Param): string =>
  JSON.stringify([param.in, param.type, param.enum, param.items, param.properties, param.wire, param.on, param.format, param.csv]);

function paramChanges(id: string, before: ActionRow, after: ActionRow): Change[] {
  const names = [...new Set([...Object.keys(before.params), ...Object.keys(after.params)])];
  return names.flatMap((name): Change[] => {
    const old = before.params[name];
    const now = after.params[name];
    if (!old)
      return now
        ? [{ kind: now.required ? "required" : "param added", text: `${id} ${name}${now.required ? ": new and required" : ""}` }]
        : [];
    if (!now) return [{ kind: "param removed", text: `${id} ${name}` }];
    const required = (old.required === true) !== (now.required === true);
    return [
      ...(required ? [{ kind: "required" as const, text: `${id} ${name}: ${now.required ? "now required" : "no longer required"}` }] : []),
      ...(typeText(old) === typeText(now) ? [] : [{ kind: "param changed" as const, text: `${id} ${name}` }]),
    ];
  });
}

function rowChanges(before: DumpedRow, after: DumpedRow): Change[] {
  const { id } = after;
  const changes: Change[] = [];
  const told = (kind: ChangeKind, old: unknown, now: unknown) => {
    if (old !== now) changes.push({ kind, text: `${id}: ${old} → ${now}` });
  };
  if (before.id !== id) changes.push({ kind: "renamed", text: `${before.id} → ${id}` });
  told("tool renamed", before.tool, after.tool);
  told("moved", before.toolset, after.toolset);
  told("effect", before.effect, after.effect);
  told("route", deedOf(before), deedOf(after));
  if ((before.essential === true) !== (after.essential === true))
    changes.push({
      kind: "essential",
      text: `${id}: ${after.essential ? "now shown from the start of its toolset" : "no longer shown from the start"}`,
    });
  return [...changes, ...paramChanges(id, before, after)];
}

/** What another catalog means for an operator; a row with another id and the same requests is a renamed one. */
export function diffCatalogs(before: readonly DumpedRow[], after: readonly DumpedRow[]): readonly Change[] {
  const old = new Map(before.map((row) => [row.id, row]));
  const ids = new Set(after.map(({ id }) => id));
  const lost = new Map(before.filter(({ id }) => !ids.has(id)).map((row) => [deedOf(row), row]));
  const renamed = new Set<string>();
  const changes = after.flatMap((row): Change[] => {
    const same = old.get(row.id);
    if (same) return rowChanges(same, row);
    const former = lost.get(deedOf(row));
    if (!former || renamed.has(former.id)) return [{ kind: "added", text: `${row.id} (${row.toolset}, ${row.effect})` }];
    renamed.add(former.id);
    return rowChanges(former, row);
  });
  const removed = [...lost.values()]
    .filter(({ id }) => !renamed.has(id))
    .map(({ id, toolset }): Change => ({ kind: "removed", text: `${id} (${toolset})` }));
  return [...removed, ...changes];
}
