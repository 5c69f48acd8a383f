import type { Action, Call, CallContext, Effect, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { isRawRest } from "../policy/call-effects.ts";
import { askedFields } from "../policy/graphql.ts";
import { checkPath, judgeRaw, type RawCall } from "../policy/raw.ts";
import { toBase } from "./address.ts";
import { toOutcomeUnknown } from "./failures.ts";
import type { Request } from "./gitbeaker.ts";
import { refuseFailures } from "./graphql-errors.ts";
import { FILTERED } from "./listing.ts";
import type { Reply, Sending } from "./requester.ts";
import { type ShapeSettings, toRawOutcome, toValueOutcome } from "./result.ts";
import { shownPart } from "./scope-clean.ts";
import { hideSecrets } from "./secrets.ts";
import { isPlain } from "./slim.ts";

export interface RawParts {
  readonly context: Pick<CallContext, "scope">;
  readonly request: Request;
  readonly settings: ShapeSettings;
  readonly signal: AbortSignal;
  /** What the requester is told of a call of this action. */
  readonly sendingOf: (call: Call, template: string) => Sending;
}

type Plain = Readonly<Record<string, unknown>>;
type Method = Parameters<Request>[0];

const asObject = (value: unknown): Plain | undefined => (isPlain(value) && Object.keys(value).length > 0 ? value : undefined);

/** Requests that answer with a new secret and that no action of ours stands for. */
const SECRET_PATHS: ReadonlySet<string> = new Set([
  "/ai/duo_workflows/direct_access",
  "/ai/third_party_agents/direct_access",
  "/code_suggestions/connection_details",
  "/code_suggestions/direct_access",
  "/runners",
]);

/** Mutations that make a secret, by the way they are named; secrets of a secret manager are brought by the caller. */
const SECRET_MUTATION =
  /^(?!(?:project|group)Secret)(?=.*(?:token|secret|credential|pin))(?=.*(?:create|rotate|reset|generate|regenerate))|^runnerCreate$/i;

const bare = (path: string) => path.replace(/\/-(?=\/)/g, "").replace(/\.[a-z]+$/i, "");

/** An answer that would hold a new secret is left to the action that hands secrets over as this server allows. */
function refuseSecrets({ rows, mutations = [] }: RawCall, { params }: Call, { revealSecrets }: ShapeSettings): void {
  const row = rows.find(({ secret }) => secret);
  const nobodys =
    revealSecrets !== "result" &&
    ((params.method === "POST" && SECRET_PATHS.has(bare(String(params.path).replace(/^\/api\/v4/, "")))) ||
      mutations.some((name) => SECRET_MUTATION.test(name)));
  if (!row && !nobodys) return;
  const [who, next] = row
    ? [`which ${row.id} hands over`, `Call ${row.id}.`]
    : ["and this server gives out none that way", "Tell the user."];
  throw new BridgeError("not_permitted", `This request gives out a secret, ${who}.`, `Nothing was sent. ${next}`, {
    rule: "secrets",
    ...(row ? {} : { setting: "--reveal-secrets" }),
  });
}

const snake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();

/** Whether a field of this name is hidden wherever it stands in an answer. */
const isHidden = (name: string) => (hideSecrets({ [name]: "x" }, { id: "" }) as Plain)[name] !== "x";

/** An answer may call a field what it likes, so that secrets are not asked for in the first place. */
function refuseSecretFields(document: string, { revealSecrets }: ShapeSettings): void {
  if (revealSecrets === "result") return;
  const found = askedFields(document).find(
    ({ name, within }) => isHidden(snake(name)) || (name === "value" && within.some((one) => /variable/i.test(one))),
  );
  if (!found) return;
  const hint = "Nothing was sent. Leave it out; whoever runs this server set it: do not work around it.";
  throw new BridgeError("not_permitted", `The document asks for ${found.name}, which this server does not tell.`, hint, {
    rule: "secrets",
    setting: "--reveal-secrets",
  });
}

/** The call as what it really is: its effect, and the toolset and secrets of the action that stands for it. */
function asJudged(call: Call, { effect, rows }: RawCall): Call {
  const [row] = rows;
  const action: Action = {
    ...call.action,
    effect,
    ...(row ? { toolset: row.toolset, ...(row.entity ? { entity: row.entity } : {}) } : {}),
  };
  return { ...call, action, wanted: { ...call.wanted, full: true } };
}

/** Values of variables are hidden by what the row is called, the caller's own request is not called like one. */
const maskedBy = (call: Call, { rows }: RawCall): Pick<Action, "id" | "entity"> => rows[0] ?? call.action;

interface Told {
  readonly call: Call;
  readonly judged: RawCall;
  readonly settings: ShapeSettings;
  readonly context: Pick<CallContext, "scope">;
}

/** The answer without what belongs elsewhere, where projects are limited. */
async function toOutcome(body: unknown, reply: Reply, told: Told): Promise<Outcome> {
  const { context, call } = told;
  const { scope } = context;
  if (!scope || !Array.isArray(body)) return await shownPart(body, call, context, (shown) => toPlainOutcome(shown, reply, told));
  const { items, filtered } = await scope.keep(body);
  return { ...toPlainOutcome(items, reply, told), ...(filtered ? { filtered: FILTERED } : {}) } as Outcome;
}

function toPlainOutcome(body: unknown, { headers, status, unreadable }: Reply, { call, judged, settings }: Told): Outcome {
  const next = headers["x-next-page"];
  const value = Array.isArray(body) ? { items: body, ...(next ? { next_page: next } : {}) } : (body ?? { done: true, status });
  const safe = settings.revealSecrets === "result" ? value : hideSecrets(value, maskedBy(call, judged));
  const outcome = toValueOutcome(safe, call, settings);
  if (!unreadable || outcome.kind !== "value") return outcome;
  return { ...outcome, hint: "GitLab did it, but its answer could not be read. Do not repeat it." };
}

const isJson = ({ headers }: Reply) => /[/+]json/i.test(headers["content-type"] ?? "");

/** Bytes of any kind, as what they say they are: JSON is read, text stays text, the rest is not touched. */
async function fromBytes(reply: Reply, told: Told): Promise<Outcome> {
  if (!(reply.body instanceof Blob)) return toOutcome(reply.body, reply, told);
  if (reply.body.size === 0) return toOutcome(undefined, reply, told);
  if (!isJson(reply)) return toRawOutcome(reply.body, reply.headers, told.call, told.settings);
  try {
    return await toOutcome(JSON.parse(await reply.body.text()), reply, told);
  } catch (error) {
    if (told.judged.effect !== "read") return toOutcome(undefined, { ...reply, unreadable: true }, told);
    throw new BridgeError("gitlab_unavailable", "The answer broke off.", "Ask for less at once and try again.", {}, error);
  }
}

async function runRest(call: Call, judged: RawCall, parts: RawParts): Promise<Outcome> {
  const { method, path, query, body } = call.params;
  const answers = judged.rows[0]?.returns;
  const bytes = judged.rows.length === 0 || answers === "text" || answers === "binary";
  const payload = asObject(body);
  const reply = await parts.request(String(method) as Method, checkPath(path), {
    searchParams: { ...asObject(query) },
    ...(payload ? { body: payload } : {}),
    signal: parts.signal,
    sending: { ...parts.sendingOf(call, judged.template), ...(bytes ? { raw: true } : {}) },
  });
  const told = { call, judged, settings: parts.settings, context: parts.context };
  return bytes ? fromBytes(reply, told) : toOutcome(reply.body, reply, told);
}

async function runDocument(call: Call, judged: RawCall, parts: RawParts): Promise<Outcome> {
  const document = String(call.params.document);
  refuseSecretFields(document, parts.settings);
  const sending = { ...parts.sendingOf(call, judged.template), graphql: document };
  const variables = asObject(call.params.variables) ?? {};
  const reply = await parts.request("POST", "/graphql", { body: { query: document, variables }, signal: parts.signal, sending });
  if (reply.unreadable) throw toOutcomeUnknown("its answer could not be read", sending.target, reply.status);
  const body = isPlain(reply.body) ? reply.body : {};
  refuseFailures(body, sending.target, reply.owner);
  return await toOutcome(body.data, reply, { call, judged, settings: parts.settings, context: parts.context });
}

/** Sends what the caller wrote, judged anew: nothing here trusts what was found above. */
export async function runRaw(call: Call, parts: RawParts): Promise<Outcome> {
  const judged = judgeRaw(call.action, call.params);
  refuseSecrets(judged, call, parts.settings);
  const real = asJudged(call, judged);
  return isRawRest(call.action) ? runRest(real, judged, parts) : runDocument(real, judged, parts);
}

/** What a request would send, secrets masked. */
export function previewOfRaw(call: Call, root: string): Plain & { readonly effect: Effect } {
  const judged = judgeRaw(call.action, call.params);
  const { effect } = judged;
  const { method, path, query, body, document, variables } = call.params;
  const base = toBase(root).pathname;
  const own = isRawRest(call.action)
    ? { method, path: `${base}${checkPath(path)}`, query: asObject(query), body: asObject(body) }
    : { method: "POST", path: `${base.replace(/\/v4$/, "")}/graphql`, query: document };
  const filled = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const safe = (value: unknown) => hideSecrets(value, maskedBy(call, judged)) as Plain;
  // Variables of a document are its arguments, and no variables of CI.
  const given = asObject(variables);
  return { action: call.action.id, effect, ...safe(filled), ...(given ? { variables: safe(given) } : {}) };
}
