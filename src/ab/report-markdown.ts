import { type GroupReport, METRIC_NAMES, type MetricName, type Report, type SelfReport } from "./report-model.ts";
import { change, leftOut, madeWith, method, number, percent, pointChange, price, range, SHORT, summary, titleOf } from "./report-words.ts";

/** A cell's text can neither end its cell nor begin anything. */
const cell = (text: string): string => text.replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " ");

/** @param words how many columns from the left hold words; the others hold numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], words = 1): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index < words ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

const arms = ({ arms: rows }: GroupReport) =>
  table(
    ["Arm", "Runs", "Success", ...METRIC_NAMES.map((name) => SHORT[name])],
    rows.map(({ arm, runs, success, metrics }) => [
      cell(arm),
      number(runs),
      range(success, percent),
      ...METRIC_NAMES.map((name) => range(metrics[name])),
    ]),
  );

const PAIRED: readonly MetricName[] = ["first_list", "prompt", "uncached", "completion", "calls", "discovery_calls", "ms"];

const paired = ({ paired: rows }: GroupReport, base: string) =>
  table(
    ["Arm", "Pairs", "Success, points", "Only this", `Only ${cell(base)}`, "Both", ...PAIRED.map((name) => SHORT[name])],
    rows.map(({ arm, pairs, success, only_arm, only_base, both, metrics }) => [
      cell(arm),
      number(pairs),
      range(success, pointChange),
      number(only_arm),
      number(only_base),
      number(both),
      ...PAIRED.map((name) => range(metrics[name], change)),
    ]),
  );

const sizes = ({ sizes: rows }: GroupReport) =>
  table(
    ["Size", "Arm", "Runs", "Success", "Prompt", "Uncached", "Calls"],
    rows.flatMap(({ size, arms: own }) =>
      own.map((one) => [
        size,
        cell(one.arm),
        number(one.runs),
        range(one.success, percent),
        number(one.prompt),
        number(one.uncached),
        number(one.calls),
      ]),
    ),
    2,
  );

function tasks({ tasks: rows, arms: all }: GroupReport): string {
  return table(
    ["Task", "Size", ...all.map(({ arm }) => cell(arm))],
    rows.map(({ task, size, arms: own }) => [
      cell(task),
      size,
      ...all.map(({ arm }) => {
        const found = own.find((one) => one.arm === arm);
        return found ? `${found.succeeded}/${found.runs} · ${number(found.prompt)}` : "–";
      }),
    ]),
    2,
  );
}

function costs({ arms: rows }: GroupReport, currency: string): string {
  const models = rows[0]?.cost?.map(({ model }) => model) ?? [];
  return table(
    ["Arm", ...models.flatMap((model) => [`${cell(model)}, cached`, "no cache"])],
    rows.map(({ arm, cost = [] }) => [cell(arm), ...cost.flatMap(({ cached, uncached }) => [price(cached), price(uncached)])]),
  ).concat(`\n\nMedian of one run, in ${cell(currency)}.`);
}

function section(group: GroupReport, { base, currency }: Report): readonly string[] {
  return [
    `## ${cell(titleOf(group))}`,
    arms(group),
    ...(group.paired.length > 0 ? [`### Each arm less ${cell(base)}`, paired(group, base)] : []),
    ...(currency === undefined ? [] : ["### Cost", costs(group, currency)]),
    "### By size",
    sizes(group),
    "### By task: successes, and prompt tokens",
    tasks(group),
  ];
}

function self(rows: readonly SelfReport[]): readonly string[] {
  const measured = rows.filter(({ pairs }) => pairs > 0);
  const note = "An arm against itself: each repeat against every other of the same task.";
  if (measured.length === 0) return ["## A/A", `${note} Every task was run once, so there is nothing to compare.`];
  const cells = ({ metrics }: SelfReport, name: MetricName) => {
    const { median, p95, between } = metrics[name];
    return `${number(median)} / ${number(p95)} / ${number(between)}`;
  };
  return [
    "## A/A",
    `${note} In each cell: half of the pairs lie at most so far apart / 95 of 100 do / the largest median difference of two repeats over all tasks.`,
    table(
      ["Driver", "Pairs", "One failed, one did not", ...PAIRED.map((name) => SHORT[name])],
      measured.map((row) => [cell(row.driver), number(row.pairs), number(row.flips), ...PAIRED.map((name) => cells(row, name))]),
    ),
  ];
}

function made({ made_with, arms: names }: Report): readonly string[] {
  if (!made_with) return [];
  const rows = names.map((arm) => {
    const found = made_with.arms.find((one) => one.arm === arm);
    return [cell(arm), cell(found?.about ?? "–"), cell(found?.server ?? "–")];
  });
  return [madeWith(made_with), table(["Arm", "What it is", "Server"], rows, 3)];
}

/** The report as a Markdown page. */
export function toMarkdown(report: Report): string {
  return [
    "# Discovery styles side by side",
    summary(report),
    ...made(report),
    [...leftOut(report), ...method(report)].map((line) => `- ${line}`).join("\n"),
    ...report.groups.flatMap((group) => section(group, report)),
    ...self(report.self),
    "",
  ].join("\n\n");
}
