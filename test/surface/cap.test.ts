import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { capResult, MOST_BYTES } from "../../src/surface/cap.ts";
import { frame, renderError, renderOutcome, type ToolResult } from "../../src/surface/render.ts";

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const words = (count: number) => "a few words in a line\n".repeat(count);
const textsOf = ({ content }: ToolResult) => content.map((block) => String(block.text)).join("\n");

describe("the hard cap of a message", () => {
  it("leaves alone what fits", async () => {
    const result = renderOutcome({ kind: "value", value: { title: words(10) } });
    expect(await capResult(result)).toBe(result);
  });

  it.each<[string, ToolResult]>([
    ["one huge text in both forms", renderOutcome({ kind: "text", text: words(200_000), untrusted: true })],
    ["a huge row", renderOutcome({ kind: "value", value: { id: 7, body: "x".repeat(3_000_000) } })],
    ["nothing but blanks, which cost few tokens", renderOutcome({ kind: "value", value: { id: 7, body: " ".repeat(3_000_000) } })],
    ["many rows", renderOutcome({ kind: "list", items: Array.from({ length: 90_000 }, (_, id) => ({ id, title: "T" })), page: {} })],
    ["a preview of a huge body", renderOutcome({ kind: "preview", preview: { body: { content: words(90_000) } } })],
    ["another server's huge image", { content: [{ type: "image", data: "A".repeat(2_000_000), mimeType: "image/png" }] }],
    ["another server's huge JSON", { content: [], structuredContent: { deep: { rows: [words(80_000), words(80_000)] } } }],
    ["a refusal with a huge word", renderError(new BridgeError("conflict", words(90_000), "Read it again.", { status: 409 }))],
    ["huge beside both forms", { content: [], _meta: { blob: "A".repeat(2_000_000) } } as unknown as ToolResult],
  ])("%s: cut, and told in each form", async (_name, result) => {
    const capped = await capResult(result);
    expect(bytes(capped)).toBeLessThanOrEqual(MOST_BYTES);
    expect(textsOf(capped)).toMatch(/^truncated: the answer had \d+ bytes/);
    if (result.structuredContent) expect(capped.structuredContent?.truncated).toMatch(/^the answer had \d+ bytes/);
    expect(capped.isError).toBe(result.isError);
  });

  it("keeps what is small beside what is huge", async () => {
    const capped = await capResult(renderOutcome({ kind: "value", value: { id: 7, web_url: "https://x.test/7", body: words(90_000) } }));
    expect(capped.structuredContent).toMatchObject({ id: 7, web_url: "https://x.test/7", body: expect.stringContaining("a few words") });
  });

  it("closes the frame around what others wrote", async () => {
    const capped = await capResult({ content: [{ type: "text", text: frame(words(90_000)) }] });
    expect(textsOf(capped)).toMatch(/gitlab-data>>>$/);
  });

  it("holds for whatever comes", async () => {
    const block = fc.record({ type: fc.constantFrom("text", "image", "x"), text: fc.string(), data: fc.string() });
    const shape = fc.record({ content: fc.array(block), structuredContent: fc.dictionary(fc.string(), fc.jsonValue()) });
    await fc.assert(
      fc.asyncProperty(shape, fc.constantFrom("x", " ", "😀", "\\", "\n"), fc.integer({ min: 0, max: 3 }), async (given, letter, where) => {
        const huge = letter.repeat(1_100_000);
        const content = where === 0 ? [...given.content, { type: "text", text: huge }] : given.content;
        const json = where === 0 ? {} : { structuredContent: { ...given.structuredContent, huge: where === 1 ? huge : { a: [huge] } } };
        expect(bytes(await capResult({ content, ...json }))).toBeLessThanOrEqual(MOST_BYTES);
      }),
      { numRuns: 8 },
    );
  }, 30_000);
});
