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

/** Trees by first word, each grown when its word is first said: a text meets few of the thousands. */
function createGrove(spell: Spellings): {
  readonly add: (words: readonly string[], value: string) => void;
  readonly match: (words: readonly string[], at: number) => Match | undefined;
} {
  const seeds = new Map<string, (readonly [words: readonly string[], value: string])[]>();
  const grown: Node = { next: new Map() };
  const grow = (spelling: string) => {
    const entries = seeds.get(spelling);
    if (!entries) return;
    seeds.delete(spelling);
    for (const [words, value] of entries) insert(grown, words, value);
  };
  return {
    add(words, value) {
      const first = words[0] ?? "";
      const list = seeds.get(first);
      if (list) list.push([words, value]);
      else seeds.set(first, [[words, value]]);
    },
    match(words, at) {
      const word = words[at];
      if (word === undefined) return undefined;
      if (seeds.size > 0) for (const spelling of spell(word)) grow(spelling);
      return longest(grown, words, at, 0, spell);
    },
  };
}

/**
 * A phrase table as a tree of words, each found under any of its spellings.
 * Keys that start with `^` hold only where a clause starts, and only as they are written.
 */
export function createPhrases(entries: readonly (readonly [string, string])[], spell: Spellings): Phrases {
  const anywhere = createGrove(spell);
  const atStart = createGrove(spell);
  const parts = new Set<string>();
  for (const [key, value] of entries) {
    const isStart = key.startsWith("^");
    const words = (isStart ? key.slice(1) : key).split(" ");
    (isStart ? atStart : anywhere).add(words, value);
    for (const word of words) parts.add(word);
  }
  return {
    parts,
    has: (word) => spell(word).some((spelling) => parts.has(spelling)),
    match(words, at, start) {
      const plain = anywhere.match(words, at);
      const first = start ? atStart.match(words, at) : undefined;
      return first && first.length >= (plain?.length ?? 0) ? first : plain;
    },
  };
}

/**
 * The same over plain words, as one table: each phrase stands as it is written and with every word bent. The exact form wins
 * among equals; a `rigid` word alone is never bent (`them` is no `theme`). Made in a tenth of the time of a tree, which counts when thousands are read at the start.
 */
export function createFlatPhrases(
  entries: readonly (readonly [string, string])[],
  bend: (word: string) => string,
  rigid: ReadonlySet<string>,
): Phrases {
  const anywhere = new Map<string, string>();
  const bent = new Map<string, string>();
  const atStart = new Map<string, string>();
  const parts = new Set<string>();
  const known = new Set<string>();
  /** By first word and by first two, as they are written and bent: the most words of any phrase that begins so. */
  const lengths = new Map<string, number>();
  const begin = (words: readonly string[]) => {
    const one = words[0] ?? "";
    lengths.set(one, Math.max(words.length > 1 ? 2 : 1, lengths.get(one) ?? 0));
    if (words.length < 2) return;
    const two = `${one} ${words[1]}`;
    lengths.set(two, Math.max(words.length, lengths.get(two) ?? 0));
  };
  const longestFrom = (first: string, second: string | undefined) => {
    const one = lengths.get(first) ?? 0;
    return one < 2 || second === undefined ? Math.min(one, 1) : Math.max(1, lengths.get(`${first} ${second}`) ?? 0);
  };
  for (const [key, value] of entries) {
    const isStart = key.startsWith("^");
    const plain = isStart ? key.slice(1) : key;
    const words = plain.split(" ");
    const stems = words.map(bend);
    begin(words);
    begin(stems);
    for (const word of words) {
      parts.add(word);
      known.add(word);
    }
    if (isStart) atStart.set(plain, value);
    else {
      anywhere.set(plain, value);
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
      const second = words[at + 1];
      const most = Math.max(longestFrom(first, second), longestFrom(bend(first), second && bend(second)));
      for (let length = Math.min(most, words.length - at); length > 0; length--) {
        const said = words.slice(at, at + length);
        const exact = said.join(" ");
        const plain = (start ? atStart.get(exact) : undefined) ?? anywhere.get(exact);
        const value = plain ?? (length === 1 && rigid.has(first) ? undefined : bent.get(said.map(bend).join(" ")));
        if (value !== undefined) return { value, length };
      }
      return undefined;
    },
  };
}
