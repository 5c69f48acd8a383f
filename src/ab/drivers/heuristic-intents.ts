import { stemsOf, wordsOf } from "./heuristic-words.ts";

/** One thing that the prompt asks for. */
export interface Intent {
  /** Place in the prompt. */
  readonly from: number;
  readonly to: number;
  /** Its own sentence; quoted texts are left out. */
  readonly core: string;
  /** With the statements that belong to it. */
  readonly text: string;
  /** `read` for questions and verbs of looking, `remove` for verbs of removal, else `change`. */
  readonly kind: "read" | "change" | "remove";
}

const LOOK = "show list find look see read tell check count explain summarise summarize compare fetch search print name say describe get";
const REMOVE = "delete remove drop erase destroy revoke unprotect purge discard cancel clear kick ban block";
const CHANGE =
  "create add make open write file post leave put set update edit change rename move switch turn mark assign unassign close reopen merge approve " +
  "unapprove protect retry rerun restart run start stop trigger play enable disable activate deactivate publish release tag label comment reply " +
  "answer resolve invite schedule lock unlock pin star follow subscribe unsubscribe archive restore transfer copy fork clone cherry revert commit " +
  "replace fix correct raise lower extend rotate upload import export link relate unlink log book record share ask request accept finish take bring " +
  "plan schedule start note draft register note store save keep hand send attach connect pause resume snooze swap lift push split give prepare";

const verbsOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const LOOKS = verbsOf(LOOK);
const REMOVES = verbsOf(REMOVE);
const CHANGES = verbsOf(CHANGE);
const isVerb = (word: string): boolean => LOOKS.has(word) || REMOVES.has(word) || CHANGES.has(word);

/** The verbs that names of tools begin or end with; others in a name are as often nouns. */
const NAMES: readonly (readonly [Intent["kind"], ReadonlySet<string>])[] = [
  ["read", verbsOf("get list show search read find check compare download view fetch count explain overview")],
  ["remove", verbsOf("delete remove destroy erase revoke unprotect unlink reset")],
  [
    "change",
    verbsOf(
      "create add update edit set rename move merge approve close reopen retry cancel play run trigger rotate accept post upload resolve put enable disable",
    ),
  ],
];

/** What kind of thing a tool does, by its name: the first or else the last word of it, of an id with dots of the part behind them. */
export function kindOfName(name: string): Intent["kind"] | undefined {
  const words = wordsOf(name.split(/[./]/).at(-1) ?? name);
  for (const word of [words[0], words.at(-1), words[1]]) {
    const found = NAMES.find(([, verbs]) => verbs.has(word ?? ""));
    if (found) return found[0];
  }
  return undefined;
}

/** What people put before the verb of a request. */
const LEAD =
  /^(please|kindly|now|then|next|finally|also|and|first|second|afterwards|after that|once done|can you|could you|would you|will you|i want you to|i would like you to|i'd like you to|you should|we should|let us|let's)[\s,]+/i;
const QUESTION = /^(who|whom|whose|which|what|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b/i;
/** Bounds of a request: what is not to be done is nothing to do. */
const BOUND =
  /^(do not|don't|never|no other|nothing|leave (it|them|out|all|everything|the (rest|other)|its|both)|keep|not|without|only|touch nothing|everything else|whatever|the rest|the other)\b/i;

export interface Quote {
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

/** In quotation marks of any kind, in a fenced block, or standing alone below a line that ends with a colon. */
const QUOTES =
  /```[^\n]*\n([\s\S]*?)\n?```|(?<=:[ \t]*\n\s*\n)([^\n][\s\S]*?)(?=\n\s*\n|\s*$)|"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|`([^`]*)`|(?<=^|[\s(:])'([^'\n]*)'(?=$|[\s).,;:!?])/g;

export function quotesOf(prompt: string): Quote[] {
  return [...prompt.matchAll(QUOTES)].map(({ 0: whole, index, ...groups }) => {
    const value = Object.entries(groups).flatMap(([key, text]) => (/^[1-9]$/.test(key) && typeof text === "string" ? [text] : []))[0] ?? "";
    return { from: index, to: index + whole.length, value };
  });
}

/** The prompt with its quoted texts as blanks of the same length: a full stop inside one ends no sentence, unless it stands at the end. */
export function blankQuotes(prompt: string): string {
  let blank = prompt;
  for (const { from, to, value } of quotesOf(prompt)) {
    const ends = /[.!?]$/.test(value) && /^\s+\p{Lu}/u.test(prompt.slice(to));
    blank = blank.slice(0, from) + "\u00a7".repeat(to - from - (ends ? 1 : 0)) + (ends ? "." : "") + blank.slice(to);
  }
  return blank;
}

interface Piece {
  readonly from: number;
  readonly text: string;
  /** Of a sentence that ends with a question mark. */
  readonly asks: boolean;
}

/** Sentences, and the parts of a sentence that "then" or "and" joins where a verb of request follows. */
function piecesOf(blank: string): Piece[] {
  const pieces: Piece[] = [];
  const sentence = /[^.!?;\n]+(?:[.!?;](?!\s|$)[^.!?;\n]*)*[.!?;]*/g;
  for (const { 0: text, index } of blank.matchAll(sentence)) {
    let start = 0;
    const asks = /\?\s*$/.test(text);
    const joint = /(?:,?\s+and\s+(?:then\s+)?|,?\s+then\s+)(?=([a-z]+)\b)/gi;
    for (const match of text.matchAll(joint)) {
      if (!isVerb((match[1] ?? "").toLowerCase()) || !startsRequest(text.slice(start, match.index))) continue;
      pieces.push({ from: index + start, text: text.slice(start, match.index), asks });
      start = match.index + match[0].length;
    }
    pieces.push({ from: index + start, text: text.slice(start), asks });
  }
  return pieces.filter(({ text }) => /[\p{L}\p{N}\u00a7]/u.test(text));
}

function stripped(text: string): string {
  let rest = text.trim();
  for (let lead = LEAD.exec(rest); lead; lead = LEAD.exec(rest)) rest = rest.slice(lead[0].length).trim();
  return rest;
}

/** A part of a sentence, and what stands behind "In acme/shop, …" or "On the branch x: …". */
function readings(text: string): string[] {
  const rest = stripped(text);
  const behind = /^(?:in|on|for|at|with|under|from|before|after|once|if|when|since|as)\b[^,:]*[,:]\s*(.*)$/is.exec(rest)?.[1];
  return behind === undefined ? [rest] : [rest, stripped(behind)];
}

const verbOf = (text: string): string | undefined =>
  readings(text)
    .flatMap((one) => wordsOf(one)[0] ?? [])
    .find(isVerb);
const startsRequest = (text: string): boolean => verbOf(text) !== undefined || readings(text).some((one) => QUESTION.test(one));

const isBound = (text: string): boolean =>
  BOUND.test(stripped(text)) || /^leave\b.*\b(alone|as (it|they) (is|are)|untouched|open|on)\W*$/is.test(stripped(text));

function kindOf({ text, asks }: Piece): Intent["kind"] | undefined {
  if (isBound(text)) return undefined;
  if (asks) return "read";
  const verb = verbOf(text);
  if (verb === undefined) return undefined;
  if (REMOVES.has(verb)) return "remove";
  return LOOKS.has(verb) || readings(text).some((one) => /^give (me|us)\b/i.test(one)) ? "read" : "change";
}

/** With the words that the signs before numbers stand for wherever GitLab is written about. */
const spelled = (text: string): string =>
  text
    .replaceAll("\u00a7", " ")
    .replace(/(^|[\s(])!(?=\d)/g, "$1merge request ")
    .replace(/(^|[\s(])#(?=\d)/g, "$1issue ")
    .replace(/(^|[\s(])&(?=\d)/g, "$1epic ");

/** A request that says "it" means what was said before. */
export const refersBack = (text: string): boolean =>
  stemsOf(text).length < 3 || /\b(it|its|them|their|those|these|this|that|there|same|one)\b/i.test(text);

/** Verbs that say nothing by themselves: "give it the label …" behind another request says more about that one. */
const VAGUE = verbsOf("give say set put let make take keep name call have hand");

const isDetail = (text: string): boolean => VAGUE.has(verbOf(text) ?? "") && /\b(it|its|them|their)\b/i.test(text);

/**
 * What the prompt asks for, in its order. A statement ("It gets the label …") belongs to the request before it, one before the
 * first request to the first; a bound ("leave the others alone") to none. A prompt without a request is one request.
 */
export function intentsOf(prompt: string): Intent[] {
  const blank = blankQuotes(prompt);
  const intents: { from: number; to: number; core: string; text: string; kind: Intent["kind"] }[] = [];
  let before = "";
  let start: number | undefined;
  for (const piece of piecesOf(blank)) {
    const { from, text } = piece;
    const kind = kindOf(piece);
    const last = intents.at(-1);
    const plain = spelled(text);
    if (kind !== undefined && !(last && isDetail(text))) {
      intents.push({ from: start ?? from, to: from + text.length, core: plain, text: `${before}${plain}`, kind });
      before = "";
      start = undefined;
    } else if (isBound(text) && last) continue;
    else if (last) Object.assign(last, { to: from + text.length, text: `${last.text} ${plain}` });
    else {
      before += `${plain} `;
      start ??= from;
    }
  }
  if (intents.length > 0) return intents;
  const text = spelled(blank);
  return [{ from: 0, to: prompt.length, core: text, text, kind: /\?\s*$/.test(prompt) ? "read" : "change" }];
}
