import PQueue from "p-queue";
import { loadActions } from "../catalog/load.ts";
import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { cutToFit } from "./budget.ts";
import { type Composite, type Fields, isFields, stopIfCancelled } from "./composite-read.ts";
import { estimateJson } from "./tokens.ts";

const MOST = 20;
const AT_ONCE = 4;
/** Tokens that the name of an entry and the note of a cut take. */
const FRAME = 60;

interface Item {
  readonly action: string;
  readonly params: Fields;
}

function refuse(message: string, hint: string): never {
  throw new BridgeError("invalid_params", `batch.run: ${message}`, hint);
}

/** Ids, tool names and aliases of our own actions that are no reads, or that run others themselves. */
function isUnfit(name: string): boolean {
  const row = loadActions().find((action) => action.id === name || action.tool === name || action.aliases?.includes(name));
  return row !== undefined && (row.effect !== "read" || row.composite === "batch");
}

function toCalls(value: unknown): Item[] {
  const calls = Array.isArray(value) ? value : [];
  if (calls.length === 0) refuse("calls is empty.", 'Give calls: [{ action: "issue.get", params: { … } }, …].');
  if (calls.length > MOST) refuse(`${calls.length} calls, ${MOST} at most.`, `Split them into batches of ${MOST}.`);
  return calls.map((call, index): Item => {
    const action = isFields(call) ? call.action : undefined;
    if (typeof action !== "string") return refuse(`calls[${index}] names no action.`, "Each call is { action, params }.");
    const params = (call as Fields).params;
    return { action, params: isFields(params) ? params : {} };
  });
}

/** An outcome as one entry of the answer. */
function toEntry(outcome: Outcome): Fields {
  switch (outcome.kind) {
    case "value":
      return { result: outcome.value };
    case "list":
      return { items: outcome.items, page: outcome.page, ...(outcome.filtered === undefined ? {} : { filtered: outcome.filtered }) };
    case "text":
      return { text: outcome.text, ...(outcome.value ? { result: outcome.value } : {}), ...(outcome.page ? { page: outcome.page } : {}) };
    case "binary":
      return { mime: outcome.mime, bytes: outcome.bytes, note: "Not shown in a batch: call the action by itself." };
    case "relayed":
      return { result: outcome.result };
    case "preview":
      return { preview: outcome.preview };
    case "needs_input":
      return { note: "Needs an answer of the user: call the action by itself." };
  }
}

/** Cuts one entry to its share, and says so in it. Text grows when it is written as JSON, so that one cut may not do. */
function toSize(entry: Fields, share: number): Fields {
  let { value, cuts } = cutToFit(entry, share, "result");
  for (let round = 0; round < 3 && estimateJson(value) > share; round++) {
    ({ value, cuts } = cutToFit(entry, Math.floor((share * share) / estimateJson(value)) - 1, "result"));
  }
  return cuts.length > 0 ? { ...(value as Fields), truncated: `${cuts.join("; ")}. Call it by itself for the rest.` } : entry;
}

/** What is small leaves its room to what is large. */
function toSizes(entries: readonly Fields[], room: number): Fields[] {
  const share = Math.floor(room / entries.length) - FRAME;
  const sizes = entries.map((entry) => estimateJson(entry));
  const spare = sizes.reduce((sum, size) => sum + Math.max(0, share - size), 0);
  const large = sizes.filter((size) => size > share).length;
  const most = share + (large > 0 ? Math.floor(spare / large) : 0);
  return entries.map((entry) => toSize(entry, most));
}

function toFailure(error: unknown): Fields {
  if (!(error instanceof BridgeError)) throw error;
  return { error: { code: error.code, message: error.message, hint: error.hint } };
}

async function runOne(item: Item, call: Call, context: CallContext): Promise<Fields> {
  stopIfCancelled(context);
  if (isUnfit(item.action)) {
    const error = new BridgeError("invalid_params", `${item.action} is not a read.`, "A batch runs reads only: call it by itself.");
    return toFailure(error);
  }
  try {
    return toEntry(await call.run(item.action, item.params));
  } catch (error) {
    stopIfCancelled(context);
    return toFailure(error);
  }
}

/** Several reads in one call, answered in order, each with its own error; all of them share one budget. */
export const runBatch: Composite = async (call, context, room) => {
  const items = toCalls(call.params.calls);
  const queue = new PQueue({ concurrency: AT_ONCE });
  let done = 0;
  const entries = await Promise.all(
    items.map((item) =>
      queue.add(async () => {
        const entry = await runOne(item, call, context);
        context.progress?.({ progress: ++done, total: items.length, message: item.action });
        return entry;
      }),
    ),
  );
  stopIfCancelled(context);
  const results = toSizes(entries, room).map((entry, index) => ({ action: items[index]?.action, ...entry }));
  const failed = results.filter((result) => Object.hasOwn(result, "error")).length;
  return { kind: "value", value: { results, ...(failed > 0 ? { failed } : {}) }, untrusted: true };
};
