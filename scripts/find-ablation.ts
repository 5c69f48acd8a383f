import type { Action } from "../src/catalog/types.ts";
import { createFinder } from "../src/discovery/find.ts";
import { createPhrases } from "../src/discovery/phrases.ts";
import { readRanker, setRanker } from "../src/discovery/rank.ts";
import { loadVocabulary } from "../src/discovery/vocabulary.ts";
import { WEIGHTS } from "../src/discovery/weights.ts";
import type { Case } from "./find-cases.ts";
import { judge, tallyBy } from "./find-score.ts";

type Loose = { [key: string]: number | Loose };

const isNumber = (value: number | Loose | undefined): value is number => typeof value === "number";

/** Sets every number below a path of the weights; gives back how to undo it. */
function setAll(path: string, to: number): () => void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let at = WEIGHTS as unknown as Loose;
  for (const key of keys) at = at[key] as Loose;
  const now = at[last];
  if (isNumber(now)) {
    at[last] = to;
    return () => {
      at[last] = now;
    };
  }
  const undo = Object.keys(now ?? {}).map((key) => setAll(`${path}.${key}`, to));
  return () => {
    for (const one of undo) one();
  };
}

/** Replaces a property of a word list for a while. */
function swap<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): () => void {
  const was = target[key];
  target[key] = value;
  return () => {
    target[key] = was;
  };
}

const all =
  (...undo: readonly (() => void)[]) =>
  () => {
    for (const one of undo) one();
  };

/** Leaves inputs of the ranker out: those whose name ends in one of the words. */
function withoutInputs(...words: readonly string[]): () => void {
  const kept = Object.entries(readRanker()).filter(([name]) => !words.includes(name.split(" ").at(-1) ?? ""));
  setRanker(Object.fromEntries(kept));
  return () => setRanker(undefined);
}

/** The score of the best window alone. */
function withoutRanker(): () => void {
  setRanker({ base: 1 / WEIGHTS.temper });
  return () => setRanker(undefined);
}

const noPhrases = () => createPhrases([], (word) => [word]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One part of the method, and how it is switched off. */
const PARTS: readonly (readonly [name: string, off: () => () => void])[] = [
  [
    "work vocabulary (synonyms and phrases)",
    () => swap(loadVocabulary().english as Mutable<ReturnType<typeof loadVocabulary>["english"]>, "phrases", noPhrases()),
  ],
  [
    "other languages",
    () =>
      all(
        swap(loadVocabulary() as Mutable<ReturnType<typeof loadVocabulary>>, "words", []),
        swap(loadVocabulary() as Mutable<ReturnType<typeof loadVocabulary>>, "runs", []),
      ),
  ],
  ["intent (verb → class, questions, plural)", () => setAll("intent", 1)],
  ["windows of long prompts", () => setAll("window.size", 1_000)],
  ["typing mistakes", () => setAll("typo", 0)],
  ["keywords of rows", () => setAll("fields.keywords.weight", 0)],
  ["about texts", () => setAll("fields.about.weight", 0)],
  ["parameter names", () => all(setAll("fields.paramName.weight", 0), setAll("fields.params.weight", 0), setAll("fields.enums.weight", 0))],
  ["terms side by side", () => all(setAll("fields.pair.weight", 0), setAll("pair", 0))],
  ["share of the id that was said (core)", () => setAll("coreFloor", 1)],
  ["share of the query that was answered (coverage)", () => setAll("coverageFloor", 1)],
  ["what is said first weighs more", () => setAll("window.far", 1)],
  [
    "phrases (titles, keywords, how people ask)",
    () => all(setAll("asks.add", 0), withoutInputs("title", "keyword", "ask", "near", "second", "share")),
  ],
  ["how people ask only", () => withoutInputs("ask", "near", "second")],
  ["what words tell of the doing (lean)", () => withoutInputs("lean")],
  ["what words tell of the area and the action (area, deed)", () => withoutInputs("area", "deed")],
  ["the ranker", withoutRanker],
  ["what people use most", () => all(setAll("prior.essential", 1), withoutInputs("essential", "most", "often"))],
  ["all windows together (sum)", () => withoutInputs("sum")],
];

/** Recall on some cases, with everything and with one part after the other switched off. */
export function ablate(actions: readonly Action[], cases: readonly Case[]): string[] {
  const measure = (name: string) => {
    const copies = actions.map((action) => ({ ...action }));
    const finder = createFinder(() => copies);
    const tallies = tallyBy(
      cases.map((one) => judge(finder, one)),
      ({ lang }) => [lang === "en" ? "en" : "other"],
    );
    const cell = (key: string, part: "one" | "five") => {
      const tally = tallies.get(key);
      return tally ? (tally[part] / tally.n).toFixed(3) : "-";
    };
    return `| ${name} | ${cell("en", "one")} | ${cell("en", "five")} | ${cell("other", "one")} | ${cell("other", "five")} |`;
  };
  const rows = [measure("everything")];
  for (const [name, off] of PARTS) {
    const undo = off();
    rows.push(measure(`without: ${name}`));
    undo();
  }
  return ["| | en @1 | en @5 | others @1 | others @5 |", "|---|---|---|---|---|", ...rows];
}
