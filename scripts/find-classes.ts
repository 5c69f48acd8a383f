/**
 * Fits what the words of a query tell (src/discovery/data/lean.json: of the doing; area.json: of the thing): multinomial logistic
 * regression on titles, keywords, the phrases of `asks*.json` and the tales of `fixtures/find/tales.json` alone. The queries of
 * `fixtures/find` are not used, so that the ranker learns on them how far to trust it. `tsx scripts/find-classes.ts [<name> ...]`
 */
import { writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { areaMarks, areaName, deedMarks } from "../src/discovery/area.ts";
import { ASK, bagOf, KEYWORD, type Phrase, phrasesOf } from "../src/discovery/asks.ts";
import { type ClassRows, likely, type Told, toClasses } from "../src/discovery/classes.ts";
import { createEngine, readQuery } from "../src/discovery/engine.ts";
import { LEANINGS, leaningOf, marksOf } from "../src/discovery/lean.ts";
import type { Item } from "../src/discovery/query.ts";
import { popularity } from "../src/discovery/rank.ts";
import { isHeldOut, readCases, readTales } from "./find-cases.ts";

const RATE = 0.3;
/** How much more a phrase of what people use most, or often, counts. */
const HOW_COMMON = [1, 3, 2] as const;
/** A title or a keyword is nobody's question. */
const NOT_ASKED = 0.5;
/** Weights nearer to what a mark says of every class are left out. */
const LEAST = 0.2;

const actions = loadActions();
const engine = createEngine(actions);

interface Task {
  readonly name: Told;
  readonly names: readonly string[];
  readonly classOf: (doc: number) => number;
  readonly marks: (items: readonly Item[]) => Iterable<string>;
  readonly passes: number;
  readonly ridge: number;
  /** A mark of fewer phrases tells nothing. */
  readonly phrases: number;
  readonly keywords: boolean;
  /** Learned from whole stories too; the doing is told part by part. */
  readonly tales: boolean;
  /** Words side by side that more than this share of the phrases have tell nothing. */
  readonly pairs: number;
}

const termsOf = (items: readonly Item[]) => [...bagOf(items).keys()];
const areas = [...new Set(actions.map(areaName))];
const TASKS: readonly Task[] = [
  {
    name: "lean",
    names: LEANINGS,
    classOf: (doc) => {
      const { verb, action } = engine.index.docs[doc] ?? {};
      return verb && action ? leaningOf(verb, action.effect) : 0;
    },
    marks: marksOf,
    passes: 25,
    ridge: 0.005,
    phrases: 3,
    keywords: false,
    tales: false,
    pairs: 1,
  },
  {
    name: "area",
    names: areas,
    classOf: (doc) => areas.indexOf(areaName(actions[doc] as (typeof actions)[number])),
    marks: (items) => areaMarks(termsOf(items)),
    passes: 12,
    ridge: 0.001,
    phrases: 2,
    keywords: true,
    tales: true,
    pairs: 0.005,
  },
  {
    name: "deed",
    names: actions.map(({ id }) => id),
    classOf: (doc) => doc,
    marks: deedMarks,
    passes: 10,
    ridge: 0.001,
    phrases: 2,
    keywords: true,
    tales: true,
    pairs: 0.005,
  },
];

interface Row {
  rest: number;
  restSlope: number;
  readonly of: Map<number, { weight: number; slope: number }>;
}

interface Example {
  readonly rows: readonly Row[];
  readonly kind: number;
  readonly weight: number;
}

/** The tales of an action together weigh no more than so many phrases: some actions have more of them than others. */
const TALES = 5;

interface Text extends Phrase {
  /** What it counts beside a phrase. */
  readonly share?: number;
}

function talesOf(): Text[] {
  const tales = readTales();
  return actions.flatMap(({ id }, doc) => {
    const own = tales[id] ?? [];
    return own.map((text) => ({ doc, source: ASK, language: 0, text, share: Math.min(1, TALES / own.length) }));
  });
}

function readExamples({ classOf, marks, phrases, keywords, tales, pairs }: Task): { examples: Example[]; rows: Map<string, Row> } {
  const texts: readonly Text[] = [...phrasesOf(actions), ...(tales ? talesOf() : [])];
  const said = texts
    .filter(({ source }) => keywords || source !== KEYWORD)
    .map(({ doc, source, text, share = 1 }) => ({
      marks: [...marks(readQuery(text, engine))],
      kind: classOf(doc),
      weight: HOW_COMMON[popularity(actions[doc] as (typeof actions)[number])] * (source === ASK ? 1 : NOT_ASKED) * share,
    }));
  const counts = new Map<string, number>();
  for (const one of said) for (const mark of one.marks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const rows = new Map<string, Row>();
  for (const [mark, count] of counts) {
    const isPair = mark.includes(" ");
    if (count < phrases + (isPair ? 1 : 0) || (isPair && count > said.length * pairs)) continue;
    rows.set(mark, { rest: 0, restSlope: 1e-6, of: new Map() });
  }
  const examples = said.map(({ marks: own, kind, weight }) => {
    const known = own.flatMap((mark) => rows.get(mark) ?? []);
    for (const row of known) row.of.set(kind, { weight: 0, slope: 1e-6 });
    return { rows: known, kind, weight };
  });
  return { examples, rows };
}

function learn({ rows, kind, weight }: Example, size: number, ridge: number): void {
  const sums = new Float64Array(size);
  for (const { rest, of } of rows) {
    for (let at = 0; at < size; at++) sums[at] = (sums[at] as number) + rest;
    for (const [at, one] of of) sums[at] = (sums[at] as number) + one.weight - rest;
  }
  const most = Math.max(...sums);
  const powers = sums.map((sum) => Math.exp(sum - most));
  const all = powers.reduce((sum, power) => sum + power, 0);
  const pull = powers.map((power, at) => (power / all - (at === kind ? 1 : 0)) * weight);
  const whole = pull.reduce((sum, one) => sum + one, 0);
  for (const row of rows) {
    let others = whole;
    for (const [at, one] of row.of) {
      others -= pull[at] as number;
      const slope = (pull[at] as number) + ridge * one.weight;
      one.slope += slope * slope;
      one.weight -= (RATE * slope) / Math.sqrt(one.slope);
    }
    const slope = others + ridge * row.rest;
    row.restSlope += slope * slope;
    row.rest -= (RATE * slope) / Math.sqrt(row.restSlope);
  }
}

function learnAll(task: Task): ClassRows {
  const { examples, rows } = readExamples(task);
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  for (let pass = 0; pass < task.passes; pass++) {
    const order = examples.map((one) => [random(), one] as const).sort((a, b) => a[0] - b[0]);
    for (const [, one] of order) learn(one, task.names.length, task.ridge);
  }
  const whole = (weight: number) => Math.round(weight * 100);
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([mark, { rest, of }]) => {
      const pairs = [...of].filter(([, { weight }]) => Math.abs(weight - rest) >= LEAST).sort(([a], [b]) => a - b);
      return pairs.length === 0 ? [] : [[mark, [whole(rest), ...pairs.flatMap(([at, { weight }]) => [at, whole(weight)])]] as const];
    });
  const text = lines.map(([mark, row]) => `${JSON.stringify(mark)}:[${row.join(",")}]`).join(",\n");
  writeFileSync(
    new URL(`../src/discovery/data/${task.name}.json`, import.meta.url),
    `{"names":${JSON.stringify(task.names)},\n"rows":{\n${text}\n}}\n`,
  );
  return { names: task.names, rows: Object.fromEntries(lines) };
}

const numberOf = new Map(actions.map(({ id }, doc) => [id, doc]));
const chosen = process.argv.slice(2);
for (const task of TASKS.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
  const rows = learnAll(task);
  const classes = toClasses(rows);
  console.log(`${task.name}: ${classes.marks.size} marks`);
  for (const set of ["queries", "outside", "hard"]) {
    const cases = readCases(set).filter(({ query, lang, kind }) => !isHeldOut(query) && lang === "en" && kind !== "long");
    const right = cases.filter(({ query, ids }) => {
      const logs = likely(task.marks(readQuery(query, engine)), classes);
      const best = logs.indexOf(Math.max(...logs));
      return ids.some((id) => numberOf.has(id) && task.classOf(numberOf.get(id) as number) === best);
    });
    console.log(`  ${set}, tune half: ${(right.length / cases.length).toFixed(3)} of ${cases.length}`);
  }
}
