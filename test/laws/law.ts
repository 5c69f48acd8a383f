import { expect } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";

/** A law looks at all rows and says what is wrong, one sentence per finding; nothing wrong = no sentence. */
export type Law = (rows: readonly Action[]) => readonly string[];

/** A sound little row, to be broken on purpose in one place. */
export function aRow(change: Partial<Action> = {}): Action {
  return {
    id: "thing.get",
    tool: "get_thing",
    title: "Get thing",
    about: "One thing of a project.",
    http: ["GET", "/projects/{project_id}/things/{thing_id}"],
    effect: "read",
    params: {
      project_id: { in: "path", type: "string", required: true },
      thing_id: { in: "path", type: "integer", required: true, about: "Numeric id of the thing" },
    },
    toolset: "core",
    source: "gitlab",
    ...change,
  };
}

/** A finding with the file of its row, which it names by id or tool name. */
function placed(finding: string): string {
  const name = /^[^\s:]+/.exec(finding)?.[0];
  const row = loadActions().find(({ id, tool }) => id === name || tool === name);
  return row ? `src/catalog/data/${row.toolset}.json: ${finding}` : finding;
}

/** The whole catalog keeps the law. */
export function expectKept(law: Law): void {
  expect(law(loadActions()).map(placed)).toEqual([]);
}

/** The law finds something in the broken rows that it does not find in the sound one. */
export function expectBites(law: Law, ...broken: readonly Partial<Action>[]): void {
  expect(law([aRow()])).toEqual([]);
  for (const change of broken)
    expect(law([aRow(), aRow({ id: "other.get", tool: "get_other", about: "Another one.", ...change })])).not.toEqual([]);
}
