import { wordsOf } from "./heuristic-words.ts";

/** One thing that the prompt asks for. */
export interface Intent {
  /** Place in the prompt. */
  readonly from: number;
  readonly to: number;
  /** Its sentence with the statements that belong to it; quoted texts are left out. */
  readonly text: string;
  /** `read` for questions and verbs of looking, `remove` for verbs of removal, else `change`. */
  readonly kind: "read" | "change" | "remove";
}

const LOOK =
  "show list find look see read tell give check count explain summarise summarize compare fetch search print name say describe get";
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
  ["remove", verbsOf("delete remove destroy erase revoke unprotect unlink")],
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
  /^(do not|don't|never|no other|nothing|nobody|leave (it|them|out|all|everything|the (rest|other)|its|both)|keep|not|without|only|touch nothing|everything else|whatever|the rest|the other)\b/i;

/** Quoted texts as blanks of the same length: a full stop inside them ends no sentence. */
export function blankQuotes(text: string): string {
  const quotes = /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<=^|[\s(:])'[^'\n]*'(?=$|[\s).,;:!?])/g;
  return text.replace(quotes, (quoted) => "\u00a7".repeat(quoted.length));
}

interface Piece {
  readonly from: number;
  readonly text: string;
}

/** Sentences, and the parts of a sentence that "then", "and", a comma or a semicolon joins where a verb of request follows. */
function piecesOf(blank: string): Piece[] {
  const pieces: Piece[] = [];
  const sentence = /[^.!?;\n]+(?:[.!?;](?!\s|$)[^.!?;\n]*)*[.!?;]*/g;
  for (const { 0: text, index } of blank.matchAll(sentence)) {
    let start = 0;
    const joint = /(?:,\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+)(?=([a-z]+)\b)/gi;
    for (const match of text.matchAll(joint)) {
      if (!isVerb((match[1] ?? "").toLowerCase()) || !startsRequest(text.slice(start, match.index))) continue;
      pieces.push({ from: index + start, text: text.slice(start, match.index) });
      start = match.index + match[0].length;
    }
    pieces.push({ from: index + start, text: text.slice(start) });
  }
  return pieces.filter(({ text }) => /[\p{L}\p{N}\u00a7]/u.test(text));
}

function stripped(text: string): string {
  let rest = text.trim();
  for (let lead = LEAD.exec(rest); lead; lead = LEAD.exec(rest)) rest = rest.slice(lead[0].length).trim();
  return rest;
}

/** The verb of a request, also behind "In acme/shop, …" or "On the branch x: …". */
function verbOf(text: string): string | undefined {
  const rest = stripped(text);
  const behind = /^(?:in|on|for|at|with|under|from|before|after|once|if|when|since|as)\b[^,:]*[,:]\s*(.*)$/is.exec(rest)?.[1];
  const first = [rest, ...(behind === undefined ? [] : [stripped(behind)])].map((part) => wordsOf(part)[0] ?? "");
  return first.find(isVerb);
}

const startsRequest = (text: string): boolean => verbOf(text) !== undefined || QUESTION.test(stripped(text));

function kindOf(text: string): Intent["kind"] | undefined {
  const rest = stripped(text);
  if (BOUND.test(rest)) return undefined;
  const verb = verbOf(text);
  if (verb === undefined || /\?\s*$/.test(text)) return QUESTION.test(rest) || /\?\s*$/.test(text) ? "read" : undefined;
  if (REMOVES.has(verb)) return "remove";
  return LOOKS.has(verb) ? "read" : "change";
}

/**
 * What the prompt asks for, in its order. A statement ("It gets the label …") belongs to the request before it, one before the
 * first request to the first; a bound ("leave the others alone") to none. A prompt without a request is one request.
 */
export function intentsOf(prompt: string): Intent[] {
  const blank = blankQuotes(prompt);
  const intents: { from: number; to: number; text: string; kind: Intent["kind"] }[] = [];
  let before = "";
  let start: number | undefined;
  for (const { from, text } of piecesOf(blank)) {
    const kind = kindOf(text);
    const last = intents.at(-1);
    const plain = text.replaceAll("\u00a7", " ");
    if (kind !== undefined) {
      intents.push({ from: start ?? from, to: from + text.length, text: `${before}${plain}`, kind });
      before = "";
      start = undefined;
    } else if (BOUND.test(stripped(text))) continue;
    else if (last) Object.assign(last, { to: from + text.length, text: `${last.text} ${plain}` });
    else {
      before += `${plain} `;
      start ??= from;
    }
  }
  if (intents.length > 0) return intents;
  return [{ from: 0, to: prompt.length, text: blank.replaceAll("\u00a7", " "), kind: /\?\s*$/.test(prompt) ? "read" : "change" }];
}
