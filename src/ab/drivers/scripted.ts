import { loadActions } from "../../catalog/load.ts";
import type { Action } from "../../catalog/types.ts";
import { fill, fillText, keepFrom } from "../fill.ts";
import { NoPath } from "../no-path.ts";
import type { Arm, Driver, DriverContext, Host, Json, Step, Task } from "../types.ts";
import { otherWay } from "./scripted-other.ts";
import { directWay, dispatchWay, enableWay, findWay, type Result, type Way } from "./scripted-ways.ts";

const WAYS: Readonly<Record<string, (host: Host, arm: Arm) => Way>> = {
  bridge: findWay,
  dynamic: findWay,
  toolsets: enableWay,
  static: enableWay,
  meta: dispatchWay,
  individual: directWay,
};

const wayFor = (host: Host, arm: Arm): Way => ((arm.style === undefined ? undefined : WAYS[arm.style]) ?? otherWay)(host, arm);

let byId: ReadonlyMap<string, Action> | undefined;

function actionOf({ action: id }: Step): Action {
  byId ??= new Map(loadActions().map((action) => [action.id, action]));
  const action = byId.get(id);
  if (!action) throw new Error(`there is no action ${id}`);
  return action;
}

/** What a function gives, or why it cannot. */
function attempt<T>(make: () => T): { readonly value: T } | { readonly why: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof NoPath) throw error;
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** What has come of a task so far. */
interface Done {
  readonly kept: Json;
  /** What the server would not do. */
  readonly refusals: string[];
}

/** One step with what earlier steps kept; gives why it could not be done. */
async function takeStep(way: Way, task: Task, at: number, { kept }: Done): Promise<string | undefined> {
  const step = task.path[at];
  if (!step) return undefined;
  const params = attempt(() => fill(step.params, kept));
  if ("why" in params) return params.why;
  const result: Result = await way.run(actionOf(step), params.value, task.path.slice(at).map(actionOf));
  if ("refused" in result) return `${step.action}: ${result.refused}`;
  const found = attempt(() => (way.keep ?? keepFrom)(step, result.json));
  if ("why" in found) return found.why;
  Object.assign(kept, found.value);
  return undefined;
}

/** An answer where the task asks for one, as far as what was kept fills it. */
function answerTo(task: Task, { kept, refusals }: Done): string {
  const told = task.ideal === undefined ? { value: "Done." } : attempt(() => fillText(task.ideal ?? "", kept));
  const not = refusals.map((text) => `Not done: ${text}`);
  const answer = "value" in told && (refusals.length === 0 || task.ideal !== undefined) ? [told.value] : [];
  return [...not, ...answer].join("\n");
}

/**
 * Where the server is not to write by its own settings, a refusal is the answer: what reads remain for a question is still done.
 * Anywhere else a step that fails ends the run.
 */
async function takePath(task: Task, host: Host, { arm, signal }: DriverContext): Promise<void> {
  const way = wayFor(host, arm);
  const limited = arm.writes !== undefined && arm.writes !== "yes";
  const done: Done = { kept: {}, refusals: [] };
  for (const at of task.path.keys()) {
    signal.throwIfAborted();
    const why = await takeStep(way, task, at, done);
    if (why === undefined) continue;
    if (!limited) throw new Error(why);
    done.refusals.push(why);
    if (task.ideal === undefined) break;
  }
  host.answer(answerTo(task, done));
}

/**
 * The shortest honest path of each style: the steps of the task are known, but not how this server is to be told of them. That it learns
 * by the same discovery calls as anyone, from the answers.
 */
export const scripted: Driver = { name: "scripted", run: takePath };
