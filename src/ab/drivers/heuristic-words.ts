/**
 * Words and their likeness. Nothing here knows a server: the stop words and the groups of words that mean the same are those of
 * anybody who works with code in English, and they stand in no relation to the words that any server under test searches by.
 */

const STOP = new Set(
  (
    "a an the this that these those it its they them their there here is are was were be been being am do does did done have has had having " +
    "will would shall should can could may might must of in on at by for from to into onto with within without as and or but nor so if then " +
    "than also just only please now me my mine i we us our ours you your yours he she his her who whom whose which what when where why how " +
    "any some each every no not none nothing else more most such same other others own very too again still already yet all both one up out " +
    "about over under after before during while until because let lets us get gets got make makes made want wants need needs like"
  ).split(" "),
);

/** Words that people use for doing the same. */
const SAME_VERBS: readonly (readonly string[])[] = [
  ["delete", "remove", "drop", "erase", "destroy"],
  ["show", "see", "overview", "view", "display"],
  ["create", "add", "new", "write", "open", "file", "start", "leave", "make", "book"],
  ["update", "edit", "change", "set", "modify"],
  ["retry", "rerun", "restart", "repeat"],
];

/** Words that people use for the same thing. */
const SAME_NOUNS: readonly (readonly string[])[] = [
  ["merge request", "mr", "mrs", "pr", "prs", "pull request"],
  ["issue", "ticket", "bug"],
  ["comment", "note", "remark", "reply"],
  ["pipeline", "build", "ci", "run"],
  ["schedule", "timer", "nightly", "cron", "timetable"],
  ["failed", "failure", "broke", "broken", "red", "wrong"],
  ["log", "trace", "output"],
  ["repository", "repo", "code"],
  ["member", "people", "person", "colleague"],
  ["todo", "to do", "to dos"],
  ["disabled", "inactive", "off"],
  ["enabled", "active"],
  ["diff", "changes", "changed"],
  ["variable", "secret"],
  ["user", "account", "username"],
  ["color", "colour"],
  ["time", "hour", "minute", "duration"],
  ["approve", "approval", "sign off"],
];

type Endings = readonly (readonly [RegExp, string])[];

const PLURALS: Endings = [
  [/ies$/, "y"],
  [/(ss|x|z|ch|sh)es$/, "$1"],
  [/([^su])s$/, "$1"],
];
const FORMS: Endings = [
  [/ied$/, "y"],
  [/(\w{4,})ations?$/, "$1"],
  [/(\w{3,})ions?$/, "$1"],
  [/(\w{3,})ing$/, "$1"],
  [/(\w{3,})ed$/, "$1"],
  [/(\w{4,})ee$/, "$1"],
  [/(\w{5,})al$/, "$1"],
];

/** Takes off the first ending that fits. */
function without(word: string, endings: Endings): string {
  const found = word.length > 3 ? endings.find(([ending]) => ending.test(word)) : undefined;
  return found ? word.replace(...found) : word;
}

/** A word without the endings of English grammar: plain rules, no dictionary. */
export function stem(word: string): string {
  const base = without(without(word, PLURALS), FORMS);
  return base.replace(/([bdgklmnprt])\1$/, "$1").replace(/(\w{3,})e$/, "$1");
}

/** Lower-case words; names in snake, kebab or camel case are taken apart. */
export function wordsOf(text: string): string[] {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map((word) => word);
}

/** The stems of the words that carry meaning. */
export const stemsOf = (text: string): string[] => wordsOf(text).flatMap((word) => (STOP.has(word) ? [] : stem(word)));

export const isStop = (word: string): boolean => STOP.has(word.toLowerCase());

type Groups = readonly (readonly (readonly string[])[])[];
const toGroups = (same: readonly (readonly string[])[]): Groups => same.map((group) => group.map((phrase) => wordsOf(phrase).map(stem)));
const NOUNS = toGroups(SAME_NOUNS);
const ALL = [...NOUNS, ...toGroups(SAME_VERBS)];

const holds = (stems: ReadonlySet<string>, phrase: readonly string[]): boolean => phrase.every((part) => stems.has(part));

/** Stem → weight: what was said counts whole, what means the same counts less. */
export function toQuery(text: string, weight = 1, groups: Groups = ALL): Map<string, number> {
  const said = new Set(stemsOf(text));
  const query = new Map([...said].map((part): [string, number] => [part, weight]));
  const all = new Set(wordsOf(text).map(stem));
  for (const group of groups) {
    if (!group.some((phrase) => holds(all, phrase))) continue;
    for (const part of group.flat()) if (!query.has(part)) query.set(part, weight * 0.5);
  }
  return query;
}

/** The stems of a text and of other names for the things in it. */
export const thingsOf = (text: string): ReadonlySet<string> => new Set(toQuery(text, 1, NOUNS).keys());

export function mergeQueries(...queries: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const query of queries) for (const [part, weight] of query) sum.set(part, Math.max(sum.get(part) ?? 0, weight));
  return sum;
}

/** A text to rank: its fields with the weight that a word in them has. */
export type Fields = readonly (readonly [text: string, weight: number])[];

interface Bag {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Lists stay the same from turn to turn, and long ones are counted once. */
const bags = new WeakMap<Fields, Bag>();

function toBag(fields: Fields): Bag {
  const known = bags.get(fields);
  if (known) return known;
  const counts = new Map<string, number>();
  let length = 0;
  for (const [text, weight] of fields) {
    for (const part of stemsOf(text)) {
      counts.set(part, (counts.get(part) ?? 0) + weight);
      length += weight;
    }
  }
  const bag = { counts, length };
  bags.set(fields, bag);
  return bag;
}

/** The words of a text that carry meaning, each with those that mean the same. */
export function meaningsOf(text: string): ReadonlySet<string>[] {
  const all = new Set(wordsOf(text).map(stem));
  const said = ALL.filter((group) => group.some((phrase) => holds(all, phrase)));
  return [...new Set(stemsOf(text))].map(
    (part) => new Set([part, ...said.filter((group) => group.some((phrase) => phrase.includes(part))).flatMap((group) => group.flat())]),
  );
}

const rarityOf = (texts: number, holders: number): number => Math.log(1 + (texts - holders + 0.5) / (holders + 0.5));

/** How much of what is meant stands in each text, rare words more than common ones: 0 to 1. */
export function coverOf(meanings: readonly ReadonlySet<string>[], texts: readonly Fields[]): number[] {
  const held = texts.map(toBag);
  const hits = meanings.map((words) => held.map(({ counts }) => [...words].some((word) => counts.has(word))));
  const rarity = hits.map((hit) => rarityOf(held.length, hit.filter(Boolean).length));
  const whole = rarity.reduce((sum, one) => sum + one, 0) || 1;
  return held.map((_bag, index) => hits.reduce((sum, hit, at) => sum + (hit[index] ? (rarity[at] ?? 0) : 0), 0) / whole);
}

/** BM25 over the texts that are at hand at this moment (k1 1.2, b 0.5), one score for each. */
export function rank(query: ReadonlyMap<string, number>, texts: readonly Fields[]): number[] {
  const held = texts.map(toBag);
  const mean = held.reduce((sum, { length }) => sum + length, 0) / Math.max(held.length, 1) || 1;
  const rarity = new Map<string, number>();
  for (const part of query.keys()) {
    const holders = held.reduce((sum, { counts }) => sum + (counts.has(part) ? 1 : 0), 0);
    rarity.set(part, rarityOf(held.length, holders));
  }
  return held.map(({ counts, length }) => {
    let score = 0;
    for (const [part, weight] of query) {
      const count = counts.get(part) ?? 0;
      if (count > 0) score += (weight * (rarity.get(part) ?? 0) * count * 2.2) / (count + 1.2 * (0.5 + (0.5 * length) / mean));
    }
    return score;
  });
}

/** Breaks ties, and nothing but ties, by the seed: below every difference that likeness makes. */
export function tieBreak(seed: number, name: string): number {
  let hash = 2_166_136_261 ^ seed;
  for (const char of name) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619);
  return ((hash >>> 0) / 2 ** 32) * 1e-9;
}
