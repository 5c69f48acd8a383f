import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { fromFile, toFile } from "../../src/discovery/container.ts";
import { buildIndexes, createEngine, readQuery } from "../../src/discovery/engine.ts";
import { type Indexes, keyOf, pack, readPrebuilt, unpack } from "../../src/discovery/prebuilt.ts";

const actions = loadActions();
const fresh = buildIndexes(actions);
const folder = mkdtempSync(join(tmpdir(), "find-index-"));
const file = join(folder, "find-index.bin");
afterAll(() => rmSync(folder, { recursive: true }));

function ranking(indexes: Indexes, query: string): string[] {
  const engine = createEngine(actions, indexes);
  return engine.scorer
    .score(readQuery(query, engine))
    .slice(0, 20)
    .map(({ doc, score }) => `${actions[doc]?.id} ${score.toFixed(6)}`);
}

describe("the index made beforehand", () => {
  it("ranks like a fresh one", () => {
    const read = unpack(pack(fresh, "any"), actions, "any");
    if (!read) throw new Error("not read");
    expect(read.index.docs).toHaveLength(actions.length);
    const queries = [
      "list open merge requests",
      "retry the failed job",
      "approvals_required",
      "who broke main",
      "delte brnch",
      "block a user",
    ];
    for (const query of queries) expect(ranking(read, query)).toEqual(ranking(fresh, query));
  });

  it("is used for the rows that it was made of, and never for others", () => {
    writeFileSync(file, pack(fresh, keyOf(actions)));
    const url = pathToFileURL(file);
    expect(readPrebuilt(actions, url)?.index.docs).toHaveLength(actions.length);
    expect(readPrebuilt(actions.slice(1), url)).toBeUndefined();
    const [first] = actions;
    if (!first) throw new Error("no actions");
    expect(readPrebuilt([{ ...first, about: `${first.about}!` }, ...actions.slice(1)], url)).toBeUndefined();
    expect(readPrebuilt(actions, pathToFileURL(join(folder, "none.bin")))).toBeUndefined();
  });
});

describe("tools of other servers, joined to what was made beforehand", () => {
  const [pattern] = actions;
  if (!pattern) throw new Error("no actions");
  const NAMES = ["Brew coffee", "Water the plants", "Open the garage door", "List moon phases"];
  const theirs = NAMES.map((title, at) => ({
    ...pattern,
    id: `home.${title.toLowerCase().replaceAll(" ", "_")}`,
    tool: `home_${at}`,
    title,
    source: "home",
    keywords: [],
  }));
  const union = [...actions, ...theirs];
  const whole = buildIndexes(union);
  const joined = buildIndexes(union, { asks: fresh.asks, actions: actions.length });
  const first = (indexes: Indexes, query: string) => {
    const engine = createEngine(union, indexes);
    return union[engine.scorer.score(readQuery(query, engine))[0]?.doc ?? -1]?.id;
  };

  it("have their phrases behind those of ours, each once", () => {
    expect([...joined.asks.docs]).toEqual([...whole.asks.docs]);
    expect([...joined.asks.sources]).toEqual([...whole.asks.sources]);
    // A word that only theirs bring changes how a phrase of ours with it is read.
    const same = joined.asks.norms.filter((norm, at) => Math.abs(norm - (whole.asks.norms[at] ?? 0)) < 0.01 * norm);
    expect(same.length).toBeGreaterThan(0.99 * joined.asks.norms.length);
  });

  it("are found, and ours as before", () => {
    for (const query of ["list open merge requests", "who broke main", "retry the failed job", "water my plants", "phases of the moon"])
      expect(first(joined, query), query).toBe(first(whole, query));
    expect(first(joined, "water my plants")).toBe("home.water_the_plants");
  });
});

describe("the file", () => {
  it("gives back what was put in, wherever its bytes lie", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 8 }).map((word) => word.replaceAll("\n", ""));
    fc.assert(
      fc.property(
        fc.array(
          text.filter((word) => word !== ""),
          { maxLength: 6 },
        ),
        fc.array(fc.nat(65_535), { maxLength: 9 }),
        fc.nat(7),
        (words, numbers, shift) => {
          const bytes = toFile({ words, numbers: Uint16Array.from(numbers), after: Float32Array.of(0.5, 2) });
          const moved = Buffer.concat([Buffer.alloc(shift), bytes]).subarray(shift);
          const read = fromFile(moved);
          expect(read.strings("words")).toEqual(words);
          expect([...read.numbers<Uint16Array>("numbers")]).toEqual(numbers);
          expect([...read.numbers<Float32Array>("after")]).toEqual([0.5, 2]);
        },
      ),
    );
  });

  it("says which part is missing", () => {
    expect(() => fromFile(toFile({ a: ["x"] })).strings("b")).toThrow(/"b"/);
  });
});
