import type { Container, Part } from "./container.ts";

/** The actions that use a term, side by side with its weight in each and the bits of their names that it stands for. */
export interface Posting {
  readonly docs: ArrayLike<number>;
  /** Saturated, 0 to 1. */
  readonly weights: ArrayLike<number>;
  readonly bits: ArrayLike<number>;
}

export interface Postings {
  has(term: string): boolean;
  get(term: string): Posting | undefined;
  /** In how many actions the term stands. */
  count(term: string): number;
}

/** Marks in `bits` that the term names the verb. */
export const VERB = 1 << 30;

/** All postings in four arrays; a term's own part is cut out when it is asked for. */
export interface Flat {
  readonly terms: readonly string[];
  /** Where each term's part begins, and the end. */
  readonly starts: Uint32Array;
  readonly docs: Uint16Array;
  readonly weights: Float32Array;
  readonly bits: Int32Array;
}

export function createPostings({ terms, starts, docs, weights, bits }: Flat): Postings {
  const numbers = new Map<string, number>();
  for (let at = 0; at < terms.length; at++) numbers.set(terms[at] as string, at);
  const known = new Map<string, Posting>();
  const count = (term: string) => {
    const at = numbers.get(term);
    return at === undefined ? 0 : (starts[at + 1] as number) - (starts[at] as number);
  };
  return {
    has: (term) => numbers.has(term),
    count,
    get(term) {
      const at = numbers.get(term);
      if (at === undefined) return undefined;
      const found = known.get(term);
      if (found) return found;
      const [from, to] = [starts[at], starts[at + 1]];
      const made = { docs: docs.subarray(from, to), weights: weights.subarray(from, to), bits: bits.subarray(from, to) };
      known.set(term, made);
      return made;
    },
  };
}

/** Lists by term laid end to end. */
export function flatten(lists: ReadonlyMap<string, { readonly docs: readonly number[]; readonly weights: readonly number[] }>): Flat {
  const starts = new Uint32Array(lists.size + 1);
  let size = 0;
  let term = 0;
  for (const { docs } of lists.values()) {
    starts[term++] = size;
    size += docs.length;
  }
  starts[term] = size;
  const flat = {
    terms: [...lists.keys()],
    starts,
    docs: new Uint16Array(size),
    weights: new Float32Array(size),
    bits: new Int32Array(size),
  };
  let at = 0;
  for (const { docs, weights } of lists.values()) {
    flat.docs.set(docs, at);
    flat.weights.set(weights, at);
    at += docs.length;
  }
  return flat;
}

export const packFlat = (name: string, flat: Flat): Record<string, Part> => ({
  [`${name}.terms`]: flat.terms,
  [`${name}.starts`]: flat.starts,
  [`${name}.docs`]: flat.docs,
  [`${name}.weights`]: flat.weights,
  [`${name}.bits`]: flat.bits,
});

export const unpackFlat = (name: string, file: Container): Flat => ({
  terms: file.strings(`${name}.terms`),
  starts: file.numbers(`${name}.starts`),
  docs: file.numbers(`${name}.docs`),
  weights: file.numbers(`${name}.weights`),
  bits: file.numbers(`${name}.bits`),
});
