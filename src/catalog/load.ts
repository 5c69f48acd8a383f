import { existsSync, readFileSync } from "node:fs";
import { unpackRows } from "./packed.ts";
import { TOOLSETS } from "./toolsets.ts";
import type { Action, ActionRow, Before } from "./types.ts";

/** Name of the source that our own rows belong to. */
export const GITLAB = "gitlab";

/** A data file beside the rows. */
export function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), "utf8")) as T;
}

let actions: readonly Action[] | undefined;

/** The rows as they are written: a file for each toolset. */
const readRows = (): readonly Action[] =>
  TOOLSETS.flatMap(({ name }) => readData<ActionRow[]>(name).map((row): Action => Object.assign(row, { toolset: name, source: GITLAB })));

/** The same rows as the build packs them, in less than the time. */
const PACKED = new URL("./data/rows.json", import.meta.url);

/** All actions of our own catalog, in file order. Read on first use: the first answers of a server need none of it. */
export function loadActions(): readonly Action[] {
  actions ??= existsSync(PACKED) ? unpackRows(readFileSync(PACKED, "latin1")) : readRows();
  return actions;
}

let elsewhere: Readonly<Record<string, string>> | undefined;

/** The action that another GitLab server's id or tool name stands for; what our own rows are called wins over it. */
export function otherName(name: string): string | undefined {
  elsewhere ??= readData<Record<string, string>>("aliases");
  return Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
}

let texts: Readonly<Record<string, string>> | undefined;

/** The shared dictionary of parameter texts: parameter name → what it means. */
export function paramText(name: string): string | undefined {
  texts ??= readData<Record<string, string>>("params");
  return texts[name];
}

/** Chosen fields of one entity: what a list, a single answer and the answer of a write show of it. */
export interface Chosen {
  readonly list: readonly string[];
  readonly get: readonly string[];
  /** Told after a write beside the usual fields. */
  readonly write?: readonly string[];
}

let chosen: Readonly<Record<string, Chosen>> | undefined;

/** The chosen fields of an entity, where the table knows it. */
export function chosenFields(entity: string): Chosen | undefined {
  chosen ??= readData<Record<string, Chosen>>("slim");
  return chosen[entity.replace(/^APIEntities/, "")];
}

let before: Readonly<Record<string, Before>> | undefined;

/** What a preview of this action must be told. */
export function beforeOf(id: string): Before {
  before ??= readData<Record<string, Before>>("before");
  return before[id] ?? {};
}
