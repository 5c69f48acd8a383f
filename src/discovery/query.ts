import { remember } from "./remember.ts";
import { isPlural, stem, tokenize } from "./tokenize.ts";
import { type Lexicon, toEnglish, type Word } from "./translate.ts";
import { WEIGHTS } from "./weights.ts";

/** One thing that was said: a term with its alternatives, best first. */
export interface Group {
  readonly terms: readonly { readonly term: string; readonly weight: number }[];
  /** The words as they stood, for `why`. */
  readonly said: string;
  readonly fuzzy: boolean;
  /** Said as something that was done (`merged`, `archived`): no wish to do it. */
  readonly past?: boolean;
  /** A part of a parameter's name: it adds to the score, but names no resource. */
  readonly faint?: boolean;
  readonly weight: number;
}

/** One step of a query: a group, a verb, a question, or a break between clauses. */
export interface Item {
  readonly group?: Group;
  readonly verbs?: readonly string[];
  readonly asks?: boolean;
  /** A verb of some action's own (`approve`), said as a wish. */
  readonly acts?: boolean;
  readonly plural?: boolean | "maybe";
  /** Belongs to what follows the small word before it: `commits of a merge request`. */
  readonly of?: boolean;
  readonly fuzzy: boolean;
  /** A clause starts here. */
  readonly start: boolean;
  /** Number of the sentence. */
  readonly sentence?: number;
  /** The sentence asks for something in so many words (`could you`, `please`). */
  readonly asked?: boolean;
  /** Said not to be wanted. */
  readonly hushed?: boolean;
  /** The clause asks for something (`please`, `I need`). */
  readonly cue: boolean;
  /** The clause says how things should be. */
  readonly demands?: boolean;
  /** Stems of the words as they were said, each with the first item that they made. */
  readonly raw?: readonly string[];
  /** The language in which it was said, where that is another than English. */
  readonly language?: string;
  /** Stems of the small words before it, which carry no wish but tell of one. */
  readonly small?: readonly string[];
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
/** Words that say how things should be. */
const DEMANDS = new Set(["should", "must", "shall", "ought", "supposed", "shouldnt", "mustnt"]);
const LEADS = new Set([...CUES, "to", "and", "then", "i", "you", "we", "also", "so", "just"]);

/** Words that put the whole after its part. */
const OF = new Set(["of", "in", "for", "on", "from", "to", "inside"]);

const ALTERNATIVES = [1, 0.75, 0.6, 0.5];

/** A query while it is read. */
interface Draft {
  readonly items: Item[];
  readonly lexicon: Lexicon;
  /** The other language in which it was said, where the verb need not come first. */
  readonly language: string | undefined;
  sentence: number;
  asked: boolean;
  /** The next item opens a clause. */
  clause: boolean;
  /** The next word may be a verb in the imperative, where `^` phrases hold. */
  start: boolean;
  cue: boolean;
  demands: boolean;
  /** The next thing said is not wanted (`do not …`). */
  hush: boolean;
  of: boolean;
  small: string[];
}

interface Said {
  readonly text: string;
  readonly word: Word;
  readonly plural?: boolean | "maybe";
  /** The word itself, as a last alternative to what it stands for. */
  readonly own?: string | undefined;
  readonly weight?: number;
  readonly past?: boolean;
  readonly faint?: boolean;
}

/** A participle says how things are, not what to do. */
const isPast = (word: string) => (word.length > 4 && word.endsWith("ed")) || (word.length > 5 && word.endsWith("ing"));

/** Compound terms keep their underscore, each part stemmed. */
export const toTerm = (text: string): string => text.split("_").map(stem).join("_");

function toTerms(choices: readonly string[]): Group["terms"] {
  return choices.map((choice, index) => {
    const [term = "", factor] = choice.split("*");
    return { term: term.startsWith("=") ? term : toTerm(term), weight: factor ? Number(factor) : (ALTERNATIVES[index] ?? 0.5) };
  });
}

/** The steps of a value that say something. */
const stepsOf = remember((value) => value.split(" ").filter((step) => step !== "-" && step !== ""));

/** What a step of a value says: verbs, and what else may be meant, by word and as terms. */
const choicesOf = remember((step) => {
  const choices = step.split("|");
  const words = choices.filter((choice) => !choice.startsWith("!"));
  return { verbs: choices.filter((choice) => choice.startsWith("!")).map((choice) => choice.slice(1)), words, terms: toTerms(words) };
});

/** With the word itself as a last alternative. */
function withOwn(step: string, own: string | undefined): ReturnType<typeof choicesOf> {
  const known = choicesOf(step);
  return own === undefined || known.words.length === 0 || known.words.includes(own) ? known : choicesOf(`${step}|${own}`);
}

/** Stems of plain words, however they are joined. */
const rawOf = remember((text) =>
  text
    .split(/[ _|]/)
    .filter((word) => /^[a-z0-9]/.test(word))
    .map(stem),
);

type Draftable = { -readonly [K in keyof Item]: Item[K] };

/** What holds for whatever is said next; it is used up with that. */
function begin(draft: Draft, { word }: Said, raw: readonly string[] | undefined): Draftable {
  const item: Draftable = { sentence: draft.sentence, fuzzy: word.fuzzy === true, start: draft.clause, cue: draft.cue };
  if (draft.asked) item.asked = true;
  if (draft.hush) item.hushed = true;
  if (draft.demands) item.demands = true;
  if (draft.of) item.of = true;
  if (draft.language) item.language = draft.language;
  if (raw) item.raw = raw;
  if (draft.small.length > 0) {
    item.small = draft.small;
    draft.small = [];
  }
  draft.of = draft.start = draft.clause = false;
  return item;
}

/**
 * Adds what a phrase stands for. Marks: words apart are things said side by side; `a|b` alternatives, best first; `!verb` what is
 * to be done; `?` a question; `-` nothing; `word*0.3` a word of little weight.
 */
function push(draft: Draft, value: string, said: Said): void {
  let raw: readonly string[] | undefined = said.faint || said.word.quoted ? undefined : rawOf(said.text);
  for (const step of stepsOf(value)) {
    const isOpen = draft.start || draft.language !== undefined;
    const item = begin(draft, said, raw);
    raw = undefined;
    if (step === "?") {
      item.asks = true;
      draft.items.push(item);
      continue;
    }
    draft.hush = false;
    const { verbs, terms } = withOwn(step, said.own);
    if (said.past && terms.length === 0) continue;
    if (terms.length > 0) item.group = groupOf(terms, said, item.hushed === true);
    const isWish = !said.past && !item.hushed;
    if (isWish && verbs.length > 0) item.verbs = verbs;
    if (isWish && isOpen && !said.faint && draft.lexicon.acts(terms[0]?.term ?? "")) item.acts = true;
    const plural = said.plural || said.word.plural;
    if (plural) item.plural = plural;
    draft.items.push(item);
  }
}

function groupOf(terms: Group["terms"], said: Said, isHushed: boolean): Group {
  const { fuzzy = false, quoted } = said.word;
  const weight = (said.weight ?? 1) * (fuzzy ? 0.85 : 1) * (quoted ? 0.35 : 1) * (isHushed ? WEIGHTS.hushed : 1);
  return {
    terms,
    said: said.text,
    fuzzy,
    weight,
    ...(said.past || isHushed ? { past: true } : {}),
    ...(said.faint ? { faint: true } : {}),
  };
}

/** A parameter's name: as a whole, and its words a little; no word of it is a wish. */
function pushName(draft: Draft, words: readonly Word[], at: number, name: string): number {
  const first = words[at] as Word;
  push(draft, `=${name}`, { text: name, word: first, weight: WEIGHTS.name.whole });
  let next = at;
  for (; words[next]?.name === name; next++) {
    const word = words[next] as Word;
    push(draft, word.word, { text: word.word, word, weight: WEIGHTS.name.word, faint: true });
  }
  return next;
}

/** Words that open a question, and those that do before a subject only (`do you`, but `do a release`). */
const OPENS = new Set(["is", "are", "was", "were", "has", "had", "did", "does", "isnt", "arent", "wasnt", "hasnt", "didnt", "doesnt"]);
const OPENS_BEFORE = new Set(["do", "have"]);
const SUBJECTS = new Set(["i", "we", "you", "they", "the", "our", "my", "these", "those", "any", "all", "people"]);

const opensQuestion = (words: readonly string[], at: number) =>
  OPENS.has(words[at] ?? "") || (OPENS_BEFORE.has(words[at] ?? "") && SUBJECTS.has(words[at + 1] ?? ""));

function pushPlain(draft: Draft, lexicon: Lexicon, plain: readonly string[], at: number, word: Word): void {
  const { english } = lexicon.vocabulary;
  if (negates(plain, at)) draft.hush = true;
  if (CUES.has(word.word)) draft.cue = true;
  if (DEMANDS.has(word.word)) draft.demands = true;
  if (asksFor(plain, at)) draft.asked = true;
  if (OF.has(word.word)) draft.of = true;
  if (word.sentence && opensQuestion(plain, at)) push(draft, "?", { text: word.word, word });
  const isSmall = english.stop.has(word.word);
  if (isSmall || LEADS.has(word.word)) draft.small.push(stem(word.word));
  if (LEADS.has(word.word)) draft.start = true;
  else if (isSmall) draft.start = false;
  else {
    const named = lexicon.knows(`=${word.word}`) ? `|=${word.word}*${WEIGHTS.name.plain}` : "";
    const weight = english.plain.has(word.word) && !lexicon.names(stem(word.word)) ? WEIGHTS.ordinary : 1;
    push(draft, word.word + named, { text: word.word, word, plural: isPlural(word.word), past: isPast(word.word), weight });
  }
}

const POLITE = new Set(["please", "pls", "plz", "kindly"]);
const MODALS = new Set(["can", "could", "would", "will"]);
const WANTS = new Set(["need", "want", "like", "love"]);
const WHO_WANTS = new Set(["i", "we", "would", "id"]);

/** Asks in so many words: `please`, `could you`, `I want you to`, `I would like`. */
function asksFor(words: readonly string[], at: number): boolean {
  const word = words[at] ?? "";
  if (POLITE.has(word)) return true;
  if (MODALS.has(word)) return words[at + 1] === "you";
  return WANTS.has(word) && (words[at + 1] === "you" || WHO_WANTS.has(words[at - 1] ?? ""));
}

/** Longest object that may stand between the parts of a verb. */
const MAX_BETWEEN = 5;

/** Verbs of two words brought together: `turn the schedule off` → `turn off the schedule`. */
function together(words: readonly Word[], { apart, stop }: Lexicon["vocabulary"]["english"]): readonly Word[] {
  const out = [...words];
  for (let at = 0; at < out.length; at++) {
    const particles = apart.get(out[at]?.word ?? "");
    if (!particles || particles.has(out[at + 1]?.word ?? "")) continue;
    for (let next = at + 2; next <= at + MAX_BETWEEN && next < out.length; next++) {
      const word = out[next] as Word;
      if (word.start) break;
      const after = out[next + 1];
      if (!particles.has(word.word) || (after && !after.start && !stop.has(after.word))) continue;
      out.splice(next, 1);
      if (after?.start && out[next]) out[next] = { ...(out[next] as Word), start: true };
      out.splice(at + 1, 0, { ...word, start: false });
      break;
    }
  }
  return out;
}

/** Words that stand for one thing. */
const asOne = (words: readonly Word[]): Word => ({
  ...(words[0] as Word),
  fuzzy: words.some(({ fuzzy }) => fuzzy),
  quoted: words.every(({ quoted }) => quoted),
});

/** What a text says, in order. `fuzzy`: unknown words may be mended. */
export function parseQuery(text: string, lexicon: Lexicon, fuzzy: boolean): Item[] {
  const { words: said, language } = toEnglish(tokenize(text), lexicon, fuzzy);
  const foreign = language !== undefined;
  const { english } = lexicon.vocabulary;
  const words = foreign ? said : together(said, english);
  const plain = words.map(({ word }) => word);
  const draft: Draft = {
    items: [],
    lexicon,
    language,
    sentence: 0,
    asked: false,
    clause: true,
    start: true,
    cue: false,
    demands: false,
    hush: false,
    of: false,
    small: [],
  };
  for (let at = 0; at < words.length; ) {
    const word = words[at] as Word;
    if (word.sentence) Object.assign(draft, { sentence: draft.sentence + 1, asked: false });
    if (word.start) Object.assign(draft, { clause: true, start: true, cue: false, demands: false, hush: false, of: false });
    if (word.name && lexicon.knows(`=${word.name}`)) {
      at = pushName(draft, words, at, word.name);
      continue;
    }
    const match = word.word.includes("|") ? undefined : english.phrases.match(plain, at, draft.start && !foreign);
    if (!match) {
      pushPlain(draft, lexicon, plain, at, word);
      at++;
      continue;
    }
    const next = at + match.length;
    for (let place = at; place < next; place++) if (asksFor(plain, place)) draft.asked = true;
    const own = match.length === 1 && lexicon.knows(stem(word.word)) && !match.value.includes(" ") ? word.word : undefined;
    push(draft, match.value, {
      text: match.length === 1 ? word.word : plain.slice(at, next).join(" "),
      word: match.length === 1 ? word : asOne(words.slice(at, next)),
      plural: isPlural(plain[next - 1] ?? ""),
      own,
      past: match.length === 1 && isPast(word.word) && !foreign,
    });
    if (match.value === "-") draft.start = true;
    at = next;
  }
  return draft.items;
}
