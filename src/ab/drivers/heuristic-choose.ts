import { type Filled, fill } from "./heuristic-fill.ts";
import { type Intent, kindOfName } from "./heuristic-intents.ts";
import type { Mention } from "./heuristic-mentions.ts";
import type { Offer } from "./heuristic-offers.ts";
import type { Scene } from "./heuristic-scores.ts";
import { coverOf, type Fields, rank, stemsOf, thingsOf, tieBreak } from "./heuristic-words.ts";

export interface Choice {
  readonly offer: Offer;
  readonly filled: Filled;
  readonly score: number;
  /** How much of the request's words the offer's texts hold. */
  readonly cover: number;
}

const fieldsOf = new WeakMap<Offer, Fields>();

/** Name before title before text; the names of parameters count little. */
function toFields(offer: Offer): Fields {
  const known = fieldsOf.get(offer);
  if (known) return known;
  const params = (offer.params ?? []).map(({ name }) => name).join(" ");
  const fields: Fields = [
    [offer.name, 3],
    [offer.title, 2],
    [offer.about, 1],
    [params, 0.3],
  ];
  fieldsOf.set(offer, fields);
  return fields;
}

/** How far the effect of an offer agrees with what is asked: a question is no reason to change anything. */
function agreement({ effect, name }: Offer, kind: Intent["kind"]): number {
  const named = kindOfName(name);
  const does =
    effect === "read" ? "read" : named === "remove" ? "remove" : effect === "write" || effect === "destructive" ? "change" : named;
  if (does === undefined || does === kind) return 1;
  if (kind === "read" || does === "read") return 0.2;
  return kind === "remove" ? 0.5 : does === "remove" ? 0.1 : 0.5;
}

/** Whether the name of an offer, all that is known of it, has the noun of every number that the request gives. */
function names({ name }: Offer, own: readonly Mention[]): boolean {
  const stems = thingsOf(name.replaceAll(/[._]/g, " "));
  return own.every(
    ({ kind, marker, before }) =>
      kind !== "number" ||
      [...(marker === "!" ? ["request"] : marker === "#" ? ["issu"] : before.slice(0, 1))].every((noun) => stems.has(noun)),
  );
}

/** What is missing weighs most, since the call cannot be made; each value of the request that finds its place speaks for the offer. */
function fitness(offer: Offer, { args, missing, used }: Filled, { mentions, intent }: Scene): number {
  if (offer.params === undefined)
    return names(
      offer,
      mentions.filter(({ at }) => at >= intent.from && at < intent.to),
    )
      ? 0.7
      : 0.25;
  const own = mentions.filter(({ at }) => at >= intent.from && at < intent.to);
  const placed = own.filter(({ at }) => used.has(at)).length;
  const said = Math.min(Object.keys(args).length - used.size, 3);
  return 0.45 ** missing.length * (0.4 + (0.6 * placed) / Math.max(own.length, 1)) * (1 + 0.1 * Math.max(said, 0));
}

/** A name that says more than was asked for is about something else: "note emoji add" is no way to add a note. */
function precision({ name }: Offer, query: ReadonlyMap<string, number>): number {
  const stems = stemsOf(name);
  return 0.6 + (0.4 * stems.filter((part) => query.has(part)).length) / Math.max(stems.length, 1);
}

/** So many are looked at closely; the others are too unlike the request. */
const CLOSE = 15;

/** The offers that are most like the request, the best first; those without a word in common are none. `ranked`: a search gave them, best first, and knows words that the request has and its rows have not. */
export function choose(offers: readonly Offer[], scene: Scene, seed: number, ranked = false): Choice[] {
  const fields = offers.map(toFields);
  const likeness = rank(scene.query, fields);
  const covers = coverOf(scene.meanings, fields);
  const most = likeness.reduce((top, score) => Math.max(top, score), ranked ? 1 : 0);
  return offers
    .map((offer, index) => ({ offer, score: likeness[index] ?? 0, cover: covers[index] ?? 0 }))
    .filter(({ score }) => ranked || score > 0)
    .map((one, place) => ({ ...one, score: ranked ? (one.score + most / 2) / (1 + 0.15 * place) : one.score }))
    .map((one) => ({
      ...one,
      score: one.score * agreement(one.offer, scene.intent.kind) * precision(one.offer, scene.query) + tieBreak(seed, one.offer.name),
    }))
    .sort((a, b) => b.score - a.score)
    .slice(0, CLOSE)
    .map(({ offer, score, cover }) => {
      const filled = fill(offer, scene);
      return { offer, filled, cover, score: score * fitness(offer, filled, scene) };
    })
    .sort((a, b) => b.score - a.score);
}
