/** What a phrase says in canonical words, and how many words it takes. */
export interface Match {
  readonly value: string;
  readonly length: number;
}

export interface Phrases {
  /** The longest phrase that starts at `at`. `start`: a clause starts there, where `^` phrases count too. */
  match(words: readonly string[], at: number, start: boolean): Match | undefined;
  /** True if the word occurs in any phrase, in any of its spellings. */
  has(word: string): boolean;
  /** Every word of every phrase, as people write it. */
  readonly parts: ReadonlySet<string>;
}

interface Node {
  readonly next: Map<string, Node>;
  value?: string;
}

/** All spellings under which a word may stand in the phrases, the most exact first. */
export type Spellings = (word: string) => readonly string[];

function insert(root: Node, words: readonly string[], value: string): void {
  let node = root;
  for (const word of words) {
    const known = node.next.get(word);
    const child: Node = known ?? { next: new Map() };
    if (!known) node.next.set(word, child);
    node = child;
  }
  node.value ??= value;
}

/** The longest way down the tree; among equals the more exact spelling. */
function longest(node: Node, words: readonly string[], at: number, depth: number, spell: Spellings): Match | undefined {
  let best: Match | undefined = node.value === undefined ? undefined : { value: node.value, length: depth };
  const word = words[at];
  if (word === undefined) return best;
  for (const spelling of spell(word)) {
    const child = node.next.get(spelling);
    const found = child && longest(child, words, at + 1, depth + 1, spell);
    if (found && found.length > (best?.length ?? 0)) best = found;
  }
  return best;
}

/**
 * A phrase table as a tree of words, each found under any of its spellings.
 * Keys that start with `^` hold only where a clause starts, and only as they are written.
 */
export function createPhrases(entries: readonly (readonly [string, string])[], spell: Spellings): Phrases {
  const anywhere: Node = { next: new Map() };
  const atStart: Node = { next: new Map() };
  const parts = new Set<string>();
  const spellings = new Set<string>();
  for (const [key, value] of entries) {
    const words = key.replace(/^\^/, "").split(" ");
    const root = key.startsWith("^") ? atStart : anywhere;
    insert(root, words, value);
    for (const word of words) {
      parts.add(word);
      spellings.add(word);
    }
  }
  return {
    parts,
    has: (word) => spell(word).some((spelling) => spellings.has(spelling)),
    match(words, at, start) {
      const plain = longest(anywhere, words, at, 0, spell);
      const first = start ? longest(atStart, words, at, 0, spell) : undefined;
      return first && first.length >= (plain?.length ?? 0) ? first : plain;
    },
  };
}

/**
 * The same over plain words, as one table: each phrase stands as it is written and with every word bent. The exact form wins
 * among equals. Made in a tenth of the time of a tree, which counts when thousands are read at the start.
 */
export function createFlatPhrases(entries: readonly (readonly [string, string])[], bend: (word: string) => string): Phrases {
  const anywhere = new Map<string, string>();
  const bent = new Map<string, string>();
  const atStart = new Map<string, string>();
  const parts = new Set<string>();
  const known = new Set<string>();
  /** By first word, as it is written and bent: the most words of any phrase that begins with it. */
  const lengths = new Map<string, number>();
  const begin = (word: string, length: number) => lengths.set(word, Math.max(length, lengths.get(word) ?? 0));
  for (const [key, value] of entries) {
    const isStart = key.startsWith("^");
    const plain = isStart ? key.slice(1) : key;
    const words = plain.split(" ");
    begin(words[0] ?? "", words.length);
    begin(bend(words[0] ?? ""), words.length);
    for (const word of words) {
      parts.add(word);
      known.add(word);
    }
    if (isStart) atStart.set(plain, value);
    else {
      anywhere.set(plain, value);
      const stems = words.map(bend);
      for (const word of stems) known.add(word);
      const stemmed = stems.join(" ");
      if (!bent.has(stemmed)) bent.set(stemmed, value);
    }
  }
  return {
    parts,
    has: (word) => known.has(word) || known.has(bend(word)),
    match(words, at, start) {
      const first = words[at];
      if (first === undefined) return undefined;
      const most = Math.max(lengths.get(first) ?? 0, lengths.get(bend(first)) ?? 0);
      for (let length = Math.min(most, words.length - at); length > 0; length--) {
        const said = words.slice(at, at + length);
        const exact = said.join(" ");
        const value = (start ? atStart.get(exact) : undefined) ?? anywhere.get(exact) ?? bent.get(said.map(bend).join(" "));
        if (value !== undefined) return { value, length };
      }
      return undefined;
    },
  };
}
