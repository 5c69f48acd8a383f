import type { Json, Seen } from "../types.ts";
import { fill } from "./heuristic-fill.ts";
import { type Offer, paramsOfSignature } from "./heuristic-offers.ts";
import type { Scene } from "./heuristic-scores.ts";
import { wordsOf } from "./heuristic-words.ts";

export interface Mended {
  readonly offer: Offer;
  readonly args: Json;
}

/** A yes-or-no parameter by which a server has the caller agree. */
const agrees = (name: string): boolean =>
  wordsOf(name).some((word) => word === "confirm" || word === "confirmed" || word === "confirmation");

/** The parameters as the error shows them, where they were not known. */
function shown({ params, ...offer }: Offer, text: string): Offer {
  if (params !== undefined) return { ...offer, params };
  const lines = text.split("\n").filter((line) => line.includes(`${offer.name}(`));
  const read = lines[0]?.slice(lines[0].indexOf(`${offer.name}(`));
  const found = read === undefined ? undefined : paramsOfSignature(read);
  return found ? { ...offer, params: found } : offer;
}

/**
 * Another try after an error, or nothing where the error gives no reason for one: agrees where it asks for agreement, fills what it
 * names as missing, and leaves out what it does not know.
 */
export function mend(given: Offer, args: Json, { text }: Seen, scene: Scene): Mended | undefined {
  const offer = shown(given, text);
  if (/\bconfirm/i.test(text)) {
    const name =
      [...(offer.params ?? []), ...(offer.outer ?? [])].find((param) => agrees(param.name))?.name ??
      /\b(confirm\w*)\b["'`]?\s*[:=]\s*true/.exec(text)?.[1];
    if (name !== undefined && args[name] !== true) return { offer, args: { ...args, [name]: true } };
  }
  const named = (name: string) => new RegExp(`\\b${name.replace(/[^\w]/g, "\\$&")}\\b`).test(text);
  if (/unknown|unrecogni[sz]ed|unexpected|not allowed|additional/i.test(text)) {
    const kept = Object.fromEntries(Object.entries(args).filter(([name]) => !named(name)));
    if (Object.keys(kept).length < Object.keys(args).length) return { offer, args: kept };
  }
  const params = (offer.params ?? []).map((param) =>
    args[param.name] === undefined && named(param.name) ? { ...param, required: true } : param,
  );
  const again = fill({ ...offer, params }, scene).args;
  const more = Object.entries(again).filter(([name, value]) => args[name] === undefined && value !== undefined);
  return more.length > 0 ? { offer, args: { ...args, ...Object.fromEntries(more) } } : undefined;
}
