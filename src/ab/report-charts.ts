import { toHtml } from "./report-frame.ts";
import type { GroupReport, Report } from "./report-model.ts";
import { COLOURS } from "./report-style.ts";
import { number, percent } from "./report-words.ts";

/** Arms keep number and colour over the whole page. */
export const numberOf = ({ arms }: Report, arm: string): number => arms.indexOf(arm);
export const colourOf = (report: Report, arm: string): string => `c${numberOf(report, arm) % COLOURS}`;

interface Size {
  readonly name: "narrow" | "wide";
  readonly width: number;
  readonly height: number;
}

/** One drawing for phones and one for wider screens, so that letters keep their size. */
const SIZES: readonly Size[] = [
  { name: "narrow", width: 358, height: 300 },
  { name: "wide", width: 530, height: 340 },
];

const MARGIN = { left: 48, right: 18, top: 26, bottom: 42 };
const RADIUS = 10;
/** Room for the numbers at the ends of lines. */
const ENDS = 80;

const round = (value: number) => Math.round(value * 10) / 10;
const short = (value: number) => (value >= 10_000 ? `${round(value / 1_000)}k` : number(value));

interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
  /** What an axis says of itself beside its unit. */
  readonly note: string;
}

const STEPS = [1, 2, 5];

/** Ticks at 1, 2 and 5 times a power of ten. */
function niceTicks(low: number, high: number): readonly number[] {
  const from = Math.floor(Math.log10(Math.max(low, 1)));
  const to = Math.ceil(Math.log10(Math.max(high, 10)));
  return Array.from({ length: to - from + 1 }, (_, index) => STEPS.map((step) => step * 10 ** (from + index))).flat();
}

/** Tokens: even steps, or powers where the largest is many times the smallest. */
function tokenScale(values: readonly number[], from: number, to: number): Scale {
  const known = values.filter((value) => Number.isFinite(value) && value > 0);
  const [least, most] = [Math.min(...known, 1e9), Math.max(...known, 10)];
  if (most / least <= 6) {
    const step = niceTicks(most / 8, most).find((tick) => most / tick <= 5) ?? most;
    const top = Math.ceil(most / step) * step;
    const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
    return { at: (value) => from + ((to - from) * value) / top, ticks, note: "" };
  }
  const all = niceTicks(least, most);
  const low = all.findLast((tick) => tick <= least) ?? least;
  const high = all.find((tick) => tick >= most) ?? most;
  const inside = all.filter((tick) => tick >= low && tick <= high);
  const share = (value: number) => Math.log(Math.max(value, low) / low) / Math.log(high / low);
  return {
    at: (value) => from + (to - from) * share(value),
    ticks: inside.length > 7 ? inside.filter((_, index) => index % 2 === 0) : inside,
    note: ", log scale",
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

const STEP = RADIUS * 2 + 1;

/** Shifts, the nearest first. */
const shifts = (across: readonly number[]): readonly Place[] =>
  across
    .flatMap((x) => Array.from({ length: 13 }, (_, index) => ({ x: x * STEP, y: (index - 6) * STEP })))
    .sort((a, b) => Math.hypot(a.x, a.y) - Math.hypot(b.x, b.y) || a.y - b.y || b.x - a.x);
const AROUND = shifts([-2, -1, 0, 1, 2]);
/** Ends of lines: to the right of them, where no line runs. */
const BESIDE = shifts([0.8, 1.8, 2.8]);

interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where a badge finds room: at its point, or as near as the others allow. */
function findRoom(point: Place, taken: readonly Place[], { left, right, top, bottom }: Bounds, allowed: readonly Place[]): Place {
  const spots = allowed.map((shift) => ({ x: point.x + shift.x, y: point.y + shift.y }));
  const isFree = ({ x, y }: Place) =>
    x >= left && x <= right && y >= top && y <= bottom && taken.every((other) => Math.hypot(other.x - x, other.y - y) >= RADIUS * 2);
  return spots.find(isFree) ?? point;
}

interface Marked {
  readonly arm: string;
  readonly point: Place;
}

/** Numbers of the arms; one that had to move is tied to its point. */
function badges(report: Report, marks: readonly Marked[], { width, height }: Size, allowed: readonly Place[]): string {
  const bounds = { left: MARGIN.left + RADIUS, right: width - RADIUS, top: RADIUS + 1, bottom: height - MARGIN.bottom - RADIUS };
  const taken: Place[] = [];
  const sorted = [...marks].sort((a, b) => a.point.y - b.point.y || a.point.x - b.point.x);
  const placed = sorted.map(({ arm, point }) => {
    const at = findRoom(point, taken, bounds, allowed);
    taken.push(at);
    return { arm, point, at };
  });
  const ties = placed.map(({ arm, point, at }) =>
    at.x === point.x && at.y === point.y
      ? ""
      : `<g class="${colourOf(report, arm)}"><line class="leader" x1="${round(point.x)}" y1="${round(point.y)}" x2="${round(at.x)}" y2="${round(at.y)}"/><circle class="dot" cx="${round(point.x)}" cy="${round(point.y)}" r="3"/></g>`,
  );
  const numbers = placed.map(
    ({ arm, at }) =>
      `<g class="badge ${colourOf(report, arm)}"><circle cx="${round(at.x)}" cy="${round(at.y)}" r="${RADIUS}"/><text x="${round(at.x)}" y="${round(at.y + 4)}">${numberOf(report, arm) + 1}</text></g>`,
  );
  return `${ties.join("")}${numbers.join("")}`;
}

function svg(id: string, { name, width, height }: Size, title: string, about: string, body: string): string {
  const own = `${id}-${name}`;
  return `<svg class="${name}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${own}-t ${own}-d"><title id="${own}-t">${toHtml(title)}</title><desc id="${own}-d">${toHtml(about)}</desc>${body}</svg>`;
}

const across = (y: number, { width }: Size, label: string) =>
  `<line class="grid" x1="${MARGIN.left}" x2="${width - MARGIN.right}" y1="${round(y)}" y2="${round(y)}"/><text x="${MARGIN.left - 8}" y="${round(y + 4)}" text-anchor="end">${label}</text>`;

const below = (x: number, { height }: Size, label: string) =>
  `<text x="${round(x)}" y="${height - MARGIN.bottom + 18}" text-anchor="middle">${label}</text>`;

const axisTitle = ({ width, height }: Size, text: string) =>
  `<text x="${(MARGIN.left + width - MARGIN.right) / 2}" y="${height - 6}" text-anchor="middle">${text}</text>`;

/** From nothing to a little above the best: where every arm is weak, a scale up to everything would show nothing. */
function shareTicks({ arms }: GroupReport): readonly number[] {
  const most = Math.max(...arms.map(({ success }) => success.high));
  const step = most <= 0.25 ? 0.05 : most <= 0.5 ? 0.1 : 0.25;
  const count = Math.min(Math.ceil(most / step), Math.round(1 / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Success against tokens, one point for each arm, with the intervals of both. */
export function scatter(report: Report, group: GroupReport, id: string): string {
  const about = group.arms
    .map(({ arm, success, metrics }) => `${arm}: ${percent(success.value)}, ${number(metrics.prompt.value)} tokens`)
    .join("; ");
  const shares = shareTicks(group);
  const top = shares.at(-1) ?? 1;
  const draw = (size: Size): string => {
    const [left, right] = [MARGIN.left + RADIUS, size.width - MARGIN.right - RADIUS];
    const x = tokenScale(
      group.arms.flatMap(({ metrics: { prompt } }) => [prompt.low, prompt.value, prompt.high]),
      left,
      right,
    );
    const y = (share: number) => size.height - MARGIN.bottom - ((size.height - MARGIN.top - MARGIN.bottom) * share) / top;
    const whiskers = group.arms.map(({ arm, success, metrics: { prompt } }) => {
      const [cx, cy] = [round(x.at(prompt.value)), round(y(success.value))];
      return `<g class="${colourOf(report, arm)}"><line class="whisker" x1="${cx}" x2="${cx}" y1="${round(y(success.low))}" y2="${round(y(success.high))}"/><line class="whisker" x1="${round(x.at(prompt.low))}" x2="${round(x.at(prompt.high))}" y1="${cy}" y2="${cy}"/></g>`;
    });
    const marks = group.arms.map(({ arm, success, metrics }) => ({ arm, point: { x: x.at(metrics.prompt.value), y: y(success.value) } }));
    const grid = shares.map((share) => across(y(share), size, percent(share))).join("");
    const ticks = x.ticks.map((tick) => below(x.at(tick), size, short(tick))).join("");
    return svg(
      id,
      size,
      "Success against prompt tokens of a task",
      about,
      `${grid}${ticks}${axisTitle(size, `prompt tokens of a task, median${x.note}`)}${whiskers.join("")}${badges(report, marks, size, AROUND)}`,
    );
  };
  return SIZES.map(draw).join("");
}

/** Turns that enough runs had: the last ones are of a few long runs only. */
export function commonTurns({ turns, arms }: GroupReport): GroupReport["turns"] {
  return turns.map(({ arm, turns: own }) => {
    const runs = arms.find((one) => one.arm === arm)?.runs ?? 0;
    return { arm, turns: own.filter((turn) => turn.runs >= Math.max(1, runs / 5)) };
  });
}

/** Tokens sent in each turn, one line for each arm. */
export function lines(report: Report, group: GroupReport, id: string): string {
  const own = commonTurns(group).filter(({ turns }) => turns.length > 0);
  const longest = Math.max(1, ...own.map(({ turns }) => turns.length));
  const about = own
    .map(
      ({ arm, turns }) =>
        `${arm}: ${number(turns[0]?.prompt ?? Number.NaN)} tokens in turn 1, ${number(turns.at(-1)?.prompt ?? Number.NaN)} in turn ${turns.length}`,
    )
    .join("; ");
  const draw = (size: Size): string => {
    const x = (turn: number) => MARGIN.left + 14 + ((size.width - MARGIN.left - ENDS) * (turn - 1)) / Math.max(1, longest - 1);
    const y = tokenScale(
      own.flatMap(({ turns }) => turns.map(({ prompt }) => prompt)),
      size.height - MARGIN.bottom,
      MARGIN.top,
    );
    const paths = own.map(({ arm, turns }) => {
      const points = turns.map(({ turn, prompt }) => `${round(x(turn))},${round(y.at(prompt))}`);
      return `<polyline class="path ${colourOf(report, arm)}${numberOf(report, arm) % 2 === 1 ? " dashed" : ""}" points="${points.join(" ")}"/>`;
    });
    const marks = own.map(({ arm, turns }) => ({ arm, point: { x: x(turns.length), y: y.at(turns.at(-1)?.prompt ?? 0) } }));
    const grid = y.ticks.map((tick) => across(y.at(tick), size, short(tick))).join("");
    const step = Math.ceil(longest / 10);
    const ticks = Array.from({ length: longest }, (_, index) => index + 1).filter((turn) => (turn - 1) % step === 0);
    return svg(
      id,
      size,
      "Prompt tokens sent in each turn",
      about,
      `${grid}${ticks.map((turn) => below(x(turn), size, String(turn))).join("")}${axisTitle(size, `turn (tokens upwards${y.note})`)}${paths.join("")}${badges(report, marks, size, BESIDE)}`,
    );
  };
  return SIZES.map(draw).join("");
}
