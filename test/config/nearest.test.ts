import { describe, expect, it } from "vitest";
import { editDistance, nearest } from "../../src/nearest.ts";

describe("editDistance", () => {
  it.each([
    ["", "", 0],
    ["abc", "abc", 0],
    ["abc", "", 3],
    ["form", "from", 1],
    ["kitten", "sitting", 3],
    ["ca", "abc", 3],
  ])("%s → %s is %i", (a, b, edits) => {
    expect(editDistance(a, b)).toBe(edits);
    expect(editDistance(b, a)).toBe(edits);
  });

  it("stops at its limit", () => {
    expect(editDistance("aaaa", "bbbb", 2)).toBe(3);
    expect(editDistance("a", "bcdefg", 2)).toBe(3);
  });
});

describe("nearest", () => {
  const names = ["read-only", "safe-mode", "toolsets", "tools", "allow-tools", "allow-toolsets", "token", "token-file"];

  it.each([
    ["raed-only", "read-only"],
    ["readonly", "read-only"],
    ["READ_ONLY", "read-only"],
    ["toolset", "toolsets"],
    ["tokn", "token"],
    ["mode", "safe-mode"],
    ["file-token", "token-file"],
  ])("%s is taken for %s", (word, name) => expect(nearest(word, names)[0]).toBe(name));

  it("shows nothing where nothing is near", () => expect(nearest("zzzzqq", names)).toEqual([]));
  it("keeps to the limit", () => expect(nearest("tool", names, 1)).toHaveLength(1));
  it("does not depend on the order of the candidates", () => {
    expect(nearest("allow", names)).toEqual(nearest("allow", [...names].reverse()));
    expect(nearest("allow", names)).toEqual(["allow-tools", "allow-toolsets"]);
  });
});
