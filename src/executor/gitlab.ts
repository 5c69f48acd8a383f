import { GITLAB, loadActions } from "../catalog/load.ts";
import { documentOf, sinceOf } from "../catalog/route.ts";
import { isList } from "../catalog/schema.ts";
import { TOOLSETS } from "../catalog/toolsets.ts";
import type { Action, Call, CallContext, Facts, Outcome, Source } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { effectOfCall, isRaw } from "../policy/call-effects.ts";
import type { Door } from "../policy/door.ts";
import { digestOf } from "../policy/own-token.ts";
import { toBase, toQuery, toRoot } from "./address.ts";
import { noteAnswer } from "./audit.ts";
import { checkOf } from "./check.ts";
import { COMPOSITES } from "./composites.ts";
import { createCredentials } from "./credentials.ts";
import type { Fetch } from "./exchange.ts";
import { createFacts } from "./facts.ts";
import { openUploads, saveDownload } from "./files.ts";
import { createRequest, type Request } from "./gitbeaker.ts";
import { createFinder } from "./graphql-places.ts";
import { runGraphql } from "./graphql-run.ts";
import { toVariables } from "./graphql-variables.ts";
import { type Intake, takeEnd, takeStart } from "./intake.ts";
import { type ListParts, runList } from "./listing.ts";
import { createTitles, type Read } from "./lookups.ts";
import { createNetwork } from "./network.ts";
import { nextPosition, toPagingQuery, totalOf } from "./page.ts";
import type { People } from "./param-people.ts";
import type { Titles } from "./param-titles.ts";
import { createPlaces, type Look } from "./places.ts";
import { effectOfWrite, fitPreview } from "./preview.ts";
import { previewOfRaw, type RawParts, runRaw } from "./raw.ts";
import { createRequesterFn, type Reply, type RequesterParts, type Sending } from "./requester.ts";
import {
  isReadFromEnd,
  markForeign,
  notesOf,
  projectOf,
  roomOf,
  shapeRows,
  toFileOutcome,
  toRawOutcome,
  toValueOutcome,
} from "./result.ts";
import { shownPart } from "./scope-clean.ts";
import { hideSecrets, prepareDelivery, requireTellable, tellMasked } from "./secrets.ts";
import { didOf, hintOf, missingLabels } from "./silent.ts";
import { isPlain } from "./slim.ts";
import type { Target } from "./target.ts";
import { createTierHints } from "./tier.ts";
import { toWire, type WireRequest } from "./wire.ts";
import { toWriteOutcome } from "./written.ts";

export interface GitLabOptions extends Partial<Pick<RequesterParts, "firstWait" | "wait">> {
  readonly settings: Settings;
  readonly door: Door;
  readonly log: Log;
  readonly version: string;
  readonly fetch?: Fetch;
  readonly actions?: () => readonly Action[];
  /** Where new secrets are written; without it they are refused unless they may stand in the answer. */
  readonly secretsDirectory?: string;
  /** GitLab refused a caller (401, 403): what is known of it may be old. */
  readonly onDoubt?: (context: CallContext) => void;
}

/** GitLab as a source, with what it knows about the caller. */
export interface GitLabSource extends Source {
  /** Asks GitLab, once per credential, who the caller is and what GitLab it is; failures stay unknown. */
  facts(context: CallContext): Promise<Facts>;
  /** How ids and paths of projects and groups are told apart for this caller. */
  places(context: CallContext): Look;
  /** How names of people and titles become ids for this caller. */
  people(context: CallContext): People & Titles;
  close(): Promise<void>;
}

interface Parts {
  readonly options: GitLabOptions;
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

function targetOf(call: Call, parts: Parts): Target {
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

function sendingOf(call: Call, context: CallContext, parts: Parts, template: string): Sending {
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

function send(wire: WireRequest, call: Call, context: CallContext, parts: Parts, extra: Extra = {}): Promise<Reply> {
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
function watched(request: Request, doubt: (context: CallContext) => void): Request {
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

const isPaged = ({ paging }: Action) => paging !== undefined && paging !== "none";

function toItems(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  return body === null || body === undefined || body === "" ? [] : [body];
}

function listParts(wire: WireRequest, call: Call, context: CallContext, parts: Parts): ListParts {
  const paged = isPaged(call.action);
  const own = new URLSearchParams(toQuery(wire.query));
  return {
    budget: roomOf(parts.options.settings, call.wanted),
    paged,
    shape: (items) => shapeRows(items, call, parts.options.settings, "list"),
    async read(position, size) {
      const query = paged ? toPagingQuery(position, size, call.action.id) : {};
      const { body, headers } = await send(wire, call, context, parts, { query });
      const sent = new URLSearchParams(own);
      for (const name of ["per_page", "pagination"]) if (query[name] !== undefined) sent.append(name, query[name]);
      const next = paged ? nextPosition(headers, sent, size) : undefined;
      const total = totalOf(headers);
      return { items: toItems(body), ...(next ? { next } : {}), ...(total === undefined ? {} : { total }) };
    },
  };
}

async function list(wire: WireRequest, call: Call, context: CallContext, parts: Parts): Promise<Outcome> {
  const outcome = await runList(call, context, listParts(wire, call, context, parts));
  return { ...outcome, ...notesOf(call, outcome.items) };
}

/** Of a long text only the end or the start is kept, whichever was asked for; a file is kept whole, or goes to the disk. */
function download(wire: WireRequest, call: Call, context: CallContext, parts: Parts): Promise<Outcome> {
  const { settings } = parts.options;
  requireTellable(call, settings);
  const get = (intake?: Intake) => send(wire, call, context, parts, { raw: true, ...(intake ? { intake } : {}) });
  if (call.wanted.save_as !== undefined) return saveDownload(call, context, settings.filesDir, get);
  const intake = call.action.returns === "text" ? (isReadFromEnd(call) ? takeEnd() : takeStart()) : undefined;
  return get(intake).then(({ body, headers, kept }) => toRawOutcome(body, headers, call, settings, kept));
}

async function read(call: Call, context: CallContext, parts: Parts): Promise<Outcome> {
  const { settings } = parts.options;
  const { action } = call;
  const wire = toWire(call);
  if (action.returns === "text" || action.returns === "binary") return download(wire, call, context, parts);
  if (isList(action)) return list(wire, call, context, parts);
  const reply = await send(wire, call, context, parts);
  const file = toFileOutcome(reply.body, call, settings);
  if (file) return file;
  if (!Array.isArray(reply.body)) return await shownPart(reply.body, call, context, (body) => toValueOutcome(body, call, settings));
  const rows = reply.body;
  const whole: ListParts = {
    budget: roomOf(settings, call.wanted),
    paged: false,
    shape: (items) => shapeRows(items, call, settings, "list"),
    read: async () => ({ items: rows }),
  };
  const outcome = await runList(call, context, whole);
  return { ...outcome, ...notesOf(call, outcome.items) };
}

/** What a look before a write may take; then the write goes out without it. */
const LOOK_MS = 5_000;

async function write(call: Call, context: CallContext, parts: Parts): Promise<Outcome> {
  const { settings, secretsDirectory } = parts.options;
  const wire = toWire(call, await openUploads(call, settings.filesDir, context.progress));
  const vault = await prepareDelivery(call.action, settings, secretsDirectory);
  try {
    const missing = await missingLabels(call, readFor(parts, context, AbortSignal.any([context.signal, AbortSignal.timeout(LOOK_MS)])));
    const reply = await send(wire, call, context, parts);
    const outcome = await shownPart(reply.body, call, context, (body) => toWriteOutcome({ ...reply, body }, call, settings, vault));
    return { ...outcome, ...didOf(missing, reply.body), ...hintOf(call, reply.body) };
  } catch (error) {
    await vault?.drop().catch(() => undefined);
    throw error;
  }
}

const rawParts = (context: CallContext, parts: Parts): RawParts => ({
  context,
  request: parts.request,
  settings: parts.options.settings,
  signal: context.signal,
  sendingOf: (call, template) => sendingOf(call, context, parts, template),
});

function run(call: Call, context: CallContext, parts: Parts): Promise<Outcome> {
  const { action } = call;
  if (isRaw(action)) return runRaw(call, rawParts(context, parts));
  if (action.composite !== undefined) {
    const composite = COMPOSITES[action.composite];
    if (!composite) throw new Error(`${action.id}: there is no composite ${action.composite}`);
    return composite(call, context, roomOf(parts.options.settings, call.wanted));
  }
  const document = documentOf(action, call.params);
  if (document !== undefined) {
    const graphql = { request: parts.request, settings: parts.options.settings, find: createFinder(readFor(parts, context)) };
    return runGraphql({ call, document, sending: sendingOf(call, context, parts, "/graphql"), parts: graphql, context });
  }
  return action.effect === "read" ? read(call, context, parts) : write(call, context, parts);
}

function bodyOf({ body }: WireRequest, action: Action): Readonly<Record<string, unknown>> {
  if (body === undefined) return {};
  const plain =
    body instanceof FormData
      ? Object.fromEntries([...body].map(([name, value]) => [name, typeof value === "string" ? value : `file ${value.name}`]))
      : body instanceof Blob
        ? `${body.size} bytes`
        : body;
  return { body: hideSecrets(plain, action) };
}

/** A composite goes its whole way: its reads are done, and of its writes, which nobody sends, is told what they would send. */
async function previewOfComposite(call: Call, context: CallContext, parts: Parts): Promise<Readonly<Record<string, unknown>>> {
  const would_send: unknown[] = [];
  const recorded = async (id: string, params: Call["params"]) => {
    const outcome = await call.run(id, params);
    if (outcome.kind === "preview") would_send.push(outcome.preview);
    return outcome;
  };
  await run({ ...call, run: recorded }, context, parts);
  return { action: call.action.id, effect: effectOfCall(call.action, call.params).effect, would_send };
}

async function previewOfGraphql(
  call: Call,
  document: string,
  context: CallContext,
  parts: Parts,
): Promise<Readonly<Record<string, unknown>>> {
  const { action } = call;
  const variables = hideSecrets(await toVariables(call, document, createFinder(readFor(parts, context))), action);
  const path = `${toRoot(parts.options.settings.url)}/api/graphql`;
  return {
    action: action.id,
    effect: effectOfCall(action, call.params).effect,
    method: "POST",
    path: new URL(path).pathname,
    query: document,
    variables,
    ...(await effectOfWrite(call, parts.actions(), { project: context.project })),
  };
}

async function previewOf(call: Call, context: CallContext, parts: Parts): Promise<Readonly<Record<string, unknown>>> {
  const { action } = call;
  const document = documentOf(action, call.params);
  if (document !== undefined) return previewOfGraphql(call, document, context, parts);
  if (isRaw(action)) return previewOfRaw(call, parts.root);
  if (action.composite !== undefined) return previewOfComposite(call, context, parts);
  const wire = toWire(call);
  const project = projectOf(call);
  return {
    action: action.id,
    effect: effectOfCall(action, call.params).effect,
    method: wire.method,
    path: `${toBase(parts.root).pathname}${wire.path}`,
    ...(Object.keys(wire.query).length > 0 ? { query: hideSecrets(wire.query, action) } : {}),
    ...bodyOf(wire, action),
    ...(project === undefined ? {} : { project }),
    ...(await effectOfWrite(call, parts.actions(), { project: context.project })),
  };
}

async function get(parts: Parts, path: string, template: string, context: CallContext, signal: AbortSignal): Promise<unknown> {
  const target: Target = { action: `GET ${template}`, effect: "read", instance: parts.root };
  const credential = context.credential ? { credential: context.credential } : {};
  const [bare = path, query = ""] = path.split("?");
  const searchParams = Object.fromEntries(new URLSearchParams(query));
  return (await parts.request("GET", bare, { searchParams, signal, sending: { template, effect: "read", target, context, ...credential } }))
    .body;
}

const readFor =
  (parts: Parts, context: CallContext, signal = context.signal): Read =>
  (path, template) =>
    get(parts, path, template, context, signal);

async function resolveUser(parts: Parts, username: string, context: CallContext): Promise<number | undefined> {
  const found = await get(parts, `/users?${new URLSearchParams({ username })}`, "/users", context, context.signal);
  const user = Array.isArray(found) ? found.find((one) => isPlain(one) && typeof one.id === "number") : undefined;
  return isPlain(user) ? (user.id as number) : undefined;
}

/** GitLab's REST and GraphQL API as a source of actions. Nothing is sent, read or loaded before the first call. */
export function createGitLabSource(options: GitLabOptions): GitLabSource {
  const { settings, log } = options;
  const root = toRoot(settings.url);
  const network = createNetwork(settings);
  const credentials = createCredentials(settings, log);
  const requesterFn = createRequesterFn({
    ...options,
    network,
    credentials,
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
  });
  const doubt = (context: CallContext) => {
    facts.doubt(context);
    options.onDoubt?.(context);
  };
  const request = watched(createRequest(root, requesterFn), doubt);
  const parts: Parts = { options, root, request, actions: options.actions ?? loadActions };
  // Facts are about the caller, whatever the call may reach; a probe that is refused says nothing against what is known.
  const probe = { ...parts, request: createRequest(root, requesterFn) };
  const facts = createFacts({
    get: (path, context, signal) => get(probe, path, path, context, signal),
    deadline: settings.identifyTimeout,
    digest: async ({ credential }) => {
      const [value] = Object.values((await credentials.get(credential)).headers);
      return value === undefined ? undefined : digestOf(value);
    },
  });
  const places = createPlaces((path, template, context) => get(parts, path, template, context, context.signal));
  const explain = createTierHints({ settings, facts, places, get: (...asked) => get(probe, ...asked) });
  return {
    name: GITLAB,
    toolsets: () => TOOLSETS,
    actions: parts.actions,
    run: async (call, context) => {
      const outcome = markForeign(await explain(call, context, () => run(call, context, parts)), call);
      return call.action.effect === "read" ? tellMasked(outcome) : outcome;
    },
    preview: async (call, context) => fitPreview(await previewOf(call, context, parts), roomOf(settings, call.wanted)),
    facts,
    places,
    people: (context) => ({
      self: async () => (await facts(context)).user,
      resolveUser: (username) => resolveUser(parts, username, context),
      ...createTitles(readFor(parts, context)),
    }),
    close: () => network.close(),
  };
}
