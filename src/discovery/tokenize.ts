import { remember } from "./remember.ts";

/** One word of a text, folded, with what stood around it. */
export interface Token {
  readonly word: string;
  /** A new clause starts here. */
  readonly start: boolean;
  /** A new sentence starts here. */
  readonly sentence?: boolean;
  /** The word stood inside a quoted phrase: more likely a value than a wish. */
  readonly quoted: boolean;
  /** The name with underscores (`target_branch`) that the word is a part of. */
  readonly name?: string;
}

type Draftable = { -readonly [K in keyof Token]: Token[K] };

/** Longest text that is looked at; what lies beyond says nothing that the first part did not. */
const MAX_TEXT = 10_000;
const MAX_TOKENS = 600;

/** No word is longer; what is (a token, base64) is cut, so that nothing has to go through it. */
const MAX_WORD = 60;
const LONG_WORD = new RegExp(`[\\w./+=\\-\\u00c0-\\u04ff]{${MAX_WORD + 1},}`, "g");

/**
 * Case, width and Latin accents taken away; Kana, Hangul and Cyrillic stay whole. Camel case comes apart.
 */
export function fold(text: string): string {
  const whole = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
  const cut = whole.length > MAX_WORD ? whole.replace(LONG_WORD, (word) => word.slice(0, MAX_WORD)) : whole;
  if (SIMPLE.test(cut)) return cut;
  const plain = ASCII.test(cut) ? apart(cut) : accents(apart(cut.normalize("NFKC")));
  return APOSTROPHE.test(plain) ? plain.replace(/n['’]t\b/g, "nt").replace(/['’](s|re|ve|ll|d|m)\b/g, " ") : plain;
}

/** Nothing to fold: what ids, names and many texts of rows are made of. */
const SIMPLE = /^[a-z0-9 .,:;|_/-]*$/;
const ASCII = /^[\t\n\r -~]*$/;
const APOSTROPHE = /['’]/;

/** Names that are one word in spite of their capitals. */
const BRANDS = /Git(?:Hub|Lab|Ops|Guardian|ea)|BitBucket|DevOps|TeamCity|YouTrack|ClickUp|GraphQL|ChatOps|TypeScript|JavaScript/g;

/** Camel case comes apart, then case goes. */
const apart = (text: string) =>
  text
    .replace(BRANDS, (name) => name.toLowerCase())
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase();

function accents(text: string): string {
  return text
    .normalize("NFD")
    .replace(/([a-zß])\p{M}+/gu, "$1")
    .normalize("NFC")
    .replaceAll("ё", "е")
    .replaceAll("ß", "ss");
}

/** References of GitLab's own short form, as words: `!42` is a merge request. */
const REFERENCES: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/(^|[\s([{]|[\u0080-\uffff])!\d+/g, " mergerequestref "],
  [/(^|[\s([{]|[\u0080-\uffff])#\d+/g, " issueref "],
  [/(^|[\s([{]|[\u0080-\uffff])&\d+/g, " epicref "],
  [
    /((?:^|[\s/'"`(])(?!\.?gitlab-ci)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.(?:md|txt|ts|tsx|js|py|rb|go|java|kt|rs|php|cs|cpp|css|html|xml|sql|sh|ya?ml|json|toml|ini|csv|lock))\b/g,
    " fileref ",
  ],
];

function references(text: string): string {
  return REFERENCES.reduce((now, [pattern, word]) => now.replace(pattern, `$1${word}`), text);
}

const QUOTED =
  /"([^"\n]{3,300})"|“([^”\n]{3,300})”|`([^`\n]{3,300})`|[「『]([^」』\n]{2,300})[」』]|(?:^|\s)'([^'\n]{3,300})'(?=[\s.,;:!?)]|$)/g;
const MARKED = /["“`「『']/;
/** Paths, project names, branch names: values as well. */
const PATH =
  /[\w.-]+(?:\/[\w.-]+){2,}|(?:feature|fix|hotfix|bugfix|chore|release|origin|refs)\/[\w.-]+|[\w.-]*[\d.-][\w.-]*\/[\w.-]+|[\w.-]+\/[\w.-]*[\d.-][\w.-]*/g;

/** A longer quotation is somebody's wish, not a title. */
const LONGEST_VALUE = 70;
const quotedSpans = (text: string): [number, number][] =>
  MARKED.test(text)
    ? [...text.matchAll(QUOTED)]
        .filter(([whole]) => whole.length <= LONGEST_VALUE && /\s|^[「『]/.test(whole.trim()))
        .map((match) => [match.index, match.index + match[0].length])
    : [];

const pathSpans = (text: string): [number, number][] =>
  text.includes("/") ? [...text.matchAll(PATH)].map(({ index, 0: path }) => [index, index + path.length]) : [];

/** What was pasted: fenced code, indented lines after an empty one, lines that begin with a time or quote a mail. */
const PASTED = /```[\s\S]*?(?:```|$)|(?<=\n[ \t]*\n)(?:(?: {4}|\t)[^\n]*(?:\n|$))+|(?<=^|\n)(?:>|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d)[^\n]*/g;

const pastedSpans = (text: string): [number, number][] =>
  text.includes("\n") ? [...text.matchAll(PASTED)].map(({ index, 0: part }) => [index, index + part.length]) : [];

/** Han, Kana and Hangul: written without dependable spaces. */
const RUN = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー々";
const PIECE = new RegExp(`[${RUN}]+|(?:(?![${RUN}])[\\p{L}\\p{M}\\p{N}])+|[.,;:!?()\\n。、！？；：¿¡…]+`, "gu");

export const isRun = (word: string): boolean => RUN_START.test(word);
const RUN_START = new RegExp(`^[${RUN}]`, "u");

/** Marks that close a sentence, or announce what is asked for. */
const SENTENCE = /[.!?:;\n。！？；：]/;

const NAME = /[a-z][a-z0-9]*(?:_[a-z0-9]+)+/g;

/** The words of a text in order, with marks where a clause starts. Never more than a fixed number. */
export function tokenize(text: string): Token[] {
  const folded = references(fold(text));
  const spans = [...quotedSpans(folded), ...pastedSpans(folded), ...pathSpans(folded)];
  const tokens: Token[] = [];
  const names = folded.includes("_") ? [...folded.matchAll(NAME)] : [];
  let name = names.shift();
  let start = true;
  let sentence = true;
  PIECE.lastIndex = 0;
  for (let match = PIECE.exec(folded); match; match = PIECE.exec(folded)) {
    const piece = match[0];
    if (!/[\p{L}\p{N}]/u.test(piece)) {
      const after = folded[match.index + piece.length];
      const parts = after === undefined || /\s/.test(after) || /[。、！？；：¿¡…]/.test(piece);
      start ||= parts;
      sentence ||= parts && SENTENCE.test(piece);
      continue;
    }
    if (piece.length > MAX_WORD && !isRun(piece)) continue;
    while (name && name.index + name[0].length <= match.index) name = names.shift();
    const quoted = spans.length > 0 && spans.some(([from, to]) => match.index >= from && match.index < to);
    const token: Draftable = { word: piece, start, quoted };
    if (sentence) token.sentence = true;
    if (name && name.index <= match.index) token.name = name[0];
    tokens.push(token);
    start = false;
    sentence = false;
    if (tokens.length >= MAX_TOKENS) break;
  }
  return tokens;
}

const VOWEL = /[aeiouy]/;
const undouble = (word: string) => (/([bdfgmnprt])\1$/.test(word) ? word.slice(0, -1) : word);
const withoutE = (word: string) => (word.length > 3 && word.endsWith("e") ? word.slice(0, -1) : word);

function plural(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && /[^su]s$/.test(word) && !word.endsWith("is") ? word.slice(0, -1) : word;
}

function makeStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  const one = plural(word);
  if (one.length > 4 && one.endsWith("ied")) return `${one.slice(0, -3)}y`;
  const cut = one.endsWith("ing") ? one.slice(0, -3) : one.endsWith("ed") ? one.slice(0, -2) : undefined;
  if (cut !== undefined && cut.length >= 3 && VOWEL.test(cut)) return withoutE(undouble(cut));
  return withoutE(one);
}

/** A light English stem: plural, -ing, -ed and a closing e fall away. The same for texts and queries. */
export const stem: (word: string) => string = remember(makeStem);

/** True for an English plural that a person would read as "several of them". */
export const isPlural = (word: string): boolean => word.length > 3 && /^[a-z]+$/.test(word) && plural(word) !== word;

/** Words of an identifier, a path or a short text. */
export function wordsOf(text: string): readonly string[] {
  const folded = fold(text);
  return (ASCII.test(folded) ? folded.match(/[a-z0-9]+/g) : folded.match(/[\p{L}\p{N}]+/gu)) ?? [];
}
