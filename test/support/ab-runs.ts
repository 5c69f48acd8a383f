import { createRandom } from "../../src/ab/stats.ts";
import type { Refresh, Run, Size, Turn } from "../../src/ab/types.ts";

/** Runs that nobody ran, for the arithmetic and the pages that are made from runs. What a seed gives is always the same. */
export interface Synthetic {
  readonly seed: number;
  readonly tasks: number;
  readonly arms: readonly string[];
  readonly drivers: readonly string[];
  readonly refreshes: readonly Refresh[];
  readonly repeats: number;
}

const SIZES: readonly Size[] = ["small", "medium", "large"];
const TOOLSETS = ["issues", "merge_requests", "ci", "repository", "releases"];

/** Text that would do harm on a page that does not escape it, and in a table of Markdown. */
export const HOSTILE = `</script><script>window.hurt=1</script><img src=x onerror="window.hurt=1"> | **bold** [a](javascript:alert(1))`;

/** What makes an arm dear or weak here: its first list, and how many calls it needs to find a tool. */
const traits = (arm: string) => {
  const weight = [...arm].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return { list: 300 + (weight % 7) * 900, discovery: weight % 3, skill: 0.55 + (weight % 5) / 10 };
};

function turnsOf(random: () => number, calls: number, list: number, discovery: number, hostile: boolean): Turn[] {
  let before = 0;
  let prompt = list + 120;
  return Array.from({ length: calls + 1 }, (_, index): Turn => {
    const cached = index === 0 ? 0 : before;
    const sent = { prompt, cached, completion: 20 + Math.floor(random() * 60), listed: 5 + index };
    before = prompt;
    prompt += 150 + Math.floor(random() * 500);
    if (index === calls) return { ...sent, said: hostile ? HOSTILE : "It is done: the issue is closed." };
    const tool = index < discovery ? "gitlab_find_action" : "gitlab_execute_action";
    const seen = hostile
      ? HOSTILE
      : `iid: ${index + 40}\ntitle: Login page answers slowly\nstate: opened\n${"log line\n".repeat(index * 8)}`;
    return { ...sent, tool, args: { query: hostile ? HOSTILE : "close an issue" }, seen, isError: random() < 0.12, ms: 3 + index };
  });
}

function runOf(random: () => number, place: Pick<Run, "task" | "size" | "arm" | "driver" | "refresh" | "repeat">, index: number): Run {
  const { list, discovery, skill } = traits(place.arm);
  const steps = { small: 1, medium: 3, large: 6 }[place.size];
  const calls = steps + discovery + Math.floor(random() * 2);
  const turns = turnsOf(random, calls, list, discovery, index % 5 === 0);
  const success = place.driver === "scripted" || random() < skill;
  const sum = (of: (turn: Turn) => number) => turns.reduce((total, turn) => total + of(turn), 0);
  return {
    ...place,
    toolsets: [TOOLSETS[index % TOOLSETS.length] ?? "ci"],
    seed: place.repeat,
    success,
    faults: success ? [] : ["The issue is still open."],
    ...(success || random() < 0.8 ? {} : { error: "The server went away." }),
    first_list: list,
    prompt: sum((turn) => turn.prompt),
    cached: sum((turn) => turn.cached),
    completion: sum((turn) => turn.completion),
    calls,
    failed_calls: turns.filter(({ isError }) => isError).length,
    discovery_calls: discovery,
    ms: 20 + Math.floor(random() * 200),
    enabled: place.arm.startsWith("toolsets") ? ["issues"] : [],
    counter: "o200k_base",
    turns,
  };
}

export function syntheticRuns({ seed, tasks, arms, drivers, refreshes, repeats }: Synthetic): Run[] {
  const random = createRandom(seed);
  const runs: Run[] = [];
  for (const driver of drivers)
    for (const refresh of refreshes)
      for (let index = 0; index < tasks; index++)
        for (const arm of arms)
          for (let repeat = 0; repeat < repeats; repeat++) {
            const size = SIZES[index % SIZES.length] ?? "small";
            const task = `${size}-${TOOLSETS[index % TOOLSETS.length]}-${index + 1}`;
            runs.push(runOf(random, { task, size, arm, driver, refresh, repeat }, index));
          }
  return runs;
}
