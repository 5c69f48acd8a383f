import { isList } from "../catalog/schema.ts";
import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { toOutcomeUnknown } from "./failures.ts";
import type { Request } from "./gitbeaker.ts";
import { absent, refuseFailures } from "./graphql-errors.ts";
import { connectionIn, innermost, toRestShape } from "./graphql-shape.ts";
import { type FindPlace, isPagedDocument, toVariables } from "./graphql-variables.ts";
import { type ListParts, type RawPage, runList } from "./listing.ts";
import type { Position } from "./page.ts";
import type { Reply, Sending } from "./requester.ts";
import { notesOf, roomOf, type ShapeSettings, shapeRows, toValueOutcome } from "./result.ts";
import { shownPart } from "./scope-clean.ts";
import { compact, isPlain } from "./slim.ts";
import { toWriteOutcome } from "./written.ts";

type Plain = Readonly<Record<string, unknown>>;

export interface GraphqlParts {
  readonly request: Request;
  readonly settings: ShapeSettings;
  readonly find: FindPlace;
}

interface Asking {
  readonly call: Call;
  readonly document: string;
  readonly sending: Sending;
  readonly parts: GraphqlParts;
  readonly context: CallContext;
}

interface Answered {
  readonly reply: Reply;
  readonly data: Plain;
}

async function ask({ document, sending, parts, context }: Asking, variables: Plain): Promise<Answered> {
  const reply = await parts.request("POST", "/graphql", {
    body: { query: document, variables },
    signal: context.signal,
    sending: { ...sending, graphql: document },
  });
  // Unlike with REST, success is not in the status: without the answer nobody knows.
  if (reply.unreadable) throw toOutcomeUnknown("its answer could not be read", sending.target, reply.status);
  const body = isPlain(reply.body) ? reply.body : {};
  refuseFailures(body, sending.target, reply.owner);
  return { reply, data: isPlain(body.data) ? body.data : {} };
}

const afterOf = (position: Position | undefined): string | undefined => (position?.kind === "link" ? position.query.after : undefined);

function pagingOf(position: Position | undefined, size: number): Plain {
  const after = afterOf(position);
  return { first: size, ...(after === undefined ? {} : { after }) };
}

/** One page: the connection of the answer, or the plain list that stands in it. */
function toPage({ data, reply }: Answered, { sending }: Asking, size: number): RawPage {
  const found = connectionIn(data);
  const plain = innermost(data);
  if (!found && !Array.isArray(plain)) throw absent(sending.target, reply.owner);
  const items = (found?.nodes ?? (Array.isArray(plain) ? plain : [])).map((node) => toRestShape(node));
  const next: Position | undefined =
    found?.after === undefined ? undefined : { kind: "link", query: { after: found.after }, size, skip: 0 };
  return { items, ...(next ? { next } : {}), ...(found?.total === undefined ? {} : { total: found.total }) };
}

async function list(asking: Asking): Promise<Outcome> {
  const { call, document, parts, context } = asking;
  const variables = await toVariables(call, document, parts.find);
  const paged = isPagedDocument(document);
  const listing: ListParts = {
    budget: roomOf(parts.settings, call.wanted),
    paged,
    shape: (items) => shapeRows(items, call, parts.settings, "list"),
    read: async (position, size) => toPage(await ask(asking, { ...variables, ...(paged ? pagingOf(position, size) : {}) }), asking, size),
  };
  const outcome = await runList(call, context, listing);
  return { ...outcome, ...notesOf(call, outcome.items) };
}

/** What a mutation gives back, without its list of errors. */
function payloadOf(data: Plain): unknown {
  const payload = Object.values(data)[0];
  if (!isPlain(payload)) return payload;
  const { errors: _errors, ...rest } = payload;
  return innermost(rest);
}

/** Runs a row's document: variables from params, one page or one thing or what was written, in the form of all other answers. */
export async function runGraphql(asking: Asking): Promise<Outcome> {
  const { call, document, parts, sending } = asking;
  if (isList(call.action)) return list(asking);
  const answered = await ask(asking, await toVariables(call, document, parts.find));
  if (call.action.effect === "read") {
    const value = innermost(answered.data);
    if (value === null || (Array.isArray(value) && value.length === 0)) throw absent(sending.target, answered.reply.owner);
    const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return await shownPart(toRestShape(one), call, asking.context, (body) => toValueOutcome(body, call, parts.settings));
  }
  // The document asks for no more than a short answer: all of it is told.
  const whole: Call = { ...call, wanted: { ...call.wanted, full: true } };
  const payload = compact(toRestShape(payloadOf(answered.data)));
  return await shownPart(payload, call, asking.context, (body) => toWriteOutcome({ ...answered.reply, body }, whole, parts.settings));
}
