import { otherName } from "../catalog/load.ts";
import type { Action, Effect } from "../catalog/types.ts";
import { createEngine, type Engine, readQuery } from "./engine.ts";
import { type Hit, wordsFor } from "./score.ts";
import { stem, wordsOf } from "./tokenize.ts";
import { distance } from "./typo.ts";
import { WEIGHTS } from "./weights.ts";

export interface FindOptions {
  /** Rows wanted; 5 when absent, never more than 50. */
  readonly limit?: number;
  readonly toolset?: string;
  readonly effect?: Effect;
  readonly permitted: (action: Action) => boolean;
  /** Adds reasons; never changes the ranking. */
  readonly explain?: boolean;
}

export interface FindResult {
  readonly action: Action;
  readonly score: number;
  /** The query is this action's id, tool name or alias. */
  readonly exact?: boolean;
  readonly why?: readonly string[];
}

export interface FindAnswer {
  readonly query: string;
  /** How many permitted actions matched well, shown or not. */
  readonly count: number;
  readonly confident: boolean;
  readonly results: readonly FindResult[];
  /** Matched but not permitted, best first, at most ten. */
  readonly withheld: readonly Action[];
  /** Where nothing matched: the nearest ids and toolsets. */
  readonly suggestions: readonly string[];
}

export interface Finder {
  find(query: string, options: FindOptions): FindAnswer;
}

interface Built extends Engine {
  readonly actions: readonly Action[];
  readonly exact: ReadonlyMap<string, readonly number[]>;
}

const nameKey = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[.\-/:]+/g, "_");

function exactNames(actions: readonly Action[]): Map<string, number[]> {
  const names = new Map<string, number[]>();
  actions.forEach((action, doc) => {
    for (const name of new Set([action.id, action.tool, ...(action.aliases ?? [])].map(nameKey))) {
      const list = names.get(name) ?? [];
      list.push(doc);
      names.set(name, list);
    }
  });
  return names;
}

const build = (actions: readonly Action[]): Built => ({ ...createEngine(actions), actions, exact: exactNames(actions) });

/** Ids as they are compared, made once for each. */
const shapes = new WeakMap<Action, { readonly key: string; readonly stems: readonly string[] }>();

function shapeOf(action: Action): { readonly key: string; readonly stems: readonly string[] } {
  const known = shapes.get(action) ?? { key: nameKey(action.id), stems: wordsOf(action.id).map(stem) };
  shapes.set(action, known);
  return known;
}

/** Longer than any name. */
const MAX_NAME = 100;

/** Ids and toolsets that look like the query, best first. */
function suggest(query: string, built: Built, options: FindOptions): string[] {
  const wanted = nameKey(query).slice(0, 40);
  const words = new Set(wordsOf(wanted).map(stem));
  const near = (query.trim().length > MAX_NAME ? [] : built.actions)
    .filter((action) => inScope(action, options) && options.permitted(action))
    .map((action) => {
      const { key, stems } = shapeOf(action);
      const shared = stems.filter((word) => words.has(word)).length;
      return { id: action.id, cost: distance(wanted, key, 8) - 3 * shared };
    })
    .filter(({ cost }) => cost <= Math.max(4, wanted.length / 2))
    .sort((a, b) => a.cost - b.cost || (a.id < b.id ? -1 : 1))
    .slice(0, 5)
    .map(({ id }) => id);
  if (near.length > 0) return near;
  const toolsets = new Set(
    built.actions.filter((action) => inScope(action, options) && options.permitted(action)).map(({ toolset }) => toolset),
  );
  return [...toolsets].slice(0, 10);
}

const inScope = (action: Action, { toolset, effect }: FindOptions) =>
  (toolset === undefined || nameKey(action.toolset) === nameKey(toolset)) && (effect === undefined || action.effect === effect);

/** Actions that a name stands for: an id, a tool name or an alias of ours, else what another GitLab server calls it. */
function named(name: string, { exact }: Built): readonly number[] {
  if (name.length > MAX_NAME) return [];
  const own = exact.get(nameKey(name));
  if (own || !/^[a-z0-9]+(?:[._-][a-z0-9]+)+$/i.test(name)) return own ?? [];
  const other = otherName(name) ?? otherName(name.toLowerCase()) ?? otherName(nameKey(name));
  return other === undefined ? [] : (exact.get(nameKey(other)) ?? []);
}

/** Words with a point or an underscore inside. It begins nowhere within a word, so that a long one is read once. */
const NAMES = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[._][A-Za-z0-9]+)+/g;

/** Exact names in the query: the whole of it, or a word of it that can only be a name. */
function exactHits(query: string, built: Built): { readonly whole: readonly number[]; readonly inside: readonly number[] } {
  const whole = named(query.trim(), built);
  if (whole.length > 0) return { whole, inside: [] };
  const words = query.slice(0, 2_000).match(NAMES) ?? [];
  return { whole, inside: words.flatMap((word) => named(word, built)) };
}

/**
 * A destructive action that was not asked for in so many words never stands first, and never alone: without a better answer among what
 * the caller may use, it is left out. Only a caller who filters for destructive actions has asked for them otherwise.
 */
function guard(hits: readonly Hit[], built: Built, exact: ReadonlySet<number>): Hit[] {
  const free = (hit: Hit) => hit.licensed || exact.has(hit.doc);
  const isSafe = (hit: Hit) => built.index.docs[hit.doc]?.action.effect !== "destructive" || free(hit);
  const first = hits.find(isSafe);
  if (!first) return [];
  const least = first.score * WEIGHTS.cut;
  return hits
    .filter(({ score }) => score >= least)
    .map((hit) => (isSafe(hit) ? hit : { ...hit, score: Math.min(hit.score * 0.5, first.score * 0.9) }))
    .sort((a, b) => b.score - a.score || a.doc - b.doc);
}

function rank(query: string, built: Built): { hits: Hit[]; exact: Set<number> } {
  const names = exactHits(query, built);
  // An id or a tool name says all: what is near it would only cost its reader.
  if (names.whole.length > 0 && /[a-z0-9][._]/i.test(query))
    return { hits: names.whole.map((doc) => ({ doc, score: 1, coverage: 1, licensed: true })), exact: new Set(names.whole) };
  const found = built.scorer.score(readQuery(query, built));
  const exact = new Set(names.whole);
  const lift = new Map<number, number>();
  const top = Math.max(1, found[0]?.score ?? 1);
  for (const doc of names.inside) lift.set(doc, top * 1.5);
  for (const doc of names.whole) lift.set(doc, top * 3);
  if (lift.size === 0) return { hits: found, exact };
  const lifted = found.map((hit) => ({ ...hit, score: hit.score + (lift.get(hit.doc) ?? 0), licensed: hit.licensed || lift.has(hit.doc) }));
  const missing = [...lift].filter(([doc]) => !found.some((hit) => hit.doc === doc));
  for (const [doc, score] of missing) lifted.push({ doc, score, coverage: 1, licensed: true });
  return { hits: lifted.sort((a, b) => b.score - a.score || a.doc - b.doc), exact };
}

function isConfident(hits: readonly Hit[], exact: ReadonlySet<number>): boolean {
  const [first, second] = hits;
  if (!first) return false;
  if (exact.size > 0) return exact.size === 1;
  const { coverage, margin } = WEIGHTS.confident;
  return first.licensed && first.coverage >= coverage && (second === undefined || (first.score - second.score) / first.score >= margin);
}

function toResult(hit: Hit, built: Built, exact: ReadonlySet<number>, explain: boolean): FindResult[] {
  const doc = built.index.docs[hit.doc];
  if (!doc) return [];
  return [
    {
      action: doc.action,
      score: Math.round(hit.score * 1000) / 1000,
      ...(exact.has(hit.doc) ? { exact: true } : {}),
      ...(explain ? { why: [...wordsFor(hit, built.index), `${doc.verb}, ${doc.action.effect}`] } : {}),
    },
  ];
}

const MOST_WITHHELD = 10;

/** Finds actions by what people say. The index is built on first use and again when the list of actions is another one. */
export function createFinder(actions: () => readonly Action[]): Finder {
  let built: Built | undefined;
  return {
    find(query, options) {
      const now = actions();
      if (!built || built.actions !== now) built = build(now);
      const known = built;
      const { hits, exact } = rank(query, known);
      const best = hits.find((hit) => inScope(known.actions[hit.doc] as Action, options))?.score ?? 0;
      const permitted: Hit[] = [];
      const withheld: Action[] = [];
      for (const hit of hits) {
        const action = known.actions[hit.doc] as Action;
        if (!inScope(action, options)) continue;
        if (options.permitted(action)) permitted.push(hit);
        else if (withheld.length < MOST_WITHHELD && hit.score >= best * WEIGHTS.withheldCut) withheld.push(action);
      }
      const guarded = options.effect === "destructive" ? permitted : guard(permitted, known, exact);
      const allowed = guarded.filter((hit) => hit.score >= (guarded[0]?.score ?? 0) * WEIGHTS.cut);
      const limit = Math.min(50, Math.max(1, Math.trunc(options.limit ?? 5) || 5));
      return {
        query,
        count: allowed.length,
        confident: isConfident(allowed, exact),
        results: allowed.slice(0, limit).flatMap((hit) => toResult(hit, known, exact, options.explain ?? false)),
        withheld,
        suggestions: allowed.length === 0 ? suggest(query, known, options) : [],
      };
    },
  };
}
