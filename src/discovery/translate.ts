import { isRun, type Token } from "./tokenize.ts";
import type { Corrector } from "./typo.ts";
import type { Language, RunLanguage, Vocabulary } from "./vocabulary.ts";

/** What is known while a query is read: the word lists, and the words of the catalog. */
export interface Lexicon {
  readonly vocabulary: Vocabulary;
  /** True for a word of the English word list or of some text of the catalog. */
  readonly speaks: (word: string) => boolean;
  /** True if some text of the catalog has this stem. */
  knows(term: string): boolean;
  /** True if some action has the term in its id. */
  names(term: string): boolean;
  /** True if the term is a verb of some action's own (`approve`). */
  acts(term: string): boolean;
  /** True if some text of the catalog has the word as it is written. */
  writes(word: string): boolean;
  readonly corrector: Corrector;
  /** Corrections of a language's own words. */
  correctorOf(language: Language): Corrector;
}

/** A word on its way to English. */
export interface Word extends Token {
  /** Mended, or found by a part of it. */
  readonly fuzzy?: boolean;
  /** Several, as the ending of another language says it; `maybe` where its words do not tell. */
  readonly plural?: boolean | "maybe";
}

const REFERENCE = /\d/;

/** Fewer strangers than one in so many words: English with names in it. */
const FEW = 8;

/** The other language that most words speak, if any. */
function languageOf(words: readonly string[], lexicon: Lexicon): Language | undefined {
  const { english } = lexicon.vocabulary;
  const isEnglish = (word: string) => english.stop.has(word) || english.plain.has(word) || lexicon.speaks(word);
  let best: Language | undefined;
  let most = 0;
  // A number or a version speaks no language.
  const spoken = words.filter((word) => !REFERENCE.test(word));
  const foreign = spoken.filter((word) => !isEnglish(word));
  const home = spoken.length - foreign.length;
  if (foreign.length * FEW < spoken.length) return undefined;
  for (const language of lexicon.vocabulary.words) {
    const isKnown = (word: string) => language.stop.has(word) || language.phrases.has(word);
    const known = foreign.filter(isKnown);
    const own = known.length;
    // A single one among English words may be a typing mistake.
    if (own === 0 || (own === 1 && home > 0 && lexicon.corrector.correct(known[0] ?? "") !== undefined)) continue;
    const shared = spoken.filter(isKnown).length;
    const strangers = home - (shared - own);
    const score = own * 2 + shared * 0.5 - strangers;
    if (score > most) {
      most = score;
      best = language;
    }
  }
  return best;
}

/** German (and other) compounds: known pieces, with a linking letter or two between. */
function split(word: string, isPiece: (piece: string) => boolean): string[] | undefined {
  for (let at = 3; at <= word.length - 3; at++) {
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
  const pieces = words.flatMap((word): Word[] => {
    if (isKnown(word.word) || lexicon.speaks(word.word) || word.word.length < 4) return [word];
    const parts = word.word.length > 7 ? split(word.word, (piece) => language.phrases.has(piece) || english.phrases.has(piece)) : undefined;
    if (parts) return parts.map((part, index) => ({ ...word, word: part, start: word.start && index === 0 }));
    const right = lexicon.correctorOf(language).correct(word.word);
    return [right ? { ...word, word: right, fuzzy: true } : word];
  });
  const plain = pieces.map(({ word }) => word);
  const out: Word[] = [];
  for (let at = 0; at < pieces.length; ) {
    const word = pieces[at] as Word;
    const match = word.name ? undefined : language.phrases.match(plain, at, word.start);
    if (match) {
      const span = pieces.slice(at, at + match.length);
      const fuzzy = span.some((piece) => piece.fuzzy);
      const plural = span.some((piece) => language.plural?.test(piece.word));
      match.value.split(" ").forEach((said, index) => {
        out.push({ ...word, word: canonical(said), fuzzy, plural, start: word.start && index === 0 });
      });
    } else if (language.of.has(word.word)) out.push({ ...word, word: "of" });
    else if (!language.stop.has(word.word)) out.push(word);
    at += match?.length ?? 1;
  }
  return out;
}

/** The language of the runs of a text, if it has any. */
function runsOf(tokens: readonly Token[], lexicon: Lexicon): RunLanguage | undefined {
  const all = tokens.filter(({ word }) => isRun(word)).map(({ word }) => word);
  if (all.length === 0) return undefined;
  const kana = all.some((run) => /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(run));
  const hangul = all.some((run) => /\p{Script=Hangul}/u.test(run));
  return lexicon.vocabulary.runs.find(({ name }) => name === (kana ? "ja" : hangul ? "ko" : "zh"));
}

/** Runs of Han, Kana and Hangul as English words, by the language that understands most of them. */
function translateRuns(tokens: readonly Token[], language: RunLanguage | undefined): readonly Word[] {
  if (!language) return tokens;
  const out: Word[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    if (!isRun(token.word)) {
      out.push(token);
      continue;
    }
    let run = token.word;
    for (let next = tokens[at + 1]; next && isRun(next.word) && !next.start; next = tokens[at + 1]) {
      run += next.word;
      at++;
    }
    language.translate(run).words.forEach((said, index) => {
      out.push({ ...token, word: canonical(said), plural: "maybe", start: token.start && index === 0 });
    });
  }
  return out;
}

/** Written as a person would who knows the word; a stem that only happens to fit (`merg`, `deletee`) is a typing mistake. */
function isSpelled(word: string, lexicon: Lexicon): boolean {
  const { english } = lexicon.vocabulary;
  return (
    english.stop.has(word) || english.plain.has(word) || english.phrases.parts.has(word) || lexicon.writes(word) || /(s|ed|ing)$/.test(word)
  );
}

/** Unknown words led back to known ones: glued words come apart, typing mistakes are mended. */
function mend(words: readonly Word[], lexicon: Lexicon, fuzzy: boolean): Word[] {
  const { english } = lexicon.vocabulary;
  const isKnown = (word: string) => english.stop.has(word) || lexicon.speaks(word);
  const bold = !words.some(({ word }) => lexicon.speaks(word));
  const mended = (word: Word): Word | readonly Word[] => {
    if (/[|_!?]/.test(word.word) || REFERENCE.test(word.word)) return word;
    if (isKnown(word.word)) return isSpelled(word.word, lexicon) ? word : { ...word, fuzzy: true };
    if (english.plain.has(word.word)) return word;
    const parts = word.word.length > 7 ? split(word.word, lexicon.speaks) : undefined;
    if (parts) return parts.map((part, index) => ({ ...word, word: part, fuzzy: true, start: word.start && index === 0 }));
    const right = fuzzy ? lexicon.corrector.correct(word.word, bold) : undefined;
    return right ? { ...word, word: right, fuzzy: true } : word;
  };
  return words.flatMap(mended);
}

/** The words of a query in English, and the other language in which they were said. */
export function toEnglish(
  tokens: readonly Token[],
  lexicon: Lexicon,
  fuzzy: boolean,
): { readonly words: readonly Word[]; readonly language: string | undefined } {
  const runs = runsOf(tokens, lexicon);
  const cut = translateRuns(tokens, runs);
  const language = languageOf(
    cut.map(({ word }) => word),
    lexicon,
  );
  const words = mend(language ? translate(cut, language, lexicon) : cut, lexicon, fuzzy);
  return { words, language: runs?.name ?? language?.name };
}
