import { documentOf } from "../catalog/route.ts";
import type { Action, Call, CallContext } from "../catalog/types.ts";
import { effectOfCall, isRaw } from "../policy/call-effects.ts";
import { toBase, toRoot } from "./address.ts";
import { run } from "./gitlab-run.ts";
import { type GitLabParts, readFor } from "./gitlab-send.ts";
import { createFinder } from "./graphql-places.ts";
import { toVariables } from "./graphql-variables.ts";
import { effectOfWrite } from "./preview.ts";
import { previewOfRaw } from "./raw.ts";
import { projectOf } from "./result.ts";
import { hideSecrets } from "./secrets.ts";
import { toWire, type WireRequest } from "./wire.ts";

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
async function previewOfComposite(call: Call, context: CallContext, parts: GitLabParts): Promise<Readonly<Record<string, unknown>>> {
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
  parts: GitLabParts,
): Promise<Readonly<Record<string, unknown>>> {
  const { action } = call;
  const variables = hideSecrets(await toVariables(call, document, createFinder(readFor(parts, context))), action);
  const path = `${toRoot(parts.settings.url)}/api/graphql`;
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

/** What a call would send, and what it would change, as far as it can be told before. */
export async function previewOf(call: Call, context: CallContext, parts: GitLabParts): Promise<Readonly<Record<string, unknown>>> {
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
