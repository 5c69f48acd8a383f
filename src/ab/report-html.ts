import { colourOf, commonTurns, lines, numberOf, scatter } from "./report-charts.ts";
import { cell, row, table, toFile, toHtml } from "./report-frame.ts";
import { type GroupReport, METRIC_NAMES, METRICS, type MetricName, type Report, type SelfReport } from "./report-model.ts";
import { SCRIPT } from "./report-script.ts";
import { toTranscripts } from "./report-transcripts.ts";
import {
  change,
  leftOut,
  madeWith,
  method,
  number,
  percent,
  pointChange,
  price,
  refreshOf,
  SHORT,
  summary,
  titleOf,
} from "./report-words.ts";
import type { Interval } from "./stats.ts";
import type { Run } from "./types.ts";

const badge = (report: Report, arm: string): string =>
  `<span class="number ${colourOf(report, arm)}">${numberOf(report, arm) + 1}</span>${toHtml(arm)}`;

const metricHead = (name: MetricName) => `<th scope="col" title="${toHtml(METRICS[name].about)}">${SHORT[name]}</th>`;

function spark({ value, low, high }: Interval, colour: string): string {
  const x = (share: number) => 4 + 64 * share;
  return `<svg class="spark ${colour}" viewBox="0 0 72 12" aria-hidden="true"><line x1="4" x2="68" y1="6" y2="6"/><line class="own" x1="${x(low)}" x2="${x(high)}" y1="6" y2="6"/><circle cx="${x(value)}" cy="6" r="4"/></svg>`;
}

function armsTable(report: Report, group: GroupReport): string {
  const rows = group.arms.map(({ arm, runs, success, metrics }) => {
    const range = `<small>${percent(success.low)} to ${percent(success.high)}</small>`;
    const share = `<td>${percent(success.value)}${spark(success, colourOf(report, arm))}${range}</td>`;
    return row(badge(report, arm), `${share}${METRIC_NAMES.map((name) => cell(metrics[name])).join("")}<td>${number(runs)}</td>`);
  });
  return table("Arms", ["Arm", "Success", ...METRIC_NAMES.map(metricHead), "Runs"], rows);
}

const PAIRED: readonly MetricName[] = ["first_list", "prompt", "uncached", "completion", "calls", "discovery_calls", "ms"];

function madeSection(report: Report): string {
  const { made_with, arms } = report;
  if (!made_with) return "";
  const rows = arms.map((arm) => {
    const found = made_with.arms.find((one) => one.arm === arm);
    return row(
      badge(report, arm),
      `<td class="words">${toHtml(found?.about ?? "–")}</td><td class="words">${toHtml(found?.server ?? "–")}</td>`,
    );
  });
  const about = table(
    "What the arms are",
    ["Arm", '<th scope="col" class="words">What it is</th>', '<th scope="col" class="words">Server</th>'],
    rows,
  );
  return `<details class="method"><summary>What was compared</summary><p class="soft">${toHtml(madeWith(made_with))}</p>${about}</details>`;
}

function pairedTable(report: Report, { paired }: GroupReport): string {
  const rows = paired.map(({ arm, pairs, success, only_arm, only_base, both, metrics }) => {
    const counts = [pairs, only_arm, only_base, both].map((count) => `<td>${number(count)}</td>`).join("");
    return row(badge(report, arm), `${cell(success, pointChange)}${counts}${PAIRED.map((name) => cell(metrics[name], change)).join("")}`);
  });
  const head = ["Arm", "Success, points", "Pairs", "Only this", `Only ${toHtml(report.base)}`, "Both", ...PAIRED.map(metricHead)];
  return table(`Each arm less ${report.base}`, head, rows);
}

function costTable(report: Report, { arms }: GroupReport): string {
  const models = arms[0]?.cost?.map(({ model }) => model) ?? [];
  const rows = arms.map(({ arm, cost = [] }) =>
    row(badge(report, arm), cost.map(({ cached, uncached }) => `<td>${price(cached)}</td><td>${price(uncached)}</td>`).join("")),
  );
  return table("Cost", ["Arm", ...models.flatMap((model) => [`${toHtml(model)}, cached`, "no cache"])], rows);
}

function sizesTable(report: Report, { sizes, arms }: GroupReport): string {
  const rows = arms.map(({ arm }) => {
    const cells = sizes.map(({ arms: own }) => {
      const found = own.find((one) => one.arm === arm);
      return found
        ? `<td>${percent(found.success.value)}<small>${percent(found.success.low)} to ${percent(found.success.high)}</small></td><td>${number(found.prompt)}<small>${number(found.calls)} ${found.calls === 1 ? "call" : "calls"}</small></td>`
        : "<td>–</td><td>–</td>";
    });
    return row(badge(report, arm), cells.join(""));
  });
  return table("By size", ["Arm", ...sizes.flatMap(({ size }) => [`${size}: success`, "tokens"])], rows);
}

function turnsTable(report: Report, group: GroupReport): string {
  const own = commonTurns(group);
  const longest = Math.max(0, ...own.map(({ turns }) => turns.length));
  const turns = Array.from({ length: longest }, (_, index) => index);
  const rows = own.map(({ arm, turns: sent }) =>
    row(
      badge(report, arm),
      turns
        .map((index) => {
          const turn = sent[index];
          return turn ? `<td>${number(turn.prompt)}<small>${number(turn.runs)} runs</small></td>` : "<td>–</td>";
        })
        .join(""),
    ),
  );
  const head = ["Arm", ...turns.map((index) => `Turn ${index + 1}`)];
  return `<details class="method"><summary>Tokens by turn as a table</summary>${table("Prompt tokens sent in each turn", head, rows)}</details>`;
}

function outcome(succeeded: number, runs: number): string {
  if (succeeded === runs) return `<span class="yes">✓</span><span class="hidden">done</span>`;
  return succeeded === 0 ? `<span class="no">✗</span><span class="hidden">failed</span>` : `${succeeded} of ${runs}`;
}

const numberHead = (report: Report, arm: string) =>
  `<th scope="col" class="wide" title="${toHtml(arm)}"><span class="number ${colourOf(report, arm)}">${numberOf(report, arm) + 1}</span><span class="hidden">${toHtml(arm)}</span></th>`;

function tasksTable(report: Report, { tasks, arms }: GroupReport, index: number): string {
  const rows = tasks.map(({ task, size, arms: own }, at) => {
    const done = own.filter(({ succeeded, runs }) => succeeded === runs).length;
    const id = `g${index}t${at}`;
    const cells = arms.map(({ arm }) => {
      const found = own.find((one) => one.arm === arm);
      return `<td class="wide">${found ? `${outcome(found.succeeded, found.runs)}<small>${number(found.prompt)}</small>` : "–"}</td>`;
    });
    const open = `<button type="button" aria-expanded="false" aria-controls="${id}">${toHtml(task)}</button>`;
    const failed = done < own.length ? "yes" : "no";
    return `<tr data-group="${index}" data-task="${toHtml(task)}" data-size="${size}" data-failed="${failed}"><th scope="row">${open}</th><td>${size}</td><td>${done} of ${own.length}</td>${cells.join("")}</tr><tr class="detail" id="${id}" hidden><td colspan="${arms.length + 3}"><div class="inner"></div></td></tr>`;
  });
  const head = ["Task", "Size", "Arms done", ...arms.map(({ arm }) => numberHead(report, arm))];
  const sizes = [...new Set(tasks.map(({ size }) => size))].map((size) => `<option>${size}</option>`).join("");
  const tools = `<div class="tools" data-group="${index}" hidden><label>Size <select><option value="">all</option>${sizes}</select></label><label><input type="checkbox"> only where an arm failed</label><output class="soft">${tasks.length} of ${tasks.length} tasks</output></div>`;
  return `${tools}${table("By task", head, rows, "tasks")}`;
}

function section(report: Report, group: GroupReport, index: number): string {
  const legend = group.arms.map(({ arm }) => `<li>${badge(report, arm)}</li>`).join("");
  const charts = `<div class="charts"><figure><figcaption>Success against tokens<small>Up and to the left is better; bars are intervals.</small></figcaption>${scatter(report, group, `s${index}`)}</figure><figure><figcaption>Tokens by turn<small>Median of the runs that had the turn, as long as a fifth of them did.</small></figcaption>${lines(report, group, `l${index}`)}</figure></div>`;
  const base = toHtml(report.base);
  return [
    `<section aria-labelledby="g${index}"><h2 id="g${index}">${toHtml(group.driver)} <small>${refreshOf(group)}</small></h2>`,
    `${charts}<ul class="legend" aria-label="Arms in the charts">${legend}</ul>${turnsTable(report, group)}`,
    `<h3>Arms</h3>${armsTable(report, group)}`,
    group.paired.length > 0 ? `<h3>Each arm less ${base}, task by task</h3>${pairedTable(report, group)}` : "",
    report.currency === undefined ? "" : `<h3>Cost of a run, median, in ${toHtml(report.currency)}</h3>${costTable(report, group)}`,
    `<h3>By size</h3>${sizesTable(report, group)}`,
    `<h3>By task</h3><p class="soft">A task opens to what each arm did. Under the mark: median prompt tokens.</p>${tasksTable(report, group, index)}</section>`,
  ].join("\n");
}

function selfSection(rows: readonly SelfReport[]): string {
  const measured = rows.filter(({ pairs }) => pairs > 0);
  const note = "An arm against itself: each repeat of a task against every other.";
  if (measured.length === 0)
    return `<section aria-labelledby="self"><h2 id="self">A/A</h2><p>${note} Every task was run once, so there is nothing to compare.</p></section>`;
  const lead = `${note} First what half of the pairs lie apart at most, then 95 of 100, then the largest median difference of two repeats over all tasks: a difference between arms that is smaller is no finding.`;
  const cells = ({ metrics }: SelfReport) =>
    PAIRED.map(
      (name) =>
        `<td>${number(metrics[name].median)}<small>${number(metrics[name].p95)}</small><small>${number(metrics[name].between)}</small></td>`,
    );
  const made = measured.map((one) =>
    row(toHtml(one.driver), `<td>${number(one.pairs)}</td><td>${number(one.flips)}</td>${cells(one).join("")}`),
  );
  const head = ["Driver", "Pairs", "One failed, one did not", ...PAIRED.map(metricHead)];
  return `<section aria-labelledby="self"><h2 id="self">A/A</h2><p>${lead}</p>${table("A/A", head, made)}</section>`;
}

/** The report as one page that needs nothing else. */
export function toPage(report: Report, runs: readonly Run[], prompts: Readonly<Record<string, string>> = {}): string {
  const counted = runs.filter(({ no_path }) => !no_path);
  const transcripts = toTranscripts(report, counted, prompts);
  const lost = leftOut(report)
    .map((line) => `<p class="soft">${toHtml(line)}</p>`)
    .join("");
  const nav = report.groups.map((group, index) => `<li><a href="#g${index}">${toHtml(titleOf(group))}</a></li>`).join("");
  const read = method(report)
    .map((line) => `<li>${toHtml(line)}</li>`)
    .join("");
  const body = `<header>
<h1>Discovery styles side by side</h1>
<p>${toHtml(summary(report))}</p>
${lost}
${madeSection(report)}
<details class="method"><summary>How to read the numbers</summary><ul>${read}</ul></details>
<nav aria-label="Drivers"><ul>${nav}<li><a href="#self">A/A</a></li></ul></nav>
</header>
<main>
${report.groups.map((group, index) => section(report, group, index)).join("\n")}
${selfSection(report.self)}
</main>
<footer class="soft"><p>Of repeats, the page holds the first and the first that ended otherwise; texts are cut at ${number(transcripts.cut)} characters. runs.jsonl holds every run, report.json every number.</p><noscript><p>Without scripts the tables are whole, and the transcripts stay closed.</p></noscript></footer>`;
  return toFile({ title: "Discovery styles side by side", body, script: { code: SCRIPT, json: transcripts.json } });
}
