import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadActions, otherName } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import type { Action, Route } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { effectOfCall, isRaw } from "../../src/policy/call-effects.ts";
import { isDotSegment, READING_POSTS } from "../../src/policy/door.ts";
import { operationKinds } from "../../src/policy/graphql.ts";
import { argumentsFor } from "../catalog-routes/arguments.ts";
import { recordingRoad, type Sent } from "../support/recorder.ts";

const actions = loadActions().filter((action) => !isRaw(action));
const byOtherName = new Map(Object.entries(namesElsewhere()).map(([name, id]) => [id, name] as const));

/** Names of another server, which lead to actions of ours. */
function namesElsewhere(): Record<string, string> {
  const file = new URL("../../src/catalog/data/aliases.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
}

type Road = ReturnType<typeof recordingRoad>;

const open = (...flags: string[]) =>
  recordingRoad(
    [...flags, "--admin", ...(flags.some((flag) => flag.startsWith("--reveal-secrets")) ? [] : ["--reveal-secrets=result"])],
    ({ url, method }) => Response.json(url.pathname.endsWith("/graphql") ? { data: { a: null } } : method === "GET" ? [] : { id: 1 }),
    // No call here names the token in use.
    { token: 424_242 },
  );

function paramsFor(row: Action, route: Route | undefined = row.http) {
  const { params } = argumentsFor(row, route ?? ["GET", "/"], "required");
  const confirm = effectOfCall(row, params).effect === "destructive" ? { confirm: true } : {};
  return { ...params, ...(row.params.timeout ? { timeout: 1 } : {}), ...confirm };
}

/** What became of one call: its outcome or error, and how many requests left. */
async function call(road: Road, name: string, params: Record<string, unknown>) {
  road.sent.length = 0;
  const end = await road.run(name, params).then(
    ({ kind }) => kind as string,
    (error: unknown) => (error instanceof BridgeError ? error.code : `bug: ${String(error)}`),
  );
  return { end, sent: [...road.sent] };
}

const below = ({ url }: Sent) => url.pathname.replace(/^\/api\/v4/, "");

const isInstance = (path: string, template: string) => {
  const [parts, wanted] = [path.split("/"), template.split("/")];
  return (
    parts.length === wanted.length &&
    wanted.every((part, index) => (part.startsWith("{") ? parts[index] !== "" && !isDotSegment(parts[index] ?? "") : part === parts[index]))
  );
};

const keyOf = (method: string, path: string) => `${method} ${path.split("/").length}`;

/** All routes of the catalog, by method and length of their paths. */
const routes = new Map<string, Route[]>();
for (const route of actions.flatMap((action) => routesOf(action)))
  routes.set(keyOf(...route), [...(routes.get(keyOf(...route)) ?? []), route]);
const isGraphql = ({ url }: Sent) => url.pathname === "/api/graphql";

/** Whether a request reads, told by nothing but itself. */
function reads(one: Sent): boolean {
  if (one.method === "GET" || one.method === "HEAD") return true;
  if (one.method !== "POST") return false;
  if (isGraphql(one)) return operationKinds((one.body as { query: string }).query).every((kind) => kind === "query");
  return Object.keys(READING_POSTS).some((template) => isInstance(below(one), template));
}

/** A request goes where a route of its action goes; looks beside it read where any route of the catalog reads. */
function strays(action: Action, sent: readonly Sent[]): string[] {
  const alike = (one: Sent) => routes.get(keyOf(one.method, below(one))) ?? [];
  const fits = (one: Sent, among: readonly Route[]) =>
    among.some(([method, path]) => method === one.method && isInstance(below(one), path));
  const isGood = (one: Sent) => {
    if (isGraphql(one)) return action.graphql !== undefined || reads(one);
    return fits(one, one.method === "GET" || action.composite !== undefined ? alike(one) : routesOf(action));
  };
  return sent.filter((one) => !isGood(one)).map((one) => `${action.id}: ${one.method} ${one.url.pathname}`);
}

interface Mode {
  readonly flags: readonly string[];
  /** Writes may leave. */
  readonly writes: boolean;
  /** By every name that an action has, not only by its id. */
  readonly names?: boolean;
}

const MODES: readonly Mode[] = [
  { flags: [], writes: true },
  { flags: ["--read-only"], writes: false, names: true },
  { flags: ["--safe-mode"], writes: false },
  { flags: ["--allow-toolsets=ci,meta", "--allow-tools=issue.*"], writes: true },
  { flags: ["--tier=free", "--reveal-secrets=never"], writes: true },
  { flags: ["--exclude-tools=toolset:work_items,delete_*,*.create,batch.run"], writes: true },
];

function namesOf(action: Action, all: boolean): readonly string[] {
  const other = byOtherName.get(action.id);
  return all ? [action.id, action.tool, ...(action.aliases ?? []).slice(0, 1), ...(other ? [other] : [])] : [action.id];
}

/** What one action does under one mode that it must not. */
async function findingsOf(road: Road, action: Action, mode: Mode): Promise<string[]> {
  const listed = road.policy.permits(action, {});
  const findings: string[] = [];
  for (const name of namesOf(action, mode.names === true)) {
    const { end, sent } = await call(road, name, paramsFor(action));
    const where = `${name}: ${end}, ${sent.length} sent`;
    if (end.startsWith("bug") || end === "internal") findings.push(where);
    if (!listed && (end !== "not_permitted" || sent.length > 0)) findings.push(`${where}, though it is not permitted`);
    // Parts of a composite are judged one by one.
    if (listed && end === "not_permitted" && action.composite === undefined) findings.push(`${where}, though it is permitted`);
    if (!mode.writes && !sent.every(reads)) findings.push(`${where}, and not only reads`);
    const shown = listed && action.effect !== "read" && road.settings.safeMode;
    if (shown && !["preview", "invalid_params", "not_found"].includes(end)) findings.push(`${where}, and not shown`);
    if (listed && !shown && action.http && sent.length === 0) findings.push(`${where}, though it is permitted`);
    findings.push(...strays(action, sent));
  }
  return findings;
}

describe("listed × called, over every action", { timeout: 120_000 }, () => {
  it.each(MODES)("$flags", async (mode) => {
    const road = open(...mode.flags);
    const findings: string[] = [];
    for (const action of actions) findings.push(...(await findingsOf(road, action, mode)));
    expect(findings).toEqual([]);
  });

  it("several in one go, nothing but reads leaves, whatever stands in it", async () => {
    for (const flags of [[], ["--read-only"]]) {
      const road = open(...flags);
      const findings: string[] = [];
      for (let at = 0; at < actions.length; at += 20) {
        const calls = actions.slice(at, at + 20).map((action) => ({ action: action.id, params: paramsFor(action) }));
        const { end, sent } = await call(road, "batch.run", { calls });
        if (!sent.every(reads)) findings.push(`${at}: ${sent.filter((one) => !reads(one)).map(({ url }) => url.pathname)}`);
        if (end.startsWith("bug")) findings.push(`${at}: ${end}`);
      }
      expect(findings).toEqual([]);
    }
  });

  it("requests written by hand do what their action may, route by route", async () => {
    const modes = [
      { flags: ["--read-only"], may: (action: Action) => action.effect === "read" },
      { flags: ["--safe-mode"], may: (action: Action) => action.effect === "read" },
      {
        flags: ["--exclude-tools=toolset:ci,*.delete"],
        may: (action: Action) => action.toolset !== "ci" && !action.id.endsWith(".delete"),
      },
    ];
    for (const { flags, may } of modes) {
      const road = open("--allow-raw", "--confirm=off", ...flags);
      const findings: string[] = [];
      for (const action of actions)
        for (const [method, template] of routesOf(action)) {
          const path = template.replace(/\{[a-z0-9_]+\}/g, "1");
          const { end, sent } = await call(road, "gitlab.rest", { method, path });
          const where = `${action.id} ${method} ${path}: ${end}, ${sent.length} sent`;
          // A path may be that of several actions: it leaves only where all of them may, so only what leaves is judged.
          if (sent.length > 0 && !may(action)) findings.push(where);
          if (sent.some((one) => below(one) !== path || one.method !== method)) findings.push(`${where}, elsewhere`);
          if (end.startsWith("bug")) findings.push(where);
        }
      expect(findings).toEqual([]);
    }
  });

  it("bites", () => {
    expect(reads({ method: "POST", url: new URL("https://gitlab.test/api/v4/markdown"), body: {} })).toBe(true);
    expect(reads({ method: "POST", url: new URL("https://gitlab.test/api/v4/projects/1/issues"), body: {} })).toBe(false);
    expect(reads({ method: "POST", url: new URL("https://gitlab.test/api/graphql"), body: { query: "mutation { a { b } }" } })).toBe(false);
    const issue = actions.find(({ id }) => id === "issue.create") as Action;
    const stray = (path: string) => strays(issue, [{ method: "POST", url: new URL(`https://gitlab.test/api/v4${path}`), body: {} }]);
    expect(stray("/projects/1/issues")).toEqual([]);
    for (const path of ["/projects/1", "/projects//issues", "/projects/1/issues/2", "/projects/%2e%2e/issues"])
      expect(stray(path), path).toHaveLength(1);
    expect(otherName(byOtherName.get(issue.id) ?? "")).toBe(issue.id);
  });
});
