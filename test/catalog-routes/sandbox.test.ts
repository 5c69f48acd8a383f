import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { placeholders, routesOf } from "../../src/catalog/route.ts";
import type { Action, Route } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";
import { SEEDED_IN_PROJECT } from "../support/seeded.ts";
import { argumentsFor } from "./arguments.ts";

let road: SandboxRoad;

beforeAll(async () => {
  road = await openRoad({
    token: "root",
    flags: ["--confirm=off", "--allow-own-token", "--admin", "--reveal-secrets=result", "--retries=0", "--max-writes-per-minute=10000"],
  });
});

afterAll(() => road.close());

/** What a call cannot do without; things that the seeds have where one can be named. */
function paramsFor(row: Action, route: Route | undefined): Record<string, unknown> {
  const { params } = argumentsFor(row, route ?? ["GET", "/"], "required");
  const named = route ? placeholders(route[1]) : ["project_id", ...Object.keys(params)].filter((name) => name in row.params);
  const known = named.filter((name) => name in SEEDED_IN_PROJECT);
  return {
    ...params,
    ...Object.fromEntries(known.map((name) => [name, SEEDED_IN_PROJECT[name]])),
    ...(row.params.timeout ? { timeout: 1 } : {}),
  };
}

/** Failures that only a fault of ours, or of the sandbox, can lead to. */
const FAULTS = ["internal", "not_gitlab", "gitlab_unavailable", "timeout", "outcome_unknown", "not_permitted", "too_large"];

function faultIn(error: unknown, row: Action): string | undefined {
  if (!(error instanceof BridgeError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  // Only GitLab may find fault with arguments that the row's own schema asks for.
  const own = error.code === "invalid_params" && row.http !== undefined && error.detail.status === undefined;
  return own || FAULTS.includes(error.code) ? `${error.code} ${error.message}` : undefined;
}

interface Count {
  answered: number;
  readonly findings: string[];
}

async function runAll(rows: readonly Action[]): Promise<Count> {
  const count: Count = { answered: 0, findings: [] };
  for (const row of rows)
    for (const route of row.http ? routesOf(row) : [undefined]) {
      try {
        const outcome = await road.run(row.id, paramsFor(row, route));
        if (outcome.kind === "needs_input" || outcome.kind === "preview") count.findings.push(`${row.id}: ${outcome.kind}`);
        else count.answered += 1;
      } catch (error) {
        const fault = faultIn(error, row);
        if (fault) count.findings.push(`${row.id}: ${fault}`);
      }
    }
  return count;
}

const rows = loadActions().filter((row) => !isRaw(row));

describe("every action, run against a GitLab", { timeout: 120_000 }, () => {
  it("answers, or says what is wrong: reads", async () => {
    const reads = rows.filter(({ effect }) => effect === "read");
    const { answered, findings } = await runAll(reads);
    expect(findings).toEqual([]);
    expect(answered / reads.length).toBeGreaterThan(0.6);
  });

  it("answers, or says what is wrong: writes", async () => {
    const { findings } = await runAll(rows.filter(({ effect }) => effect !== "read"));
    expect(findings).toEqual([]);
  });
});
