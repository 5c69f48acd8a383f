import { loadActions } from "../../src/catalog/load.ts";
import type { CallContext, Facts, Outcome } from "../../src/catalog/types.ts";
import type { RoadParts, RoadRequest } from "../../src/executor/dispatch.ts";
import type { Fetch } from "../../src/executor/exchange.ts";
import { AT_HOST, HOST, roadOver } from "./gitlab-road.ts";
import { settingsFor } from "./settings.ts";

/** One request as it left. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  /** JSON bodies as values, forms as entries, bare bytes as they are. */
  readonly body: unknown;
}

export type Answer = (sent: Sent) => Response;

const nothing: Answer = ({ method }) => Response.json(method === "GET" ? [] : { id: 1 });

function toBody(body: unknown): unknown {
  if (body instanceof FormData)
    return Object.fromEntries(
      [...body.keys()].map((name) => [name, body.getAll(name).map((one) => (typeof one === "string" ? one : "file"))]),
    );
  if (body instanceof Blob) return body;
  return typeof body === "string" ? (JSON.parse(body) as unknown) : undefined;
}

/** The real road and the real source of a server with these flags; the network is a record of what would have left. */
export function recordingRoad(
  flags: readonly string[] = [],
  answer: Answer = nothing,
  facts: Facts = {},
  more: Partial<RoadParts> = {},
  who: Partial<CallContext> = {},
) {
  const sent: Sent[] = [];
  const settings = settingsFor(...AT_HOST, "--retries=0", ...flags);
  const fetch = (async (input: URL | string, init: RequestInit = {}) => {
    const one = { method: init.method ?? "GET", url: new URL(String(input)), body: toBody(init.body) };
    sent.push(one);
    return answer(one);
  }) as Fetch;
  const { road, policy, registry } = roadOver(fetch, settings, { facts: () => facts, ...more });
  const context: CallContext = { principal: { instance: HOST }, signal: new AbortController().signal, canAsk: false, meta: {}, ...who };
  const run = (name: string, params: unknown, own: Partial<RoadRequest> = {}): Promise<Outcome> =>
    road.run({ name, params, ...own }, context);
  return { run, sent, policy, registry, settings, actions: loadActions() };
}
