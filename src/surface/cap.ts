import { CLOSE, type ToolResult } from "./render.ts";

/** Bytes that one message may have, whatever is in it. */
export const MOST_BYTES = 1_000_000;
/** Of these for each of the two forms. */
const MOST_FORM = 450_000;
/** Tokens that the JSON is cut to at first; halved until its bytes fit. */
const FIRST_CUT = 100_000;
const MOST_CUTS = 8;

type Block = ToolResult["content"][number];

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");

const text = (value: string): Block => ({ type: "text", text: value });

/** The blocks that fit, in order; a text that does not is cut at a line, and a frame that was open is closed again. */
function capContent(content: readonly Block[], headOf: (text: string, most: number, measure: (text: string) => number) => string): Block[] {
  let room = MOST_FORM;
  return content.map((block) => {
    const size = bytesOf(block);
    if (size <= room) {
      room -= size;
      return block;
    }
    if (block.type !== "text" || typeof block.text !== "string") return text(`(left out: ${String(block.type)}, ${size} bytes)`);
    const kept = headOf(block.text, room, bytesOf);
    room = 0;
    return text(block.text.includes(CLOSE) && !kept.includes(CLOSE) ? `${kept}…\n${CLOSE}` : `${kept}…`);
  });
}

type Cut = (value: unknown, tokens: number) => { readonly value: unknown };

function capJson(json: ToolResult["structuredContent"], note: string, cut: Cut): Readonly<Record<string, unknown>> {
  let value: unknown = json;
  for (let round = 0, tokens = FIRST_CUT; round < MOST_CUTS && bytesOf(value) > MOST_FORM; round++, tokens /= 2)
    value = cut(value, tokens).value;
  const fits = typeof value === "object" && bytesOf(value) <= MOST_FORM;
  return { ...(fits ? (value as object) : {}), truncated: note };
}

/**
 * The hard cap of a message, for whatever comes out of a call: beyond it both forms are cut, and that is told. What was done stays
 * told as done: a success does not become an error here.
 */
export async function capResult(result: ToolResult): Promise<ToolResult> {
  const bytes = bytesOf(result);
  if (bytes <= MOST_BYTES) return result;
  const { cutToFit, headOf } = await import("../executor/budget.ts");
  const note = `the answer had ${bytes} bytes, one message carries ${MOST_BYTES}; ask for less: select, a filter, a smaller limit or budget`;
  const content = [text(`truncated: ${note}`), ...capContent(result.content ?? [], headOf)];
  const json = result.structuredContent ? { structuredContent: capJson(result.structuredContent, note, cutToFit) } : {};
  const capped = { ...result, content, ...json } as ToolResult;
  const isError = result.isError ? { isError: result.isError } : {};
  return bytesOf(capped) <= MOST_BYTES ? capped : { content: [text(`truncated: ${note}`)], ...json, ...isError };
}
