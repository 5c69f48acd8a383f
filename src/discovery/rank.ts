import { readFileSync } from "node:fs";
import type { Action } from "../catalog/types.ts";
import { ASK, KEYWORD, LIKES, likest, SECOND, TITLE } from "./asks.ts";
import type { BestBoard, Board } from "./board.ts";
import { gathered } from "./pile.ts";
import type { Doc } from "./search-index.ts";
import { WEIGHTS } from "./weights.ts";

const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), "utf8")) as T;

/** What the ranker looks at, in order. The `long` ones count for a story only, beside the plain ones. */
export const INPUTS = [
  "base",
  "sum",
  "title",
  "keyword",
  "ask",
  "near",
  "second",
  "share",
  "core",
  "coverage",
  "fit",
  "verb",
  "asked",
  "lean",
  "area",
  "deed",
  "verbSaid",
  "headIn",
  "firstSaid",
  "lastSaid",
  "unsaid",
  "length",
  "essential",
  "most",
  "often",
  "destructive",
  "write",
  "long base",
  "long sum",
  "long ask",
  "long share",
  "long coverage",
  "long fit",
  "long verb",
  "long lean",
  "long area",
  "long deed",
  "long essential",
  "long most",
  "long often",
  "long destructive",
] as const;

/** The best of any action: what each is measured by. */
export interface Tops {
  readonly score: number;
  readonly sum: number;
  readonly like: number;
}

export function topsOf({ touched, score, sum, likes }: BestBoard): Tops {
  const tops = { score: 1e-9, sum: 1e-9, like: 0 };
  for (const id of gathered(touched)) {
    tops.score = Math.max(tops.score, score[id] as number);
    tops.sum = Math.max(tops.sum, sum[id] as number);
    tops.like = Math.max(tops.like, likest(likes, id * LIKES));
  }
  return tops;
}

let popular: ReadonlyMap<string, 1 | 2> | undefined;

/** 1 for what people use most, 2 for what they use often. */
export function popularity({ id }: Action): 0 | 1 | 2 {
  if (!popular) {
    const { most, often } = read<{ most: string[]; often: string[] }>("popular");
    popular = new Map([...often.map((one) => [one, 2] as const), ...most.map((one) => [one, 1] as const)]);
  }
  return popular.get(id) ?? 0;
}

/** From here on a phrase is nearly what was said. */
const FAR = 0.6;
const LEAST = 0.01;
const log = (value: number) => Math.log(Math.max(value, LEAST));
const flag = (is: boolean) => (is ? 1 : 0);

/** What counts once more for a story. */
const LONG = INPUTS.flatMap((name, at) =>
  name.startsWith("long ") ? [[at, INPUTS.indexOf(name.slice(5) as (typeof INPUTS)[number])] as const] : [],
);

/** The inputs of one action, in the order of their names, written `into` one list again and again: every action is looked at. */
export function inputsOf(
  id: number,
  { action, shares, kind }: Doc,
  { best, often }: Pick<Board, "best" | "often">,
  tops: Tops,
  isLong: boolean,
  into: number[] = [],
): number[] {
  const { likes } = best;
  const at = id * LIKES;
  const ask = likes[at + ASK] as number;
  const core = best.core[id] as number;
  const said = best.said[id] as number;
  let next = 0;
  into[next++] = log((best.score[id] as number) / tops.score);
  into[next++] = log((best.sum[id] as number) / tops.sum);
  into[next++] = likes[at + TITLE] as number;
  into[next++] = likes[at + KEYWORD] as number;
  into[next++] = ask;
  into[next++] = Math.max(0, ask - FAR);
  into[next++] = likes[at + SECOND] as number;
  into[next++] = likest(likes, at) / Math.max(tops.like, 0.2);
  into[next++] = core;
  into[next++] = best.coverage[id] as number;
  into[next++] = Math.log(Math.max(best.fit[id] as number, 0.05));
  into[next++] = best.wish[id] as number;
  into[next++] = best.asked[id] as number;
  into[next++] = Math.max(-5, best.lean[id] as number);
  into[next++] = Math.max(-8, best.area[id] as number);
  into[next++] = Math.max(-10, best.deed[id] as number);
  into[next++] = best.verb[id] as number;
  into[next++] = best.head[id] as number;
  into[next++] = said & 1;
  into[next++] = flag((said & (1 << (shares.length - 1))) !== 0);
  into[next++] = Math.min(3, shares.length * (1 - core));
  into[next++] = Math.min(shares.length, 6) / 3;
  into[next++] = flag(action.essential === true);
  into[next++] = flag(often[id] === 1);
  into[next++] = flag(often[id] === 2);
  into[next++] = flag(action.effect === "destructive");
  into[next++] = flag(kind % 3 === 1);
  for (const [to, from] of LONG) into[to] = isLong ? (into[from] as number) : 0;
  return into;
}

/** Weights by name, as they were fitted. */
export const readRanker = (): Readonly<Record<string, number>> => read("rank");

let weights: readonly number[] | undefined;

/** Weights for a while, by name; without any, those of the file again. */
export function setRanker(named: Readonly<Record<string, number>> | undefined): void {
  weights = named && INPUTS.map((name) => named[name] ?? 0);
}

/** The score of an action: a product of powers, one for each input. */
export function rankScore(inputs: readonly number[]): number {
  weights ??= ((named) => INPUTS.map((name) => named[name] ?? 0))(readRanker());
  let sum = 0;
  for (let at = 0; at < inputs.length; at++) sum += (inputs[at] as number) * (weights[at] as number);
  return Math.exp(sum * WEIGHTS.temper);
}
