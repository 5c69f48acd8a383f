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
 * A phrase table as a tree of words. `bend` gives a second form under which each word is found.
 * Keys that start with `^` hold only where a clause starts, and only as they are written.
 */
export function createPhrases(entries: readonly (readonly [string, string])[], spell: Spellings, bend?: (word: string) => string): Phrases {
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
    if (!bend || root === atStart) continue;
    const bent = words.map(bend);
    insert(root, bent, value);
    for (const word of bent) spellings.add(word);
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
