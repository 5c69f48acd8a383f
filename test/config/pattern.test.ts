import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { patternFault, toPattern } from "../../src/config/pattern.ts";

describe("patterns of a policy", () => {
  it("find what JavaScript's own expressions find", () => {
    const sources = [
      "^delete_",
      "delete|merge",
      "^(?:create|update)_issue$",
      "a.c",
      "[a-c]+_x?",
      "[^_]{2,3}$",
      "\\bget\\b",
      "issue\\.(list|get)",
      "(a|b)*c",
      "(a*)*b",
      "^$",
      "",
      "x{2}",
      "\\d+",
      "[\\w-]+!",
      "a-b_/",
      "\\B_",
      "(?:ab){1,}",
    ];
    const text = fc.oneof(
      fc.constantFrom("delete_issue", "issue.list", "create_issue", "get", "", "aabbc", "xx", "a-b_/"),
      fc.string({ unit: fc.constantFrom(..."abcx_.-1ige "), maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...sources), text, (source, word) => {
        expect(toPattern(source).test(word), `${source} on ${word}`).toBe(new RegExp(source, "i").test(word));
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuse what they cannot do, and say what it is", () => {
    for (const [source, says] of [
      ["(?=x)", /looks ahead/],
      ["(?!x)", /looks ahead/],
      ["(?<=x)y", /looks ahead or behind/],
      ["(a)\\1", /refers back/],
      ["(?<n>a)\\k<n>", /kind of group/],
      ["(?i:a)", /kind of group/],
      ["(a", /lacks a \)/],
      ["a)", /\) too many/],
      ["*a", /not valid at character 1/],
      ["a{1", /not valid at character 2/],
      ["[a", /not valid/],
      ["[b-a]", /not valid/],
      ["a**", /repeats a repetition/],
      ["a{3,2}", /end is before its start/],
      ["a{101}", /more than 100/],
      ["((a{100}){100}){100}", /repeats too much/],
      ["\\p{L}", /not valid/],
      ["\\", /not valid/],
      ["a".repeat(201), /longer than 200/],
    ] as const)
      expect([source, patternFault(source)]).toEqual([source, expect.stringMatching(says)]);
  });

  it("no pattern makes a match slow: what goes back for hours elsewhere takes a bounded number of steps", () => {
    const pattern = toPattern("^(([a-z_])+.)+[A-Z]([a-z_])+$");
    expect(pattern.test(`${"a".repeat(300)}!`)).toBe(false);
    expect(toPattern("(a|aa|a*)*$!").test("a".repeat(300))).toBe(false);
  });
});
