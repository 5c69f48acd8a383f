/** Kinds of characters that a tokenizer keeps together. */
type Kind = "digit" | "lower" | "upper" | "space" | "mark" | "script" | "ideograph";

function kindOf(code: number): Kind {
  if (code >= 97 && code <= 122) return "lower";
  if (code === 32 || code === 9 || code === 10 || code === 13) return "space";
  if (code >= 48 && code <= 57) return "digit";
  if (code >= 65 && code <= 90) return "upper";
  if (code < 0xaa) return "mark";
  if (code < 0x250) return "lower";
  return code < 0x2000 ? "script" : "ideograph";
}

/** Tokens that a run of one kind usually takes; a blank belongs to the word after it, but not to a number. */
function costOf(kind: Kind, length: number, next?: Kind): number {
  if (kind === "lower") return length <= 8 ? 1 : 1 + (length - 8) / 4;
  if (kind === "upper") return length <= 4 ? 1 : length / 3;
  if (kind === "digit") return Math.ceil(length / 3);
  if (kind === "mark") return length <= 3 ? 0.93 : length / 3;
  if (kind === "script") return Math.max(1, length / 4.5);
  if (kind === "ideograph") return length * 0.75;
  return length === 1 && next !== "digit" ? 0.04 : Math.max(1, length / 60);
}

/** A capital and what follows it are one word: `The`, `mergeRequest` = `merge` + `Request`. */
const joins = (kind: Kind, length: number, next: Kind) => kind === next || (kind === "upper" && length === 1 && next === "lower");

/** About how many tokens a model sees in the text; a test bounds the error. No tokenizer at run time. */
export function estimateTokens(text: string): number {
  let total = 0;
  let kind: Kind = "space";
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const next = kindOf(text.charCodeAt(at));
    if (length > 0 && !joins(kind, length, next)) {
      total += costOf(kind, length, next);
      length = 0;
    }
    kind = next;
    length++;
  }
  return Math.ceil(length > 0 ? total + costOf(kind, length) : total);
}

export const estimateJson = (value: unknown): number => estimateTokens(JSON.stringify(value) ?? "");
