import { COUNTS, countsOf, difference, extent, notes, value } from "./live-markdown.ts";
import { LIVE_MEASURES, LIVE_NAMES, type LiveArm, type LiveMeasure, type LiveReport } from "./live-model.ts";
import { row, table, toFile, toHtml } from "./report-frame.ts";

const badge = ({ arms }: LiveReport, style: string): string => {
  const index = arms.findIndex((arm) => arm.style === style);
  return `<span class="number c${index}">${index + 1}</span>${toHtml(style)}`;
};

/** Value and interval stand on a line each. */
const toCell = (text: string) => `<td>${toHtml(text).replace(/ \[(.*), (.*)\]$/, "<small>$1 to $2</small>")}</td>`;

function measures(report: LiveReport, label: string, arms: readonly LiveArm[], show: (arm: LiveArm, name: LiveMeasure) => string): string {
  const rows = LIVE_NAMES.map((name) => row(LIVE_MEASURES[name].label, arms.map((arm) => toCell(show(arm, name))).join("")));
  return table(label, ["Measure", ...arms.map(({ style }) => `<th scope="col">${badge(report, style)}</th>`)], rows);
}

/** The summary of a live comparison as one page that needs nothing else. */
export function toLivePage(report: LiveReport): string {
  const { arms, base } = report;
  const others = arms.filter(({ style }) => style !== base);
  const counts = arms.map((arm) =>
    row(
      badge(report, arm.style),
      countsOf(arm)
        .map((count) => `<td>${count}</td>`)
        .join(""),
    ),
  );
  const sections =
    arms.length === 0
      ? ["<p>Nobody was assigned a style.</p>"]
      : [
          `<h2>Who was assigned</h2>${table("Who was assigned", ["Style", ...COUNTS], counts)}`,
          `<h2>What came of it</h2>${measures(report, "What came of it", arms, value)}`,
          ...(others.length > 0
            ? [`<h2>Each style less ${toHtml(base)}</h2>${measures(report, `Each style less ${base}`, others, difference)}`]
            : []),
        ];
  const read = notes(report)
    .map((line) => `<li>${toHtml(line)}</li>`)
    .join("");
  const body = `<header>
<h1>Styles compared live</h1>
<p>${toHtml(extent(report))}</p>
<div class="method"><ul>${read}</ul></div>
</header>
<main>
${sections.join("\n")}
</main>
<footer></footer>`;
  return toFile({ title: "Styles compared live", body });
}
