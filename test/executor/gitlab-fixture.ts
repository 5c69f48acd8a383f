import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { pickRoute } from "../../src/catalog/route.ts";
import type { Action, Call, CallContext, Outcome, Wanted } from "../../src/catalog/types.ts";
import { OPTIONS, type OptionName, type Settings } from "../../src/config/options.ts";
import { BridgeError } from "../../src/errors.ts";
import { createGitLabSource, type GitLabOptions } from "../../src/executor/gitlab.ts";
import { createLog } from "../../src/log.ts";
import { createDoor } from "../../src/policy/door.ts";

export const HOST = "https://gitlab.test";
export const API = `${HOST}/api/v4`;

export const server = setupServer();

/** Every request that left, in order. */
export const sent: { method: string; url: URL; headers: Headers; body: string }[] = [];

/** Starts the fake network for a file: whatever is not handled fails the test. */
export function useNetwork(): void {
  beforeAll(() => {
    server.listen({ onUnhandledRequest: "error" });
    server.events.on("request:start", async ({ request }) => {
      const entry = { method: request.method, url: new URL(request.url), headers: request.headers, body: "" };
      sent.push(entry);
      entry.body = await request.clone().text();
    });
  });
  afterEach(() => {
    server.resetHandlers();
    sent.length = 0;
  });
  afterAll(() => server.close());
}

const all = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, { schema }]) => [name, schema.safeParse(undefined).data]),
) as unknown as Settings;

export const settingsOf = (own: Partial<Record<OptionName, unknown>> = {}): Settings =>
  ({ ...all, url: HOST, token: "glpat-server-secret-1", timeout: 2_000, ...own }) as Settings;

export const log = createLog({ level: "silent" });

export function sourceOf(own: Partial<Record<OptionName, unknown>> = {}, more: Partial<GitLabOptions> = {}) {
  const settings = settingsOf(own);
  return createGitLabSource({ settings, door: createDoor(settings), log, version: "9.9.9", firstWait: 1, ...more });
}

export const action = (id: string): Action => {
  const found = loadActions().find((one) => one.id === id);
  if (!found) throw new Error(`no action ${id}`);
  return found;
};

export const callOf = (id: string | Action, params: Record<string, unknown> = {}, wanted: Wanted = {}): Call => {
  const row = typeof id === "string" ? action(id) : id;
  return {
    action: row,
    params,
    wanted,
    ...(row.http ? { route: pickRoute(row, params) } : {}),
    run: () => Promise.reject(new Error("not used")),
  };
};

export const contextOf = (own: Partial<CallContext> = {}): CallContext => ({
  principal: { instance: HOST },
  signal: new AbortController().signal,
  canAsk: false,
  meta: {},
  ...own,
});

export async function failureOf(promise: Promise<unknown>): Promise<BridgeError> {
  const error = await promise.then(
    (value) => new Error(`expected a failure, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof BridgeError)) throw error;
  return error;
}

export const valueIn = (outcome: Outcome) => {
  if (outcome.kind !== "value") throw new Error(`expected a value, got ${outcome.kind}`);
  return outcome.value;
};

export const listIn = (outcome: Outcome) => {
  if (outcome.kind !== "list") throw new Error(`expected a list, got ${outcome.kind}`);
  return outcome;
};

export const textIn = (outcome: Outcome) => {
  if (outcome.kind !== "text") throw new Error(`expected a text, got ${outcome.kind}`);
  return outcome;
};

/** Answers in order; the last one stays. */
export function answers(method: "get" | "post" | "put" | "delete", path: string, ...list: (() => Response | Promise<Response>)[]): void {
  let at = 0;
  server.use(
    http[method](path, () => {
      const make = list[Math.min(at++, list.length - 1)];
      return make ? make() : HttpResponse.error();
    }),
  );
}

export const json = (body: unknown, init: { status?: number; headers?: Record<string, string> } = {}) =>
  HttpResponse.json(body as never, init);
