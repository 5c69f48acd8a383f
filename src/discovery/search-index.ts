import { placeholders, routesOf } from "../catalog/route.ts";
import type { Action } from "../catalog/types.ts";
import { type DocVerb, VERB_CLASSES, verbOf } from "./intent.ts";
import { stem, wordsOf } from "./tokenize.ts";
import { WEIGHTS } from "./weights.ts";

/** One action as the index knows it. */
export interface Doc {
  readonly action: Action;
  readonly verb: DocVerb;
  /** Stems that name the verb. */
  readonly verbTerms: ReadonlySet<string>;
  /** Number of its verb class and effect. */
  readonly kind: number;
  /** A bit for each term of the resource (and of a verb of its own). */
  readonly bits: ReadonlyMap<string, number>;
  /** By bit: the term's share of the id's meaning. */
  readonly shares: readonly number[];
  readonly prior: number;
}

export interface Posting {
  readonly doc: number;
  /** Saturated weight of the term in the action, 0 to 1. */
  readonly weight: number;
}

export interface SearchIndex {
  readonly docs: readonly Doc[];
  readonly postings: ReadonlyMap<string, readonly Posting[]>;
  /** How telling a term is. */
  idf(term: string): number;
  /** Words as they stand in the texts, with the number of actions that use them. */
  readonly words: ReadonlyMap<string, number>;
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

/** Stems of a text; the words of a merge request become one term, since each alone means something else. */
export function termsOf(words: readonly string[]): string[] {
  const terms: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const next = words[at + 1] ?? "";
    const merges = (word === "merge" || word === "pull") && /^requests?$/.test(next);
    if (merges || word === "mr" || word === "mrs") {
      terms.push("merg_request");
      if (merges) at++;
    } else if (!EMPTY_WORDS.has(word)) terms.push(stem(word));
  }
  return terms;
}

const pairs = (terms: readonly string[]) => terms.slice(1).map((term, at) => `${terms[at]}_${term}`);

/** Names that nearly every action has say nothing about any. */
const COMMON_PARAMS = new Set(["project_id", "group_id", "page", "per_page", "order_by", "sort", "cursor", "limit"]);

/** Names and enum values come again and again: their terms are made once. */
const nameTerms = new Map<string, readonly string[]>();

function termsOfName(name: string): readonly string[] {
  const known = nameTerms.get(name);
  if (known) return known;
  const made = termsOf(wordsOf(name));
  if (nameTerms.size < 10_000) nameTerms.set(name, made);
  return made;
}

type Field = keyof typeof WEIGHTS.fields;

/** Weighted, length-normalised terms of one field, added up; a term counts once a field. */
function addField(into: Map<string, number>, field: Field, terms: readonly string[], words: number): void {
  const { weight, length } = WEIGHTS.fields[field];
  const share = weight / (1 + WEIGHTS.lengthNorm * Math.max(0, words / length - 1));
  for (let at = 0; at < terms.length; at++) {
    const term = terms[at] as string;
    if (terms.indexOf(term) === at) into.set(term, (into.get(term) ?? 0) + share);
  }
}

function paramNames(action: Action): readonly string[] {
  const properties = action.schema?.properties;
  const names = properties && typeof properties === "object" ? Object.keys(properties) : Object.keys(action.params);
  return names.filter((name) => !COMMON_PARAMS.has(name));
}

/** Terms of all fields with their summed weights. `note` hears the words of everything that is prose or a name of the action. */
function weigh(action: Action, note: (words: readonly string[]) => void): Map<string, number> {
  const into = new Map<string, number>();
  const addText = (field: Field, text: string) => {
    const words = wordsOf(text);
    note(words);
    const terms = termsOf(words);
    addField(into, field, terms, words.length);
    return terms;
  };
  addField(into, "pair", pairs(addText("id", action.id)), 1);
  addText("tool", action.tool);
  addText("title", action.title);
  addText("about", action.about);
  addText("toolset", action.toolset);
  const keywords = action.keywords ?? [];
  addText("keywords", keywords.join(" "));
  addField(
    into,
    "pair",
    keywords.flatMap((keyword) => pairs(termsOf(wordsOf(keyword)))),
    1,
  );
  addText("aliases", (action.aliases ?? []).join(" "));
  const literals = routesOf(action).flatMap(([, path]) => path.split("/").filter((part) => !part.startsWith("{")));
  addNames(into, "path", literals);
  const names = paramNames(action);
  addNames(into, "params", names);
  addField(
    into,
    "paramName",
    names.map((name) => `=${name}`),
    1,
  );
  const shapes = Object.values(action.params);
  addNames(
    into,
    "enums",
    shapes.flatMap((shape) => shape.enum ?? shape.items?.enum ?? []),
  );
  return into;
}

function addNames(into: Map<string, number>, field: Field, names: readonly string[]): void {
  const terms = [...new Set(names.flatMap(termsOfName))];
  addField(into, field, terms, terms.length);
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

const EFFECTS = ["read", "write", "destructive"];

/** The index over all actions. Building it reads every row once. */
export function buildIndex(actions: readonly Action[]): SearchIndex {
  const words = new Map<string, number>();
  const raw = actions.map((action) => {
    const seen = new Set<string>();
    const weights = weigh(action, (said) => {
      for (const word of said) seen.add(word);
    });
    for (const word of seen) words.set(word, (words.get(word) ?? 0) + 1);
    return weights;
  });
  const postings = new Map<string, Posting[]>();
  raw.forEach((weights, doc) => {
    for (const [term, weight] of weights) {
      const list = postings.get(term) ?? [];
      list.push({ doc, weight: weight / (weight + WEIGHTS.saturation) });
      postings.set(term, list);
    }
  });
  const idf = (term: string) => {
    const found = postings.get(term);
    if (!found) return 0;
    return Math.log(1 + actions.length / found.length) ** WEIGHTS.idfPower;
  };
  const docs = actions.map((action): Doc => {
    const verb = verbOf(action);
    const terms = coreTerms(action, verb).slice(0, 30);
    const total = terms.reduce((sum, term) => sum + idf(term), 0) || 1;
    const kind = VERB_CLASSES.indexOf(verb.verb) * 3 + EFFECTS.indexOf(action.effect);
    return {
      action,
      verb,
      verbTerms: new Set(verb.words.map(stem)),
      kind,
      bits: new Map(terms.map((term, bit): [string, number] => [term, 1 << bit])),
      shares: terms.map((term) => idf(term) / total),
      prior: priorOf(action),
    };
  });
  return { docs, postings, idf, words };
}
