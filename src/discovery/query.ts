import { fold, isPlural, isRun, stem, type Token, tokenize } from "./tokenize.ts";
import type { Corrector } from "./typo.ts";
import type { Language, Vocabulary } from "./vocabulary.ts";

/** One thing that was said: a term with its alternatives, best first. */
export interface Group {
  readonly terms: readonly { readonly term: string; readonly weight: number }[];
  /** The words as they stood, for `why`. */
  readonly said: string;
  readonly fuzzy: boolean;
  readonly weight: number;
}

/** One step of a query: a group, a verb, a question, or a break between clauses. */
export interface Item {
  readonly group?: Group;
  readonly verbs?: readonly string[];
  readonly asks?: boolean;
  readonly plural?: boolean;
  readonly fuzzy: boolean;
  readonly start: boolean;
  readonly cue: boolean;
}

export interface Lexicon {
  readonly vocabulary: Vocabulary;
  /** True if some text of the catalog has this stem. */
  knows(term: string): boolean;
  /** True if some text of the catalog has the word as it is written. */
  writes(word: string): boolean;
  readonly corrector: Corrector;
  /** Corrections of a language's own words. */
  correctorOf(language: Language): Corrector;
}

interface Word {
  readonly word: string;
  readonly start: boolean;
  readonly fuzzy: boolean;
  readonly quoted: boolean;
}

const REFERENCE = /\d/;

/** The other language that most words speak, if any. */
function languageOf(words: readonly string[], lexicon: Lexicon): Language | undefined {
  const { english, words: languages } = lexicon.vocabulary;
  const isEnglish = (word: string) => english.stop.has(word) || english.phrases.has(word) || lexicon.knows(stem(word));
  let best: Language | undefined;
  let most = 0;
  const foreign = words.filter((word) => !isEnglish(word) && !REFERENCE.test(word));
  const home = words.length - foreign.length;
  for (const language of languages) {
    const isKnown = (word: string) => language.stop.has(word) || language.phrases.has(word);
    const own = foreign.filter(isKnown).length;
    if (own === 0) continue;
    const shared = words.filter(isKnown).length;
    const strangers = home - (shared - own);
    const score = own * 2 + shared * 0.5 - strangers * 0.5;
    if (score > most) {
      most = score;
      best = language;
    }
  }
  return best;
}

/** German (and other) compounds: known pieces, with a linking letter or two between. */
function split(word: string, isPiece: (piece: string) => boolean): string[] | undefined {
  for (let at = word.length - 3; at >= 3; at--) {
    const head = word.slice(0, at);
    const tail = word.slice(at);
    if (!isPiece(tail)) continue;
    if (isPiece(head)) return [head, tail];
    const bare = [head.replace(/s$/, ""), head.replace(/e?n$/, "")].find((piece) => piece.length >= 3 && piece !== head && isPiece(piece));
    if (bare) return [bare, tail];
    const deeper = head.length >= 6 ? split(head, isPiece) : undefined;
    if (deeper) return [...deeper, tail];
  }
  return undefined;
}

const VERBS = new Set(["list", "get", "create", "update", "delete"]);

/** Alternatives in a language's value name verbs plainly; from here on they carry the mark. */
const canonical = (said: string) =>
  said.includes("|")
    ? said
        .split("|")
        .map((choice) => (VERBS.has(choice) ? `!${choice}` : choice))
        .join("|")
    : said;

/** Words of another language as English words. Words it does not know stay as they are (`merge request` is said everywhere). */
function translate(words: readonly Word[], language: Language, lexicon: Lexicon): Word[] {
  const { english } = lexicon.vocabulary;
  const isKnown = (word: string) => language.stop.has(word) || language.phrases.has(word);
  const isEnglish = (word: string) => english.phrases.has(word) || lexicon.knows(stem(word));
  const pieces = words.flatMap((word): Word[] => {
    if (isKnown(word.word) || isEnglish(word.word) || word.word.length < 4) return [word];
    const parts = word.word.length > 7 ? split(word.word, (piece) => language.phrases.has(piece) || english.phrases.has(piece)) : undefined;
    if (parts) return parts.map((part, index) => ({ ...word, word: part, start: word.start && index === 0 }));
    const right = lexicon.correctorOf(language).correct(word.word);
    return [right ? { ...word, word: right, fuzzy: true } : word];
  });
  const plain = pieces.map(({ word }) => word);
  const out: Word[] = [];
  for (let at = 0; at < pieces.length; ) {
    const word = pieces[at] as Word;
    const match = language.phrases.match(plain, at, word.start);
    if (match) {
      const fuzzy = pieces.slice(at, at + match.length).some((piece) => piece.fuzzy);
      match.value.split(" ").forEach((said, index) => {
        out.push({ ...word, word: canonical(said), fuzzy, start: word.start && index === 0 });
      });
    } else if (!language.stop.has(word.word)) out.push(word);
    at += match?.length ?? 1;
  }
  return out;
}

/** Runs of Han, Kana and Hangul as English words, by the language that understands most of them. */
function translateRuns(tokens: readonly Token[], lexicon: Lexicon): Word[] {
  const out: Word[] = [];
  const { runs } = lexicon.vocabulary;
  const all = tokens.filter(({ word }) => isRun(word)).map(({ word }) => word);
  const kana = all.some((run) => /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(run));
  const hangul = all.some((run) => /\p{Script=Hangul}/u.test(run));
  const language = runs.find(({ name }) => name === (kana ? "ja" : hangul ? "ko" : "zh"));
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const word = { start: token.start, fuzzy: false, quoted: token.quoted ?? false };
    if (!isRun(token.word) || !language) {
      out.push({ ...word, word: token.word });
      continue;
    }
    let run = token.word;
    for (let next = tokens[at + 1]; next && isRun(next.word) && !next.start; next = tokens[at + 1]) {
      run += next.word;
      at++;
    }
    language.translate(run).words.forEach((said, index) => {
      out.push({ ...word, word: canonical(said), start: token.start && index === 0 });
    });
  }
  return out;
}

/** Written as a person would who knows the word; a stem that only happens to fit (`merg`, `deletee`) is a typing mistake. */
function isSpelled(word: string, lexicon: Lexicon): boolean {
  const { english } = lexicon.vocabulary;
  return english.stop.has(word) || english.phrases.parts.has(word) || lexicon.writes(word) || /(s|ed|ing)$/.test(word);
}

/** Unknown words led back to known ones: glued words come apart, typing mistakes are mended. */
function mend(words: readonly Word[], lexicon: Lexicon, fuzzy: boolean): Word[] {
  const { english } = lexicon.vocabulary;
  const isKnown = (word: string) => english.stop.has(word) || english.phrases.has(word) || lexicon.knows(stem(word));
  const isPiece = (piece: string) => english.phrases.has(piece) || lexicon.knows(stem(piece));
  return words.flatMap((word): Word[] => {
    if (/[|_!?]/.test(word.word) || REFERENCE.test(word.word)) return [word];
    if (isKnown(word.word)) return [isSpelled(word.word, lexicon) ? word : { ...word, fuzzy: true }];
    const parts = word.word.length > 7 ? split(word.word, isPiece) : undefined;
    if (parts) return parts.map((part, index) => ({ ...word, word: part, start: word.start && index === 0 }));
    const right = fuzzy ? lexicon.corrector.correct(word.word) : undefined;
    return [right ? { ...word, word: right, fuzzy: true } : word];
  });
}

const NEGATIONS = new Set(["dont", "doesnt", "never", "cannot"]);
const AUXILIARIES = new Set(["do", "does", "should", "must", "please", "to"]);
const negates = (words: readonly string[], at: number) =>
  NEGATIONS.has(words[at] ?? "") || (words[at] === "not" && AUXILIARIES.has(words[at - 1] ?? ""));
/** Words after which a wish follows. */
const CUES = new Set([
  "please",
  "pls",
  "kindly",
  "need",
  "want",
  "wants",
  "can",
  "could",
  "would",
  "lets",
  "should",
  "must",
  "now",
  "help",
]);
const LEADS = new Set([...CUES, "to", "and", "then", "i", "you", "we", "also", "so", "just", "or", "my", "-"]);

const ALTERNATIVES = [1, 0.75, 0.6, 0.5];

interface Draft {
  readonly items: Item[];
  start: boolean;
  cue: boolean;
  hush: boolean;
}

function pushValue(draft: Draft, value: string, said: string, word: Word, plural: boolean, own: string | undefined): void {
  for (const part of value.split(" ")) {
    if (part === "-" || part === "") continue;
    const mark = { fuzzy: word.fuzzy, start: draft.start, cue: draft.cue };
    draft.start = false;
    if (part === "?") {
      draft.items.push({ ...mark, asks: true });
      continue;
    }
    const choices = part.split("|");
    const verbs = choices.filter((choice) => choice.startsWith("!")).map((choice) => choice.slice(1));
    const terms = choices.filter((choice) => !choice.startsWith("!"));
    if (draft.hush) {
      draft.hush = false;
      continue;
    }
    if (own !== undefined && terms.length > 0 && !terms.includes(own)) terms.push(own);
    const weighted = terms.map((term, index) => ({ term: toTerm(term), weight: ALTERNATIVES[index] ?? 0.5 }));
    const weight = (word.fuzzy ? 0.85 : 1) * (word.quoted ? 0.35 : 1);
    const group = weighted.length > 0 ? { group: { terms: weighted, said, fuzzy: word.fuzzy, weight } } : {};
    draft.items.push({ ...mark, ...group, ...(verbs.length > 0 ? { verbs } : {}), ...(plural ? { plural } : {}) });
  }
}

/** Compound terms keep their underscore, each part stemmed. */
export const toTerm = (text: string): string => text.split("_").map(stem).join("_");

/** What a text says, in order. `fuzzy`: unknown words may be mended. */
export function parseQuery(text: string, lexicon: Lexicon, fuzzy: boolean): Item[] {
  const tokens = tokenize(text);
  const { english } = lexicon.vocabulary;
  const cut = translateRuns(tokens, lexicon);
  const language = languageOf(
    cut.map(({ word }) => word),
    lexicon,
  );
  const words = mend(language ? translate(cut, language, lexicon) : cut, lexicon, fuzzy);
  const plain = words.map(({ word }) => word);
  const draft: Draft = { items: [], start: true, cue: false, hush: false };
  for (let at = 0; at < words.length; ) {
    const word = words[at] as Word;
    if (word.start) {
      draft.start = true;
      draft.cue = false;
      draft.hush = false;
    }
    const match = word.word.includes("|") ? undefined : english.phrases.match(plain, at, draft.start);
    if (match) {
      const span = words.slice(at, at + match.length);
      const fuzzyWord = { ...word, fuzzy: span.some((one) => one.fuzzy), quoted: span.every((one) => one.quoted) };
      const last = plain[at + match.length - 1] ?? "";
      const own = match.length === 1 && lexicon.knows(stem(word.word)) && !match.value.includes(" ") ? word.word : undefined;
      pushValue(draft, match.value, plain.slice(at, at + match.length).join(" "), fuzzyWord, isPlural(last), own);
      if (match.value === "-") draft.start = true;
      at += match.length;
      continue;
    }
    if (negates(plain, at)) draft.hush = true;
    at++;
    if (CUES.has(word.word)) draft.cue = true;
    if (english.stop.has(word.word) || LEADS.has(word.word)) {
      if (LEADS.has(word.word)) draft.start = true;
      continue;
    }
    pushValue(draft, word.word, word.word, word, isPlural(word.word), undefined);
  }
  for (const name of fold(text).match(/[a-z]+(?:_[a-z]+)+/g) ?? []) {
    if (!lexicon.knows(`=${name}`)) continue;
    const group = { terms: [{ term: `=${name}`, weight: 1 }], said: name, fuzzy: false, weight: 0.8 };
    draft.items.push({ group, fuzzy: false, start: false, cue: false });
  }
  return draft.items;
}
