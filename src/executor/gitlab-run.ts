import { documentOf } from "../catalog/route.ts";
import { isList } from "../catalog/schema.ts";
import type { Action, Call, CallContext, Outcome } from "../catalog/types.ts";
import { isRaw } from "../policy/call-effects.ts";
import { toQuery } from "./address.ts";
import { COMPOSITES } from "./composites.ts";
import { openUploads, saveDownload } from "./files.ts";
import { type GitLabParts, readFor, send, sendingOf } from "./gitlab-send.ts";
import { createFinder } from "./graphql-places.ts";
import { runGraphql } from "./graphql-run.ts";
import { type Intake, takeEnd, takeStart } from "./intake.ts";
import { type ListParts, runList } from "./listing.ts";
import { nextPosition, toPagingQuery, totalOf } from "./page.ts";
import { type RawParts, runRaw } from "./raw.ts";
import { isReadFromEnd, notesOf, roomOf, shapeRows, toFileOutcome, toRawOutcome, toValueOutcome } from "./result.ts";
import { shownPart } from "./scope-clean.ts";
import { prepareDelivery, requireTellable } from "./secrets.ts";
import { didOf, hintOf, missingLabels } from "./silent.ts";
import { toWire, type WireRequest } from "./wire.ts";
import { toWriteOutcome } from "./written.ts";

const isPaged = ({ paging }: Action) => paging !== undefined && paging !== "none";

function toItems(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  return body === null || body === undefined || body === "" ? [] : [body];
}

function listParts(wire: WireRequest, call: Call, context: CallContext, parts: GitLabParts): ListParts {
  const paged = isPaged(call.action);
  const own = new URLSearchParams(toQuery(wire.query));
  return {
    budget: roomOf(parts.settings, call.wanted),
    paged,
    shape: (items) => shapeRows(items, call, parts.settings, "list"),
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

async function list(wire: WireRequest, call: Call, context: CallContext, parts: GitLabParts): Promise<Outcome> {
  const outcome = await runList(call, context, listParts(wire, call, context, parts));
  return { ...outcome, ...notesOf(call, outcome.items) };
}

/** Of a long text only the end or the start is kept, whichever was asked for; a file is kept whole, or goes to the disk. */
function download(wire: WireRequest, call: Call, context: CallContext, parts: GitLabParts): Promise<Outcome> {
  const { settings } = parts;
  requireTellable(call, settings);
  const get = (intake?: Intake) => send(wire, call, context, parts, { raw: true, ...(intake ? { intake } : {}) });
  if (call.wanted.save_as !== undefined) return saveDownload(call, context, settings.filesDir, get);
  const intake = call.action.returns === "text" ? (isReadFromEnd(call) ? takeEnd() : takeStart()) : undefined;
  return get(intake).then(({ body, headers, kept }) => toRawOutcome(body, headers, call, settings, kept));
}

async function read(call: Call, context: CallContext, parts: GitLabParts): Promise<Outcome> {
  const { settings } = parts;
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

async function write(call: Call, context: CallContext, parts: GitLabParts): Promise<Outcome> {
  const { settings, secretsDirectory } = parts;
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

const rawParts = (context: CallContext, parts: GitLabParts): RawParts => ({
  context,
  request: parts.request,
  settings: parts.settings,
  signal: context.signal,
  sendingOf: (call, template) => sendingOf(call, context, parts, template),
});

/** Runs a call as its row says: by REST, by a GraphQL document, as a composite, or by hand. */
export function run(call: Call, context: CallContext, parts: GitLabParts): Promise<Outcome> {
  const { action } = call;
  if (isRaw(action)) return runRaw(call, rawParts(context, parts));
  if (action.composite !== undefined) {
    const composite = COMPOSITES[action.composite];
    if (!composite) throw new Error(`${action.id}: there is no composite ${action.composite}`);
    return composite(call, context, roomOf(parts.settings, call.wanted));
  }
  const document = documentOf(action, call.params);
  if (document !== undefined) {
    const graphql = { request: parts.request, settings: parts.settings, find: createFinder(readFor(parts, context)) };
    return runGraphql({ call, document, sending: sendingOf(call, context, parts, "/graphql"), parts: graphql, context });
  }
  return action.effect === "read" ? read(call, context, parts) : write(call, context, parts);
}
