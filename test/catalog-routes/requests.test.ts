import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import type { Action, Route } from "../../src/catalog/types.ts";
import { recordingRoad, type Sent } from "../support/recorder.ts";
import { argumentsFor, type Mode } from "./arguments.ts";
import { requestFindings } from "./expected.ts";

const FLAGS = ["--confirm=off", "--allow-own-token", "--admin", "--reveal-secrets=result", "--max-writes-per-minute=10000"];

const routes = loadActions().flatMap((row) => routesOf(row).map((route) => ({ row, route })));

type Road = ReturnType<typeof recordingRoad>;

/** Runs one route as a call of its action; everything that is not as GitLab's documents have it. */
async function findingsOf({ run, sent }: Road, row: Action, route: Route, mode: Mode): Promise<string[]> {
  sent.length = 0;
  const { params, meant } = argumentsFor(row, route, mode);
  const where = `${mode} ${row.id} ${route.join(" ")}`;
  try {
    const outcome = await run(row.id, params);
    const last = sent.at(-1);
    if (!last) return [`${where}: nothing left`];
    const looks = sent.slice(0, -1).filter(({ method }) => method !== "GET");
    return [
      ...(looks.length > 0 ? [`${where}: more than one write`] : []),
      ...(["value", "list", "text", "binary"].includes(outcome.kind) ? [] : [`${where}: outcome ${outcome.kind}`]),
      ...requestFindings(row, route, meant, last).map((finding) => `${where}: ${finding}`),
    ];
  } catch (error) {
    return [`${where}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function allFindings(mode: Mode): Promise<string[]> {
  const road = recordingRoad(FLAGS);
  const findings: string[] = [];
  for (const { row, route } of routes) findings.push(...(await findingsOf(road, row, route, mode)));
  return findings;
}

describe("every route of every action", { timeout: 120_000 }, () => {
  it.each<Mode>(["required", "all", "edges"])("sends what GitLab's documents expect: %s", async (mode) => {
    expect(await allFindings(mode)).toEqual([]);
  });
});

describe("the comparison bites", () => {
  const row = loadActions().find(({ id }) => id === "issue.create") as Action;
  const route = routesOf(row)[0] as Route;

  it("on everything in which a request can be wrong", async () => {
    const { run, sent } = recordingRoad(FLAGS);
    const { params, meant } = argumentsFor(row, route, "edges");
    await run(row.id, params);
    const good = sent.at(-1) as Sent;
    expect(requestFindings(row, route, meant, good)).toEqual([]);
    const body = good.body as Record<string, unknown>;
    const at = (from: string, to: string) => new URL(good.url.href.replace(from, to));
    const { title: _, ...untitled } = body;
    for (const wrong of [
      { method: "PUT" },
      { url: at("%2F", "/") },
      { url: at("%2F", "%252F") },
      { url: at("/issues", "/issue") },
      { url: new URL(`${good.url.href}?state=opened`) },
      { body: untitled },
      { body: { ...body, title: "other" } },
      { body: { ...body, weight: "70" } },
      { body: undefined },
    ])
      expect(requestFindings(row, route, meant, { ...good, ...wrong }), JSON.stringify(wrong)).not.toEqual([]);
    expect(requestFindings(row, ["POST", "/projects/{project_id}/tickets"], meant, good)).toEqual(["no such operation"]);
    const other = { ...row, params: { ...row.params, title: { ...row.params.title, wire: "headline" } } } as Action;
    expect(requestFindings(other, route, meant, good)).toContain("title: GitLab does not know headline");
  });
});
