import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { leadsIn } from "../policy/scope-text.ts";
import { placeOfItem } from "./item-place.ts";
import { holdsMention, type Judge, ownOf } from "./scope-places.ts";
import { isPlain } from "./slim.ts";

/** An answer without what in it belongs outside. */
export interface Cleaned {
  readonly value: unknown;
  /** Something was left out. */
  readonly cut: boolean;
}

/** Renderings of texts that stand beside them: they carry the titles of what is referred to, wherever that is. */
const RENDERED = /_html$/;

/** GitLab's own notes on what was done elsewhere (mentioned in, moved to …): it hides them itself from those who may not see the place. */
export async function isNoteFromOutside(item: unknown, judge: Judge): Promise<boolean> {
  if (!isPlain(item) || item.system !== true || typeof item.body !== "string") return false;
  const own = ownOf({ project_id: item.project_id ?? undefined });
  const inside = await Promise.all(leadsIn(item.body).map((lead) => holdsMention(judge, lead, own)));
  return inside.includes(false);
}

/** Whether something inside an answer may be shown: what tells no place, what is inside, and what stands above it (a milestone of the group). */
async function isShown(item: unknown, judge: Judge): Promise<boolean> {
  if (await isNoteFromOutside(item, judge)) return false;
  const told = placeOfItem(item, judge.target);
  if (!told) return true;
  const { kind, place } = told;
  if (await judge.isInside(kind, place)) return true;
  if (place.path === undefined && (await judge.holds(kind, String(place.id)))) return true;
  return kind === "group" && judge.isAbove(place.path ?? String(place.id));
}

/** Leaves out every object of another project or group, at any depth; the outermost is the caller's to judge. */
export async function clean(value: unknown, judge: Judge): Promise<Cleaned> {
  let cut = false;
  const walk = async (inner: unknown): Promise<unknown> => {
    if (Array.isArray(inner)) {
      const shown = await Promise.all(inner.map((item) => isShown(item, judge)));
      cut ||= shown.includes(false);
      return Promise.all(inner.filter((_item, at) => shown[at]).map(walk));
    }
    if (!isPlain(inner)) return inner;
    const entries: [string, unknown][] = [];
    for (const [key, part] of Object.entries(inner)) {
      if (RENDERED.test(key)) continue;
      if (Array.isArray(part) || !isPlain(part) || (await isShown(part, judge))) entries.push([key, await walk(part)]);
      else cut = true;
    }
    return Object.fromEntries(entries);
  };
  return { value: await walk(value), cut };
}

type Plain = Readonly<Record<string, unknown>>;

const MERGED = ["merged_yaml", "jobs"];
/** They quote what they are about. */
const FAULTS = ["errors", "warnings"];

/**
 * What a check of a CI configuration tells of files that it includes from other projects: with any of them, or where that is not told,
 * the merged text is left out, and what is said to be wrong with it.
 */
export async function cleanLint(value: unknown, judge: Judge): Promise<Cleaned> {
  if (!isPlain(value)) return { value, cut: false };
  const includes = Array.isArray(value.includes) ? (value.includes as readonly unknown[]).filter(isPlain) : undefined;
  const isOurs = async ({ type, extra, context_project }: Plain): Promise<boolean> => {
    const named = isPlain(extra) ? extra.project : undefined;
    const places = [context_project, named].filter((place) => typeof place === "string" && place !== "") as string[];
    if (/file|component/.test(String(type)) && typeof named !== "string") return false;
    return (await Promise.all(places.map((place) => judge.holds("project", place)))).every(Boolean);
  };
  const ours = includes ? await Promise.all(includes.map(isOurs)) : [];
  if (includes && ours.every(Boolean)) return { value, cut: false };
  const hidden = includes ? [...MERGED, ...FAULTS] : MERGED;
  const kept = Object.entries(value).filter(([key]) => !hidden.includes(key));
  const shown = includes ? { includes: includes.filter((_one, at) => ours[at]) } : {};
  return { value: { ...Object.fromEntries(kept), ...shown }, cut: hidden.some((key) => key in value) };
}

const CUT = "parts that belong to other projects or groups than this server allows are left out";

/** The outcome made of what may be shown of an answer; where something is left out, that is told. */
export async function shownPart(
  body: unknown,
  { action }: Pick<Call, "action">,
  { scope }: Pick<CallContext, "scope">,
  toOutcome: (body: unknown) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  if (!scope) return await toOutcome(body);
  const { value, cut } = await scope.part(body, action.effect);
  const outcome = await toOutcome(value);
  return cut ? ({ ...outcome, filtered: CUT } as Outcome) : outcome;
}
