import { STYLES } from "../config/values.ts";
import type { TrialLine } from "../surface/trial-line.ts";
import { baseOf } from "./base.ts";
import { createRandom, grouped, type Interval, quantile } from "./stats.ts";

/** What one user did under one style. */
interface Person {
  readonly assignments: number;
  readonly calls: number;
  readonly discovery: number;
  readonly errors: number;
  readonly first_list: number;
  readonly list_tokens: number;
  readonly result_tokens: number;
  readonly ms: number;
}

/** Each is a sum over the users of a style divided by another, so that who calls more weighs more. */
export const LIVE_MEASURES = {
  first_list: { label: "First list, tokens", share: false, of: (one: Person) => [one.first_list, one.assignments] },
  session_calls: { label: "Calls a session", share: false, of: (one: Person) => [one.calls, one.assignments] },
  discovery_share: { label: "Calls that look for tools", share: true, of: (one: Person) => [one.discovery, one.calls] },
  error_share: { label: "Calls that fail", share: true, of: (one: Person) => [one.errors, one.calls] },
  result_tokens: { label: "Tokens of a result", share: false, of: (one: Person) => [one.result_tokens, one.calls] },
  session_tokens: {
    label: "Tokens a session, lists and results",
    share: false,
    of: (one: Person) => [one.list_tokens + one.result_tokens, one.assignments],
  },
  call_ms: { label: "Milliseconds of a call", share: false, of: (one: Person) => [one.ms, one.calls] },
} as const satisfies Readonly<
  Record<string, { label: string; share: boolean; of: (one: Person) => readonly [over: number, under: number] }>
>;

export type LiveMeasure = keyof typeof LIVE_MEASURES;
export const LIVE_NAMES = Object.keys(LIVE_MEASURES) as readonly LiveMeasure[];
type Measured = Readonly<Record<LiveMeasure, Interval>>;

export interface LiveArm {
  readonly style: string;
  readonly users: number;
  /** How many the weights promise, where all assignments were made by the same. */
  readonly expected?: number;
  /** Sessions; and users whose requests stand alone, once for each start of the server. */
  readonly assignments: number;
  readonly lists: number;
  readonly calls: number;
  readonly discovery_calls: number;
  readonly errors: number;
  readonly measures: Measured;
  /** Less the base style; absent for the base itself. */
  readonly differences?: Measured;
}

export interface LiveReport {
  readonly files: readonly string[];
  readonly lines: number;
  readonly torn: number;
  readonly from?: string;
  readonly to?: string;
  /** Every comparison that assignments were made by. */
  readonly shares: readonly string[];
  readonly base: string;
  readonly seed: number;
  readonly rounds: number;
  /** Users that were seen under more than one style: weights or the salt have changed. */
  readonly moved: number;
  /** Clients that are left out, by reason. */
  readonly excluded: Readonly<Record<string, number>>;
  readonly arms: readonly LiveArm[];
}

export interface LiveOptions {
  /** The style that the others are compared with; `bridge`, or the first, where absent. */
  readonly base?: string;
  readonly seed?: number;
  readonly rounds?: number;
}

function toPerson(lines: readonly TrialLine[]): Person {
  const of = (kind: TrialLine["kind"]) => lines.filter((line) => line.kind === kind);
  const sum = (own: readonly TrialLine[], field: "tokens" | "ms") => own.reduce((total, line) => total + (line[field] ?? 0), 0);
  const [assignments, calls] = [of("assignment"), of("call")];
  return {
    assignments: assignments.length,
    calls: calls.length,
    discovery: calls.filter(({ discovery }) => discovery).length,
    errors: calls.filter(({ end }) => end === "error").length,
    first_list: sum(assignments, "tokens"),
    list_tokens: sum(of("list"), "tokens"),
    result_tokens: sum(calls, "tokens"),
    ms: sum(calls, "ms"),
  };
}

type Ratio = (one: Person) => readonly [number, number];

function ratio(people: readonly Person[], of: Ratio): number {
  let [over, under] = [0, 0];
  for (const person of people) {
    const [a, b] = of(person);
    over += a;
    under += b;
  }
  return over / under;
}

const redrawn = (people: readonly Person[], random: () => number): readonly Person[] =>
  people.flatMap(() => people[Math.floor(random() * people.length)] ?? []);

interface Drawing {
  readonly seed: number;
  readonly rounds: number;
}

/** Users are drawn with replacement: many calls of one user are no more than one user. */
function interval(value: number, { seed, rounds }: Drawing, draw: (random: () => number) => number): Interval {
  const random = createRandom(seed);
  const drawn = Array.from({ length: rounds }, () => draw(random)).filter(Number.isFinite);
  return { value, low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}

const measure = (make: (of: Ratio) => Interval): Measured =>
  Object.fromEntries(LIVE_NAMES.map((name) => [name, make(LIVE_MEASURES[name].of)])) as unknown as Measured;

const measuresOf = (people: readonly Person[], drawing: Drawing) =>
  measure((of) => interval(ratio(people, of), drawing, (random) => ratio(redrawn(people, random), of)));

const differencesOf = (people: readonly Person[], base: readonly Person[], drawing: Drawing) =>
  measure((of) =>
    interval(
      ratio(people, of) - ratio(base, of),
      drawing,
      (random) => ratio(redrawn(people, random), of) - ratio(redrawn(base, random), of),
    ),
  );

/** Weight of each style in what `--ab` says. */
function weightsIn(shares: string): ReadonlyMap<string, number> {
  const pairs = shares.replace(/^style:/, "").split(",");
  const weights = pairs.map((pair) => pair.split("=")).map(([style = "", weight]): [string, number] => [style, Number(weight)]);
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return new Map(weights.map(([style, weight]) => [style, weight / total]));
}

/** What each user of a style did; in the order of their hashes, so that the draw does not hang on the order of lines. */
function peopleOf(lines: readonly TrialLine[]): readonly Person[] {
  const byUser = [...grouped(lines, ({ user }) => user ?? "")].sort(([a], [b]) => (a < b ? -1 : 1));
  return byUser.map(([, own]) => toPerson(own));
}

interface Followed {
  readonly style: string;
  readonly lines: readonly TrialLine[];
  readonly people: readonly Person[];
}

function toArm({ style, lines, people }: Followed, expected: number | undefined, base: Followed | undefined, drawing: Drawing): LiveArm {
  const count = (of: (line: TrialLine) => boolean) => lines.filter(of).length;
  return {
    style,
    users: people.length,
    ...(expected === undefined ? {} : { expected }),
    assignments: count(({ kind }) => kind === "assignment"),
    lists: count(({ kind }) => kind === "list"),
    calls: count(({ kind }) => kind === "call"),
    discovery_calls: count(({ discovery }) => discovery === true),
    errors: count(({ end }) => end === "error"),
    measures: measuresOf(people, drawing),
    ...(base && base.style !== style ? { differences: differencesOf(people, base.people, drawing) } : {}),
  };
}

function excludedIn(lines: readonly TrialLine[]): LiveReport["excluded"] {
  const byReason = grouped(
    lines.filter(({ kind }) => kind === "excluded"),
    ({ reason }) => reason ?? "",
  );
  return Object.fromEntries([...byReason].map(([reason, own]) => [reason, own.length]));
}

/** Sums up the lines of one or several servers. The same lines, base, seed and rounds give the same report. */
export function toLiveReport(lines: readonly TrialLine[], files: readonly string[], torn: number, options: LiveOptions = {}): LiveReport {
  const { seed = 1, rounds = 1_000 } = options;
  const followed = lines.filter(({ kind, user }) => kind !== "excluded" && user !== undefined);
  const byStyle = grouped(followed, ({ style }) => style);
  const arms = STYLES.flatMap((style): Followed[] => {
    const own = byStyle.get(style);
    return own ? [{ style, lines: own, people: peopleOf(own) }] : [];
  });
  const base = baseOf(
    arms.map(({ style }) => style),
    options.base,
    (name) => `Nobody was assigned the style "${name}".`,
  );
  const shares = [...new Set(followed.flatMap((line) => line.shares ?? []))].sort();
  const weights = shares.length === 1 ? weightsIn(shares[0] ?? "") : undefined;
  const users = new Set(followed.map(({ user }) => user)).size;
  const expected = (style: string) => {
    const weight = weights?.get(style);
    return weight === undefined ? undefined : weight * users;
  };
  const times = lines.map(({ time }) => time).sort();
  const baseArm = arms.find(({ style }) => style === base);
  return {
    files,
    lines: lines.length,
    torn,
    ...(times.length > 0 ? { from: times[0] ?? "", to: times.at(-1) ?? "" } : {}),
    ...{ shares, base, seed, rounds },
    moved: arms.reduce((sum, { people }) => sum + people.length, 0) - users,
    excluded: excludedIn(lines),
    arms: arms.map((arm) => toArm(arm, expected(arm.style), baseArm, { seed, rounds })),
  };
}
