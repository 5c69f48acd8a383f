import { STYLES } from "../config/values.ts";
import { baseOf } from "./base.ts";
import { cost, type Prices } from "./prices.ts";
import { bootstrap, differences, grouped, type Interval, mean, median, type Sample, type Spread, share, spread } from "./stats.ts";
import type { Refresh, Run, Size } from "./types.ts";

/** What is measured of a run beside its success. */
export const METRICS = {
  first_list: { label: "First list", about: "Tokens of the tool list before the first turn", of: (run: Run) => run.first_list },
  prompt: {
    label: "Prompt",
    about: "Tokens of list, instructions and history, summed over the turns as sent",
    of: (run: Run) => run.prompt,
  },
  uncached: {
    label: "Prompt, uncached",
    about: "Of these, what a prompt cache would not have had",
    of: (run: Run) => run.prompt - run.cached,
  },
  completion: { label: "Completion", about: "Tokens that the driver wrote", of: (run: Run) => run.completion },
  calls: { label: "Calls", about: "Tool calls", of: (run: Run) => run.calls },
  failed_calls: { label: "Failed calls", about: "Tool calls that answered with an error", of: (run: Run) => run.failed_calls },
  discovery_calls: { label: "Discovery calls", about: "Tool calls that only looked for tools", of: (run: Run) => run.discovery_calls },
  enabled: { label: "Toolsets enabled", about: "Toolsets that were on at some time of the run", of: (run: Run) => run.enabled.length },
  ms: {
    label: "Wall time, ms",
    about: "Milliseconds from the first list to the answer, on the machine of this run",
    of: (run: Run) => run.ms,
  },
} as const;

export type MetricName = keyof typeof METRICS;
export type Metrics<T> = Readonly<Record<MetricName, T>>;
export const METRIC_NAMES = Object.keys(METRICS) as readonly MetricName[];

/** Price of a run by one row of the table: medians, with and without a prompt cache. */
export interface CostReport {
  readonly model: string;
  readonly cached: number;
  readonly uncached: number;
}

export interface ArmReport {
  readonly arm: string;
  readonly runs: number;
  readonly tasks: number;
  /** Runs that broke off: failures too. */
  readonly broken: number;
  readonly success: Interval;
  /** Medians over all runs. */
  readonly metrics: Metrics<Interval>;
  readonly cost?: readonly CostReport[];
}

/** One arm less the base arm, over the same tasks and repeats. */
export interface PairReport {
  readonly arm: string;
  readonly pairs: number;
  /** Difference of the success shares. */
  readonly success: Interval;
  readonly only_arm: number;
  readonly only_base: number;
  /** Pairs in which both succeeded: the metrics are of these, since who gives up early is cheap. */
  readonly both: number;
  readonly metrics: Metrics<Interval>;
}

export interface CellReport {
  readonly arm: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly success: Interval;
  readonly prompt: number;
  readonly uncached: number;
  readonly calls: number;
}

export interface TaskReport {
  readonly task: string;
  readonly size: Size;
  readonly toolsets: readonly string[];
  readonly arms: readonly CellReport[];
}

/** Tokens that were sent in the n-th turn, median over the runs that had one. */
export interface TurnReport {
  readonly turn: number;
  readonly runs: number;
  readonly prompt: number;
  readonly uncached: number;
}

export interface GroupReport {
  readonly driver: string;
  readonly refresh: Refresh;
  readonly arms: readonly ArmReport[];
  readonly paired: readonly PairReport[];
  readonly sizes: readonly { readonly size: Size; readonly arms: readonly CellReport[] }[];
  readonly tasks: readonly TaskReport[];
  readonly turns: readonly { readonly arm: string; readonly turns: readonly TurnReport[] }[];
}

/** Repeats of an arm against its own repeats. `between` is the largest median paired difference of two repeats over all tasks. */
export interface SelfReport {
  readonly driver: string;
  readonly pairs: number;
  /** Pairs of which one succeeded and one failed. */
  readonly flips: number;
  readonly metrics: Metrics<Spread & { readonly between: number }>;
}

/** Runs that say nothing about an arm, since the driver's path does not lead through it. */
export interface NoPathReport {
  readonly driver: string;
  readonly arm: string;
  readonly runs: number;
  /** Runs of this arm by this driver, these among them. */
  readonly of: number;
}

/** What the runs were made with, as far as a reader needs it to make them again. */
export interface MadeWith {
  readonly version: string;
  readonly node: string;
  /** Changes with any word of any task. */
  readonly tasks_hash: string;
  readonly arms: readonly { readonly arm: string; readonly about: string; readonly server?: string }[];
}

export interface Report {
  readonly made_with?: MadeWith;
  readonly runs: number;
  readonly tasks: number;
  readonly repeats: number;
  readonly arms: readonly string[];
  readonly base: string;
  readonly counters: readonly string[];
  readonly seed: number;
  readonly rounds: number;
  readonly currency?: string;
  /** Lines at the end of the file that were torn off by an interruption. */
  readonly torn: number;
  /** Left out of everything else. */
  readonly no_path: readonly NoPathReport[];
  readonly groups: readonly GroupReport[];
  readonly self: readonly SelfReport[];
}

export interface ReportOptions {
  /** The arm that the others are compared with; `bridge`, or the first, where absent. */
  readonly base?: string;
  readonly prices?: Prices;
  /** Seed and rounds of the bootstrap. */
  readonly seed?: number;
  readonly rounds?: number;
  readonly madeWith?: MadeWith;
  /** What each task asks for, to be shown beside its transcripts. */
  readonly prompts?: Readonly<Record<string, string>>;
}

interface Plan {
  readonly base: string;
  readonly seed: number;
  readonly rounds: number;
  readonly prices?: Prices;
}

const SIZES: readonly Size[] = ["small", "medium", "large"];
const REFRESHES: readonly Refresh[] = ["at_once", "next_turn", "never"];

const succeeded = (run: Run): number => (run.success ? 1 : 0);
const sampled = (runs: readonly Run[], of: (run: Run) => number): readonly Sample[] =>
  runs.map((run) => ({ cluster: run.task, value: of(run) }));

const perMetric = <T>(make: (of: (run: Run) => number) => T): Metrics<T> =>
  Object.fromEntries(METRIC_NAMES.map((name) => [name, make(METRICS[name].of)])) as unknown as Metrics<T>;

const rank = (arm: string): number => {
  const at = (STYLES as readonly string[]).indexOf(arm);
  return at < 0 ? STYLES.length : at;
};
/** The styles in their own order, then the others by name. */
const byArm = (one: string, other: string) => rank(one) - rank(other) || (one < other ? -1 : one > other ? 1 : 0);

const armsOf = (runs: readonly Run[]): readonly (readonly [arm: string, runs: readonly Run[]])[] =>
  [...grouped(runs, ({ arm }) => arm)].sort(([one], [other]) => byArm(one, other));

function costOf(runs: readonly Run[], prices: Prices): readonly CostReport[] {
  return prices.rows.map((price) => ({
    model: price.model,
    cached: median(runs.map((run) => cost(run, price))),
    uncached: median(runs.map((run) => cost({ ...run, cached: 0 }, price))),
  }));
}

function toArm(arm: string, runs: readonly Run[], { seed, rounds, prices }: Plan): ArmReport {
  return {
    arm,
    runs: runs.length,
    tasks: new Set(runs.map(({ task }) => task)).size,
    broken: runs.filter(({ error }) => error !== undefined).length,
    success: share(sampled(runs, succeeded)),
    metrics: perMetric((of) => bootstrap(sampled(runs, of), median, { seed, rounds })),
    ...(prices ? { cost: costOf(runs, prices) } : {}),
  };
}

const pairKey = ({ task, repeat }: Run) => `${task}\n${repeat}`;

function toPair(arm: string, runs: readonly Run[], baseRuns: readonly Run[], { seed, rounds }: Plan): PairReport {
  const compare = (one: readonly Run[], other: readonly Run[], value: (run: Run) => number) =>
    differences(one, other, { key: pairKey, cluster: ({ task }) => task, value });
  const success = compare(runs, baseRuns, succeeded);
  const good = runs.filter(({ success: ok }) => ok);
  const goodBase = baseRuns.filter(({ success: ok }) => ok);
  return {
    arm,
    pairs: success.length,
    success: bootstrap(success, mean, { seed, rounds }),
    only_arm: success.filter(({ value }) => value > 0).length,
    only_base: success.filter(({ value }) => value < 0).length,
    both: compare(good, goodBase, succeeded).length,
    metrics: perMetric((of) => bootstrap(compare(good, goodBase, of), median, { seed, rounds })),
  };
}

function toCell(arm: string, runs: readonly Run[]): CellReport {
  const middle = (of: (run: Run) => number) => median(runs.map(of));
  return {
    arm,
    runs: runs.length,
    succeeded: runs.filter(({ success }) => success).length,
    success: share(sampled(runs, succeeded)),
    prompt: middle(METRICS.prompt.of),
    uncached: middle(METRICS.uncached.of),
    calls: middle(METRICS.calls.of),
  };
}

const cells = (runs: readonly Run[]) => armsOf(runs).map(([arm, own]) => toCell(arm, own));

function toTasks(runs: readonly Run[]): readonly TaskReport[] {
  const tasks = [...grouped(runs, ({ task }) => task)].flatMap(([task, own]) => {
    const [first] = own;
    return first ? [{ task, size: first.size, toolsets: first.toolsets, arms: cells(own) }] : [];
  });
  return tasks.sort((a, b) => SIZES.indexOf(a.size) - SIZES.indexOf(b.size) || (a.task < b.task ? -1 : 1));
}

function toTurns(runs: readonly Run[]): readonly TurnReport[] {
  const longest = Math.max(0, ...runs.map(({ turns }) => turns.length));
  return Array.from({ length: longest }, (_, index) => {
    const own = runs.flatMap(({ turns }) => turns[index] ?? []);
    const uncached = median(own.map(({ prompt, cached }) => prompt - cached));
    return { turn: index + 1, runs: own.length, prompt: median(own.map(({ prompt }) => prompt)), uncached };
  });
}

function toGroup(runs: readonly Run[], first: Run, plan: Plan): GroupReport {
  const arms = armsOf(runs);
  const baseRuns = arms.find(([arm]) => arm === plan.base)?.[1] ?? [];
  return {
    driver: first.driver,
    refresh: first.refresh,
    arms: arms.map(([arm, own]) => toArm(arm, own, plan)),
    paired: baseRuns.length === 0 ? [] : arms.filter(([arm]) => arm !== plan.base).map(([arm, own]) => toPair(arm, own, baseRuns, plan)),
    sizes: SIZES.map((size) => ({ size, arms: cells(runs.filter((run) => run.size === size)) })).filter(({ arms: own }) => own.length > 0),
    tasks: toTasks(runs),
    turns: arms.map(([arm, own]) => ({ arm, turns: toTurns(own) })),
  };
}

/** The largest median difference that two repeats of one arm show over all tasks: what no difference at all looks like. */
function betweenRepeats(runs: readonly Run[], of: (run: Run) => number): number {
  const found = [...grouped(runs, ({ arm, refresh }) => `${arm}\n${refresh}`).values()].flatMap((own) => {
    const repeats = [...grouped(own, ({ repeat }) => String(repeat)).values()];
    const pair = { key: ({ task }: Run) => task, cluster: ({ task }: Run) => task, value: of };
    return repeats.flatMap((one, index) =>
      repeats.slice(index + 1).map((other) => Math.abs(median(differences(one, other, pair).map(({ value }) => value)))),
    );
  });
  return found.length === 0 ? Number.NaN : Math.max(...found.filter((value) => !Number.isNaN(value)));
}

function toSelf(driver: string, runs: readonly Run[]): SelfReport {
  const group = ({ arm, refresh, task }: Run) => `${arm}\n${refresh}\n${task}`;
  const flips = [...grouped(runs, group).values()].reduce((sum, own) => {
    const good = own.filter(({ success }) => success).length;
    return sum + good * (own.length - good);
  }, 0);
  return {
    driver,
    pairs: spread(runs, group, succeeded).pairs,
    flips,
    metrics: perMetric((of) => ({ ...spread(runs, group, of), between: betweenRepeats(runs, of) })),
  };
}

function toNoPath(runs: readonly Run[]): readonly NoPathReport[] {
  return [...grouped(runs, ({ driver, arm }) => `${driver}\n${arm}`).values()].flatMap((own) => {
    const lost = own.filter(({ no_path }) => no_path);
    return lost[0] ? [{ driver: lost[0].driver, arm: lost[0].arm, runs: lost.length, of: own.length }] : [];
  });
}

/** Everything that the pages say, from the runs alone. The same runs, base, seed and rounds give the same report. */
export function toReport(all: readonly Run[], torn: number, options: ReportOptions = {}): Report {
  const runs = all.filter(({ no_path }) => !no_path);
  const arms = armsOf(runs).map(([arm]) => arm);
  const { prices, seed = 1, rounds = 1_000 } = options;
  const base = baseOf(arms, options.base, (name) => `There is no arm "${name}" in these runs.`);
  const plan: Plan = { base, seed, rounds, ...(prices ? { prices } : {}) };
  const groups = [...grouped(runs, ({ driver, refresh }) => `${driver}\n${REFRESHES.indexOf(refresh)}`)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return {
    ...(options.madeWith ? { made_with: options.madeWith } : {}),
    runs: runs.length,
    tasks: new Set(runs.map(({ task }) => task)).size,
    repeats: new Set(runs.map(({ repeat }) => repeat)).size,
    arms,
    base: plan.base,
    counters: [...new Set(runs.map(({ counter }) => counter))],
    seed,
    rounds,
    ...(prices ? { currency: prices.currency } : {}),
    torn,
    no_path: toNoPath(all),
    groups: groups.flatMap(([, own]) => (own[0] ? [toGroup(own, own[0], plan)] : [])),
    self: [...grouped(runs, ({ driver }) => driver)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([driver, own]) => toSelf(driver, own)),
  };
}
