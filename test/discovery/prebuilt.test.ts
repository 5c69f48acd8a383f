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
