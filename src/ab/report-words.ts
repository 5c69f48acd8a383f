import type { GroupReport, MadeWith, MetricName, Report } from "./report-model.ts";
import type { Interval } from "./stats.ts";
import type { Refresh } from "./types.ts";

/** How numbers and methods read in every form of the report. */
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const money = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const MISSING = "–";

/** A true minus; what rounds to nothing has no sign. */
const minus = (text: string) => (text === "-0" ? "0" : text.replace(/^-/, "−"));

/** A count or a number of tokens; small ones keep a half. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  return minus((Math.abs(value) < 100 ? fine : whole).format(value));
}

export const percent = (value: number): string => (Number.isFinite(value) ? `${minus(whole.format(value * 100))} %` : MISSING);

export const price = (value: number): string => (Number.isFinite(value) ? money.format(value) : MISSING);

const signed = (text: string, value: number) => (value > 0 && text !== "0" ? `+${text}` : text);
export const change = (value: number): string => signed(number(value), value);
export const pointChange = (value: number): string => (Number.isFinite(value) ? signed(minus(whole.format(value * 100)), value) : MISSING);

/** The value, and the interval where it has a width. */
export function range({ value, low, high }: Interval, show: (value: number) => string = number): string {
  const [at, from, to] = [show(value), show(low), show(high)];
  return from === to || !Number.isFinite(low) ? at : `${at} [${from}, ${to}]`;
}

const REFRESH: Readonly<Record<Refresh, string>> = {
  at_once: "the host asks for a changed list at once",
  next_turn: "the host asks for a changed list before the next turn",
  never: "the host keeps its first list",
};

export const refreshOf = ({ refresh }: GroupReport): string => REFRESH[refresh];
export const titleOf = ({ driver, refresh }: GroupReport): string => `${driver}: ${REFRESH[refresh]}`;

export const SHORT: Readonly<Record<MetricName, string>> = {
  first_list: "First list",
  prompt: "Prompt",
  uncached: "Uncached",
  completion: "Completion",
  calls: "Calls",
  failed_calls: "Failed",
  discovery_calls: "Discovery",
  enabled: "Enabled",
  ms: "ms",
};

/** What the report is made of, in one line. */
export function summary({ runs, tasks, arms, groups, repeats, counters }: Report): string {
  const all = tasks * arms.length * groups.length * repeats;
  const times = `${runs < all ? "at most " : ""}${repeats === 1 ? "once" : `${repeats} times`} with each driver`;
  return `${whole.format(runs)} runs: ${tasks} tasks under ${arms.length} arms, ${times}. Tokens by ${counters.join(" and ")}.`;
}

/** Version of everything that the runs were made with, in one line. */
export const madeWith = ({ version, node, tasks_hash }: MadeWith): string => `Version ${version}, Node ${node}, tasks ${tasks_hash}.`;

/** Which runs the numbers are not of. */
export const leftOut = ({ no_path }: Report): readonly string[] =>
  no_path.map(
    ({ driver, arm, runs, of }) =>
      `${driver} under ${arm}: ${runs} of ${of} runs had no path, since a step of the task has no tool there that takes it as it is. That says nothing about ${arm}; they are left out of every number here.`,
  );

/** How to read the numbers; said in every report, so that none travels without it. */
export function method({ base, seed, rounds, torn }: Report): readonly string[] {
  return [
    "Success is judged by the state of the sandbox after the run (and by the answer, where the task asks a question). Runs that broke off are failures.",
    "Prompt: tokens of list, instructions and history, summed over all turns as a host sends them. Uncached: the part that a prompt cache would not have had; a changed list spoils the cache from there on.",
    "Success intervals are Wilson's at 95 %, with one trial per task. Other numbers are medians with percentile bootstrap intervals at 95 %: tasks are drawn, with all their repeats.",
    `The bootstrap has ${whole.format(rounds)} rounds and seed ${seed}. Where all drawn values are equal, the interval has no width and is left out.`,
    `Differences are each arm less ${base}, over the same task and repeat. Tokens and calls are compared only where both succeeded, since who gives up early is cheap.`,
    "Arms that cannot write succeed at a writing task where nothing changed: read them by the tasks that ask something, and by their costs.",
    "An interval that holds 0 is no finding. Nor is a difference within what an arm differs from itself (last table).",
    "The tasks are a choice, and so are the drivers: the intervals speak of further tasks of this kind, not of other models, hosts or instances.",
    ...(torn > 0 ? ["The last line of the runs was torn off by an interruption and is left out."] : []),
  ];
}
