import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { Action, CallContext, Facts, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { visible } from "../visible.ts";
import type { Connection } from "./connection.ts";
import { forReader, type Reader, renderOutcome } from "./render.ts";

/** One read that a resource, a prompt or a completion stands on. */
export interface Read {
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** merge_request.diff_show lists the files unless some are named. */
export const WHOLE_DIFF = { paths: ["**"] } as const;

const ONLY_READS = "Resources, prompts and completions only read.";

/** The same road as every call: policy, current project and limits hold here too. */
export async function read(connection: Connection, { action, params }: Read, context: CallContext): Promise<Outcome> {
  const runner = await connection.runner();
  return await runner.run({ name: action, params, readsOnly: ONLY_READS }, context);
}

/** Whatever was read stands in front of a model without a call of its own: all of it is framed as what others wrote. */
export function toText(outcome: Outcome): string {
  const framed = ["value", "list", "text"].includes(outcome.kind) ? ({ ...outcome, untrusted: true } as Outcome) : outcome;
  return renderOutcome(framed)
    .content.map((block) => String(block.text ?? ""))
    .join("\n");
}

function find(connection: Connection, id: string): Action | undefined {
  return connection.registry.actions().find((action) => action.id === id);
}

/** Whether everything it needs may be used: what stands on a withheld action is withheld. */
export function mayRead(connection: Connection, ids: readonly string[], facts: Facts): boolean {
  return ids.every((id) => {
    const action = find(connection, id);
    return action !== undefined && connection.policy.permits(action, facts);
  });
}

/** @throws BridgeError not_permitted where the action is withheld. */
export function requirePermitted({ policy, registry }: Connection, id: string, facts: Facts): void {
  const action = registry.resolve(id);
  const verdict = policy.verdict(action, facts);
  if (!verdict.permitted) throw policy.refusal(action, verdict.reason);
}

/** The same for what is about to be read: the road refuses it, and writes that down. @throws BridgeError not_permitted */
export async function requireReads(connection: Connection, ids: readonly string[], context: CallContext): Promise<void> {
  const facts = connection.facts.known(context);
  const withheld = ids.find((id) => !mayRead(connection, [id], facts));
  if (withheld === undefined) return;
  await read(connection, { action: withheld, params: {} }, context);
  requirePermitted(connection, withheld, facts);
}

const CALLER: ReadonlySet<string> = new Set(["invalid_params", "not_permitted", "unknown_action", "unknown_toolset", "ambiguous_alias"]);

/** These requests have no `isError`: code, message and hint travel in the protocol's own error. */
export function toProtocolError(thrown: unknown, reader: Reader, uri?: string): unknown {
  if (!(thrown instanceof BridgeError)) return thrown;
  const { hint, detail, ...said } = forReader(thrown, reader);
  const message = visible(`${thrown.code}: ${said.message} ${hint}`);
  // The SDK gives a resource that is not there the code of the era; its data is the address alone.
  if (uri !== undefined && ["not_found", "unknown_action"].includes(thrown.code)) return new ResourceNotFoundError(uri, message);
  const code = CALLER.has(thrown.code) || thrown.code === "not_found" ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, message, { code: thrown.code, hint, ...detail });
}
