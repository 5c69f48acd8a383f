import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";

/** The arm or style that the others are held against. @throws BridgeError invalid_params, with the words of `absent`, where there is none of the name. */
export function baseOf(names: readonly string[], asked: string | undefined, absent: (name: string) => string): string {
  if (asked === undefined) return names.includes("bridge") ? "bridge" : (names[0] ?? "");
  if (names.includes(asked)) return asked;
  const near = nearest(asked, names)[0];
  throw new BridgeError("invalid_params", absent(asked), near ? `The nearest is ${near}.` : "Name another base.");
}
