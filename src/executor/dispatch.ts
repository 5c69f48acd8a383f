import { createHash } from "node:crypto";
import { GITLAB } from "../catalog/load.ts";
import { pickRoute } from "../catalog/route.ts";
import { toSignature } from "../catalog/schema.ts";
import type { Action, Call, CallContext, Facts, Outcome, Question } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { effectOfCall, isRaw } from "../policy/call-effects.ts";
import { digestOf, namesToken } from "../policy/own-token.ts";
import type { Policy, Verdict } from "../policy/policy.ts";
import { judgeRaw, rawVerdict } from "../policy/raw.ts";
import type { WriteLimit } from "../policy/write-limit.ts";
import type { Registry } from "../registry/registry.ts";
import { type Audit, type AuditedRun, auditRun, paramsAsked } from "./audit.ts";
import { type NormalizeOptions, normalizeParams } from "./params.ts";
import type { Look } from "./places.ts";
import { questionFor } from "./question.ts";
import { type RunParts, type RunScope, scopeFor } from "./scope.ts";
import { withoutOwn } from "./secrets.ts";

export interface RoadParts {
  readonly registry: Registry;
  readonly policy: Policy;
  /** What is known about the caller now; a call does not wait for more. */
  readonly facts: (context: CallContext) => Facts;
  /** Asks for what is not known yet, within a deadline: for the few calls that cannot be judged without. */
  readonly learn?: (context: CallContext) => Promise<Facts>;
  /** How params are completed for this caller: instance, current project, users. */
  readonly normalize: (context: CallContext) => NormalizeOptions;
  /** How projects and groups are told apart for this caller; without it only what is named as the settings name it is inside. */
  readonly places?: (context: CallContext) => Look;
  /** Counts writes, over all connections. */
  readonly writes?: WriteLimit;
  readonly audit?: Audit;
}

export interface RoadRequest {
  /** Id, tool name or alias. */
  readonly name: string;
  readonly params: unknown;
  readonly confirm?: boolean;
  /** Refuse anything but reads, with this sentence. */
  readonly readsOnly?: string;
  /** Run for a composite, which fits the whole. */
  readonly part?: boolean;
  /** The whole that this is a part of was agreed to. */
  readonly agreed?: boolean;
  /** Show what a write would send, whatever the policy says: a part of a composite that is only shown. */
  readonly preview?: boolean;
}

/** The one road (DESIGN.md §7): every call, from whatever surface, goes through here. */
export interface Road {
  run(request: RoadRequest, context: CallContext): Promise<Outcome>;
  /** Reads what a link in an answer of another server's tool led to: while that tool may be used, and as far as its answers are shown. */
  follow(action: string, context: CallContext, read: () => Promise<Contents>): Promise<Contents>;
}

/** Contents of a resource. */
export type Contents = Readonly<Record<string, unknown>>;

type Permitted = Extract<Verdict, { permitted: true }>;

function permit(parts: RoadParts, action: Action, request: RoadRequest, context: CallContext): void {
  const verdict = parts.policy.verdict(action, parts.facts(context));
  if (!verdict.permitted) throw parts.policy.refusal(action, verdict.reason);
  if (request.readsOnly && action.effect !== "read")
    throw new BridgeError("invalid_params", `${action.id} is not a read.`, request.readsOnly);
}

/** What a call that would end a token needs to know is waited for: GitLab itself does not refuse to end the one in use. */
async function factsFor(parts: RoadParts, action: Action, params: Call["params"], context: CallContext): Promise<Facts> {
  const calls = isRaw(action) ? judgeRaw(action, params).calls : [{ action, params }];
  const waits = !parts.policy.settings.allowOwnToken && calls.some((one) => namesToken(one.action, one.params));
  return waits && parts.learn ? await parts.learn(context) : parts.facts(context);
}

/** The verdict on this very call: its params can make it worse than the action. */
async function judge(parts: RoadParts, action: Action, params: Call["params"], context: CallContext): Promise<Permitted> {
  const facts = await factsFor(parts, action, params, context);
  const verdict = isRaw(action) ? rawVerdict(parts.policy, action, params, facts) : parts.policy.callVerdict(action, params, facts);
  if (!verdict.permitted) throw parts.policy.refusal(action, verdict.reason);
  return verdict;
}

/** Who calls: the user where known, else whoever has this token. */
const callerOf = ({ principal: { user, instance }, credential }: CallContext): string =>
  `${instance} ${user?.id ?? digestOf(credential?.value ?? "")}`;

/** Digest of action, params and caller: what an answer to a question is good for. */
export const bindingOf = (action: Action, params: unknown, context: CallContext): string =>
  createHash("sha256")
    .update(JSON.stringify([action.id, params, callerOf(context)]))
    .digest("base64url");

const ask = (action: Action, params: Call["params"], context: CallContext): Question => ({
  message: questionFor(action, params),
  binding: bindingOf(action, params, context),
});

/** Who calls is found out before a question is bound to them: known only at the answer, they would be asked once more. */
async function withUser(parts: RoadParts, context: CallContext): Promise<CallContext> {
  if (context.principal.user || !(context.canAsk || context.answer)) return context;
  const { user } = parts.learn ? await parts.learn(context) : parts.facts(context);
  return user ? { ...context, principal: { ...context.principal, user: { id: user.id, username: user.username } } } : context;
}

interface Agreement {
  readonly confirm: boolean;
  /** What makes this one call destructive, where its row does not. */
  readonly why: string;
}

/** Undefined = go on; a question = pause. @throws BridgeError confirmation_required */
function agreement(parts: RoadParts, call: Call, { confirm, why }: Agreement, context: CallContext): Question | undefined {
  const { action } = call;
  const mode = parts.policy.settings.confirm;
  const signature = toSignature(action, context.project !== undefined);
  if (context.answer && context.answer.binding === bindingOf(action, call.params, context)) {
    if (context.answer.accepted) return undefined;
    const hint = "Nothing was sent. Do not ask again unless the user changes their mind.";
    throw new BridgeError("confirmation_required", `The user did not agree to ${action.id}.`, hint, { signature });
  }
  if (mode === "flag" && confirm) return undefined;
  if (context.canAsk) return ask(action, call.params, context);
  if (mode === "human") {
    const hint = "Nothing was sent. This server asks a person, and this client cannot pass the question on; tell the user.";
    throw new BridgeError("confirmation_required", `${action.id} needs a person's agreement.`, hint, { rule: "confirm" });
  }
  const hint = "Nothing was sent. Ask the user; if they agree, call again with the same params and confirm: true.";
  throw new BridgeError("confirmation_required", `${action.id} is destructive${why}.`, hint, { rule: "confirm", signature });
}

function stopIfCancelled(signal: AbortSignal): void {
  if (signal.aborted)
    throw new BridgeError("cancelled", "The call was cancelled before anything was sent.", "Call again if it is still wanted.");
}

const BLIND: Look = { project: async () => undefined, group: async () => undefined };

interface Going {
  readonly action: Action;
  readonly request: RoadRequest;
  /** The caller's context, with the scope of this run in it. */
  readonly context: CallContext;
  readonly scope?: RunScope;
  /** Runs a part of this call. */
  readonly again: (request: RoadRequest, signal?: AbortSignal) => Promise<Outcome>;
}

interface Ready {
  readonly call: Call;
  readonly verdict: Permitted;
  readonly confirm: boolean;
  /** Only shown, not sent. */
  readonly shown: boolean;
  /** From now on parts of this call need no agreement of their own. */
  readonly agree: () => void;
}

async function makeReady(parts: RoadParts, { action, request, context, scope, again }: Going): Promise<Ready> {
  permit(parts, action, request, context);
  const normal = await normalizeParams(action, request.params, parts.normalize(context));
  const verdict = await judge(parts, action, normal.params, context);
  const route = action.http ? { route: pickRoute(action, normal.params) } : {};
  await scope?.judge({ action, params: normal.params, ...route });
  const shown = verdict.preview !== undefined || (request.preview === true && action.effect !== "read");
  // What reads can be made of reads only, whatever it is asked to run.
  const only = action.effect === "read" ? { readsOnly: `${action.id} runs reads only: call it by itself.` } : {};
  const confirm = request.confirm ?? normal.confirm ?? false;
  let agreed = request.agreed ?? false;
  const call: Call = {
    action,
    params: normal.params,
    wanted: request.part ? { ...normal.wanted, part: true } : normal.wanted,
    ...route,
    run: (name, params, signal) =>
      again({ name, params, part: true, confirm, agreed, ...only, ...(shown ? { preview: true } : {}) }, signal),
  };
  const agree = () => {
    agreed = true;
  };
  return { call, verdict, confirm, shown, agree };
}

/** Counts a write that goes out. A composite that has begun is let finish: what it sends counts, and is not stopped half-way. */
function countWrite(parts: RoadParts, { action, effect, context }: AuditedRun, request: RoadRequest): void {
  if (!parts.writes || effect === "read") return;
  if (!request.part) parts.writes.check(callerOf(context), parts.policy.settings.maxWrites);
  if (action.composite === undefined || action.toolset === "raw") parts.writes.count(callerOf(context));
}

/** Says of one thing which call it came from. */
function withOrigin(outcome: Outcome, { action, params }: Call): Outcome {
  if (outcome.kind !== "value" && outcome.kind !== "text" && outcome.kind !== "binary") return outcome;
  return { ...outcome, of: { action: action.id, params } };
}

async function go(parts: RoadParts, going: Going, run: AuditedRun): Promise<Outcome> {
  const { action, request, context, scope } = going;
  const { call, verdict, confirm, shown, agree } = await makeReady(parts, going);
  const raw = isRaw(action) ? judgeRaw(action, call.params) : undefined;
  run.params = raw ? (raw.calls[0]?.params ?? {}) : call.params;
  run.effect = raw?.effect ?? effectOfCall(action, call.params).effect;
  const source = parts.registry.source(action.source);
  if (shown) return { kind: "preview", preview: await source.preview(call, context) };
  if (verdict.confirm && !request.agreed) {
    const why = action.effect === "destructive" ? "" : `: ${verdict.confirm.text}`;
    const question = agreement(parts, call, { confirm, why }, await withUser(parts, context));
    if (question) return { kind: "needs_input", question };
    agree();
  }
  stopIfCancelled(context.signal);
  countWrite(parts, run, request);
  const outcome = await shownOf(await ofForeign(going, source.run(call, guarded(going))), scope);
  return request.part ? outcome : withOrigin(outcome, call);
}

/** Of what another server answers only what belongs inside is shown. */
const shownOf = async (outcome: Outcome, scope: RunScope | undefined): Promise<Outcome> =>
  outcome.kind === "relayed" && scope ? { ...outcome, result: await scope.relayed(outcome.result) } : outcome;

/** The words of another server's failure are limited like an answer. */
async function ofForeign<T>({ action, scope }: Pick<Going, "action" | "scope">, work: Promise<T>): Promise<T> {
  if (!scope || action.source === GITLAB) return await work;
  return await work.catch(async (error: unknown) => {
    throw await scope.failed(error);
  });
}

/** What another server says and asks while it runs is limited like what it answers. */
function guarded({ action, context, scope }: Going): CallContext {
  if (!scope || action.source === GITLAB) return context;
  const { progress, elicit } = context;
  return {
    ...context,
    ...(progress ? { progress: ({ message: _words, ...rest }) => progress(rest) } : {}),
    ...(elicit ? { elicit: async (params) => ((await scope.mayPass(params)) ? elicit(params) : { action: "cancel" }) } : {}),
  };
}

function scopeOf(parts: RoadParts, action: Action, given: CallContext, ask?: RunParts["ask"]): RunScope | undefined {
  const { instance } = parts.normalize(given);
  return scopeFor(action, { policy: parts.policy, look: parts.places?.(given) ?? BLIND, instance, ...(ask ? { ask } : {}) });
}

/** Runs to its end and writes the line of it, whatever the end is. Who calls is asked for meanwhile, where that is not known. */
async function written<T>(
  parts: RoadParts,
  begun: Omit<AuditedRun, "facts" | "started">,
  work: (run: AuditedRun) => Promise<{ readonly result: T; readonly outcome: Outcome }>,
): Promise<T> {
  const { audit, learn } = parts;
  const { context } = begun;
  const facts = parts.facts(context);
  const run: AuditedRun = { ...begun, facts, started: performance.now() };
  const known = facts.user ?? context.principal.user;
  const learned = audit && learn && !known ? learn(context).catch(() => facts) : undefined;
  const write = async (ended: Parameters<typeof auditRun>[2]) => {
    const at = performance.now();
    if (audit) auditRun(audit, { ...run, ended: at, ...(learned ? { facts: await learned } : {}) }, ended);
  };
  try {
    const { result, outcome } = await work(run);
    await write({ outcome });
    return result;
  } catch (error) {
    await write({ error });
    throw withoutOwn(error, begun.action, { given: begun.params, ...run.params });
  }
}

async function follow(parts: RoadParts, name: string, context: CallContext, read: () => Promise<Contents>): Promise<Contents> {
  const action = parts.registry.resolve(name);
  return await written(parts, { action, context: { ...context }, effect: "read", params: {}, part: false }, async () => {
    const verdict = parts.policy.verdict(action, parts.facts(context));
    if (!verdict.permitted) throw parts.policy.refusal(action, verdict.reason);
    const scope = scopeOf(parts, action, context);
    const contents = await ofForeign({ action, ...(scope ? { scope } : {}) }, read());
    const result = (await scope?.contents(contents)) ?? contents;
    return { result, outcome: { kind: "value", value: {} } };
  });
}

export function createRoad(parts: RoadParts): Road {
  const run = async (request: RoadRequest, given: CallContext): Promise<Outcome> => {
    const action = parts.registry.resolve(request.name);
    const again = (next: RoadRequest, signal?: AbortSignal) =>
      run(next, signal ? { ...given, signal: AbortSignal.any([given.signal, signal]) } : given);
    const scope = scopeOf(parts, action, given, (name, params) => again({ name, params, part: true }));
    // A context of its own: what GitLab answers is remembered by it.
    const context = { ...given, ...(scope ? { scope } : {}) };
    const going = { action, request, context, ...(scope ? { scope } : {}), again };
    const begun = { action, context, effect: action.effect, params: paramsAsked(request.params), part: request.part === true };
    return await written(parts, begun, async (audited) => {
      const outcome = await go(parts, going, audited);
      return { result: outcome, outcome };
    });
  };
  return { run, follow: (name, context, read) => follow(parts, name, context, read) };
}
