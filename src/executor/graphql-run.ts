import type { Call, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { toWords } from "./error-words.ts";
import type { Request } from "./gitbeaker.ts";
import { toGitLabError } from "./gitlab-errors.ts";
import type { Sending } from "./requester.ts";
import { type ShapeSettings, toValueOutcome } from "./result.ts";
import { isPlain } from "./slim.ts";
import { toWriteOutcome } from "./written.ts";

interface Parts {
  readonly request: Request;
  readonly options: { readonly settings: ShapeSettings };
}

/** GraphQL fails inside HTTP 200: `errors` beside the data, or in the payload of a mutation. */
function failureIn(body: Readonly<Record<string, unknown>>): string | undefined {
  if (Array.isArray(body.errors) && body.errors.length > 0)
    return body.errors.map((one) => (isPlain(one) ? String(one.message) : String(one))).join("; ");
  const payloads = isPlain(body.data) ? Object.values(body.data).filter(isPlain) : [];
  const told = payloads.flatMap((payload) => (Array.isArray(payload.errors) ? payload.errors.map(String) : []));
  return told.length > 0 ? told.join("; ") : undefined;
}

function refuse(words: string, sending: Sending, owner: "caller" | "server" | "nobody"): never {
  const denied = /not exist or you don't have permission|access denied|unauthorized/i.test(words);
  if (denied) throw toGitLabError({ status: 404, headers: {}, body: { message: words } }, sending.target, owner);
  const text = toWords({ message: words }).text;
  throw new BridgeError(
    "unprocessable",
    `${sending.target.action}: GitLab's GraphQL API refused it: "${text}".`,
    "Correct what it names; check field and argument names against this GitLab's version.",
    {
      status: 200,
    },
  );
}

/** Runs a row's document with the params as variables. */
export async function runGraphql(call: Call, document: string, sending: Sending, parts: Parts, signal: AbortSignal): Promise<Outcome> {
  const reply = await parts.request("POST", "/graphql", {
    body: { query: document, variables: call.params },
    signal,
    sending: { ...sending, graphql: document },
  });
  const body = isPlain(reply.body) ? reply.body : {};
  const words = failureIn(body);
  if (words !== undefined) refuse(words, sending, reply.owner);
  const data = isPlain(body.data) ? body.data : {};
  const inner = Object.values(data);
  const value = inner.length === 1 ? inner[0] : data;
  const { settings } = parts.options;
  return call.action.effect === "read" ? toValueOutcome(value, call, settings) : toWriteOutcome({ ...reply, body: value }, call, settings);
}
