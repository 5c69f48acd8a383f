import type { Action, Call, CallContext, Facts, Outcome, Tier } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { digestOf } from "../policy/own-token.ts";
import type { Look } from "./places.ts";
import { isPlain } from "./slim.ts";

export interface TierParts {
  readonly settings: Pick<Settings, "tier" | "url">;
  /** Reads one path of GitLab for a caller, whatever the call itself may reach; any failure is thrown. */
  readonly get: (path: string, template: string, context: CallContext, signal: AbortSignal) => Promise<unknown>;
  readonly facts: (context: CallContext) => Promise<Facts>;
  readonly places: (context: CallContext) => Look;
  readonly now?: () => number;
}

/** What is known to hold, and of what. */
interface Held {
  readonly tier: Tier;
  readonly of: string;
}

const RANK: Readonly<Record<Tier, number>> = { unknown: 0, free: 0, premium: 1, ultimate: 2 };

/** Plans of GitLab.com and of licences; what is not here tells nothing. */
const PLANS: Readonly<Record<string, Tier>> = {
  free: "free",
  silver: "premium",
  premium: "premium",
  premium_trial: "premium",
  gold: "ultimate",
  ultimate: "ultimate",
  ultimate_trial: "ultimate",
  ultimate_trial_paid_customer: "ultimate",
  opensource: "ultimate",
};

const DEADLINE_MS = 2_000;
const LIFETIME_MS = 10 * 60_000;
const MOST_KNOWN = 1_000;

/** Statuses with which GitLab answers what a licence does not hold. */
const STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 404, 422]);

const planIn = (body: unknown): Tier | undefined =>
  isPlain(body) && typeof body.plan === "string" ? PLANS[body.plan.toLowerCase()] : undefined;

const placeIn = ({ project_id, group_id }: Call["params"]) =>
  project_id !== undefined
    ? (["project", String(project_id)] as const)
    : group_id === undefined
      ? undefined
      : (["group", String(group_id)] as const);

const isDotCom = (instance: string) => new URL(instance).hostname === "gitlab.com";

/** On GitLab.com the plan belongs to the namespace at the root. */
async function ofNamespace(
  { get, places }: TierParts,
  { params }: Call,
  context: CallContext,
  signal: AbortSignal,
): Promise<Held | undefined> {
  const place = placeIn(params);
  const path = place && (await places(context)[place[0]](place[1]))?.path;
  const root = path?.split("/")[0];
  if (root === undefined) return undefined;
  const tier = planIn(await get(`/namespaces/${encodeURIComponent(root)}`, "/namespaces/{namespace_id}", context, signal));
  return tier && { tier, of: `the namespace ${root}` };
}

async function ofLicence({ get }: TierParts, facts: Facts, context: CallContext, signal: AbortSignal): Promise<Held | undefined> {
  if (facts.user?.admin !== true) return undefined;
  const tier = planIn(await get("/license", "/license", context, signal));
  return tier && { tier, of: "this GitLab" };
}

async function learn(parts: TierParts, call: Call, context: CallContext): Promise<Held | undefined> {
  const { settings, facts } = parts;
  if (settings.tier) return { tier: settings.tier, of: "this GitLab" };
  const known = await facts(context);
  if (known.enterprise === false) return { tier: "free", of: "this GitLab (Community Edition)" };
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(DEADLINE_MS)]);
  return isDotCom(context.principal.instance) ? ofNamespace(parts, call, context, signal) : ofLicence(parts, known, context, signal);
}

const named = (tier: Tier) => `${tier.charAt(0).toUpperCase()}${tier.slice(1)}`;

/** What is said where the tier is not known. */
const GUESSES = /;? ?(GitLab may also want the \w+ tier for it\.|it needs the \w+ tier)/g;

function explained(error: BridgeError, { id, tier = "unknown" }: Action, held: Held): BridgeError {
  const lacks = RANK[held.tier] < RANK[tier];
  const plain = error.hint.replace(GUESSES, "");
  const hint = lacks
    ? `${held.of.charAt(0).toUpperCase()}${held.of.slice(1)} has ${named(held.tier)}, and ${id} needs ${named(tier)}; tell the user. ${plain}`
    : plain;
  return new BridgeError(error.code, error.message, hint, error.detail, error.cause);
}

/**
 * Says with a failure of a paid action which tier there is, where that can be known: asked only then, and kept for a while per caller.
 * It explains and never withholds.
 */
export function createTierHints(parts: TierParts) {
  const { now = Date.now } = parts;
  const known = new Map<string, { readonly held: Promise<Held | undefined>; readonly since: number }>();
  const heldFor = (call: Call, context: CallContext): Promise<Held | undefined> => {
    const { credential, principal } = context;
    const whose = principal.user?.id ?? (credential ? digestOf(credential.value) : "server");
    const where = isDotCom(principal.instance) ? placeIn(call.params)?.join(" ") : "";
    const key = `${principal.instance}\n${whose}\n${where}`;
    const old = known.get(key);
    if (old && now() - old.since < LIFETIME_MS) return old.held;
    const held = learn(parts, call, context).catch(() => undefined);
    known.delete(key);
    known.set(key, { held, since: now() });
    const oldest = known.keys().next().value;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return held;
  };
  return async (call: Call, context: CallContext, run: () => Promise<Outcome>): Promise<Outcome> => {
    try {
      return await run();
    } catch (error) {
      const paid = RANK[call.action.tier ?? "free"] > 0;
      if (!(error instanceof BridgeError) || !paid || !STATUSES.has(error.detail.status ?? 0)) throw error;
      const held = await heldFor(call, context);
      throw held ? explained(error, call.action, held) : error;
    }
  };
}
