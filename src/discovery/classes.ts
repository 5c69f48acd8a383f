import { existsSync, readFileSync } from "node:fs";
import { type Container, fromFile, type Part, toFile } from "./container.ts";

/** What is told: the doing (`list`, `create`), the area of an action (`issue`), the very action. */
const TOLD = ["lean", "area", "deed"] as const;
export type Told = (typeof TOLD)[number];

/**
 * What words tell of a class: multinomial logistic regression, fitted by `scripts/find-classes.ts`, in hundredths. Per mark: what it
 * says of every class, and pairs of a class that it says more or less of, and what.
 */
export interface Classes {
  readonly names: readonly string[];
  /** By mark: its number. */
  readonly marks: ReadonlyMap<string, number>;
  readonly rests: Int16Array;
  /** By mark: where its pairs begin, and the end. */
  readonly starts: Uint32Array;
  readonly kinds: Uint16Array;
  readonly values: Int16Array;
}

/** The same as `data/<told>.json` has it: a row begins with what is said of every class, the pairs follow. */
export interface ClassRows {
  readonly names: readonly string[];
  readonly rows: Readonly<Record<string, readonly number[]>>;
}

export function toClasses({ names, rows }: ClassRows): Classes {
  const lines = Object.values(rows);
  const pairs = lines.map((row) => row.slice(1));
  let end = 0;
  const starts = Uint32Array.from([0, ...pairs.map(({ length }) => (end += length / 2))]);
  const flat = pairs.flat();
  return {
    names,
    marks: new Map(Object.keys(rows).map((mark, at) => [mark, at])),
    rests: Int16Array.from(lines, ([rest = 0]) => rest),
    starts,
    kinds: Uint16Array.from(flat.filter((_, at) => at % 2 === 0)),
    values: Int16Array.from(flat.filter((_, at) => at % 2 === 1)),
  };
}

const readRows = (told: Told): Classes =>
  toClasses(JSON.parse(readFileSync(new URL(`./data/${told}.json`, import.meta.url), "utf8")) as ClassRows);

/** All of them as one file, which the build leaves. */
export function packClasses(): Buffer {
  const parts: Record<string, Part> = {};
  for (const told of TOLD) {
    const { names, marks, rests, starts, kinds, values } = readRows(told);
    Object.assign(parts, {
      [`${told}.names`]: names,
      [`${told}.marks`]: [...marks.keys()],
      [`${told}.rests`]: rests,
      [`${told}.starts`]: starts,
      [`${told}.kinds`]: kinds,
      [`${told}.values`]: values,
    });
  }
  return toFile(parts);
}

export function unpackClasses(told: Told, file: Container): Classes {
  return {
    names: file.strings(`${told}.names`),
    marks: new Map(file.strings(`${told}.marks`).map((mark, at) => [mark, at])),
    rests: file.numbers(`${told}.rests`),
    starts: file.numbers(`${told}.starts`),
    kinds: file.numbers(`${told}.kinds`),
    values: file.numbers(`${told}.values`),
  };
}

const known = new Map<Told, Classes>();
let packed: Container | undefined;

/** Read when first asked for: as the build left them, else as they are written. */
export function classesOf(told: Told, file = new URL("./data/find-classes.bin", import.meta.url)): Classes {
  const one = known.get(told);
  if (one) return one;
  if (!packed && existsSync(file)) packed = fromFile(readFileSync(file));
  const made = packed ? unpackClasses(told, packed) : readRows(told);
  known.set(told, made);
  return made;
}

/** How much less likely each class is than the likeliest, as logarithms: 0 and less. */
export function likely(said: Iterable<string>, { names, marks, rests, starts, kinds, values }: Classes): Float64Array {
  const sums = new Float64Array(names.length);
  // What is said of every class alike changes nothing: only what is said more or less of one counts.
  for (const mark of said) {
    const number = marks.get(mark);
    if (number === undefined) continue;
    const rest = rests[number] as number;
    for (let at = starts[number] as number; at < (starts[number + 1] as number); at++) {
      const kind = kinds[at] as number;
      sums[kind] = (sums[kind] as number) + (values[at] as number) - rest;
    }
  }
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < sums.length; at++) if ((sums[at] as number) > most) most = sums[at] as number;
  for (let at = 0; at < sums.length; at++) sums[at] = ((sums[at] as number) - most) / 100;
  return sums;
}

/** What is thought of a class that no phrase is known of. */
const UNKNOWN = -2;

/** What is thought of a class, by its number. */
export const likelihood = (values: Float64Array, number: number | undefined): number => values[number ?? -1] ?? UNKNOWN;

/** Numbers of classes by name; -1 where no phrase is known (a tool of another server). */
export function numbersOf(names: readonly string[], classes: Classes): Int16Array {
  const numbers = new Map(classes.names.map((name, at) => [name, at]));
  return Int16Array.from(names, (name) => numbers.get(name) ?? -1);
}
