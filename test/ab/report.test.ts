import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRuns, report } from "../../src/ab/report.ts";
import { type Report, toReport } from "../../src/ab/report-model.ts";
import type { Run } from "../../src/ab/types.ts";
import { HOSTILE, syntheticRuns } from "../support/ab-runs.ts";

const made: string[] = [];
const directory = (text: string): string => {
  const dir = mkdtempSync(join(tmpdir(), "ab-report-"));
  made.push(dir);
  writeFileSync(join(dir, "runs.jsonl"), text);
  return dir;
};
const linesOf = (runs: readonly Run[]) => runs.map((run) => `${JSON.stringify(run)}\n`).join("");
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

const [blank] = syntheticRuns({ seed: 1, tasks: 1, arms: ["bridge"], drivers: ["scripted"], refreshes: ["at_once"], repeats: 1 });
const run = (over: Partial<Run>): Run => ({ ...blank!, ...over });

const RUNS = syntheticRuns({
  seed: 4,
  tasks: 12,
  arms: ["bridge", "dynamic", "static"],
  drivers: ["heuristic", "scripted"],
  refreshes: ["at_once", "never"],
  repeats: 2,
});

describe("what a report says", () => {
  it("of every driver and kind of refresh apart", () => {
    const { groups, runs, tasks, repeats, base } = toReport(RUNS, 0, { rounds: 50 });
    expect(groups.map(({ driver, refresh }) => `${driver} ${refresh}`)).toEqual([
      "heuristic at_once",
      "heuristic never",
      "scripted at_once",
      "scripted never",
    ]);
    expect({ runs, tasks, repeats, base }).toEqual({ runs: 288, tasks: 12, repeats: 2, base: "bridge" });
    for (const group of groups) expect(group.arms.map(({ arm }) => arm)).toEqual(["bridge", "dynamic", "static"]);
  });

  it("medians and shares are those of the runs", () => {
    const prompts = [100, 300, 200];
    const runs = prompts.map((prompt, index) => run({ task: `t${index}`, prompt, cached: 50, success: index !== 1 }));
    const { groups } = toReport(runs, 0, { rounds: 50 });
    const [arm] = groups[0]!.arms;
    expect(arm).toMatchObject({ runs: 3, tasks: 3, broken: 0, success: { value: expect.closeTo(2 / 3) } });
    expect(arm!.metrics.prompt).toMatchObject({ value: 200, low: 100, high: 300 });
    expect(arm!.metrics.uncached.value).toBe(150);
  });

  it("a run that broke off is a failure, and counted as broken", () => {
    const { groups } = toReport([run({ success: false, error: "gone" }), run({ task: "other" })], 0, { rounds: 20 });
    expect(groups[0]!.arms[0]).toMatchObject({ runs: 2, broken: 1, success: { value: 0.5 } });
  });

  it("differences are of the same task and repeat, and of what both finished", () => {
    const runs = [
      run({ arm: "bridge", task: "a", prompt: 100 }),
      run({ arm: "bridge", task: "b", prompt: 1_000 }),
      run({ arm: "bridge", task: "c", prompt: 500, success: false }),
      run({ arm: "dynamic", task: "a", prompt: 150 }),
      run({ arm: "dynamic", task: "b", prompt: 1_010, success: false }),
      run({ arm: "dynamic", task: "c", prompt: 9 }),
      run({ arm: "dynamic", task: "d", prompt: 9 }),
    ];
    const [pair] = toReport(runs, 0, { rounds: 50 }).groups[0]!.paired;
    expect(pair).toMatchObject({ arm: "dynamic", pairs: 3, only_arm: 1, only_base: 1, both: 1, success: { value: 0 } });
    expect(pair!.metrics.prompt.value).toBe(50);
    const against = toReport(runs, 0, { rounds: 50, base: "dynamic" }).groups[0]!.paired[0];
    expect(against!.metrics.prompt.value).toBe(-50);
  });

  it("an arm against itself: how far repeats lie apart, by driver", () => {
    const runs = [
      run({ task: "a", repeat: 0, prompt: 100 }),
      run({ task: "a", repeat: 1, prompt: 110, success: false }),
      run({ task: "b", repeat: 0, prompt: 200 }),
      run({ task: "b", repeat: 1, prompt: 230 }),
      run({ driver: "model", task: "a", prompt: 7 }),
    ];
    const { self } = toReport(runs, 0, { rounds: 20 });
    expect(self[1]).toMatchObject({ driver: "scripted", pairs: 2, flips: 1 });
    expect(self[1]!.metrics.prompt).toEqual({ pairs: 2, median: 20, p95: expect.closeTo(29), between: 20 });
    expect(self[0]).toMatchObject({ driver: "model", pairs: 0, flips: 0 });
  });

  it("what was sent in each turn", () => {
    const turn = (prompt: number, cached: number) => ({ prompt, cached, completion: 1, listed: 5 });
    const runs = [run({ task: "a", turns: [turn(10, 0), turn(30, 10)] }), run({ task: "b", turns: [turn(20, 0)] })];
    expect(toReport(runs, 0, { rounds: 20 }).groups[0]!.turns[0]!.turns).toEqual([
      { turn: 1, runs: 2, prompt: 15, uncached: 15 },
      { turn: 2, runs: 1, prompt: 30, uncached: 20 },
    ]);
  });

  it("by size and by task", () => {
    const { groups } = toReport(RUNS, 0, { rounds: 20 });
    expect(groups[0]!.sizes.map(({ size, arms }) => [size, arms[0]!.runs])).toEqual([
      ["small", 8],
      ["medium", 8],
      ["large", 8],
    ]);
    expect(groups[0]!.tasks).toHaveLength(12);
    expect(groups[0]!.tasks.every(({ arms }) => arms.every(({ runs }) => runs === 2))).toBe(true);
  });

  it("costs, by each row of the price table", () => {
    const prices = { currency: "EUR", rows: [{ model: "m", input: 2, cached: 0.5, output: 10 }] };
    const [arm] = toReport([run({ prompt: 1_000_000, cached: 400_000, completion: 100_000 })], 0, { prices }).groups[0]!.arms;
    expect(arm!.cost).toEqual([{ model: "m", cached: expect.closeTo(2.4), uncached: expect.closeTo(3) }]);
  });

  it("is the same for the same runs, in whatever order they ended", () => {
    const options = { rounds: 60 };
    expect(toReport([...RUNS].reverse(), 0, options)).toEqual(toReport(RUNS, 0, options));
    expect(toReport(RUNS, 0, { ...options, seed: 2 })).not.toEqual(toReport(RUNS, 0, options));
  });

  it("refuses a base that is no arm, with the nearest", () => {
    expect(() => toReport(RUNS, 0, { base: "dynamik" })).toThrow(expect.objectContaining({ hint: "The nearest is dynamic." }));
  });
});

describe("the file of runs", () => {
  it("may end in a torn line, which is told", () => {
    const dir = directory(`${linesOf(RUNS.slice(0, 6))}{"task":"x","si`);
    expect(readRuns(dir)).toMatchObject({ torn: 1, runs: { length: 6 } });
    expect(report(dir, { rounds: 20 }).torn).toBe(1);
    expect(readFileSync(join(dir, "report.md"), "utf8")).toContain("torn off");
  });
  it("any other bad line is an error that names it", () => {
    const [one] = RUNS;
    for (const bad of ['{"task":"x"', '{"task":"x"}', "7"])
      expect(() => readRuns(directory(`${linesOf([one!])}${bad}\n${linesOf([one!])}`))).toThrow(/line 2/);
    expect(() => readRuns(directory(`${linesOf([one!])}{"task":"x"}`))).toThrow(/line 2/);
  });
  it("of a run that was made again, the last counts", () => {
    const dir = directory(linesOf([run({ prompt: 1 }), run({ prompt: 2 })]));
    appendFileSync(join(dir, "runs.jsonl"), "\n");
    expect(readRuns(dir).runs.map(({ prompt }) => prompt)).toEqual([2]);
  });
  it("without runs, or without a file, says what to do", () => {
    expect(() => report(directory(""))).toThrow(
      expect.objectContaining({ code: "invalid_params", hint: expect.stringContaining("ab run") }),
    );
    expect(() => report(join(tmpdir(), "no-such-directory-of-runs"))).toThrow(/ENOENT/);
  });
});

describe("the pages", () => {
  let dir: string;
  let json: Report;
  const read = (name: string) => readFileSync(join(dir, name), "utf8");
  beforeAll(() => {
    dir = directory(linesOf(RUNS));
    report(dir, { rounds: 50, prices: { currency: "EUR", rows: [{ model: "some | model", input: 1, cached: 0.1, output: 5 }] } });
    json = JSON.parse(read("report.json")) as Report;
  });

  it("runs without a path count nowhere, and every form says how many they are", () => {
    const lost = ["a", "b"].map((task) =>
      run({ task, arm: "other", driver: "scripted", success: false, error: "no tool for x", no_path: true }),
    );
    const found = ["a", "b", "c"].flatMap((task) =>
      ["bridge", "other"].map((arm) => run({ task, arm, driver: "scripted", success: true })),
    );
    const kept = found.filter(({ task, arm }) => arm === "bridge" || task === "c");
    const told = report(directory(linesOf([...lost, ...kept])), { rounds: 10 });
    expect(told).toMatchObject({ runs: 4, no_path: [{ driver: "scripted", arm: "other", runs: 2, of: 3 }] });
    expect(told.groups[0]!.arms.map(({ arm, runs, success }) => [arm, runs, success.value])).toEqual([
      ["bridge", 3, 1],
      ["other", 1, 1],
    ]);
    for (const name of ["report.md", "report.html"])
      expect(readFileSync(join(made.at(-1)!, name), "utf8")).toContain("2 of 3 runs had no path");
  });

  it("JSON is the report itself", () => {
    expect(json).toMatchObject({ runs: 288, base: "bridge", currency: "EUR" });
  });

  it("Markdown has every table, each row as wide as its head", () => {
    const text = read("report.md");
    for (const title of ["## heuristic", "## scripted", "### Each arm less bridge", "### Cost", "### By size", "### By task", "## A/A"])
      expect(text).toContain(title);
    let width: number | undefined;
    for (const line of text.split("\n")) {
      const cells = line.startsWith("|") ? line.replaceAll("\\|", "").split("|").length : undefined;
      if (cells !== undefined && width !== undefined) expect(cells, line).toBe(width);
      width = cells;
    }
  });

  it("say what was compared, and nothing of the machine that ran it", () => {
    const folder = directory(linesOf([run({ arm: "bridge" }), run({ arm: "other" })]));
    const arms = [
      {
        name: "bridge",
        command: ["/home/someone/node"],
        env: { TOKEN: "s3cret" },
        about: "Five <tools>",
        server: { name: "b", version: "1.2" },
      },
      { name: "other", command: ["x"], env: {}, about: "x" },
    ];
    const setup = { version: "0.1.0", node: "v20", counter: "o200k_base", seed: 1, tasks: { count: 2, hash: "abc123" }, arms };
    writeFileSync(join(folder, "setup.json"), JSON.stringify(setup));
    report(folder, { rounds: 10 });
    for (const name of ["report.json", "report.md", "report.html"]) {
      const text = readFileSync(join(folder, name), "utf8");
      for (const part of ["abc123", "b 1.2"]) expect(text).toContain(part);
      for (const part of ["/home/someone", "s3cret"]) expect(text).not.toContain(part);
    }
    expect(readFileSync(join(folder, "report.html"), "utf8")).toContain("Five &lt;tools&gt;");
  });

  it("Markdown shows names as they are", () => {
    const text = report(directory(linesOf([run({ task: "a|b `c` <img src=x>", arm: "bridge" })])), { rounds: 10 });
    expect(text.groups[0]!.tasks[0]!.task).toBe("a|b `c` <img src=x>");
    const page = readFileSync(join(made.at(-1)!, "report.md"), "utf8");
    expect(page).toContain("a\\|b \\`c\\` \\<img src=x\\>");
  });

  it("HTML holds nothing of what others wrote as markup", () => {
    const html = read("report.html");
    expect(RUNS.some(({ turns }) => turns.some(({ seen }) => seen === HOSTILE))).toBe(true);
    const count = (part: string) => html.split(part).length - 1;
    expect(["<img", "window.hurt=1</script>", "<script", "</script>"].map(count)).toEqual([0, 0, 2, 2]);
  });
});
