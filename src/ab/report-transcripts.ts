import { numberOf } from "./report-charts.ts";
import type { Report } from "./report-model.ts";
import { COLOURS } from "./report-style.ts";
import { grouped } from "./stats.ts";
import type { Run, Turn } from "./types.ts";

/** Characters that all transcripts of a page may have; one that takes longer to load is not read. */
const MOST = 12_000_000;
/** Characters of one text, from what the runs keep down to what still tells something. */
const CUTS = [2_000, 800, 300, 120];

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

const toTurn = ({ prompt, cached, completion, tool, args, said, seen, isError, ms, listed }: Turn, most: number) => ({
  ...{ prompt, cached, completion, listed },
  ...(ms === undefined ? {} : { ms }),
  ...(tool === undefined ? {} : { tool, args: cut(JSON.stringify(args ?? {}), most) }),
  ...(said === undefined ? {} : { said: cut(said, most) }),
  ...(seen === undefined ? {} : { seen: cut(seen, most) }),
  ...(isError ? { isError } : {}),
});

const toRun = (report: Report, run: Run, most: number) => ({
  arm: numberOf(report, run.arm),
  repeat: run.repeat,
  success: run.success,
  faults: run.faults,
  ...(run.error === undefined ? {} : { error: run.error }),
  prompt: run.prompt,
  calls: run.calls,
  turns: run.turns.map((turn) => toTurn(turn, most)),
});

/** Of the repeats of an arm the first, and the first that ended otherwise. */
function telling(runs: readonly Run[]): readonly Run[] {
  return [...grouped(runs, ({ arm }) => arm).values()].flatMap((own) => {
    const sorted = [...own].sort((a, b) => a.repeat - b.repeat);
    const [first] = sorted;
    const other = sorted.find(({ success }) => success !== first?.success);
    return [...(first ? [first] : []), ...(other ? [other] : [])];
  });
}

function build(report: Report, runs: readonly Run[], prompts: Readonly<Record<string, string>>, most: number): string {
  const tasks = new Set(runs.map(({ task }) => task));
  const groups = report.groups.map(({ driver, refresh, tasks: rows }) => {
    const own = grouped(
      runs.filter((run) => run.driver === driver && run.refresh === refresh),
      ({ task }) => task,
    );
    const ofTask = (task: string) =>
      telling(own.get(task) ?? [])
        .map((run) => toRun(report, run, most))
        .sort((a, b) => a.arm - b.arm || a.repeat - b.repeat);
    return Object.fromEntries(rows.map(({ task }) => [task, ofTask(task)]));
  });
  const asked = Object.fromEntries(Object.entries(prompts).filter(([task]) => tasks.has(task)));
  return JSON.stringify({ colours: COLOURS, arms: report.arms, prompts: asked, groups });
}

export interface Transcripts {
  /** JSON that may stand inside a script element. */
  readonly json: string;
  /** Where each text was cut. */
  readonly cut: number;
}

/** The transcripts that the page opens, cut so far that all of them together can be loaded. */
export function toTranscripts(report: Report, runs: readonly Run[], prompts: Readonly<Record<string, string>>): Transcripts {
  const [widest = 0, ...narrower] = CUTS;
  let made = { json: build(report, runs, prompts, widest), cut: widest };
  for (const most of narrower) {
    if (made.json.length <= MOST) break;
    made = { json: build(report, runs, prompts, most), cut: most };
  }
  return { ...made, json: made.json.replaceAll("<", "\\u003c") };
}
