/**
 * Fits the weights of the ranker (src/discovery/data/rank.json): the likelihood of a right action among the candidates, by gradient,
 * on the tune half and on the phrases of `asks.json`, each searched for without itself. `--write` keeps the result, `--fast` leaves the folds out.
 */
import { writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { ASK, phrasesOf } from "../src/discovery/asks.ts";
import { createEngine, readQuery } from "../src/discovery/engine.ts";
import { INPUTS, popularity } from "../src/discovery/rank.ts";
import { isHeldOut, readCases } from "./find-cases.ts";

interface Example {
  readonly rows: readonly Float64Array[];
  readonly right: readonly boolean[];
  readonly weight: number;
  readonly fold: number;
  readonly set: "tune" | "others" | "long" | "asks" | "said";
}

const CANDIDATES = 60;
const FOLDS = 5;
const SHARE = INPUTS.indexOf("share");
const actions = loadActions();
const engine = createEngine(actions);

function hash(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at++) value = (Math.imul(value, 31) + text.charCodeAt(at)) >>> 0;
  return value;
}

function exampleOf(query: string, ids: readonly string[], set: Example["set"], weight: number, skip?: number): Example | undefined {
  const isRight = (doc: number) => ids.includes(actions[doc]?.id ?? "");
  const first = ({ inputs }: { readonly inputs: readonly number[] }) => (inputs[0] ?? 0) + 2 * (inputs[SHARE] ?? 0);
  const sorted = [...engine.scorer.inputs(readQuery(query, engine), skip)].sort((a, b) => first(b) - first(a));
  const kept = sorted.filter(({ doc }, at) => at < CANDIDATES || isRight(doc));
  if (kept.length < 2) return undefined;
  return {
    rows: kept.map(({ inputs }) => Float64Array.from(inputs)),
    right: kept.map(({ doc }) => isRight(doc)),
    weight,
    fold: hash(query) % FOLDS,
    set,
  };
}

/** People ask for common things: a phrase of what is used most counts for more, as among real questions. */
const askWeight = Number(process.env.ASKS ?? 0.05);
const HOW_COMMON = [1, 6, 3] as const;
const examples: Example[] = [];
for (const { query, ids, lang } of readCases("queries").filter((one) => !isHeldOut(one.query))) {
  const one = exampleOf(query, ids, lang === "en" ? "tune" : "others", 1);
  if (one) examples.push(one);
}
for (const { query, ids } of readCases("long")) {
  const one = exampleOf(query, ids, "long", 1);
  if (one) examples.push(one);
}
phrasesOf(actions).forEach(({ doc, source, text }, phrase) => {
  if (source !== ASK || hash(text) % Number(process.env.EVERY ?? 2) !== 0) return;
  const action = actions[doc];
  if (!action) return;
  const ids = [action.id];
  const weight = askWeight * HOW_COMMON[popularity(action)];
  const alone = exampleOf(text, ids, "asks", weight, phrase);
  if (alone) examples.push(alone);
  const whole = exampleOf(text, ids, "said", weight / 4);
  if (whole) examples.push(whole);
});

const STEPS = 150;
const RIDGE = Number(process.env.RIDGE ?? 0.002);

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

const sets = ["tune", "others", "long", "asks", "said"] as const;
const plain = Float64Array.from(INPUTS, (_, at) => (at === 0 ? 1 : 0));
console.log(
  "before ",
  sets
    .map(
      (set) =>
        `${set} ${recall(
          examples.filter((one) => one.set === set),
          plain,
        )}`,
    )
    .join("  "),
);
const FAST = process.argv.includes("--fast");
const folds = FAST ? [] : Array.from({ length: FOLDS }, (_, fold) => fitWeights(examples.filter((one) => one.fold !== fold)));
for (const set of FAST ? [] : sets) {
  const parts = folds.map((weights, fold) => [examples.filter((one) => one.set === set && one.fold === fold), weights] as const);
  console.log(set.padEnd(7), "left out, by fold:", parts.map(([chosen, weights]) => recall(chosen, weights)).join(" | "));
  const all = parts.flatMap(([chosen, weights]) => chosen.map((one) => Number(recall([one], weights).split(" ")[0])));
  const allFive = parts.flatMap(([chosen, weights]) => chosen.map((one) => Number(recall([one], weights).split(" ")[1])));
  const mean = (list: number[]) => (list.reduce((sum, value) => sum + value, 0) / list.length).toFixed(3);
  console.log(set.padEnd(7), "left out:", mean(all), mean(allFive));
}
const weights = fitWeights(examples);
console.log(
  "fitted ",
  sets
    .map(
      (set) =>
        `${set} ${recall(
          examples.filter((one) => one.set === set),
          weights,
        )}`,
    )
    .join("  "),
);
const named = Object.fromEntries(INPUTS.map((name, at) => [name, Math.round((weights[at] as number) * 1000) / 1000]));
console.log(named);
if (process.argv.includes("--write"))
  writeFileSync(new URL("../src/discovery/data/rank.json", import.meta.url), `${JSON.stringify(named, null, 2)}\n`);
