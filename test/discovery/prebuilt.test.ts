import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { keyOf, pack, readPrebuilt, unpack } from "../../src/discovery/prebuilt.ts";
import { parseQuery } from "../../src/discovery/query.ts";
import { scoreAll } from "../../src/discovery/score.ts";
import { buildIndex, type SearchIndex } from "../../src/discovery/search-index.ts";
import { stem } from "../../src/discovery/tokenize.ts";
import { loadVocabulary } from "../../src/discovery/vocabulary.ts";

const actions = loadActions();
const fresh = buildIndex(actions);
const folder = mkdtempSync(join(tmpdir(), "find-index-"));
const file = join(folder, "find-index.json");
afterAll(() => rmSync(folder, { recursive: true }));

function ranking(index: SearchIndex, query: string): string[] {
  const lexicon = {
    vocabulary: loadVocabulary(),
    knows: (term: string) => index.postings.has(term),
    names: () => false,
    acts: () => false,
    writes: (word: string) => index.words.has(word),
    corrector: { correct: () => undefined },
    correctorOf: () => ({ correct: () => undefined }),
  };
  return scoreAll(parseQuery(query, lexicon, false), index)
    .slice(0, 10)
    .map(({ doc }) => index.docs[doc]?.action.id ?? "");
}

describe("the index made beforehand", () => {
  it("ranks like a fresh one", () => {
    const read = unpack(JSON.parse(JSON.stringify(pack(fresh, "any"))), actions);
    expect(read.docs).toHaveLength(actions.length);
    for (const query of ["list open merge requests", "retry the failed job", "approvals_required", stem("variables"), "block a user"])
      expect(ranking(read, query)).toEqual(ranking(fresh, query));
  });

  it("is used for the rows that it was made of, and never for others", () => {
    writeFileSync(file, JSON.stringify(pack(fresh, keyOf(actions))));
    const url = pathToFileURL(file);
    expect(readPrebuilt(actions, url)?.docs).toHaveLength(actions.length);
    expect(readPrebuilt(actions.slice(1), url)).toBeUndefined();
    const [first] = actions;
    if (!first) throw new Error("no actions");
    expect(readPrebuilt([{ ...first, about: `${first.about}!` }, ...actions.slice(1)], url)).toBeUndefined();
    expect(readPrebuilt(actions, pathToFileURL(join(folder, "none.json")))).toBeUndefined();
  });
});
