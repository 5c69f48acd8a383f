import type { Action } from "../catalog/types.ts";
import { nearest } from "../nearest.ts";
import type { Problems } from "./param-values.ts";

export interface Milestone {
  readonly id: number;
  readonly title: string;
  readonly state?: string;
}

/** Where a title is looked for; ancestors are looked through too. */
export type Scope = { readonly project_id: string } | { readonly group_id: string };

/** How titles become ids, and ids titles; asked only when a call needs it. */
export interface Titles {
  /** The milestones of exactly this title, or without a title the first hundred. */
  readonly milestones?: (scope: Scope, title?: string) => Promise<readonly Milestone[]>;
  readonly titleOfMergeRequest?: (project: string, iid: string) => Promise<string | undefined>;
}

const MILESTONE = "milestone_id";

/** Numbers, also as text, are ids, and so are global ids; everything else is a title (`2.0` is one). */
function titleIn(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.trim().replace(/^%"?|"$/g, "");
  return text === "" || /^(\d+|gid:\/\/.*)$/.test(text) ? undefined : text;
}

const isInteger = (action: Action, name: string) => Object.hasOwn(action.params, name) && action.params[name]?.type === "integer";

/** The parameter may hold a title, so that its value is read only after that is resolved. */
export const holdsTitle = (name: string): boolean => name === MILESTONE;

function scopeOf(values: ReadonlyMap<string, unknown>): Scope | undefined {
  const [project, group] = [values.get("project_id"), values.get("group_id")];
  if (project !== undefined) return { project_id: String(project) };
  return group === undefined ? undefined : { group_id: String(group) };
}

const idsOf = (found: readonly Milestone[]) => found.map(({ id, state }) => `${id}${state ? ` (${state})` : ""}`).join(", ");

/** The one that is meant: the only one of the title, or the only one that is still active. */
function choose(title: string, found: readonly Milestone[], problems: Problems): number | undefined {
  const active = found.filter(({ state }) => state !== "closed");
  const only = found.length === 1 ? found : active;
  if (only.length === 1) return only[0]?.id;
  problems.add(MILESTONE, `${found.length} milestones are called ${title}; give the id: ${idsOf(found)}`);
  return undefined;
}

/** The id that takes a milestone off. */
const NOBODYS = 0;

interface Sought {
  readonly title: string;
  readonly scope: Scope;
  /** `none` takes the milestone off, unless one is called so. */
  readonly mayClear: boolean;
}

async function toId({ title, scope, mayClear }: Sought, titles: Titles, problems: Problems): Promise<number | undefined> {
  if (!titles.milestones) return undefined;
  const exact = await titles.milestones(scope, title);
  if (exact.length > 0) return choose(title, exact, problems);
  if (mayClear && title.toLowerCase() === "none") return NOBODYS;
  const all = await titles.milestones(scope);
  const same = all.filter((one) => one.title.toLowerCase() === title.toLowerCase());
  if (same.length > 0) return choose(title, same, problems);
  const names = [...new Set(all.map((one) => one.title))];
  const near = nearest(title, names);
  const shown = near.length > 0 ? near : names.slice(0, 5);
  const what = near.length > 0 ? "nearest" : "there are";
  problems.add(MILESTONE, `no milestone is called ${title}${shown.length > 0 ? `; ${what}: ${shown.join(", ")}` : ""}`);
  return undefined;
}

/** A milestone's title in place of its id. */
export async function resolveTitles(action: Action, values: Map<string, unknown>, titles: Titles, problems: Problems): Promise<void> {
  const title = isInteger(action, MILESTONE) ? titleIn(values.get(MILESTONE)) : undefined;
  const scope = scopeOf(values);
  if (title === undefined || scope === undefined) return;
  const mayClear = action.params[MILESTONE]?.in === "body";
  const id = await toId({ title, scope, mayClear }, titles, problems);
  if (id !== undefined) values.set(MILESTONE, id);
}
