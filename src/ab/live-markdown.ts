import { LIVE_MEASURES, LIVE_NAMES, type LiveArm, type LiveMeasure, type LiveReport } from "./live-model.ts";
import { table } from "./report-markdown.ts";
import { change, number, percent, pointChange, range } from "./report-words.ts";

const REASONS: Readonly<Record<string, string>> = {
  own_style: "chose a style",
  no_user: "user not known when they connected",
};

/** How the measures read, here and on the page. */
export const value = (arm: LiveArm, name: LiveMeasure) => range(arm.measures[name], LIVE_MEASURES[name].share ? percent : number);

export function difference({ differences }: LiveArm, name: LiveMeasure): string {
  return differences ? range(differences[name], LIVE_MEASURES[name].share ? pointChange : change) : "–";
}

export const COUNTS = ["Users", "Expected", "Assignments", "Lists", "Calls", "To look for tools", "Failed"] as const;

export const countsOf = (arm: LiveArm): readonly string[] => [
  number(arm.users),
  arm.expected === undefined ? "–" : number(arm.expected),
  ...[arm.assignments, arm.lists, arm.calls, arm.discovery_calls, arm.errors].map(number),
];

const counts = ({ arms }: LiveReport) =>
  table(
    ["Style", ...COUNTS],
    arms.map((arm) => [arm.style, ...countsOf(arm)]),
  );

const measures = ({ arms }: LiveReport, show: (arm: LiveArm, name: LiveMeasure) => string) =>
  table(
    ["Measure", ...arms.map(({ style }) => style)],
    LIVE_NAMES.map((name) => [LIVE_MEASURES[name].label, ...arms.map((arm) => show(arm, name))]),
  );

/** How to read the numbers. */
export function notes({ shares, moved, excluded, torn, rounds, seed }: LiveReport): readonly string[] {
  const left = Object.entries(excluded).map(([reason, count]) => `${count} ${REASONS[reason] ?? reason}`);
  return [
    `Assigned by ${shares.join(" and ") || "nothing"}. Left out: ${left.join(", ") || "nobody"}.`,
    `Intervals hold 95 % of ${number(rounds)} bootstrap rounds (seed ${seed}) over users: many calls of one user are no more than one user. With few users per style they are too narrow.`,
    "Tokens are estimated. Whether people got what they wanted is not seen here: compare styles by tasks with ab run.",
    ...(shares.length > 1 ? ["Weights changed in this time; users before and after are counted together."] : []),
    ...(moved > 0 ? [`${moved} users were seen under more than one style: weights or the salt have changed.`] : []),
    ...(torn > 0 ? [`${torn} torn lines at the end of files are left out.`] : []),
  ];
}

const minute = (time: string | undefined): string => (time === undefined ? "–" : `${time.slice(0, 16).replace("T", " ")} UTC`);

/** How much was read, and of which time. */
export const extent = ({ lines, from, to }: LiveReport): string => `${number(lines)} lines, ${minute(from)} to ${minute(to)}.`;

/** The summary of a live comparison as a Markdown page. */
export function toLiveMarkdown(report: LiveReport): string {
  const { arms, base } = report;
  return [
    "# Styles compared live",
    extent(report),
    notes(report)
      .map((line) => `- ${line}`)
      .join("\n"),
    ...(arms.length === 0 ? ["Nobody was assigned a style."] : []),
    ...(arms.length > 0 ? ["## Who was assigned", counts(report), "## What came of it", measures(report, value)] : []),
    ...(arms.length > 1
      ? [`## Each style less ${base}`, measures({ ...report, arms: arms.filter(({ style }) => style !== base) }, difference)]
      : []),
    "",
  ].join("\n\n");
}
