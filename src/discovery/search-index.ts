import { placeholders, routesOf } from "../catalog/route.ts";
import type { Action, Effect } from "../catalog/types.ts";
import { type DocVerb, VERB_CLASSES, type VerbClass, verbOf } from "./intent.ts";
import { createPostings, type Flat, flatten, type Postings, VERB } from "./postings.ts";
import { stem, wordsOf } from "./tokenize.ts";
import { WEIGHTS } from "./weights.ts";

/** One action as the index knows it. */
export interface Doc {
  readonly action: Action;
  readonly verb: VerbClass;
  /** Number of its verb class and effect. */
  readonly kind: number;
  /** For a verb of its own: the plain classes that it is a kind of, by number. */
  readonly kinds: readonly number[];
  /** The verb is one of its own: its words count as content. */
  readonly specific: boolean;
  /** By bit: the share that a term of the name has in its meaning. */
  readonly shares: ArrayLike<number>;
  readonly prior: number;
}

export interface SearchIndex {
  readonly docs: readonly Doc[];
  readonly postings: Postings;
  /** How telling a term is. */
  idf(term: string): number;
  /** Words as they stand in names and prose, and how often. */
  readonly words: ReadonlyMap<string, number>;
  /** Terms that name some action's resource. */
  readonly names: ReadonlySet<string>;
  /** Verbs of some action's own. */
  readonly acts: ReadonlySet<string>;
  /** What all of it is made from. */
  readonly flat: Flat;
}

const EMPTY_WORDS = new Set([
  "a",
  "an",
  "the",
  "of",
  "in",
  "on",
  "at",
  "to",
  "for",
  "from",
  "by",
  "with",
  "and",
  "or",
  "as",
  "is",
  "are",
  "be",
  "it",
  "its",
  "that",
  "this",
  "one",
  "not",
]);

/** The words of a merge request as one term. */
const MERGE_REQUEST = "merg_request";

/** Stems of a text; the words of a merge request become one term, since each alone means something else. */
export function termsOf(words: readonly string[]): string[] {
  const terms: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const next = words[at + 1];
    const merges = isMergeRequest(word, next);
    if (merges || word === "mr" || word === "mrs") {
      terms.push(MERGE_REQUEST);
      if (merges) at++;
    } else if (!EMPTY_WORDS.has(word)) terms.push(stem(word));
  }
  return terms;
}

/** Two and three terms side by side, as one term each. */
const pairs = (terms: readonly string[]) => [
  ...terms.slice(1).map((term, at) => `${terms[at]}_${term}`),
  ...terms.slice(2).map((term, at) => `${terms[at]}_${terms[at + 1]}_${term}`),
];

/** A bit for each term; terms side by side have the bits of both, so that a compound names what its parts name. */
export function bitsOf(terms: readonly string[]): Map<string, number> {
  const bits = new Map(terms.map((term, bit): [string, number] => [term, 1 << bit]));
  for (const pair of pairs(terms)) {
    if (bits.has(pair)) continue;
    bits.set(
      pair,
      pair.split("_").reduce((sum, part) => sum | (bits.get(part) ?? 0), 0),
    );
  }
  return bits;
}

/** Names that nearly every action has say nothing about any. */
const COMMON_PARAMS = new Set(["project_id", "group_id", "page", "per_page", "order_by", "sort", "cursor", "limit"]);

interface Name {
  readonly terms: readonly string[];
  /** The name as one term. */
  readonly whole: string;
}

/** Names and enum values come again and again: their terms are made once. */
const nameTerms = new Map<string, Name>();

function readName(name: string): Name {
  const known = nameTerms.get(name);
  if (known) return known;
  const made = { terms: termsOf(wordsOf(name)), whole: `=${name}` };
  if (nameTerms.size < 10_000) nameTerms.set(name, made);
  return made;
}

type Field = keyof typeof WEIGHTS.fields;

interface Draft {
  readonly docs: number[];
  readonly weights: number[];
  /** The field of the last action that was counted, so that a term counts once a field. */
  field: number;
}

/** A word of the texts: what it is counted under, and how often it was met. */
interface Lexeme {
  /** Nothing for words that say nothing. */
  readonly entry: Draft | undefined;
  count: number;
}

/** Gathers terms action by action, without a table for each and with one look-up a word. */
interface Gatherer {
  readonly lexemes: ReadonlyMap<string, Lexeme>;
  readonly postings: Map<string, Draft>;
  /** Adds the words of a text as one field of the action that is being read. */
  words(field: Field, words: readonly string[]): void;
  /** Adds ready terms as one field. */
  terms(field: Field, terms: readonly string[]): void;
  next(): void;
}

const isMergeRequest = (word: string, next: string | undefined) =>
  (word === "merge" || word === "pull") && (next === "request" || next === "requests");

function createGatherer(): Gatherer {
  const lexemes = new Map<string, Lexeme>();
  const postings = new Map<string, Draft>();
  let doc = -1;
  let field = 0;
  let share = 0;
  const entryOf = (term: string): Draft => {
    const known = postings.get(term);
    if (known) return known;
    const entry: Draft = { docs: [], weights: [], field: 0 };
    postings.set(term, entry);
    return entry;
  };
  const lexemeOf = (word: string): Lexeme => {
    const known = lexemes.get(word);
    if (known) return known;
    const lexeme: Lexeme = { entry: EMPTY_WORDS.has(word) ? undefined : entryOf(stem(word)), count: 0 };
    lexemes.set(word, lexeme);
    return lexeme;
  };
  const open = (name: Field, length: number) => {
    const weights = WEIGHTS.fields[name];
    field++;
    share = weights.weight / (1 + WEIGHTS.lengthNorm * Math.max(0, length / weights.length - 1));
  };
  const count = (entry: Draft) => {
    if (entry.field === field) return;
    entry.field = field;
    const last = entry.docs.length - 1;
    if (entry.docs[last] === doc) entry.weights[last] = (entry.weights[last] as number) + share;
    else {
      entry.docs.push(doc);
      entry.weights.push(share);
    }
  };
  return {
    lexemes,
    postings,
    next() {
      doc++;
    },
    words(name, words) {
      open(name, words.length);
      for (let at = 0; at < words.length; at++) {
        const word = words[at] as string;
        const lexeme = lexemeOf(word);
        lexeme.count++;
        if (isMergeRequest(word, words[at + 1])) {
          lexemeOf(words[++at] as string).count++;
          count(entryOf(MERGE_REQUEST));
        } else if (word === "mr" || word === "mrs") count(entryOf(MERGE_REQUEST));
        else if (lexeme.entry) count(lexeme.entry);
      }
    },
    terms(name, terms) {
      open(name, terms.length);
      for (const term of terms) count(entryOf(term));
    },
  };
}

function paramNames(action: Action): readonly string[] {
  const properties = action.schema?.properties;
  const names = properties && typeof properties === "object" ? Object.keys(properties) : Object.keys(action.params);
  return names.filter((name) => !COMMON_PARAMS.has(name));
}

/** Reads one action: all its fields, each with its weight. */
function read(action: Action, into: Gatherer): void {
  const idWords = wordsOf(action.id);
  const phrases = (action.keywords ?? []).map(wordsOf);
  into.next();
  into.words("id", idWords);
  into.words("tool", wordsOf(action.tool));
  into.words("title", wordsOf(action.title));
  into.words("about", wordsOf(action.about));
  into.words("toolset", wordsOf(action.toolset));
  into.words("keywords", phrases.flat());
  into.words("aliases", (action.aliases ?? []).flatMap(wordsOf));
  into.terms("pair", pairs(termsOf(idWords)));
  into.terms(
    "pair",
    phrases.flatMap((words) => pairs(termsOf(words))),
  );
  const literals = routesOf(action).flatMap(([, path]) => path.split("/").filter((part) => part !== "" && !part.startsWith("{")));
  into.terms(
    "path",
    literals.flatMap((name) => readName(name).terms),
  );
  const names = paramNames(action).map(readName);
  into.terms(
    "params",
    names.flatMap(({ terms }) => terms),
  );
  into.terms(
    "paramName",
    names.map(({ whole }) => whole),
  );
  const values = Object.values(action.params).flatMap((shape) => shape.enum ?? shape.items?.enum ?? []);
  into.terms(
    "enums",
    values.flatMap((name) => readName(name).terms),
  );
}

/** Likelihood of an action before anything is said. */
function priorOf(action: Action): number {
  const { essential, admin, depth } = WEIGHTS.prior;
  const ids = placeholders(action.http?.[1] ?? "").length;
  return (action.essential ? essential : 1) * (action.admin ? admin : 1) * (1 - depth * Math.max(0, ids - 2));
}

/** The terms that name the resource: the id without its generic verb (a domain of that name stays: `board_list`). */
function coreTerms(action: Action, verb: DocVerb): string[] {
  const cut = action.id.lastIndexOf(".");
  const domain = cut < 0 ? [] : wordsOf(action.id.slice(0, cut));
  const rest = wordsOf(action.id.slice(cut + 1));
  const kept = verb.specific ? rest : rest.filter((word) => !verb.words.includes(word));
  const terms = [...new Set([...termsOf(domain), ...termsOf(kept)])];
  return terms.length > 0 ? terms : [...new Set(termsOf(wordsOf(action.id)))];
}

const EFFECTS: readonly Effect[] = ["read", "write", "destructive"];

/** Number of a verb class and an effect. */
export const kindOf = (verb: VerbClass, effect: Effect): number => VERB_CLASSES.indexOf(verb) * EFFECTS.length + EFFECTS.indexOf(effect);

/** How telling a term is among so many actions. */
export function idfOver(postings: Postings, actions: number): (term: string) => number {
  return (term) => {
    const count = postings.count(term);
    return count > 0 ? Math.log(1 + actions / count) ** WEIGHTS.idfPower : 0;
  };
}

/** Bits of a name's terms, no more than a number holds beside the mark of the verb. */
const MOST_TERMS = 28;

/** Writes beside each posting of an action which parts of its name the term stands for. */
function markNames(postings: Postings, doc: number, bits: ReadonlyMap<string, number>, verbs: Iterable<string>): void {
  const mark = (term: string, bit: number) => {
    const found = postings.get(term);
    const at = found ? Array.prototype.indexOf.call(found.docs, doc) : -1;
    if (found && at >= 0) (found.bits as Int32Array)[at] = (found.bits[at] ?? 0) | bit;
  };
  for (const [term, bit] of bits) mark(term, bit);
  for (const term of verbs) mark(term, VERB);
}

function toDoc(action: Action, at: number, index: Pick<SearchIndex, "postings" | "idf">, names: Set<string>, acts: Set<string>): Doc {
  const verb = verbOf(action);
  const terms = coreTerms(action, verb).slice(0, MOST_TERMS);
  const total = terms.reduce((sum, term) => sum + index.idf(term), 0) || 1;
  const bits = bitsOf(terms);
  markNames(index.postings, at, bits, new Set(verb.words.map(stem)));
  for (const term of bits.keys()) names.add(term);
  if (verb.specific) acts.add(stem(wordsOf(action.tool)[0] ?? ""));
  return {
    action,
    verb: verb.verb,
    kind: kindOf(verb.verb, action.effect),
    kinds: verb.kinds.map((kind) => VERB_CLASSES.indexOf(kind)),
    specific: verb.specific,
    shares: Float32Array.from(terms, (term) => index.idf(term) / total),
    prior: Math.fround(priorOf(action)),
  };
}

/** The index over all actions. Building it reads every row once. */
export function buildIndex(actions: readonly Action[]): SearchIndex {
  const gatherer = createGatherer();
  for (const action of actions) read(action, gatherer);
  const { postings: lists, lexemes } = gatherer;
  for (const [term, { docs, weights }] of lists) {
    if (docs.length === 0) lists.delete(term);
    for (let at = 0; at < weights.length; at++) weights[at] = (weights[at] as number) / ((weights[at] as number) + WEIGHTS.saturation);
  }
  const flat = flatten(lists);
  const postings = createPostings(flat);
  const idf = idfOver(postings, actions.length);
  const names = new Set<string>();
  const acts = new Set<string>();
  const docs = actions.map((action, at) => toDoc(action, at, { postings, idf }, names, acts));
  return { docs, postings, idf, words: new Map([...lexemes].map(([word, { count }]) => [word, count])), names, acts, flat };
}
