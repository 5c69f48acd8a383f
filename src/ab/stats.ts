/** What is known of one number: the middle of the data, and where it would lie if other tasks had been drawn. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** One measured value of one task. Repeats of a task belong together: they are not further evidence about other tasks. */
export interface Sample {
  readonly cluster: string;
  readonly value: number;
}

/** Numbers in [0, 1) that the seed alone decides. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** By linear interpolation; NaN where there is nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)];
  const high = sorted[Math.ceil(at)];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;

export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

export interface BootstrapOptions {
  readonly seed: number;
  readonly rounds?: number;
  /** Share of the drawn values that the interval holds. */
  readonly level?: number;
}

const ROUNDS = 1_000;
const LEVEL = 0.95;

/**
 * A statistic and its percentile interval: whole clusters are drawn with replacement, as many as there are, again and again. The same
 * samples and seed give the same interval. One cluster says nothing about others: its interval is the value alone.
 */
export function bootstrap(
  samples: readonly Sample[],
  statistic: (values: readonly number[]) => number,
  { seed, rounds = ROUNDS, level = LEVEL }: BootstrapOptions,
): Interval {
  const clusters = [...grouped(samples, ({ cluster }) => cluster)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => group.map(({ value }) => value));
  const value = statistic(samples.map((sample) => sample.value));
  if (clusters.length < 2) return { value, low: value, high: value };
  const random = createRandom(seed);
  const drawn = Array.from({ length: rounds }, () => {
    const values: number[] = [];
    for (let count = 0; count < clusters.length; count++) values.push(...(clusters[Math.floor(random() * clusters.length)] ?? []));
    return statistic(values);
  });
  return { value, low: quantile(drawn, (1 - level) / 2), high: quantile(drawn, (1 + level) / 2) };
}

/**
 * A share and its Wilson interval at 95 %, with as many trials as there are clusters: twenty repeats of one task are no more than one
 * task, and a share of all or none still has a width.
 */
export function share(samples: readonly Sample[]): Interval {
  const byCluster = [...grouped(samples, ({ cluster }) => cluster).values()];
  const value = mean(byCluster.map((group) => mean(group.map((sample) => sample.value))));
  const trials = byCluster.length;
  if (trials === 0) return { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const z = 1.959964;
  const middle = value + z ** 2 / (2 * trials);
  const half = z * Math.sqrt((value * (1 - value)) / trials + z ** 2 / (4 * trials ** 2));
  const whole = 1 + z ** 2 / trials;
  return { value, low: Math.max(0, (middle - half) / whole), high: Math.min(1, (middle + half) / whole) };
}

/** Each value of `one` less its partner of `other`, where both have one under the same key. */
export function differences<T>(
  one: readonly T[],
  other: readonly T[],
  {
    key,
    cluster,
    value,
  }: { readonly key: (item: T) => string; readonly cluster: (item: T) => string; readonly value: (item: T) => number },
): readonly Sample[] {
  const partners = new Map(other.map((item) => [key(item), item]));
  return one.flatMap((item) => {
    const partner = partners.get(key(item));
    return partner === undefined ? [] : [{ cluster: cluster(item), value: value(item) - value(partner) }];
  });
}

/** How far equal things lie apart. */
export interface Spread {
  /** Pairs of repeats that were compared. */
  readonly pairs: number;
  /** Half of the pairs lie at most this far apart. */
  readonly median: number;
  /** 95 of 100 pairs do. */
  readonly p95: number;
}

/** Every repeat against every later one of the same group. */
export function spread<T>(items: readonly T[], group: (item: T) => string, value: (item: T) => number): Spread {
  const apart = [...grouped(items, group).values()].flatMap((members) =>
    members.flatMap((one, index) => members.slice(index + 1).map((other) => Math.abs(value(one) - value(other)))),
  );
  return { pairs: apart.length, median: median(apart), p95: quantile(apart, 0.95) };
}
