import type { Limits } from "../policy/narrow.ts";
import type { Policy } from "../policy/policy.ts";
import { holdsGroup, holdsProject, idsIn, type Known, type Named, type Place, scopesOf, standsAbove } from "../policy/scope.ts";
import type { Mention } from "../policy/scope-text.ts";
import { parseTarget, pathOnInstance, type Target, toFullPath } from "./identifiers.ts";
import type { Look } from "./places.ts";

export interface ScopeParts {
  readonly policy: Policy;
  readonly look: Look;
  /** The instance's root. */
  readonly instance: string;
}

/** Names of the allowed ids, asked for once. */
async function learn(limits: Limits, look: Look): Promise<Known> {
  const scopes = scopesOf(limits);
  const names = async (ids: readonly number[], ask: (value: string) => Promise<Place | undefined>) => {
    const found = await Promise.all(ids.map(async (id) => [id, (await ask(String(id)))?.path] as const));
    return new Map(found.flatMap(([id, path]) => (path === undefined ? [] : [[id, path] as const])));
  };
  const projects = await names([...new Set(scopes.flatMap((scope) => idsIn(scope.allowProjects)))], look.project);
  return { projects, groups: await names([...new Set(scopes.flatMap((scope) => idsIn(scope.allowGroups)))], look.group) };
}

/** A path that leads out of itself. */
const isClimbing = (path: string) => path.split("/").some((part) => part === "." || part === "..");

/** Places of this caller against all scopes. */
export function createJudge({ policy: { settings }, look: ask, instance }: ScopeParts) {
  const scopes = scopesOf(settings);
  /** All that this GitLab's addresses begin with, as far as it was told. */
  const roots = new Set([instance]);
  const noted = async (found: Promise<Place | undefined>) => {
    const place = await found;
    if (place?.root !== undefined) roots.add(place.root);
    return place;
  };
  const look: Look = { project: (value) => noted(ask.project(value)), group: (value) => noted(ask.group(value)) };
  let known: Promise<Known> | undefined;
  const knownNow = () => {
    known ??= learn(settings, look);
    return known;
  };
  /** What GitLab says it is; else its own words, which then name nothing but an entry of the list. */
  const placeOf = async (kind: "project" | "group", value: string): Promise<Place> =>
    (await look[kind](value)) ?? (/^\d+$/.test(value) ? { id: Number(value) } : { path: value });
  const isInside = async (kind: "project" | "group", place: Place) => {
    const now = await knownNow();
    return scopes.every((scope) => (kind === "project" ? holdsProject : holdsGroup)(scope, place, now));
  };
  return {
    look,
    isInside,
    placeOf,
    /** Whether an address is one of this GitLab's. */
    isHere: (url: URL): boolean => [...roots].some((root) => pathOnInstance(url.href, root) !== undefined),
    /** What an address of this GitLab names. */
    target: (address: string): Target | undefined => {
      for (const root of roots) {
        const found = parseTarget(address, root);
        if (found) return found;
      }
      return undefined;
    },
    holds: async (kind: "project" | "group", value: string) => !isClimbing(value) && isInside(kind, await placeOf(kind, value)),
    isAbove: async (value: string) => {
      const [place, now] = [await placeOf("group", value), await knownNow()];
      return scopes.every((scope) => standsAbove(scope, place, now) || holdsGroup(scope, place, now));
    },
  };
}

export type Judge = ReturnType<typeof createJudge>;

export const holdsNamed = async (judge: Judge, kind: Named, value: string): Promise<boolean> => {
  if (kind !== "namespace") return judge.holds(kind, value);
  return judge.holds("group", value);
};

const aboveOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Where a call is made: the project or group that it names itself. */
export interface Own {
  readonly kind: "project" | "group";
  readonly value: string;
}

export const ownOf = ({ project_id, group_id }: Readonly<Record<string, unknown>>): Own | undefined => {
  if (project_id !== undefined) return { kind: "project", value: toFullPath(String(project_id)) };
  return group_id === undefined ? undefined : { kind: "group", value: toFullPath(String(group_id)) };
};

/** Whether the group that the call's project stands in is inside as well. */
export async function holdsAbove(judge: Judge, own: Own | undefined): Promise<boolean> {
  if (!own) return false;
  const { path } = await judge.placeOf(own.kind, own.value);
  if (path === undefined) return false;
  return judge.holds("group", own.kind === "group" ? path : aboveOf(path));
}

const LONGEST_PATH = 1_000;

/** Pages of this GitLab itself: no project or group may be called so. */
const isPage = (path: string): boolean =>
  /^(?:help|users|dashboard|explore|admin|-\/(?:profile|user_settings))(?:\/|$)/.test(path) && !isClimbing(path);

/** Below a project nothing is but what belongs to it: its pages have addresses without a dash, too (`group/app/pipelines`). */
async function holdsPageOf(judge: Judge, path: string): Promise<boolean> {
  if (isClimbing(path) || path.length > LONGEST_PATH) return false;
  for (const { index } of path.matchAll(/\//g)) {
    const above = path.slice(0, index);
    // Only what the settings name is looked up: a text can hold many addresses.
    if ((await judge.isInside("project", { path: above })) && (await judge.holds("project", above))) return true;
  }
  return false;
}

const holdsEither = async (judge: Judge, path: string) => (await judge.holds("project", path)) || (await judge.holds("group", path));

/** One word before a mark is a project beside the call's own, or a group, if there is one of that name; else it is only a word. */
async function holdsShort(judge: Judge, word: string, own: Own | undefined): Promise<boolean> {
  const { look } = judge;
  const path = own && (await judge.placeOf(own.kind, own.value)).path;
  const beside = path === undefined ? [] : [`${own?.kind === "group" ? path : aboveOf(path)}/${word}`];
  for (const one of [...beside, word])
    if (((await look.project(one)) ?? (await look.group(one))) && !(await holdsEither(judge, one))) return false;
  return true;
}

/** Whether a place that a text leads to is inside. Addresses elsewhere, and people's, lead to no project. */
export async function holdsMention(judge: Judge, mention: Mention, own: Own | undefined): Promise<boolean> {
  const { kind, value } = mention;
  if (kind === "above") return holdsAbove(judge, own);
  if (kind === "short") return holdsShort(judge, value, own);
  if (kind === "path") return holdsEither(judge, toFullPath(value));
  const target = judge.target(value);
  const path = target?.project ?? target?.group;
  // One word is a person, or a group as people look at it.
  if (path === undefined || (target?.kind === undefined && !/\/|^\d+$/.test(path))) return true;
  // An address whose path alone tells what it is.
  const isBare = target?.kind === undefined && target?.group === undefined;
  if (isBare && isPage(path)) return true;
  return (await holdsEither(judge, path)) || (isBare && (await holdsPageOf(judge, path)));
}
