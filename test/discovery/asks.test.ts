import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plainly, readQueries, readTales } from "../../scripts/find-cases.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { readAsks } from "../../src/discovery/asks.ts";
import { createEngine, readQuery } from "../../src/discovery/engine.ts";
import { tokenize } from "../../src/discovery/tokenize.ts";
import { LANGUAGES } from "../../src/discovery/vocabulary.ts";

const actions = loadActions();
const ids = new Set(actions.map(({ id }) => id));

describe("what is learned from only", () => {
  it("are texts for actions that are there, each once, and none of them a query of any evaluation", () => {
    const tales = readTales();
    expect(Object.keys(tales).filter((id) => !ids.has(id))).toEqual([]);
    expect(Object.keys(tales).length).toBeGreaterThan(1_000);
    const said = Object.values(tales).flat().map(plainly);
    expect(new Set(said).size).toBe(said.length);
    const queries = readQueries();
    expect(said.filter((text) => queries.has(text))).toEqual([]);
  });
});

describe("the English word list", () => {
  it("has no phrase of four words and more that only one query of the evaluations has, and no other text", () => {
    const list = JSON.parse(readFileSync(new URL("../../src/discovery/data/find-en.json", import.meta.url), "utf8")) as {
      phrases: Record<string, string>;
    };
    const plain = (text: string) =>
      ` ${tokenize(text)
        .map(({ word }) => word)
        .join(" ")} `;
    const long = Object.keys(list.phrases)
      .map((key) => key.replace(/^\^/, ""))
      .filter((key) => key.split(" ").length >= 4);
    expect(long.length).toBeGreaterThan(100);
    const queries = [...readQueries()].map(plain);
    const texts = [...Object.values(readAsks()), ...Object.values(readTales())].flat().map(plain);
    const has = (phrase: string) => (text: string) => text.includes(plain(phrase));
    const single = long.filter((phrase) => queries.filter(has(phrase)).length === 1 && !texts.some(has(phrase)));
    expect(single).toEqual([]);
  });
});

describe.each(LANGUAGES)("how people ask for actions, %s", (language) => {
  const asks = Object.entries(readAsks(language));

  it("is said of nothing that is not there, and in English of every essential action", () => {
    expect(asks.map(([id]) => id).filter((id) => !ids.has(id))).toEqual([]);
    expect(asks.length).toBeGreaterThan(100);
    const missing = actions.filter(({ id, essential }) => essential && !readAsks()[id]);
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  it("in short phrases, not too many for one action", () => {
    for (const [id, phrases] of asks) {
      expect(phrases.length, id).toBeLessThanOrEqual(50);
      for (const phrase of phrases) expect(phrase.split(" ").length, phrase).toBeLessThanOrEqual(16);
    }
  });

  it("never stands under two actions, and is no query of any evaluation", () => {
    const said = asks.flatMap(([, phrases]) => phrases.map(plainly));
    const once = new Set<string>();
    expect(said.filter((phrase) => once.has(phrase) || !once.add(phrase))).toEqual([]);
    const queries = readQueries();
    expect(said.filter((phrase) => queries.has(phrase))).toEqual([]);
  });

  it("leads to its action", () => {
    const engine = createEngine(actions);
    const some = asks.flatMap(([id, phrases]) => phrases.map((phrase) => ({ id, phrase }))).filter((_, at) => at % 20 === 0);
    const found = some.filter(({ id, phrase }) => {
      const hits = engine.scorer.score(readQuery(phrase, engine)).slice(0, 5);
      return hits.some(({ doc }) => actions[doc]?.id === id);
    });
    expect(found.length / some.length).toBeGreaterThan(0.9);
  });
});
