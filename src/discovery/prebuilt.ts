import { existsSync, readFileSync } from "node:fs";
import type { Action } from "../catalog/types.ts";
import { type AskIndex, packAsks, unpackAsks } from "./asks.ts";
import { type Container, fromFile, toFile } from "./container.ts";
import { VERB_CLASSES } from "./intent.ts";
import { createPostings, packFlat, unpackFlat } from "./postings.ts";
import { type Doc, idfOver, kindOf, type SearchIndex } from "./search-index.ts";
import { WEIGHTS } from "./weights.ts";

/** The index of actions and that of how people ask for them. */
export interface Indexes {
  readonly index: SearchIndex;
  readonly asks: AskIndex;
}

/** Changes with the texts and names that the index is made from, and with the weights. Cheap: it is made at every start. */
export function keyOf(actions: readonly Action[]): string {
  let hash = 0x811c9dc5;
  const add = (text: string) => {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  };
  add(JSON.stringify(WEIGHTS));
  for (const { id, tool, title, about, effect, toolset, params, keywords = [], aliases = [] } of actions) {
    add(id);
    add(tool);
    add(title);
    add(about);
    add(effect);
    add(toolset);
    for (const name of Object.keys(params)) add(name);
    for (const text of keywords) add(text);
    for (const text of aliases) add(text);
  }
  return `${actions.length} ${(hash >>> 0).toString(36)}`;
}

/** Classes of a verb as bits. */
const toMask = (kinds: readonly number[]) => kinds.reduce((mask, kind) => mask | (1 << kind), 0);
const fromMask = (mask: number) => VERB_CLASSES.flatMap((_, kind) => (mask & (1 << kind) ? [kind] : []));

/** An index as the build leaves it beside the rows. */
export function pack({ index, asks }: Indexes, key: string): Buffer {
  const { docs, words, names, acts, flat } = index;
  let end = 0;
  const ends = docs.map(({ shares }) => (end += shares.length));
  return toFile({
    key: [key],
    ...packFlat("terms", flat),
    ...packAsks(asks),
    names: [...names],
    acts: [...acts],
    words: [...words.keys()],
    counts: Uint16Array.from(words.values(), (count) => Math.min(count, 65_535)),
    verbs: Uint8Array.from(docs, ({ verb }) => VERB_CLASSES.indexOf(verb)),
    kinds: Uint8Array.from(docs, ({ kinds, specific }) => toMask(kinds) | (specific ? 128 : 0)),
    priors: Float32Array.from(docs, ({ prior }) => prior),
    shares: Float32Array.from(docs.flatMap(({ shares }) => Array.from(shares))),
    ends: Uint32Array.from(ends),
  });
}

function unpackDocs(file: Container, actions: readonly Action[]): Doc[] {
  const verbs = file.numbers<Uint8Array>("verbs");
  const kinds = file.numbers<Uint8Array>("kinds");
  const priors = file.numbers<Float32Array>("priors");
  const shares = file.numbers<Float32Array>("shares");
  const ends = file.numbers<Uint32Array>("ends");
  return actions.map((action, at): Doc => {
    const verb = VERB_CLASSES[verbs[at] ?? 0] ?? "act";
    const mask = kinds[at] ?? 0;
    return {
      action,
      verb,
      kind: kindOf(verb, action.effect),
      kinds: fromMask(mask & 127),
      specific: mask > 127,
      shares: shares.subarray(at === 0 ? 0 : ends[at - 1], ends[at]),
      prior: priors[at] ?? 1,
    };
  });
}

export function unpack(bytes: Buffer, actions: readonly Action[], key: string): Indexes | undefined {
  const file = fromFile(bytes);
  if (file.strings("key")[0] !== key) return undefined;
  const flat = unpackFlat("terms", file);
  const postings = createPostings(flat);
  const counts = file.numbers<Uint16Array>("counts");
  const words = new Map(file.strings("words").map((word, at) => [word, counts[at] ?? 0]));
  const index = {
    docs: unpackDocs(file, actions),
    postings,
    idf: idfOver(postings, actions.length),
    words,
    names: new Set(file.strings("names")),
    acts: new Set(file.strings("acts")),
    flat,
  };
  return { index, asks: unpackAsks(file) };
}

/** The index that was made with the build, if it is there and of these very rows. */
export function readPrebuilt(actions: readonly Action[], file = new URL("./data/find-index.bin", import.meta.url)): Indexes | undefined {
  return existsSync(file) ? unpack(readFileSync(file), actions, keyOf(actions)) : undefined;
}
