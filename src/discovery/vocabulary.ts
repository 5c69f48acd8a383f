import { readFileSync } from "node:fs";
import { createFlatPhrases, createPhrases, type Phrases, type Spellings } from "./phrases.ts";
import { stem } from "./tokenize.ts";

/** Latin and Cyrillic languages: whole words, `*` closes a stem. */
const WORD_LANGUAGES = ["es", "de", "fr", "pt", "ru"] as const;
/** Languages without dependable spaces: cut by the longest known piece. */
const RUN_LANGUAGES = ["ja", "zh", "ko"] as const;
/** All of them, English first. */
export const LANGUAGES: readonly string[] = ["en", ...WORD_LANGUAGES, ...RUN_LANGUAGES];

/** A language as it stands in `data/find-<language>.json`. */
interface LanguageData {
  /** Words that carry no wish. */
  readonly stop: readonly string[];
  readonly of?: readonly string[];
  /** Characters that are read as another, in pairs (traditional, simplified). */
  readonly folded?: string;
  /** Letters that may follow a `*` stem. */
  readonly endings?: number;
  readonly plain?: readonly string[];
  /** How words end that stand for several. */
  readonly plural?: string;
  /** Verbs of two words that may stand apart (`turn it off`). */
  readonly apart?: readonly string[];
  /** Phrase → canonical words (see `query.ts` for their marks). */
  readonly phrases: Readonly<Record<string, string>>;
}

export interface Language {
  readonly name: string;
  readonly stop: ReadonlySet<string>;
  /** Small words that put the whole after its part. */
  readonly of: ReadonlySet<string>;
  /** Ordinary words that are never taken for typing mistakes. */
  readonly plain: ReadonlySet<string>;
  readonly plural?: RegExp;
  readonly phrases: Phrases;
  /** First word → the small words that may follow later. */
  readonly apart: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface RunLanguage {
  readonly name: string;
  /** English words for a run of characters, in order, and how many characters were understood. */
  translate(run: string): { readonly words: readonly string[]; readonly known: number };
}

export interface Vocabulary {
  readonly english: Language;
  readonly words: readonly Language[];
  readonly runs: readonly RunLanguage[];
}

const readData = (name: string): LanguageData =>
  JSON.parse(readFileSync(new URL(`./data/find-${name}.json`, import.meta.url), "utf8")) as LanguageData;

/** The word itself, then the stems that it may be an inflection of, longest first. */
function starSpellings(endings: number): Spellings {
  return (word) => {
    const spellings = [word];
    for (let length = word.length; length >= Math.max(2, word.length - endings); length--) spellings.push(`${word.slice(0, length)}*`);
    return spellings;
  };
}

function toApart(pairs: readonly string[] = []): Map<string, Set<string>> {
  const apart = new Map<string, Set<string>>();
  for (const pair of pairs) {
    const [verb = "", particle = ""] = pair.split(" ");
    apart.set(verb, (apart.get(verb) ?? new Set()).add(particle));
  }
  return apart;
}

function loadWordLanguage(name: string): Language {
  const data = readData(name);
  return {
    name,
    stop: new Set(data.stop),
    of: new Set(data.of),
    plain: new Set(data.plain),
    ...(data.plural ? { plural: new RegExp(`(?:${data.plural})$`) } : {}),
    apart: toApart(data.apart),
    phrases: createPhrases(Object.entries(data.phrases), starSpellings(data.endings ?? 5)),
  };
}

function loadEnglish(): Language {
  const data = readData("en");
  const stop = new Set(data.stop);
  return {
    name: "en",
    stop,
    of: new Set(data.of),
    plain: new Set(data.plain),
    apart: toApart(data.apart),
    phrases: createFlatPhrases(Object.entries(data.phrases), stem, stop),
  };
}

function loadRunLanguage(name: string): RunLanguage {
  const data = readData(name);
  const table = new Map<string, string>();
  const marks = [...(data.folded ?? "")];
  const folded = new Map(marks.flatMap((mark, at): [string, string][] => (at % 2 === 0 ? [[mark, marks[at + 1] ?? mark]] : [])));
  const toPlain = (text: string) => (folded.size === 0 ? text : Array.from(text, (mark) => folded.get(mark) ?? mark).join(""));
  for (const [key, value] of [...data.stop.map((word) => [word, ""] as const), ...Object.entries(data.phrases)])
    table.set(toPlain(key.replaceAll(" ", "")), value);
  const most = Math.max(...[...table.keys()].map((key) => key.length));
  return {
    name,
    translate(said) {
      const run = toPlain(said);
      const words: string[] = [];
      let known = 0;
      for (let at = 0; at < run.length; ) {
        let length = Math.min(most, run.length - at);
        while (length > 0 && !table.has(run.slice(at, at + length))) length--;
        if (length > 0) words.push(...(table.get(run.slice(at, at + length)) ?? "").split(" ").filter(Boolean));
        known += length;
        at += Math.max(length, 1);
      }
      return { words, known };
    },
  };
}

let vocabulary: Vocabulary | undefined;

/** Filled when first asked for; may be replaced. */
function lazily<T extends object, K extends keyof T>(target: T, key: K, make: () => T[K]): void {
  const keep = (value: T[K]) => Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get: () => {
      const value = make();
      keep(value);
      return value;
    },
    set: keep,
  });
}

/** The word lists: English on first use, the others when a word is met that is not English. */
export function loadVocabulary(): Vocabulary {
  if (vocabulary) return vocabulary;
  const made: Vocabulary = { english: loadEnglish(), words: [], runs: [] };
  lazily(made, "words", () => WORD_LANGUAGES.map(loadWordLanguage));
  lazily(made, "runs", () => RUN_LANGUAGES.map(loadRunLanguage));
  vocabulary = made;
  return made;
}
