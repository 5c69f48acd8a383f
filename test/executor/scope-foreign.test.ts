import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { placeholders, routesOf } from "../../src/catalog/route.ts";
import type { Action, Outcome, Route } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { argumentsFor, type Mode } from "../catalog-routes/arguments.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

/** Stands in every name, title and text of what is foreign, and nowhere else. */
const MARK = "ZQXFOREIGN";

const OPEN = ["--confirm=flag", "--allow-own-token", "--admin", "--reveal-secrets=result", "--retries=0", "--max-writes-per-minute=10000"];
const rows = loadActions().filter((row) => !isRaw(row) && row.composite !== "pipeline_wait" && row.composite !== "job_wait");

/** The free server, and behind it a group and project that no scope here holds. */
let free: SandboxRoad;
let vault: { group: number; project: number };
/** The foreign things: by the thing's whole name, and by its last word where nothing has that name. */
const foreign = new Map<string, { id?: unknown; iid?: unknown }>();
const byLastWord = new Map<string, { id?: unknown; iid?: unknown }>();

function remember({ id: name }: Action, { id, iid }: Json): void {
  if (typeof id !== "number" && typeof id !== "string") return;
  const [domain = "", verb = ""] = name.split(".");
  const noun = verb.replace(/_?[a-z]+$/, "");
  const whole = noun === "" ? domain : `${domain}_${noun}`;
  if (!foreign.has(whole)) foreign.set(whole, { id, iid });
  if (noun !== "" && !byLastWord.has(noun)) byLastWord.set(noun, { id, iid });
}

const marked = (value: unknown): unknown => {
  if (typeof value === "string") return value.endsWith("-value") ? `${MARK}-${value.slice(0, -6)}` : value;
  if (Array.isArray(value)) return value.map(marked);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, marked(inner)]))
    : value;
};

const attempt = (road: SandboxRoad, name: string, params: Json): Promise<Outcome | BridgeError> =>
  road.run(name, params).catch((error: unknown) => {
    if (error instanceof BridgeError) return error;
    throw error;
  });

const contentOf = (outcome: Outcome | BridgeError): Json => ("kind" in outcome && outcome.kind === "value" ? (outcome.value as Json) : {});

/** A token of a project has a person of its own, and people belong to no project. */
const MAKES_PEOPLE = /^(access_token|service_account|user)\./;

/** Fills the foreign project and group by whatever action makes something, with the mark in every text. */
async function fill(): Promise<void> {
  for (const row of rows.filter(
    ({ id, effect, http }) => effect === "write" && http && /create|add|start|set$/.test(id) && !MAKES_PEOPLE.test(id),
  ))
    for (const route of routesOf(row)) {
      const { params } = argumentsFor(row, route, "required");
      const texts = Object.fromEntries(
        ["title", "name", "description", "body"]
          .filter((name) => name in row.params && row.params[name]?.in !== "path")
          .map((name) => [name, `${MARK} ${row.id}`]),
      );
      const place = {
        ...("project_id" in params ? { project_id: vault.project } : {}),
        ...("group_id" in params ? { group_id: vault.group } : {}),
      };
      const known = Object.fromEntries(
        placeholders(route[1]).flatMap((name) => (name in place || !/_i?id$/.test(name) ? [] : [[name, foreignId(name)]])),
      );
      remember(row, contentOf(await attempt(free, row.id, { ...(marked(params) as Json), ...texts, ...known, ...place, full: true })));
    }
}

const must = async (name: string, params: Json): Promise<Json> => {
  const row = rows.find(({ id }) => id === name) as Action;
  const outcome = await attempt(free, name, { ...params, full: true, ...(row.effect === "destructive" ? { confirm: true } : {}) });
  if (outcome instanceof BridgeError) throw outcome;
  remember(row, contentOf(outcome));
  return contentOf(outcome);
};

const CI = `job:\n  script: [echo ${MARK}]\n`;

/** What needs more than one step, and what leads from inside to the foreign things. */
async function link(): Promise<void> {
  const there = { project_id: vault.project };
  const file = (file_path: string, content: string) => ({ action: "create", file_path, content });
  await must("commit.create", {
    ...there,
    branch: "main",
    commit_message: MARK,
    actions: [file("SECRET.md", MARK), file(".gitlab-ci.yml", CI)],
  });
  await must("commit.create", { ...there, branch: "topic", start_branch: "main", commit_message: MARK, actions: [file("more.md", MARK)] });
  await must("issue.create", { ...there, title: `${MARK} issue`, description: MARK });
  await must("merge_request.create", {
    ...there,
    source_branch: "topic",
    target_branch: "main",
    title: `${MARK} change`,
    description: MARK,
  });
  await must("issue.note_create", { ...there, issue_iid: 1, body: MARK });
  await must("pipeline.create", { ...there, ref: "main" });
  await must("snippet.create", { ...there, title: MARK, visibility: "private", files: [{ file_path: "a.md", content: MARK }] });
  await must("release.create", { ...there, tag_name: "v1", ref: "main", name: MARK, description: MARK });
  await must("epic.create", { group_id: vault.group, title: `${MARK} epic`, description: MARK });
  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPUWmTsSsUZFeJnpTpHzL5Z5sVgmpBbZBmYbC4SgaZV2";
  await must("deploy_key.create", { ...there, title: MARK, key });
}

/** Merge requests inside, whose branch is in the foreign project. */
const tied = new Map<number, number>();

/** From the project inside to the foreign things. */
async function tie({ project_id }: Pick<Place, "project_id">, issue_iid: number): Promise<void> {
  const inside = contentOf(await attempt(free, "issue.get", { project_id, issue_iid, full: true }));
  await must("issue.link_create", { project_id, issue_iid, target_project_id: vault.project, target_issue_iid: foreign.get("issue")?.iid });
  await must("epic.issue_add", { group_id: vault.group, epic_iid: foreign.get("epic")?.iid, issue_id: inside.id });
  await must("job_token_scope.project_add", { project_id, target_project_id: vault.project });
  await must("project.share", { project_id, shared_group_id: vault.group, group_access: 30 });
  await must("project.fork_relation_create", { project_id, forked_from_id: vault.project });
  const change = { source_branch: "topic", target_branch: "main", title: "From elsewhere", target_project_id: project_id };
  tied.set(project_id, Number((await must("merge_request.create", { project_id: vault.project, ...change })).iid));
}

/** The foreign id that a parameter of this name could hold. */
function foreignId(name: string): unknown {
  const stem = name.replace(/_i?ids?$/, "").replace(/^(blocking|child|related|move_before|move_after|epic)_(?=.)/, "");
  const found =
    foreign.get(stem) ?? byLastWord.get(stem) ?? [...foreign].find(([key]) => key.endsWith(`_${stem}`))?.[1] ?? foreign.get("issue");
  return (/_iids?$/.test(name) ? found?.iid : found?.id) ?? foreign.get("issue")?.id;
}

interface Place {
  readonly project_id: number;
  readonly group_id: number;
}

/** The arguments of one route, inside a place, with the ids of foreign things wherever an id may stand. */
function withForeignIds(row: Action, route: Route, mode: Mode, place: Place): Json {
  const { params } = argumentsFor(row, route, mode);
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (name === "project_id" || name === "group_id") return [name, place[name]];
      if (!/_i?ids?$/.test(name) || /(user|assignee|reviewer|author)_ids?$/.test(name)) return [name, value];
      return [name, Array.isArray(value) ? [foreignId(name)] : foreignId(name)];
    }),
  );
}

const KNOWN: Readonly<Record<string, unknown>> = {
  issue_iid: 12,
  merge_request_iid: 42,
  label_id: 201,
  milestone_id: 304,
  branch: "main",
  ref: "main",
  sha: "main",
  tag_name: "v1.4.0",
  file_path: "README.md",
};

function withOwnIds(row: Action, route: Route, place: Place): Json {
  const { params } = argumentsFor(row, route, "required");
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      name === "project_id" || name === "group_id" ? place[name] : (KNOWN[name] ?? value),
    ]),
  );
}

/** Everything that a client would be shown of it. */
const shown = (outcome: Outcome | BridgeError): string =>
  outcome instanceof BridgeError ? JSON.stringify([outcome.message, outcome.hint, outcome.detail]) : JSON.stringify(outcome);

/** What shows the other side of a tie, which may change, and what is made anew by each read. */
const OTHER_SIDE = /issue\.link_|project\.fork_list|epic\.issue_list|merge_ref_get/;

/** All that can be read of the foreign project and group, by every read. */
async function picture(): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  for (const row of rows.filter(({ effect, http }) => effect === "read" && http))
    for (const route of routesOf(row)) {
      if (!/^\/(projects|groups)\/\{(project|group)_id\}/.test(route[1]) || OTHER_SIDE.test(row.id)) continue;
      const params = withForeignIds(row, route, "required", { project_id: vault.project, group_id: vault.group });
      seen.set(
        `${row.id} ${route[1]}`,
        shown(await attempt(free, row.id, { ...params, full: true })).replace(/"request_id":"[^"]*"|2026-11-\d\dT[\d:.]+Z/g, ""),
      );
    }
  return seen;
}

beforeAll(async () => {
  free = await openRoad({ token: "root", flags: OPEN });
  const group = contentOf(await attempt(free, "group.create", { name: `${MARK} corp`, path: "vault-corp", visibility: "private" }));
  const project = contentOf(
    await attempt(free, "project.create", {
      name: `${MARK} vault`,
      path: "vault",
      namespace_id: group.id,
      description: MARK,
      initialize_with_readme: true,
    }),
  );
  vault = { group: Number(group.id), project: Number(project.id) };
  await link();
  await fill();
}, 120_000);

afterAll(() => free.close());

interface Tried {
  readonly where: string;
  readonly outcome: Outcome | BridgeError;
}

const isRefused = ({ outcome }: Tried) => outcome instanceof BridgeError && outcome.detail.rule === "scope";

/** Every permitted action of the rows, in every way that could lead out. */
async function tryAll(road: SandboxRoad, wanted: readonly Action[], place: Place): Promise<Tried[]> {
  const tried: Tried[] = [];
  for (const row of wanted)
    for (const route of row.http ? routesOf(row) : [["GET", "/"] as Route]) {
      const ways: Json[] = [
        withOwnIds(row, route, place),
        withForeignIds(row, route, "required", place),
        withForeignIds(row, route, "all", place),
        withForeignIds(row, route, "required", { project_id: vault.project, group_id: vault.group }),
      ];
      const namesMore = placeholders(route[1]).some((name) => !/^(project|group)_id$/.test(name));
      for (const [at, params] of ways.entries()) {
        // What would end the place itself is not agreed to: the rest is still to be tried in it.
        const confirm = row.effect === "destructive" && namesMore && at > 0 ? { confirm: true } : {};
        const full = row.effect === "read" ? { full: true } : {};
        const given = { ...params, ...confirm, ...full, ...(row.params.timeout ? { timeout: 1 } : {}) };
        tried.push({ where: `${row.id} ${route.join(" ")} way ${at}`, outcome: await attempt(road, row.id, given) });
      }
    }
  return tried;
}

const leaks = (tried: readonly Tried[]) =>
  tried.filter(({ outcome }) => shown(outcome).includes(MARK)).map(({ where, outcome }) => `${where}: ${shown(outcome).slice(0, 300)}`);

describe.each([
  { flag: "--allow-projects=101", place: { project_id: 101, group_id: 10 }, issue: 12 },
  { flag: "--allow-groups=11", place: { project_id: 103, group_id: 11 }, issue: 1 },
])("with $flag", { timeout: 180_000 }, ({ flag, place, issue }) => {
  let road: SandboxRoad;
  beforeAll(async () => {
    await tie(place, issue);
    road = await openRoad({ token: "root", flags: [...OPEN, flag], on: free.sandbox });
  }, 60_000);
  afterAll(() => road.close());

  it("no read shows anything of what is foreign, whatever ids it is given", async () => {
    const tried = await tryAll(
      road,
      rows.filter(({ effect }) => effect === "read"),
      place,
    );
    console.log(
      flag,
      tried.length,
      tried.filter(isRefused).length,
      tried.filter(({ outcome }) => !(outcome instanceof BridgeError)).length,
    );
    expect(leaks(tried)).toEqual([]);
  });

  it("the project that a branch comes from is not changed by a call that names another", async () => {
    const params = { project_id: place.project_id, merge_request_iid: tied.get(place.project_id), confirm: true };
    for (const [name, more] of [
      ["merge_request.rebase", {}],
      ["merge_request.merge", { should_remove_source_branch: true }],
    ] as const)
      expect(await attempt(road, name, { ...params, ...more })).toMatchObject({ code: "not_permitted", detail: { rule: "scope" } });
  });

  it("no write changes anything of what is foreign, or shows it", async () => {
    const before = await picture();
    const tried = await tryAll(
      road,
      rows.filter(({ effect }) => effect !== "read"),
      place,
    );
    console.log(
      flag,
      tried.length,
      tried.filter(isRefused).length,
      tried.filter(({ outcome }) => !(outcome instanceof BridgeError)).length,
    );
    expect(leaks(tried)).toEqual([]);
    const after = await picture();
    expect([...after].filter(([key, text]) => before.get(key) !== text).map(([key, text]) => [key, before.get(key), text])).toEqual([]);
  });
});
