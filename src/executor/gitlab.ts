import { GITLAB, loadActions } from "../catalog/load.ts";
import { TOOLSETS } from "../catalog/toolsets.ts";
import type { Action, CallContext, Facts, Source } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import type { Log } from "../log.ts";
import type { Door } from "../policy/door.ts";
import { digestOf } from "../policy/own-token.ts";
import { toRoot } from "./address.ts";
import { createCredentials } from "./credentials.ts";
import type { Fetch } from "./exchange.ts";
import { createFacts } from "./facts.ts";
import { createRequest } from "./gitbeaker.ts";
import { previewOf } from "./gitlab-preview.ts";
import { run } from "./gitlab-run.ts";
import { type GitLabParts, get, readFor, watched } from "./gitlab-send.ts";
import { createTitles } from "./lookups.ts";
import { createNetwork } from "./network.ts";
import type { People } from "./param-people.ts";
import type { Titles } from "./param-titles.ts";
import { createPlaces, type Look } from "./places.ts";
import { fitPreview } from "./preview.ts";
import { createRequesterFn, type RequesterParts } from "./requester.ts";
import { markForeign, roomOf } from "./result.ts";
import { tellMasked } from "./secrets.ts";
import { isPlain } from "./slim.ts";
import { createTierHints } from "./tier.ts";

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

async function resolveUser(parts: GitLabParts, username: string, context: CallContext): Promise<number | undefined> {
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
  const { secretsDirectory, actions = loadActions } = options;
  const parts: GitLabParts = { settings, secretsDirectory, root, request, actions };
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
