/**
 * Regular expressions of a policy. They are matched by walking sets of positions, never by going back, so that no pattern can make
 * a match slow; what that cannot do (looking around, references to groups) is refused, never passed over.
 */
export interface Pattern {
  readonly source: string;
  /** Whether the pattern is found anywhere in the text. Case does not count. */
  test(text: string): boolean;
}

export const MOST_PATTERN = 200;
/** Steps of one match: repetitions written out. */
const MOST_SIZE = 2_000;
const MOST_REPEAT = 100;

/** From the positions where a part may begin to those where it may end. */
type Step = (text: string, from: ReadonlySet<number>) => ReadonlySet<number>;

interface Part {
  readonly step: Step;
  readonly size: number;
}

class PatternError extends Error {}

const fail = (why: string): never => {
  throw new PatternError(why);
};

const filtered = (test: (text: string, at: number) => boolean, move: 0 | 1): Part => ({
  size: 1,
  step: (text, from) => {
    const to = new Set<number>();
    for (const at of from) if ((move === 0 || at < text.length) && test(text, at)) to.add(at + move);
    return to;
  },
});

const oneOf = (source: string): Part => {
  let one: RegExp;
  try {
    one = new RegExp(`^${source}$`, "iu");
  } catch {
    return fail(`${source} is not valid`);
  }
  return filtered((text, at) => one.test(text[at] ?? ""), 1);
};

const isWord = (text: string, at: number) => /\w/.test(text[at] ?? "");

const START = filtered((_text, at) => at === 0, 0);
const END = filtered((text, at) => at === text.length, 0);
const BORDER = filtered((text, at) => isWord(text, at - 1) !== isWord(text, at), 0);
const NO_BORDER = filtered((text, at) => isWord(text, at - 1) === isWord(text, at), 0);
const NOTHING: Part = { size: 0, step: (_text, from) => from };

const sequence = (parts: readonly Part[]): Part => ({
  size: parts.reduce((sum, { size }) => sum + size, 0),
  step: (text, from) => parts.reduce((positions, { step }) => (positions.size === 0 ? positions : step(text, positions)), from),
});

const either = (parts: readonly Part[]): Part => ({
  size: parts.reduce((sum, { size }) => sum + size, 0),
  step: (text, from) => new Set(parts.flatMap(({ step }) => [...step(text, from)])),
});

function repeated(part: Part, least: number, most: number | undefined): Part {
  const size = part.size * Math.max(1, least + (most === undefined ? 1 : most - least));
  return {
    size,
    step(text, from) {
      let here = from;
      for (let round = 0; round < least; round++) here = part.step(text, here);
      const all = new Set(here);
      for (let round = least; most === undefined || round < most; round++) {
        const fresh = [...part.step(text, here)].filter((at) => !all.has(at));
        if (fresh.length === 0) break;
        for (const at of fresh) all.add(at);
        here = new Set(fresh);
      }
      return all;
    },
  };
}

/** A reader of the syntax that is supported: literals, `.`, classes, groups, alternatives, repetition, `^ $ \b \B \d \w \s`. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  #take(expected: RegExp): string | undefined {
    const match = new RegExp(expected.source, "y");
    match.lastIndex = this.#at;
    const found = match.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  whole(): Part {
    const part = this.#choice();
    if (this.#at < this.#source.length) fail("has a ) too many");
    return part;
  }

  #choice(): Part {
    const parts = [this.#sequence()];
    while (this.#take(/\|/)) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] ?? NOTHING) : either(parts);
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? "")) parts.push(this.#repeat(this.#atom()));
    return sequence(parts);
  }

  #repeat(part: Part): Part {
    const mark = this.#take(/[*+?]\??|\{\d{1,3}(?:,\d{0,3})?\}\??/);
    if (mark === undefined) return part;
    if (this.#take(/[*+?]/)) fail("repeats a repetition");
    if (mark.startsWith("*")) return repeated(part, 0, undefined);
    if (mark.startsWith("+")) return repeated(part, 1, undefined);
    if (mark.startsWith("?")) return repeated(part, 0, 1);
    const [, least = "0", comma, most] = /\{(\d+)(,?)(\d*)\}/.exec(mark) ?? [];
    const upper = comma === "" ? Number(least) : most === "" ? undefined : Number(most);
    if (Number(least) > MOST_REPEAT || (upper ?? 0) > MOST_REPEAT) fail(`repeats more than ${MOST_REPEAT} times`);
    if (upper !== undefined && upper < Number(least)) fail("has a repetition whose end is before its start");
    return repeated(part, Number(least), upper);
  }

  #atom(): Part {
    if (this.#take(/\(/)) return this.#group();
    if (this.#take(/\^/)) return START;
    if (this.#take(/\$/)) return END;
    const set = this.#take(/\[\^?\]?(?:\\.|[^\]\\])*\]/);
    if (set !== undefined) return oneOf(set);
    if (this.#take(/\\B/)) return NO_BORDER;
    if (this.#take(/\\b/)) return BORDER;
    const escaped = this.#take(/\\(?:[dDwWsS]|[^\w\s])/);
    if (escaped !== undefined) return oneOf(/^\\[-_/]$/.test(escaped) ? escaped.slice(1) : escaped);
    if (this.#take(/\\(?:[1-9]|k)/)) fail("refers back to a group, which is not supported");
    const plain = this.#take(/[^\\[\](){}*+?|]/);
    if (plain !== undefined) return oneOf(plain === "/" ? "[/]" : plain);
    return fail(`is not valid at character ${this.#at + 1}`);
  }

  #group(): Part {
    if (this.#take(/\?<?[=!]/)) fail("looks ahead or behind, which is not supported");
    if (!this.#take(/\?:/) && this.#take(/\?/)) fail("has a kind of group that is not supported; ( ) and (?: ) are");
    const part = this.#choice();
    if (!this.#take(/\)/)) fail("lacks a )");
    return part;
  }
}

/** @throws Error whose message says what is wrong with the pattern. */
export function toPattern(source: string): Pattern {
  if (source.length > MOST_PATTERN) fail(`is longer than ${MOST_PATTERN} characters`);
  const { step, size } = new Reader(source).whole();
  if (size > MOST_SIZE) fail("repeats too much");
  return {
    source,
    test: (text) => step(text, new Set(Array.from({ length: text.length + 1 }, (_, at) => at))).size > 0,
  };
}

/** What is wrong with a pattern, if anything. */
export function patternFault(source: string): string | undefined {
  try {
    toPattern(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}
