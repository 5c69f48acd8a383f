import { GITLAB } from "../catalog/load.ts";
import type { Action } from "../catalog/types.ts";
import { buildAsks, type ReadyAsks } from "./asks.ts";
import { type Indexes, readPrebuilt } from "./prebuilt.ts";
import { type Item, parseQuery } from "./query.ts";
import { remember } from "./remember.ts";
import { createScorer, type Scorer } from "./score.ts";
import { buildIndex, type SearchIndex } from "./search-index.ts";
import { stem } from "./tokenize.ts";
import type { Lexicon } from "./translate.ts";
import { type Corrector, createCorrector, type Target } from "./typo.ts";
import { type Language, loadVocabulary } from "./vocabulary.ts";

/** Everything that finding needs to know about one list of actions. */
export interface Engine extends Indexes {
  readonly lexicon: Lexicon;
  readonly scorer: Scorer;
}

const toTargets = (entries: Iterable<readonly [string, number]>): Target[] => [...entries].map(([word, weight]) => ({ word, weight }));

function correctors(index: SearchIndex): Pick<Lexicon, "corrector" | "correctorOf"> {
  const isWord = (word: string) => word.length > 2 && /^[a-z]+$/.test(word);
  const makeOwn = () => {
    const weights = new Map<string, number>();
    for (const word of loadVocabulary().english.phrases.parts) if (isWord(word)) weights.set(word, 0.1);
    for (const [word, count] of index.words) if (isWord(word)) weights.set(word, 0.1 + 0.06 * Math.log2(1 + count));
    return createCorrector(toTargets(weights));
  };
  let own: Corrector | undefined;
  const others = new Map<string, Corrector>();
  return {
    corrector: {
      correct(word, bold) {
        own ??= makeOwn();
        return own.correct(word, bold);
      },
    },
    correctorOf(language: Language) {
      const known = others.get(language.name);
      if (known) return known;
      const parts = [...language.phrases.parts].map((part) => part.replace(/\*$/, "")).filter((part) => part.length > 4);
      const made = createCorrector(toTargets(parts.map((part): [string, number] => [part, 0])));
      others.set(language.name, made);
      return made;
    },
  };
}

function toLexicon(index: SearchIndex): Lexicon {
  const vocabulary = loadVocabulary();
  return {
    vocabulary,
    speaks: remember((word) => vocabulary.english.phrases.has(word) || index.postings.has(stem(word))),
    knows: (term) => index.postings.has(term),
    names: (term) => index.names.has(term),
    acts: (term) => index.acts.has(term),
    writes: (word) => index.words.has(word),
    ...correctors(index),
  };
}

/** Both indexes, made on the spot. */
export function buildIndexes(actions: readonly Action[], ready?: ReadyAsks): Indexes {
  const index = buildIndex(actions);
  return { index, asks: buildAsks(actions, toLexicon(index), ready) };
}

/** Our rows are read beforehand; where other servers' tools stand behind them, at least how people ask for ours is. */
function readIndexes(actions: readonly Action[]): Indexes {
  const own = actions.filter(({ source }) => source === GITLAB);
  const isFirst = own.every((action, at) => action === actions[at]);
  const ready = isFirst ? readPrebuilt(own) : undefined;
  if (ready && own.length === actions.length) return ready;
  return buildIndexes(actions, ready && { asks: ready.asks, actions: own.length });
}

/** What was made last: sessions over the same rows share it. */
let last: { readonly actions: readonly Action[]; readonly engine: Engine } | undefined;

const areSame = (some: readonly Action[], others: readonly Action[]) =>
  some.length === others.length && some.every((action, at) => action === others[at]);

export function createEngine(actions: readonly Action[], ready?: Indexes): Engine {
  if (!ready && last && areSame(last.actions, actions)) return last.engine;
  const { index, asks } = ready ?? readIndexes(actions);
  const engine = { index, asks, lexicon: toLexicon(index), scorer: createScorer(index, asks) };
  if (!ready) last = { actions: [...actions], engine };
  return engine;
}

/** What a query says; typing mistakes are mended only where the words as they stand find little. */
export function readQuery(query: string, { lexicon }: Pick<Engine, "lexicon">): Item[] {
  const plain = parseQuery(query, lexicon, false);
  const unknown = plain.filter((item) => item.group && !item.group.terms.some(({ term }) => lexicon.knows(term))).length;
  const said = plain.filter((item) => item.group || item.verbs).length;
  return unknown > 0 && (said <= 10 || unknown === said) ? parseQuery(query, lexicon, true) : plain;
}
