import { describe, expect, it } from "vitest";
import { bootstrap, createRandom, differences, mean, median, quantile, type Sample, share, spread } from "../../src/ab/stats.ts";

const samples = (values: readonly number[]): Sample[] => values.map((value, index) => ({ cluster: `t${index}`, value }));

describe("the middle", () => {
  it("of odd, even, one and none", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(median([])).toBeNaN();
    expect(mean([])).toBeNaN();
  });
  it("quantiles lie between neighbours", () => {
    expect(quantile([0, 10], 0.25)).toBe(2.5);
    expect(quantile([5, 1, 9], 0)).toBe(1);
    expect(quantile([5, 1, 9], 1)).toBe(9);
  });
});

describe("random numbers", () => {
  it("are decided by the seed alone", () => {
    const draw = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 5 }, random);
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });
  it("fill [0, 1) evenly", () => {
    const random = createRandom(3);
    const buckets = new Array<number>(10).fill(0);
    for (let n = 0; n < 20_000; n++) buckets[Math.floor(random() * 10)]! += 1;
    for (const count of buckets) expect(Math.abs(count - 2_000)).toBeLessThan(150);
  });
});

describe("bootstrap", () => {
  const values = Array.from({ length: 60 }, (_, index) => index);

  it("holds the value, and is the same for the same seed", () => {
    const one = bootstrap(samples(values), median, { seed: 1 });
    expect(one).toEqual(bootstrap(samples(values), median, { seed: 1 }));
    expect(bootstrap(samples(values), mean, { seed: 1 })).not.toEqual(bootstrap(samples(values), mean, { seed: 2 }));
    expect(one.value).toBe(29.5);
    expect(one.low).toBeLessThan(29.5);
    expect(one.high).toBeGreaterThan(29.5);
  });
  it("does not depend on the order of the samples", () => {
    expect(bootstrap(samples(values).reverse(), median, { seed: 1 })).toEqual(bootstrap(samples(values), median, { seed: 1 }));
  });
  it("of a mean agrees with the error that the textbook gives", () => {
    const { low, high } = bootstrap(samples(values), mean, { seed: 5, rounds: 4_000 });
    const deviation = Math.sqrt(mean(values.map((value) => (value - 29.5) ** 2)));
    expect((high - low) / 2).toBeCloseTo((1.96 * deviation) / Math.sqrt(60), 0);
  });
  it("holds the truth about as often as it says", () => {
    const random = createRandom(11);
    let held = 0;
    for (let n = 0; n < 300; n++) {
      const drawn = samples(Array.from({ length: 40 }, () => random() * 100));
      const { low, high } = bootstrap(drawn, median, { seed: n, rounds: 400 });
      if (low <= 50 && 50 <= high) held++;
    }
    expect(held / 300).toBeGreaterThan(0.9);
    expect(held / 300).toBeLessThan(0.99);
  });
  it("repeats of a task do not make it narrower", () => {
    const repeated = samples(values).flatMap((sample) => [sample, sample, sample, sample]);
    const once = bootstrap(samples(values), mean, { seed: 1 });
    const often = bootstrap(repeated, mean, { seed: 1 });
    expect(often).toEqual(once);
  });
  it("one cluster has no interval", () => {
    const alone = [1, 2, 9].map((value) => ({ cluster: "t", value }));
    expect(bootstrap(alone, median, { seed: 1 })).toEqual({ value: 2, low: 2, high: 2 });
  });
});

describe("a share", () => {
  it("is Wilson's interval", () => {
    const { value, low, high } = share(samples([...new Array<number>(8).fill(1), 0, 0]));
    expect(value).toBe(0.8);
    expect(low).toBeCloseTo(0.4902, 3);
    expect(high).toBeCloseTo(0.9433, 3);
  });
  it("of all or none still has a width", () => {
    expect(share(samples(new Array<number>(60).fill(1)))).toMatchObject({ value: 1, high: 1, low: expect.closeTo(0.9398, 3) });
    expect(share(samples(new Array<number>(60).fill(0)))).toMatchObject({ value: 0, low: 0, high: expect.closeTo(0.0602, 3) });
  });
  it("counts a task once, however often it ran", () => {
    const twice = samples([1, 1, 0, 1]).flatMap((sample) => [sample, sample]);
    expect(share(twice)).toEqual(share(samples([1, 1, 0, 1])));
  });
});

describe("pairs", () => {
  const row = (task: string, repeat: number, value: number) => ({ task, repeat, value });
  const how = {
    key: ({ task, repeat }: { task: string; repeat: number }) => `${task} ${repeat}`,
    cluster: ({ task }: { task: string }) => task,
    value: ({ value }: { value: number }) => value,
  };

  it("are of the same task and repeat; who has no partner is left out", () => {
    const one = [row("a", 0, 10), row("a", 1, 12), row("b", 0, 5), row("c", 0, 1)];
    const other = [row("a", 1, 2), row("a", 0, 1), row("b", 0, 7)];
    expect(differences(one, other, how)).toEqual([
      { cluster: "a", value: 9 },
      { cluster: "a", value: 10 },
      { cluster: "b", value: -2 },
    ]);
  });
  it("the spread is that of each repeat against every other", () => {
    const rows = [row("a", 0, 1), row("a", 1, 4), row("a", 2, 6), row("b", 0, 2), row("b", 1, 2), row("c", 0, 9)];
    expect(spread(rows, ({ task }) => task, how.value)).toEqual({ pairs: 4, median: 2.5, p95: expect.closeTo(4.7) });
    expect(spread([row("c", 0, 9)], ({ task }) => task, how.value)).toEqual({ pairs: 0, median: Number.NaN, p95: Number.NaN });
  });
});
