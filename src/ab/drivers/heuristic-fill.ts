import type { Json } from "../types.ts";
import { kindStems, nounOf, recall } from "./heuristic-memory.ts";
import { type Mention, valuesBeside } from "./heuristic-mentions.ts";
import type { Offer, Param } from "./heuristic-offers.ts";
import { BODIES, HOLDERS, isId, type Scene, scoreOf, set, some, TITLES, takesNumber, takesText, type Want } from "./heuristic-scores.ts";
import { isStop, stem, stemsOf, thingsOf, wordsOf } from "./heuristic-words.ts";

export interface Filled {
  readonly args: Json;
  /** Required parameters that nothing fills. */
  readonly missing: readonly Param[];
  /** Places in the prompt whose values are used. */
  readonly used: ReadonlySet<number>;
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
