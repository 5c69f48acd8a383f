/**
 * Fits the weights of the ranker (src/discovery/data/rank.json): the likelihood of a right action among the candidates, by gradient, on
 * the tune halves and on stories. What words tell (`find-classes.ts`) was learned from phrases alone, so the ranker sees here how far it
 * holds for queries. `--write` keeps the result, `--fast` leaves the folds out.
 */
import { writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { createEngine, readQuery } from "../src/discovery/engine.ts";
import { INPUTS } from "../src/discovery/rank.ts";
import { type Case, isHeldOut, readCases } from "./find-cases.ts";

const SETS = ["tune", "others", "outside", "abroad", "hard", "long"] as const;

interface Example {
  readonly rows: readonly Float64Array[];
  readonly right: readonly boolean[];
  readonly weight: number;
  readonly fold: number;
  readonly set: (typeof SETS)[number];
}

const CANDIDATES = 60;
const FOLDS = 5;
const SHARE = INPUTS.indexOf("share");
/** Queries of outsiders are fewer, and nearer to what will be asked. */
const OUTSIDE = 1.5;
const actions = loadActions();
const engine = createEngine(actions);

function hash(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at++) value = (Math.imul(value, 31) + text.charCodeAt(at)) >>> 0;
  return value;
}

function exampleOf({ query, ids }: Case, set: Example["set"], weight: number): readonly Example[] {
  const isRight = (doc: number) => ids.includes(actions[doc]?.id ?? "");
  const first = ({ inputs }: { readonly inputs: readonly number[] }) => (inputs[0] ?? 0) + 2 * (inputs[SHARE] ?? 0);
  const sorted = [...engine.scorer.inputs(readQuery(query, engine))].sort((a, b) => first(b) - first(a));
  const kept = sorted.filter(({ doc }, at) => at < CANDIDATES || isRight(doc));
  if (kept.length < 2) return [];
  const rows = kept.map(({ inputs }) => Float64Array.from(inputs));
  return [{ rows, right: kept.map(({ doc }) => isRight(doc)), weight, fold: hash(query) % FOLDS, set }];
}

const tune = (name: string) => readCases(name).filter(({ query }) => !isHeldOut(query));
const examples: readonly Example[] = [
  ...tune("queries").flatMap((one) => exampleOf(one, one.lang === "en" ? "tune" : "others", 1)),
  ...tune("outside").flatMap((one) => exampleOf(one, one.lang === "en" ? "outside" : "abroad", OUTSIDE)),
  ...tune("hard").flatMap((one) => exampleOf(one, "hard", OUTSIDE)),
  ...readCases("long").flatMap((one) => exampleOf(one, "long", 1)),
];

const STEPS = 150;
const RIDGE = 0.0005;

function dot(row: Float64Array, weights: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < row.length; at++) sum += (row[at] as number) * (weights[at] as number);
  return sum;
}

function fitWeights(chosen: readonly Example[]): Float64Array {
  const size = INPUTS.length;
  const weights = new Float64Array(size);
  weights[0] = 3;
  const total = chosen.reduce((sum, { weight }) => sum + weight, 0);
  const first = new Float64Array(size);
  const second = new Float64Array(size);
  for (let step = 1; step <= STEPS; step++) {
    const slope = new Float64Array(size);
    for (const { rows, right, weight } of chosen) {
      if (!right.includes(true)) continue;
      const scores = rows.map((row) => dot(row, weights));
      const most = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - most));
      const all = powers.reduce((sum, value) => sum + value, 0);
      const good = powers.reduce((sum, value, at) => sum + (right[at] ? value : 0), 0);
      rows.forEach((row, at) => {
        const power = powers[at] as number;
        const pull = ((right[at] ? power / Math.max(good, 1e-12) : 0) - power / all) * weight;
        for (let f = 0; f < size; f++) slope[f] = (slope[f] as number) + pull * (row[f] as number);
      });
    }
    for (let f = 0; f < size; f++) {
      const g = -(slope[f] as number) / total + 2 * RIDGE * (weights[f] as number);
      first[f] = 0.9 * (first[f] as number) + 0.1 * g;
      second[f] = 0.99 * (second[f] as number) + 0.01 * g * g;
      weights[f] =
        (weights[f] as number) -
        (0.1 * ((first[f] as number) / (1 - 0.9 ** step))) / (Math.sqrt((second[f] as number) / (1 - 0.99 ** step)) + 1e-8);
    }
  }
  return weights;
}

function recall(chosen: readonly Example[], weights: Float64Array): string {
  let one = 0;
  let five = 0;
  for (const { rows, right } of chosen) {
    const scores = rows.map((row) => dot(row, weights));
    const best = Math.max(...scores.filter((_, at) => right[at]));
    const rank = scores.filter((score) => score > best).length;
    if (best > Number.NEGATIVE_INFINITY && rank === 0) one++;
    if (best > Number.NEGATIVE_INFINITY && rank < 5) five++;
  }
  return `${(one / chosen.length).toFixed(3)} ${(five / chosen.length).toFixed(3)}`;
}

const ofSet = (set: Example["set"]) => examples.filter((one) => one.set === set);
const summary = (weights: Float64Array) => SETS.map((set) => `${set} ${recall(ofSet(set), weights)}`).join("  ");
const plain = Float64Array.from(INPUTS, (_, at) => (at === 0 ? 1 : 0));
console.log("before ", summary(plain));
const FAST = process.argv.includes("--fast");
const folds = FAST ? [] : Array.from({ length: FOLDS }, (_, fold) => fitWeights(examples.filter((one) => one.fold !== fold)));
for (const set of FAST ? [] : SETS) {
  const parts = folds.map((weights, fold) => [examples.filter((one) => one.set === set && one.fold === fold), weights] as const);
  console.log(set.padEnd(7), "left out, by fold:", parts.map(([chosen, weights]) => recall(chosen, weights)).join(" | "));
  const all = parts.flatMap(([chosen, weights]) => chosen.map((one) => Number(recall([one], weights).split(" ")[0])));
  const allFive = parts.flatMap(([chosen, weights]) => chosen.map((one) => Number(recall([one], weights).split(" ")[1])));
  const mean = (list: number[]) => (list.reduce((sum, value) => sum + value, 0) / list.length).toFixed(3);
  console.log(set.padEnd(7), "left out:", mean(all), mean(allFive));
}
const weights = fitWeights(examples);
console.log("fitted ", summary(weights));
const named = Object.fromEntries(INPUTS.map((name, at) => [name, Math.round((weights[at] as number) * 1000) / 1000]));
console.log(named);
if (process.argv.includes("--write"))
  writeFileSync(new URL("../src/discovery/data/rank.json", import.meta.url), `${JSON.stringify(named, null, 2)}\n`);
