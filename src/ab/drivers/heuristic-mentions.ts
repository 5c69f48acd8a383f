import { blankQuotes, quotesOf } from "./heuristic-intents.ts";
import { isStop, stem, wordsOf } from "./heuristic-words.ts";

export type MentionKind =
  | "title"
  | "number"
  | "quoted"
  | "path"
  | "file"
  | "ref"
  | "version"
  | "user"
  | "date"
  | "duration"
  | "sha"
  | "url"
  | "email"
  | "word";

/** Something in the prompt that can be the value of a parameter. */
export interface Mention {
  readonly kind: MentionKind;
  readonly value: string | number;
  readonly at: number;
  readonly quoted?: boolean;
  /** `#`, `!` and their like before a number. */
  readonly marker?: string;
  /** Stems of the words before it, the nearest first, and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
const DAY = new RegExp(`\\b(?:\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?)(?:,? \\d{4})?\\b`, "g");
/** A name inside a sentence; only parameters that want a person take it. */
const PERSON = new RegExp(
  `(?<=[\\p{L}\\d,)] )(?!${MONTH}|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|GitLab|I\\b)\\p{Lu}\\p{Ll}{2,}\\b`,
  "gu",
);

const COUNT = "(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)";
const HOURS = new RegExp(`\\b${COUNT}(?: and a half)? hours?(?: and a half)?\\b`, "gi");

/** Kinds by their form, the first that fits a place wins. */
const FORMS: readonly (readonly [MentionKind, RegExp])[] = [
  ["url", /\bhttps?:\/\/[^\s)"'<>]*[^\s)"'<>.,;:!?]/g],
  ["email", /\b[\w.+-]+@[\w-]+\.[\w.-]+\w/g],
  ["user", /(?<![\w/])@[a-z0-9_][\w.-]*\w/gi],
  ["word", /#[0-9a-f]{6}\b/gi],
  ["date", /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b/g],
  ["date", DAY],
  ["sha", /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g],
  ["file", /(?<![\w/.-])(?:[\w.@-]+\/)*[\w@-]*[\w-]\.[a-z][a-z0-9]{0,4}\b(?!\/)/gi],
  ["ref", /(?<![\w/.-])(?:feature|feat|fix|bugfix|hotfix|release|spike|chore|docs|refactor|renovate|dependabot)\/[\w./-]*[\w-]/g],
  ["path", /(?<![\w/.-])[a-z0-9_][\w.-]*(?:\/[\w.-]*[\w-])+/gi],
  ["version", /(?<![\w/.-])v?\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?\b(?![/])/g],
  ["ref", /(?<![\w/.-])(?:main|master|develop|trunk|HEAD)\b/g],
  ["duration", HOURS],
  ["duration", /\b\d+(?:\.\d+)? ?(?:h|hours?|min|minutes?)\b/g],
  ["number", /(?<![\w./-])[#!&$%]?\d+(?![\w/-]|\.\d)/g],
  ["number", /\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b/gi],
  ["word", /(?<![\w/.-])(?:[a-z0-9]+(?:[-_:]+[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w/])/gi],
  ["user", /\b(?:me|myself)\b/gi],
  ["user", PERSON],
];

const COUNTS: ReadonlyMap<string, number> = new Map([
  ["two", 2],
  ["three", 3],
  ["four", 4],
  ["five", 5],
  ["six", 6],
  ["seven", 7],
  ["eight", 8],
  ["nine", 9],
  ["ten", 10],
  ["twelve", 12],
]);

const MONTHS = "january february march april may june july august september october november december".split(" ");

/** A day without a year is in the year that the prompt names next. */
function toDate(text: string, rest: string): string {
  if (/^\d{4}-/.test(text)) return text;
  const month = MONTHS.findIndex((name) => text.toLowerCase().includes(name)) + 1;
  const [day = "1", year = ""] = [/\b(\d{1,2})(?!\d)/.exec(text)?.[1], (/\d{4}/.exec(text) ?? /\b20\d\d\b/.exec(rest))?.[0]];
  return `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function toValue(kind: MentionKind, text: string, rest: string): string | number {
  if (kind === "number") return COUNTS.get(text.toLowerCase()) ?? Number(text.replace(/^\D/, ""));
  if (kind === "user") return /^(me|myself)$/i.test(text) ? "me" : text.replace(/^@/, "").toLowerCase();
  if (kind === "duration" && /^[a-z]/i.test(text))
    return `${COUNTS.get(text.split(" ")[0]?.toLowerCase() ?? "") ?? 1}h${/half/i.test(text) ? "30m" : ""}`;
  if (kind === "duration") return text.replace(/\s*(h|d|w|m)\w*$/i, (_all, unit: string) => unit.toLowerCase());
  return kind === "date" ? toDate(text, rest) : text;
}

/** The words around a place that carry meaning; other values in between count as words too. */
function around(prompt: string, from: number, to: number): Pick<Mention, "before" | "after"> {
  const before = wordsOf(prompt.slice(Math.max(0, from - 60), from)).reverse();
  const after = wordsOf(prompt.slice(to, to + 40));
  const bare = (words: readonly string[], most: number) =>
    words
      .filter((word) => !isStop(word))
      .slice(0, most)
      .map(stem);
  return { before: bare(before, 4), after: bare(after, 2) };
}

/** A quoted text that is one value of some form, as a branch in backticks, counts as that. */
function kindOfQuote(value: string): MentionKind {
  const whole = FORMS.find(([kind, form]) => kind !== "number" && kind !== "word" && value.match(form)?.[0] === value);
  return whole?.[0] ?? "quoted";
}

function quotedIn(prompt: string, blank: string): Mention[] {
  return quotesOf(prompt).map(({ from, to, value }) => {
    // `"Title" (!45 …)` says which one is meant; it is no text to write.
    const kind = /^\s*\(\s*[!#&]\d/.test(prompt.slice(to)) ? "title" : kindOfQuote(value);
    return { kind, value: toValue(kind, value, prompt.slice(from)), at: from, quoted: true, ...around(blank, from, to) };
  });
}

const isBranch = (prompt: string, from: number, to: number): boolean =>
  /\bbranch(es)? ((called|named) )?$/i.test(prompt.slice(0, from)) || /^ branch\b/i.test(prompt.slice(to));

/** Everything in the prompt that has the form of a value, in its order. */
export function mentionsOf(prompt: string): Mention[] {
  const blank = blankQuotes(prompt);
  const found = quotedIn(prompt, blank);
  let left = blank;
  for (const [kind, form] of FORMS) {
    for (const { 0: text, index } of [...left.matchAll(form)]) {
      const end = index + text.length;
      left = left.slice(0, index) + "\u00a7".repeat(text.length) + left.slice(end);
      const beside = around(blank, index, end);
      // A branch may have a slash in its name as a project has.
      const meant = kind === "path" && isBranch(prompt, index, end) ? "ref" : kind;
      const marker = kind === "number" && /^[^\w\s]/.test(text) ? { marker: text.charAt(0) } : {};
      found.push({ kind: meant, value: toValue(kind, text, prompt.slice(index)), at: index, ...marker, ...beside });
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

const FILLERS = new Set("name called named titled is are of the a an to be with as by for in on from into at under should".split(" "));

/**
 * Values that stand behind a noun ("labels bug and ux", "milestone 1.5", "the variable called REGION"), or before it where they do not
 * look like an ordinary word ("the coupon-rounding label").
 */
export function valuesBeside(text: string, noun: readonly string[], list: boolean): string[] {
  const tokens = [...text.matchAll(/"([^"]*)"|“([^”]*)”|`([^`]*)`|[^\s,;:()"“”]+|,/g)].map((match) => ({
    text: (match[1] ?? match[2] ?? match[3] ?? match[0]).replace(/[.!?]+$/, ""),
    at: match.index,
    quoted: match[0].length > 1 && /^["“`]/.test(match[0]),
  }));
  const last = noun.at(-1);
  const isNoun = (token: string) => wordsOf(token).length === 1 && stem(token.toLowerCase()) === last;
  for (const [index, token] of tokens.entries()) {
    if (token.quoted || !isNoun(token.text)) continue;
    const subject = index === 0 || /[.!?]$/.test(text.slice(0, token.at).trim());
    const values: string[] = [];
    let at = index + 1;
    while (at < tokens.length && FILLERS.has(tokens[at]?.text.toLowerCase() ?? "") && !tokens[at]?.quoted) at++;
    for (; at < tokens.length; at++) {
      const next = tokens[at];
      if (next === undefined) break;
      if (list && values.length > 0 && (next.text === "," || next.text === "and")) continue;
      if (next.text === "," || (!next.quoted && (isStop(next.text) || FILLERS.has(next.text.toLowerCase())))) break;
      // "Terraform refuses …": behind a noun that begins a sentence stands its verb.
      if (subject && !next.quoted && !/[-_:/\d]/.test(next.text)) break;
      values.push(next.text);
      const after = tokens[at + 1]?.text;
      if (!list || (after !== "," && after !== "and")) break;
    }
    if (values.length > 0) return values;
    const earlier = tokens[index - 1];
    if (earlier && (earlier.quoted || /[-_:/\d]|^[A-Z]{2,}$/.test(earlier.text))) return [earlier.text];
  }
  return [];
}

/** A text without the values in it that say nothing about what is to be done: paths, numbers, addresses. */
export function withoutValues(text: string, mentions: readonly Mention[]): string {
  const values = mentions.filter(({ kind, value }) => !["quoted", "word", "user", "date"].includes(kind) && !COUNTS.has(String(value)));
  return values.reduce(
    (rest, { value }) => rest.replaceAll(new RegExp(`(?<=[\\s(#!&%~]|^)${String(value).replace(/[^\w]/g, "\\$&")}(?![\\w/-])`, "g"), " "),
    text,
  );
}
