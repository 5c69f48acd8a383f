import type { Action, Effect } from "../catalog/types.ts";

/** A request that the caller writes: what it does is told by the request alone. */
export const isRawRest = ({ composite }: Pick<Action, "composite">): boolean => composite === "raw_rest";
export const isRaw = (action: Pick<Action, "composite">): boolean => isRawRest(action) || action.composite === "raw_graphql";

interface Worse {
  readonly action: string;
  readonly param: string;
  readonly value: unknown;
  /** What the call does then, as the end of "… : ". */
  readonly does: string;
}

/** Arguments that make a write destroy something. A row can only make a call worse, never milder. */
export const WORSE_CALLS: readonly Worse[] = [
  { action: "commit.create", param: "force", value: true, does: "with force the branch is overwritten and its own commits are lost" },
  { action: "job.cancel", param: "force", value: true, does: "with force the job ends at once, whatever it is in the middle of" },
];

export interface CallEffect {
  readonly effect: Effect;
  /** Why it is more than the row says. */
  readonly does?: string;
}

/** What this one call does, judged by its params: at least what the row says. */
export function effectOfCall(action: Action, params: Readonly<Record<string, unknown>>): CallEffect {
  const worse = WORSE_CALLS.find((row) => row.action === action.id && params[row.param] === row.value);
  return worse ? { effect: "destructive", does: worse.does } : { effect: action.effect };
}
