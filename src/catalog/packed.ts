import type { Action, Param } from "./types.ts";

/** All rows in one file, as the build leaves it: parameters that are alike stand once, a row has `[name, parameter, …]` by number. */
export interface PackedRows {
  readonly names: readonly string[];
  readonly params: readonly Param[];
  readonly rows: readonly (Omit<Action, "params"> & { readonly params: readonly number[] })[];
}

/** A number for each different key, in the order of their coming. */
function numbered(): { keys: () => string[]; of(key: string): number } {
  const known = new Map<string, number>();
  return {
    keys: () => [...known.keys()],
    of(key) {
      const at = known.get(key) ?? known.size;
      known.set(key, at);
      return at;
    },
  };
}

/** Text of the packed rows: ASCII only, so that it can be read byte by byte. */
export function packRows(actions: readonly Action[]): string {
  const names = numbered();
  const params = numbered();
  const rows = actions.map((action) => ({
    ...action,
    params: Object.entries(action.params).flatMap(([name, param]) => [names.of(name), params.of(JSON.stringify(param))]),
  }));
  const packed: PackedRows = { rows, names: names.keys(), params: params.keys().map((text) => JSON.parse(text) as Param) };
  return JSON.stringify(packed).replace(/[\u007f-\uffff]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The rows as they were packed; those that had a parameter alike now share it. */
export function unpackRows(text: string): readonly Action[] {
  const { names, params, rows } = JSON.parse(text) as PackedRows;
  return rows.map((row) => {
    const own: Record<string, Param> = {};
    for (let at = 0; at < row.params.length; at += 2)
      own[names[row.params[at] as number] as string] = params[row.params[at + 1] as number] as Param;
    // In place: a copy of each row would cost more than reading it.
    return Object.assign(row as object, { params: own }) as Action;
  });
}
