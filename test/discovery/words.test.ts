import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPhrases } from "../../src/discovery/phrases.ts";
import { fold, isPlural, stem, tokenize, wordsOf } from "../../src/discovery/tokenize.ts";
import { createCorrector, distance } from "../../src/discovery/typo.ts";

const said = (text: string) => tokenize(text).map(({ word }) => word);

describe("fold and tokenize", () => {
  it.each([
    ["listMergeRequests", ["list", "merge", "requests"]],
    ["merge_request.list", ["merge", "request", "list"]],
    ["Créer une étiquette", ["creer", "une", "etiquette"]],
    ["ＡＢＣ ①", ["abc", "1"]],
    ["don't", ["dont"]],
    ["l'incident", ["l", "incident"]],
    ["MRを承認", ["mr", "を承認"]],
    ["Größe", ["grosse"]],
    ["ещё ёж", ["еще", "еж"]],
  ])("%j → %j", (text, words) => {
    expect(said(text)).toEqual(words);
  });

  it("keeps Kana, Hangul and Cyrillic whole", () => {
    expect(fold("パイプライン 머지 йод")).toBe("パイプライン 머지 йод");
  });

  it("reads short references as what they stand for", () => {
    expect(said("approve !42")).toEqual(["approve", "mergerequestref"]);
    expect(said("close #7")).toEqual(["close", "issueref"]);
  });

  it("marks clauses, quoted values and names", () => {
    const tokens = tokenize('Hello. Create an issue "Login page broken", set due_date');
    expect(tokens.filter(({ start }) => start).map(({ word }) => word)).toEqual(["hello", "create", "set"]);
    expect(tokens.filter(({ quoted }) => quoted).map(({ word }) => word)).toEqual(["login", "page", "broken"]);
    expect(tokens.filter(({ name }) => name === "due_date").map(({ word }) => word)).toEqual(["due", "date"]);
  });

  it("never grows without end", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => tokenize(text).length <= 600));
    expect(tokenize("a ".repeat(9_000)).length).toBe(600);
  });
});

describe("stem", () => {
  it.each([
    ["issues", "issue"],
    ["merging", "merge"],
    ["merged", "merge"],
    ["retries", "retry"],
    ["branches", "branch"],
    ["scheduled", "schedule"],
    ["created", "create"],
  ])("%s is said like %s", (one, other) => {
    expect(stem(one)).toBe(stem(other));
  });

  it("leaves words alone that only look inflected", () => {
    for (const word of ["status", "access", "this", "ci", "string"]) expect(stem(word)).toBe(word);
    expect(isPlural("status")).toBe(false);
    expect(isPlural("branches")).toBe(true);
  });

  it("cuts identifiers and short texts", () => {
    expect(wordsOf("list_merge_requests")).toEqual(["list", "merge", "requests"]);
  });
});

describe("typing mistakes", () => {
  it.each([
    ["branch", "brnach", 1],
    ["merge", "mrege", 1],
    ["pipeline", "pipelne", 1],
    ["issue", "isseu", 1],
    ["commit", "comet", 2],
    ["tag", "release", 3],
  ])("%s ~ %s = %i", (a, b, edits) => {
    expect(distance(a, b, 2)).toBe(edits);
  });

  it("is symmetric, zero only for the same word, and never more than the limit and one", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const edits = distance(a, b, 2);
        return edits === distance(b, a, 2) && edits <= 3 && (edits === 0) === (a === b);
      }),
    );
  });

  it("leads back to the nearest known word and leaves strangers alone", () => {
    const corrector = createCorrector(["pipeline", "branch", "merge"].map((word) => ({ word, weight: 0 })));
    expect(corrector.correct("pipelien")).toBe("pipeline");
    expect(corrector.correct("brnch")).toBe("branch");
    expect(corrector.correct("kitchen")).toBeUndefined();
    expect(corrector.correct("mr")).toBeUndefined();
  });
});

describe("phrases", () => {
  const phrases = createPhrases(
    [
      ["open", "opened"],
      ["open a", "!create"],
      ["^open", "!get"],
      ["solicitud* de fusion", "merge_request"],
    ],
    (word) => [word, `${word.slice(0, -2)}*`],
  );

  it("takes the longest", () => {
    expect(phrases.match(["open", "a", "ticket"], 0, false)).toEqual({ value: "!create", length: 2 });
    expect(phrases.match(["open", "ticket"], 0, false)).toEqual({ value: "opened", length: 1 });
  });

  it("knows where a clause starts", () => {
    expect(phrases.match(["open", "ticket"], 0, true)).toEqual({ value: "!get", length: 1 });
  });

  it("meets a stem", () => {
    expect(phrases.match(["solicitudes", "de", "fusion"], 0, false)).toEqual({ value: "merge_request", length: 3 });
  });
});

describe("the word lists", () => {
  const folder = new URL("../../src/discovery/data/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.startsWith("find-"));
  const verbs = new Set(["list", "get", "create", "update", "delete"]);

  it("cannot be mistaken for the catalog's files", () => {
    expect(names).toHaveLength(9);
    for (const name of names) expect(name).toMatch(/^find-[a-z]{2}\.json$/);
  });

  it.each(names)("%s is folded and well marked", (name) => {
    const { phrases, stop } = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as {
      phrases: Record<string, string>;
      stop: string[];
    };
    for (const key of [...Object.keys(phrases), ...stop]) expect(fold(key)).toBe(key);
    for (const value of Object.values(phrases)) {
      for (const part of value.split(/[ |]/)) {
        if (part.startsWith("!")) expect(verbs).toContain(part.slice(1));
        else expect(part).toMatch(/^([a-z0-9_]+(\*0\.\d+)?|\?|-)$/);
      }
    }
  });
});
