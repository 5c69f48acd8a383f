import type { Settings } from "../../src/config/options.ts";
import { createRoad, type RoadParts } from "../../src/executor/dispatch.ts";
import type { Fetch } from "../../src/executor/exchange.ts";
import { createGitLabSource, type GitLabOptions } from "../../src/executor/gitlab.ts";
import { createLog } from "../../src/log.ts";
import { createDoor } from "../../src/policy/door.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createRegistry } from "../../src/registry/registry.ts";

export const HOST = "https://gitlab.test";

/** The flags of a server that stands before that host with a token of its own. */
export const AT_HOST = [`--url=${HOST}`, "--token=glpat-of-this-server-1"] as const;

/** The real road over the real source of GitLab; only the network is another. */
export function roadOver(
  fetch: Fetch,
  settings: Settings,
  more: Partial<RoadParts> = {},
  own: Partial<Pick<GitLabOptions, "log" | "secretsDirectory">> = {},
) {
  const log = createLog({ level: "silent" });
  const source = createGitLabSource({ settings, door: createDoor(settings), log, version: "0", fetch, ...own });
  const policy = createPolicy(settings);
  const registry = createRegistry([source]);
  const road = createRoad({
    registry,
    policy,
    facts: () => ({}),
    normalize: (context) => ({ instance: HOST, ...source.people(context) }),
    places: source.places,
    ...more,
  });
  return { road, source, policy, registry };
}
