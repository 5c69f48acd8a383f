import { describe, expect, it } from "vitest";
import { readCases } from "../../scripts/find-cases.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { readAsks } from "../../src/discovery/asks.ts";
import { createEngine, readQuery } from "../../src/discovery/engine.ts";

const actions = loadActions();
const ids = new Set(actions.map(({ id }) => id));
const asks = Object.entries(readAsks());
const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

describe("how people ask for actions", () => {
  it("is said of every essential action, and of nothing that is not there", () => {
    expect(asks.map(([id]) => id).filter((id) => !ids.has(id))).toEqual([]);
    expect(actions.filter(({ id, essential }) => essential && !readAsks()[id]).map(({ id }) => id)).toEqual([]);
  });

  it("in at most eight short phrases each", () => {
    for (const [id, phrases] of asks) {
      expect(phrases.length, id).toBeLessThanOrEqual(8);
      for (const phrase of phrases) expect(phrase.split(" ").length, phrase).toBeLessThanOrEqual(12);
    }
  });

  it("never stands under two actions, and is no query of any evaluation", () => {
    const said = asks.flatMap(([, phrases]) => phrases.map(plain));
    expect(said.filter((phrase, at) => said.indexOf(phrase) !== at)).toEqual([]);
    const queries = new Set(["queries", "blind", "long"].flatMap((name) => readCases(name).map(({ query }) => plain(query))));
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
