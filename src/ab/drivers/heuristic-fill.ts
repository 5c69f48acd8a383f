import type { Json } from "../types.ts";
import type { Intent } from "./heuristic-intents.ts";
import { type Known, kindStems, nounOf, recall } from "./heuristic-memory.ts";
import { type Mention, valuesBeside } from "./heuristic-mentions.ts";
import type { Offer, Param } from "./heuristic-offers.ts";
import { isStop, stem, stemsOf, thingsOf, wordsOf } from "./heuristic-words.ts";

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

export interface Filled {
  readonly args: Json;
  /** Required parameters that nothing fills. */
  readonly missing: readonly Param[];
  /** Places in the prompt whose values are used. */
  readonly used: ReadonlySet<number>;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" ").map(stem));
const some = (a: Iterable<string>, b: ReadonlySet<string>): boolean => [...a].some((one) => b.has(one));

const TITLES = set("title name subject summary key slug");
const BODIES = set("body description text content message note comment reason question");
const SAYING = set("comment say saying says text message write note reply describe body content answer reading reads");
const NAMING = set("call called name named title titled");
const DATES = set("date day yyyy due start expire until since after before deadline");
const PEOPLE = set("user username assignee reviewer author member person");
const TAKING = set("take assign review own myself");
const REFS = set("branch ref tag source target commit revision");
const FILES = set("file path");
const HOLDERS = set("project repo repository");

/** What the signs before numbers stand for wherever GitLab is written about. */
const MARKERS: Readonly<Record<string, readonly string[]>> = {
  "#": ["issue"],
  "!": ["merge", "request"],
  "&": ["epic"],
  "%": ["milestone"],
  $: ["snippet"],
};

interface Want {
  readonly param: Param;
  /** Stems of its name without id and number. */
  readonly noun: readonly string[];
  readonly about: ReadonlySet<string>;
  /** Stems of what the offer is about. */
  readonly offer: ReadonlySet<string>;
}

const takesText = ({ type, item, values }: Param): boolean =>
  values === undefined && (type === "string" || type === "unknown" || (type === "array" && item !== "integer" && item !== "object"));
const takesNumber = ({ type, item, about }: Param): boolean =>
  type === "integer" ||
  type === "number" ||
  (type === "array" && item === "integer") ||
  ((type === "string" || type === "unknown") && /\bid\b|number/i.test(about));

const nearOf = ({ before, after }: Mention): ReadonlySet<string> =>
  new Set([...thingsOf([...before.slice(0, 3)].reverse().join(" ")), ...before, ...after]);

/** Takes a day and nothing else. */
const isDay = ({ noun, param }: Want): boolean => some(noun, set("date due expire")) || /YYYY|ISO 8601/i.test(param.about);

const isId = ({ name }: Param): boolean => /(^|_)i?ids?$/i.test(name);

function numberScore(want: Want, mention: Mention): number {
  const { param, noun, offer } = want;
  if (!takesNumber(param)) return 0;
  const last = noun.at(-1);
  const near = mention.marker ? new Set((MARKERS[mention.marker] ?? []).map(stem)) : nearOf(mention);
  if (mention.marker && mention.marker !== "$" && param.about.includes(`${mention.marker}${mention.value}`)) return 6;
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

const leadOf = (prompt: string, at: number): string => wordsOf(prompt.slice(Math.max(0, at - 20), at)).at(-1) ?? "";

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

/** How well a value of the prompt fits a parameter; 0 = not at all. Below 1 nothing is filled, below 3 only what is required. */
function scoreOf(want: Want, mention: Mention, scene: Scene): number {
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

/** The words of a fixed set that the request says. A set that sorts is left alone unless sorting is asked for. */
function wordOf({ param, noun }: Want, { intent }: Scene): string | undefined {
  if (param.values === undefined) return undefined;
  const said = new Set(wordsOf(intent.text).map(stem));
  if (some(noun, set("sort order")) && !some(said, set("sort order newest latest oldest"))) return undefined;
  const spoken = (word: string) => said.has(stem(word)) || (word === "me" && ["my", "mine", "i"].some((own) => said.has(own)));
  const exact = param.values.filter(
    (value) => wordsOf(value).some((word) => !isStop(word) || word === "me") && wordsOf(value).every(spoken),
  );
  if (exact.length > 0) return exact.reduce((longest, value) => (value.length > longest.length ? value : longest));
  const meant = param.required ? param.values.find((value) => stemsOf(value).some((part) => thingsOf(intent.text).has(part))) : undefined;
  return meant ?? (param.required && param.values.length === 1 ? param.values[0] : undefined);
}

const OFF = /\b(off|disable|disabled|deactivate|stop|pause|suspend|inactive|no longer|not any more|mute)\b/i;
const ON = /\b(on again|back on|switch on|turn on|enable|activate|resume|active)\b/i;
const SWITCHES = set("active enabled disabled paused");

/** A yes or no that the request says: the words of the name stand in it, denied or not; or something is switched on or off. */
function switchOf({ noun, param }: Want, { intent }: Scene): boolean | undefined {
  const { text } = intent;
  const words = wordsOf(text);
  const said = words.map(stem);
  if (noun.length > 0 && some(noun, SWITCHES) && (OFF.test(text) || ON.test(text))) {
    const on = ON.test(text) && !OFF.test(text);
    return some(noun, set("disabled paused")) ? !on : on;
  }
  const own = noun.filter((part) => part.length > 2);
  if (own.length === 0 || !own.every((part) => said.includes(part))) return undefined;
  const at = Math.min(...own.map((part) => said.indexOf(part)));
  const denied = words.slice(Math.max(0, at - 3), at).some((word) => ["not", "no", "without", "never", "un", "t"].includes(word));
  return param.required || own.length > 1 || !denied ? !denied : false;
}

/** A number that the parameter's own text explains by a word of the request: "40 maintainer", "maintainer (40)", "40 = maintainer". */
function codeOf({ param }: Want, { intent }: Scene): number | undefined {
  if (param.type !== "integer") return undefined;
  const said = new Set(stemsOf(intent.text));
  const pairs = [...param.about.matchAll(/\b(\d+)\s*(?:=|:|\()?\s*([A-Za-z]+)|\b([A-Za-z]+)\s*(?:=|\()\s*(\d+)/g)];
  const found = pairs.find(([, , after, before]) => said.has(stem((after ?? before ?? "").toLowerCase())));
  return found ? Number(found[1] ?? found[4]) : undefined;
}

/** A path or a person is the value of parameters of that kind only; an id has a digit or a sign in it. */
function isValue(value: string, param: Param, { mentions }: Scene): boolean {
  const mention = mentions.find((one) => String(one.value) === value);
  if (value === "" || mention?.kind === "path" || mention?.kind === "date" || mention?.kind === "url") return false;
  return !isId(param) || /[\d_:-]/.test(value) || mention?.quoted === true;
}

/** Values that stand beside the noun of a parameter; for a name, beside the noun of what the offer is about. */
function besideOf({ param, noun, offer }: Want, scene: Scene): Json[string] {
  if (!takesText(param) && !(param.item === "integer" || takesNumber(param))) return undefined;
  const text = scene.prompt.slice(scene.intent.from, scene.intent.to);
  const list = param.type === "array" || wordsOf(param.name).some((word) => word.endsWith("s") && word.length > 3);
  const own =
    some(noun, TITLES) && param.required ? [noun, ...[...offer].filter((part) => !some([part], TITLES)).map((part) => [part])] : [noun];
  for (const name of own) {
    const last = name.at(-1);
    if (last === undefined || some([last], HOLDERS) || some([last], BODIES)) continue;
    const values = valuesBeside(text, name, list).filter((value) => isValue(value, param, scene));
    if (values.length === 0) continue;
    if (!takesText(param))
      return values.every((value) => /^\d+$/.test(value)) ? (param.type === "array" ? values.map(Number) : Number(values[0])) : undefined;
    return param.type === "array" ? values : values.join(",");
  }
  return undefined;
}

/** From an earlier result; for a change only where the request points at it. */
function remembered({ param, noun, offer }: Want, { query, known, intent }: Scene): string | number | undefined {
  const found = recall(param, noun.length > 0 ? noun : [...offer], query, known);
  return found && (found.sure || intent.kind === "read") ? found.value : undefined;
}

function toArg({ type, item }: Param, mentions: readonly Mention[]): unknown {
  const one = (value: string | number) => (type === "string" || (item ?? type) === "string" ? String(value) : value);
  const values = mentions.map(({ value }) => one(value));
  return type === "array" ? values : values[0];
}

interface Match {
  readonly want: Want;
  readonly mention: Mention;
  readonly score: number;
}

/** Best matches first; a value fills one parameter, a parameter takes one value, and all of the same kind where it is a list. */
function assign(wants: readonly Want[], scene: Scene, args: Json, used: Set<number>): void {
  const matches: Match[] = wants.flatMap((want) =>
    scene.mentions.flatMap((mention) => {
      const inside = mention.at >= scene.intent.from && mention.at < scene.intent.to ? 0.25 : 0;
      const score = scoreOf(want, mention, scene);
      return score >= (want.param.required ? 1 : 3) ? [{ want, mention, score: score + inside + (want.param.required ? 0.1 : 0) }] : [];
    }),
  );
  matches.sort((a, b) => b.score - a.score || a.mention.at - b.mention.at);
  for (const { want, mention, score } of matches) {
    const { name, type } = want.param;
    if (args[name] !== undefined || used.has(mention.at)) continue;
    const all =
      type === "array"
        ? matches.filter(
            (match) =>
              match.want === want && match.mention.kind === mention.kind && match.score >= score - 1 && !used.has(match.mention.at),
          )
        : [];
    const taken = all.length > 0 ? all.map((match) => match.mention) : [mention];
    args[name] = toArg(want.param, taken);
    for (const { at } of taken) used.add(at);
  }
}

/** Names in capitals with what they are set to. */
function pairsOf({ prompt, intent }: Scene): Json[] {
  const text = prompt.slice(intent.from, intent.to);
  const pairs = text.matchAll(/\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)["`]?\s*(?:=|:|set to|to|is|with)\s*["`]?([^\s"`,;]*[^\s"`,;.])/g);
  return [...pairs].map(([, key = "", value = ""]) => ({ key, value }));
}

/** What a search looks for: what is quoted, else the words of the request that carry meaning. */
function searchWords({ intent, mentions }: Scene): string {
  const quoted = mentions.find(({ kind, at }) => kind === "quoted" && at >= intent.from && at < intent.to);
  return quoted
    ? String(quoted.value)
    : wordsOf(intent.text)
        .filter((word) => stemsOf(word).length > 0)
        .slice(0, 6)
        .join(" ");
}

/**
 * Arguments for an offer, from the prompt and from what earlier results held. Required parameters need less evidence than others; a
 * parameter that the request does not speak of is left out.
 */
export function fill(offer: Offer, scene: Scene): Filled {
  const kind = new Set(kindStems(offer.name, offer.title));
  const wants = (offer.params ?? []).map(
    (param): Want => ({ param, noun: nounOf(param.name), about: new Set(stemsOf(param.about)), offer: kind }),
  );
  const args: Json = {};
  const used = new Set<number>();
  for (const want of wants) {
    const value = want.param.type === "boolean" ? switchOf(want, scene) : (wordOf(want, scene) ?? codeOf(want, scene));
    if (value !== undefined) args[want.param.name] = want.param.type === "array" ? [value] : value;
  }
  assign(
    wants.filter(({ param }) => param.type !== "boolean" && param.values === undefined),
    scene,
    args,
    used,
  );
  for (const { param } of wants) {
    const pairs = param.fields?.includes("key") && param.fields.includes("value") ? pairsOf(scene) : [];
    if (pairs.length > 0) args[param.name] = pairs;
  }
  for (const want of wants) {
    const { name, required, type } = want.param;
    if (args[name] !== undefined || type === "boolean" || want.param.values !== undefined) continue;
    const value = besideOf(want, scene) ?? (required ? remembered(want, scene) : undefined);
    if (value !== undefined) args[name] = type === "array" && !Array.isArray(value) ? [value] : value;
    else if (required && type === "string" && some(want.noun, set("search query q"))) args[name] = searchWords(scene);
  }
  return { args, used, missing: wants.flatMap(({ param }) => (param.required && args[param.name] === undefined ? [param] : [])) };
}
