import type { Action, Facts } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { type CallEffect, effectOfCall, isRaw } from "./call-effects.ts";
import { type Command, commandsIn } from "./commands.ts";
import type { Limits } from "./narrow.ts";
import { ownTokenReason } from "./own-token.ts";
import { type Reason, RULES } from "./rules.ts";

/** The answer to "may this action be used, now, by this caller?" */
export type Verdict =
  | { readonly permitted: true; readonly preview?: Reason; readonly confirm?: Reason }
  | { readonly permitted: false; readonly reason: Reason };

export interface Policy {
  readonly settings: Limits;
  /** Refusals name the setting behind them: only to someone who also runs the server. */
  readonly tellsSettings: boolean;
  /** The one verdict function: list, find, get, enable, call, resources and prompts ask it. */
  verdict(action: Action, facts: Facts): Verdict;
  permits(action: Action, facts: Facts): boolean;
  /**
   * The same for one call: its params can make it worse than its row says, never milder.
   * Only a request that the caller wrote is what it is: whoever read it hands in what it does.
   */
  callVerdict(action: Action, params: Readonly<Record<string, unknown>>, facts: Facts, judged?: CallEffect): Verdict;
  /** The error for a verdict that refuses. */
  refusal(action: Action, reason: Reason): BridgeError;
}

const verdictOf = (action: Action, settings: Limits, facts: Facts): Verdict => {
  let preview: Reason | undefined;
  let confirm: Reason | undefined;
  for (const rule of RULES) {
    const reason = rule(action, settings, facts);
    if (reason?.kind === "withheld") return { permitted: false, reason };
    if (reason?.kind === "preview") preview ??= reason;
    if (reason?.kind === "confirm") confirm ??= reason;
  }
  return { permitted: true, ...(preview ? { preview } : {}), ...(confirm ? { confirm } : {}) };
};

/** A text may say what to do: that is judged like the action which does it, and told as what it is. */
function commanded({ line, action }: Command, settings: Limits, facts: Facts): Verdict {
  const found = verdictOf(action, settings, facts);
  const does = (reason: Reason, rest: string) => ({
    ...reason,
    text: `its text says ${line.slice(0, 60)}, which does what ${action.id} does${rest}`,
  });
  if (!found.permitted) return { permitted: false, reason: does(found.reason, `, and ${found.reason.text}`) };
  return found.confirm ? { ...found, confirm: does(found.confirm, "") } : found;
}

/** All of them must permit; the first preview and the first question are told. */
export function together(verdicts: readonly Verdict[]): Verdict {
  const preview = verdicts.flatMap((one) => (one.permitted && one.preview ? [one.preview] : []))[0];
  const confirm = verdicts.flatMap((one) => (one.permitted && one.confirm ? [one.confirm] : []))[0];
  const refused = verdicts.find((one) => !one.permitted);
  return refused ?? { permitted: true, ...(preview ? { preview } : {}), ...(confirm ? { confirm } : {}) };
}

/** All rules bound to settings: fixed ones, or what they are at the moment of the question. */
export function createPolicy(limits: Limits | (() => Limits)): Policy {
  const now = typeof limits === "function" ? limits : () => limits;
  // A request that is still to be written may become a read.
  const verdict = (action: Action, facts: Facts) => verdictOf(isRaw(action) ? { ...action, effect: "read" } : action, now(), facts);
  return {
    get settings() {
      return now();
    },
    get tellsSettings() {
      return tellsSettings(now());
    },
    verdict,
    permits: (action, facts) => verdict(action, facts).permitted,
    callVerdict(action, params, facts, judged) {
      const { effect, does } = judged ?? effectOfCall(action, params);
      const found = verdictOf(effect === action.effect ? action : { ...action, effect }, now(), facts);
      const own = found.permitted && !now().allowOwnToken ? ownTokenReason(action, params, facts) : undefined;
      if (own) return { permitted: false, reason: own };
      const told = found.permitted && found.confirm && does ? { ...found, confirm: { ...found.confirm, text: does } } : found;
      return together([told, ...commandsIn(action, params).map((command) => commanded(command, now(), facts))]);
    },
    refusal: (action, reason) => refusal(action, reason, now()),
  };
}

const tellsSettings = ({ refusalContact, http }: Limits) => refusalContact === undefined && !http;

/** Refusals speak to a model that may hold a shell: who set it, and that it is not the model's to change. */
function refusal(action: Action, reason: Reason, settings: Limits): BridgeError {
  const owner = settings.refusalContact ? `Ask ${settings.refusalContact}.` : "Tell the user.";
  const hint =
    reason.setting === undefined
      ? `${owner} A token with other scopes is the user's to make; do not work around it.`
      : `Whoever runs this server set it: do not change its configuration and do not work around it. ${owner}`;
  return new BridgeError("not_permitted", `${action.id} exists, but ${reason.text}.`, hint, {
    rule: reason.rule,
    ...(reason.setting === undefined || !tellsSettings(settings) ? {} : { setting: reason.setting }),
  });
}
