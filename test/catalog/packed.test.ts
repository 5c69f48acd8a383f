import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { packRows, unpackRows } from "../../src/catalog/packed.ts";

describe("rows that the build packed", () => {
  const actions = loadActions();
  const text = packRows(actions);

  it("are the rows as they were written, in order, with every field in its place", () =>
    expect(JSON.stringify(unpackRows(text))).toBe(JSON.stringify(actions)));

  it("can be read byte by byte, whatever signs a row has", () => {
    const [first] = actions;
    if (!first) throw new Error("no rows");
    const odd = { ...first, about: "– Größe 項目 🦊", params: { ünit: { in: "query", type: "string", about: "Ω" } } } as const;
    const packed = packRows([odd]);
    expect(packed).toMatch(/^[\x20-\x7e]*$/);
    expect(unpackRows(Buffer.from(packed, "utf8").toString("latin1"))).toEqual([odd]);
  });
});
