import { readFileSync } from "node:fs";
import type { Action } from "../catalog/types.ts";
import { ASK, KEYWORD, likest, SECOND, TITLE } from "./asks.ts";
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
  "topic",
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

/** What the best window of a query says of an action. */
export interface Evidence {
  /** Share of the best score of any action, and of the best sum over all windows. */
  readonly base: number;
  readonly sum: number;
  /** Four likenesses of its phrases, from a place on, and the best of any action. */
  readonly likes: Float32Array;
  readonly at: number;
  readonly best: number;
  /** How likely it is meant by a story as a whole, a logarithm. */
  readonly topic: number;
  readonly core: number;
  readonly coverage: number;
  readonly fit: number;
  /** 1 where the class that was wished for is the action's, -1 where it is another, 0 without a wish. */
  readonly wish: number;
  /** How likely its kind of doing is meant, a logarithm. */
  readonly lean: number;
  /** How likely its area is meant, a logarithm. */
  readonly area: number;
  readonly deed: number;
  /** A question, and the action changes something. */
  readonly asked: boolean;
  /** 1 for what people use most, 2 for what they use often. */
  readonly often: number;
  readonly verbSaid: boolean;
  /** Bits of the name's terms that were said. */
  readonly said: number;
  /** The thing that is asked for stands in the name. */
  readonly headIn: boolean;
  readonly isLong: boolean;
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

/** Writes the inputs of one action, in the order of their names: into one list again and again, since every action is looked at. */
export function inputsOf({ action, shares, kind }: Doc, evidence: Evidence, into: number[] = []): number[] {
  const { likes, at, core, coverage, said } = evidence;
  const { often } = evidence;
  const ask = likes[at + ASK] as number;
  let next = 0;
  into[next++] = log(evidence.base);
  into[next++] = log(evidence.sum);
  into[next++] = likes[at + TITLE] as number;
  into[next++] = likes[at + KEYWORD] as number;
  into[next++] = ask;
  into[next++] = Math.max(0, ask - FAR);
  into[next++] = likes[at + SECOND] as number;
  into[next++] = likest(likes, at) / Math.max(evidence.best, 0.2);
  into[next++] = core;
  into[next++] = coverage;
  into[next++] = Math.log(Math.max(evidence.fit, 0.05));
  into[next++] = evidence.wish;
  into[next++] = flag(evidence.asked);
  into[next++] = Math.max(-5, evidence.lean);
  into[next++] = Math.max(-8, evidence.area);
  into[next++] = Math.max(-10, evidence.deed);
  into[next++] = flag(evidence.verbSaid);
  into[next++] = flag(evidence.headIn);
  into[next++] = flag((said & 1) !== 0);
  into[next++] = flag((said & (1 << (shares.length - 1))) !== 0);
  into[next++] = Math.min(3, shares.length * (1 - core));
  into[next++] = Math.min(shares.length, 6) / 3;
  into[next++] = flag(action.essential === true);
  into[next++] = flag(often === 1);
  into[next++] = flag(often === 2);
  into[next++] = flag(action.effect === "destructive");
  into[next++] = flag(kind % 3 === 1);
  into[next++] = Math.max(-10, evidence.topic);
  for (const [to, from] of LONG) into[to] = evidence.isLong ? (into[from] as number) : 0;
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
