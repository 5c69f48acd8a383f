import { sinceOf } from "../catalog/route.ts";
import type { Action, Call, CallContext } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { noteAnswer } from "./audit.ts";
import { checkOf } from "./check.ts";
import type { Request } from "./gitbeaker.ts";
import type { Intake } from "./intake.ts";
import type { Read } from "./lookups.ts";
import type { Reply, Sending } from "./requester.ts";
import type { Target } from "./target.ts";
import type { WireRequest } from "./wire.ts";

/** What everything that speaks with GitLab has at hand. */
export interface GitLabParts {
  readonly settings: Settings;
  /** Where new secrets are written. */
  readonly secretsDirectory: string | undefined;
  readonly request: Request;
  readonly root: string;
  readonly actions: () => readonly Action[];
}

function placeOf({ params, action }: Call): string | undefined {
  const place = params.project_id ?? params.group_id ?? params.user_id;
  if (place !== undefined) return String(place);
  const first = Object.entries(action.params).find(([name, { in: where }]) => where === "path" && params[name] !== undefined)?.[0];
  return first === undefined ? undefined : String(params[first]);
}

function targetOf(call: Call, parts: GitLabParts): Target {
  const { action } = call;
  const place = placeOf(call);
  const check = checkOf(action, call.params, parts.actions());
  const since = sinceOf(action, call.params);
  return {
    action: action.id,
    effect: action.effect,
    instance: parts.root,
    ...(place === undefined ? {} : { place }),
    ...(check ? { check } : {}),
    ...(action.tier ? { tier: action.tier } : {}),
    ...(since ? { since } : {}),
  };
}

/** What the requester is told of a call. */
export function sendingOf(call: Call, context: CallContext, parts: GitLabParts, template: string): Sending {
  return {
    template,
    effect: call.action.effect,
    target: targetOf(call, parts),
    context,
    toolset: call.action.toolset,
    ...(context.credential ? { credential: context.credential } : {}),
    ...(context.client === undefined ? {} : { client: context.client }),
  };
}

interface Extra {
  readonly query?: Readonly<Record<string, string>>;
  readonly raw?: boolean;
  readonly intake?: Intake;
}

export function send(wire: WireRequest, call: Call, context: CallContext, parts: GitLabParts, extra: Extra = {}): Promise<Reply> {
  return parts.request(wire.method, wire.path, {
    searchParams: { ...wire.query, ...extra.query },
    ...(wire.body === undefined ? {} : { body: wire.body }),
    signal: context.signal,
    sending: {
      ...sendingOf(call, context, parts, wire.template),
      ...(extra.raw ? { raw: true } : {}),
      ...(extra.intake ? { intake: extra.intake } : {}),
    },
  });
}

/** Every request of a run is judged by its scope, and its answer noted; a refused token may have changed. */
export function watched(request: Request, doubt: (context: CallContext) => void): Request {
  return async (method, path, options) => {
    const { context, template } = options.sending ?? {};
    if (context && template !== undefined) await context.scope?.admit(template, path);
    try {
      const reply = await request(method, path, options);
      if (context) noteAnswer(context, reply);
      return reply;
    } catch (error) {
      const status = error instanceof BridgeError ? error.detail.status : undefined;
      if (context && (status === 401 || status === 403)) doubt(context);
      throw error;
    }
  };
}

/** A read of our own, for what a call needs to know beside its answer. */
export async function get(parts: GitLabParts, path: string, template: string, context: CallContext, signal: AbortSignal): Promise<unknown> {
  const target: Target = { action: `GET ${template}`, effect: "read", instance: parts.root };
  const credential = context.credential ? { credential: context.credential } : {};
  const [bare = path, query = ""] = path.split("?");
  const searchParams = Object.fromEntries(new URLSearchParams(query));
  return (await parts.request("GET", bare, { searchParams, signal, sending: { template, effect: "read", target, context, ...credential } }))
    .body;
}

export const readFor =
  (parts: GitLabParts, context: CallContext, signal = context.signal): Read =>
  (path, template) =>
    get(parts, path, template, context, signal);
