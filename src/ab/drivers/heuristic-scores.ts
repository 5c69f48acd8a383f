import type { Intent } from "./heuristic-intents.ts";
import type { Known } from "./heuristic-memory.ts";
import type { Mention } from "./heuristic-mentions.ts";
import type { Param } from "./heuristic-offers.ts";
import { stem, thingsOf, wordsOf } from "./heuristic-words.ts";

/** What parameters are filled from. */
export interface Scene {
  readonly prompt: string;
  readonly intent: Intent;
  readonly mentions: readonly Mention[];
  readonly known: readonly Known[];
  /** The request's words with those that mean the same. */
  readonly query: ReadonlyMap<string, number>;
  /** Each word of the request itself, with those that mean the same. */
  readonly meanings: readonly ReadonlySet<string>[];
}

export const set = (words: string): ReadonlySet<string> => new Set(words.split(" ").map(stem));
export const some = (a: Iterable<string>, b: ReadonlySet<string>): boolean => [...a].some((one) => b.has(one));

export const TITLES = set("title name subject summary key slug");
export const BODIES = set("body description text content message note comment reason question");
const SAYING = set("comment say saying says text message write note reply describe body content answer reading reads");
const NAMING = set("call called name named title titled");
const DATES = set("date day yyyy due start expire until since after before deadline");
const PEOPLE = set("user username assignee reviewer author member person");
const TAKING = set("take assign review own myself");
const REFS = set("branch ref tag source target commit revision");
const FILES = set("file path");
export const HOLDERS = set("project repo repository");

/** What the signs before numbers stand for wherever GitLab is written about. */
const MARKERS: Readonly<Record<string, readonly string[]>> = {
  "#": ["issue"],
  "!": ["merge", "request"],
  "&": ["epic"],
  "%": ["milestone"],
  $: ["snippet"],
};

/** A parameter with the words that say what it is. */
export interface Want {
  readonly param: Param;
  /** Stems of its name without id and number. */
  readonly noun: readonly string[];
  readonly about: ReadonlySet<string>;
  /** Stems of what the offer is about. */
  readonly offer: ReadonlySet<string>;
}

export const takesText = ({ type, item, values }: Param): boolean =>
  values === undefined && (type === "string" || type === "unknown" || (type === "array" && item !== "integer" && item !== "object"));
export const takesNumber = ({ type, item, about }: Param): boolean =>
  type === "integer" ||
  type === "number" ||
  (type === "array" && item === "integer") ||
  ((type === "string" || type === "unknown") && /\bid\b|number/i.test(about));

const nearOf = ({ before, after }: Mention): ReadonlySet<string> =>
  new Set([...thingsOf([...before.slice(0, 3)].reverse().join(" ")), ...before, ...after]);

/** Takes a day and nothing else. */
const isDay = ({ noun, param }: Want): boolean => some(noun, set("date due expire")) || /YYYY|ISO 8601/i.test(param.about);

export const isId = ({ name }: Param): boolean => /(^|_)i?ids?$/i.test(name);

/** The word right before a place. */
const leadOf = (prompt: string, at: number): string => wordsOf(prompt.slice(Math.max(0, at - 20), at)).at(-1) ?? "";

function numberScore(want: Want, mention: Mention): number {
  const { param, noun, offer } = want;
  if (!takesNumber(param)) return 0;
  const last = noun.at(-1);
  const near = mention.marker ? new Set((MARKERS[mention.marker] ?? []).map(stem)) : nearOf(mention);
  if (mention.marker && new RegExp(`\\${mention.marker}\\d`).test(param.about)) return 6;
  if (last === undefined) return some(near, offer) ? 4 : 0;
  if (near.has(last)) return mention.before[0] === last || mention.marker ? 6 : 5;
  return param.required && !mention.marker && param.type !== "string" && !isId(param) ? 1 : 0;
}

function personScore({ param, noun, about }: Want, mention: Mention): number {
  if (!some(noun, PEOPLE) && !some(about, PEOPLE)) return 0;
  if (param.type === "integer" || (param.item === "integer" && !about.has(stem("username")))) return 0;
  const near = nearOf(mention);
  if (mention.value === "me") return some(near, TAKING) && some(noun, set("assignee reviewer assign")) ? 5 : 0;
  return some(noun, near) ? 6 : param.required ? 4 : some(near, TAKING) ? 4 : 2;
}

function refScore({ param, noun, about }: Want, { kind, before, after, at }: Mention, prompt: string): number {
  if (!some(noun, REFS) && !(param.required && some(about, REFS))) return 0;
  const lead = leadOf(prompt, at);
  const side = some(noun, set("source ref from start"))
    ? ["from", "off", "of", "on", "at"]
    : some(noun, set("target base"))
      ? ["into", "to", "against", "onto", "with"]
      : [];
  const beside = some([before[0] ?? "", after[0] ?? ""], new Set(noun)) ? 2 : 0;
  if (kind === "version") return some(noun, set("tag ref")) ? 4 + beside : 0;
  if (kind === "sha") return some(noun, set("sha commit ref")) ? 5 : 0;
  return 3 + beside + (side.includes(lead) ? 2 : 0) + (param.required ? 0.5 : 0);
}

/** "From" says when something starts, "to" and "until" when it ends. */
function dayScore({ noun }: Want, mention: Mention, prompt: string): number {
  if (some(noun, nearOf(mention))) return 6;
  const lead = leadOf(prompt, mention.at);
  const starts = some(noun, set("start after since from"));
  if (["from", "after", "since"].includes(lead)) return starts ? 5 : 2;
  return ["to", "until", "till", "by", "on"].includes(lead) ? (starts ? 2 : 5) : 3.5;
}

function quotedScore({ param, noun, offer }: Want, mention: Mention, inside: boolean): number {
  if (!inside || param.type === "array") return 0;
  const near = nearOf(mention);
  const other = noun.filter((part) => !TITLES.has(part));
  const title = some(noun, TITLES) && other.length === 0;
  const body = some(noun, BODIES);
  if (some(title || body ? noun : other, near)) return 6;
  if (!title && !body) return param.required && noun.length > 0 && !isId(param) ? 1.5 : 0;
  if (body && some(near, SAYING)) return 5;
  if (title && (some(near, NAMING) || some(mention.before.slice(0, 1), offer))) return 5;
  return param.required ? 3.5 : body ? 2 : 1;
}

function pathScore({ param, noun, about, offer }: Want, mention: Mention): number {
  if (mention.kind === "file") return some(noun, FILES) || (param.required && some(about, FILES)) ? (some(noun, HOLDERS) ? 0 : 5) : 0;
  const group = some(nearOf(mention), set("group"));
  if (some(noun, HOLDERS)) return group ? 1 : 6;
  if (some(noun, set("group namespace"))) return group ? 6 : 0;
  return noun.length === 0 && some(offer, HOLDERS) && (param.about.includes("path") || param.required) ? 4 : 0;
}

/**
 * How well a value of the prompt fits a parameter: 6 the parameter's own noun stands right beside it, 5 near it, or the value is of a kind
 * that only such parameters have, 4 the form fits and what the offer is about stands near, 3 the form fits, 1 for want of anything better,
 * 0 not at all. Below 3 only a required parameter is filled.
 */
export function scoreOf(want: Want, mention: Mention, scene: Scene): number {
  const { param, noun, about, offer } = want;
  const { kind } = mention;
  if (kind === "title") return 0;
  if (kind === "number") return numberScore(want, mention);
  if (!takesText(param) && !(kind === "user" && takesNumber(param))) return 0;
  const inside = mention.at >= scene.intent.from && mention.at < scene.intent.to;
  if (isDay(want)) return kind === "date" ? dayScore(want, mention, scene.prompt) : 0;
  if (kind === "duration") return some(noun, set("duration estimate time")) ? 5 : 0;
  if (mention.quoted && kind !== "quoted" && inside) {
    const text = quotedScore(want, mention, inside);
    if (text > 3) return text;
  }
  if (kind === "quoted") return quotedScore(want, mention, inside);
  if (kind === "path" || kind === "file") return pathScore(want, mention);
  if (kind === "user") return personScore(want, mention);
  if (kind === "date") return some(noun, DATES) || some(about, DATES) ? (some(noun, nearOf(mention)) ? 6 : 3) : 0;
  if (kind === "url" || kind === "email") return some([...noun, ...about], set(kind === "url" ? "url link address" : "email mail")) ? 5 : 0;
  if (kind === "ref" || kind === "version" || kind === "sha") {
    const ref = refScore(want, mention, scene.prompt);
    if (ref > 0 || kind !== "version") return ref;
  }
  const near = nearOf(mention);
  if (noun.length > 0 && near.has(noun.at(-1) ?? "")) return 5;
  return inside && some(noun, TITLES) && some(near, offer) ? 4 : 0;
}
