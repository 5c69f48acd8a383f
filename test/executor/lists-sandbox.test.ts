import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome, Progress } from "../../src/catalog/types.ts";
import { ciOf, type Job } from "../../src/sandbox/ci-state.ts";
import type { World } from "../../src/sandbox/types.ts";
import { openRoad, PROJECT, type SandboxRoad } from "../support/sandbox-road.ts";

const ROWS = 1_234;

/** Failed jobs of the project beside its own: only these are manual. */
function seedJobs(world: World): void {
  const state = ciOf(world);
  const project = world.projects.find((one) => one.path === "webshop");
  const model = state.jobs.find((job) => job.project_id === project?.id && !job.bridge);
  if (!model) throw new Error("the seeds have no job");
  const made = Array.from({ length: ROWS }, (_, n): Job => ({ ...model, id: 900_000 + n, name: `numbered ${n + 1}`, status: "manual" }));
  state.jobs.splice(0, state.jobs.length, ...state.jobs.filter((job) => job.status !== "manual"), ...made);
}

let road: SandboxRoad;

beforeAll(async () => {
  road = await openRoad({
    world(world) {
      world.seedIssues(PROJECT, ROWS);
      seedJobs(world);
    },
  });
  const actions = Array.from({ length: ROWS }, (_, n) => ({ action: "create", file_path: `many/file-${n + 1}`, content: `${n + 1}` }));
  const made = (await road.ask("/projects/101/repository/commits", "POST", {
    branch: "many-files",
    start_branch: "main",
    commit_message: "Add many files",
    actions,
  })) as { id?: string };
  if (!made.id) throw new Error(JSON.stringify(made));
}, 60_000);

afterAll(() => road.close());

interface Kind {
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** What tells one row from another. */
  readonly key: string;
  /** GitLab tells how many there are. */
  readonly counted: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "page numbers": { action: "issue.list", params: { project_id: PROJECT, labels: ["numbered"] }, key: "iid", counted: true },
  "a keyset cursor": { action: "job.list", params: { project_id: PROJECT, scope: ["manual"] }, key: "id", counted: false },
  "Link alone": {
    action: "repository.tree_list",
    params: { project_id: PROJECT, path: "many", ref: "many-files" },
    key: "path",
    counted: false,
  },
  "a GraphQL connection": { action: "work_item.list", params: { project_id: PROJECT, labels: ["numbered"] }, key: "iid", counted: false },
};

type List = Extract<Outcome, { kind: "list" }>;

function listIn(outcome: Outcome): List {
  if (outcome.kind !== "list") throw new Error(`expected a list, got ${outcome.kind}`);
  return outcome;
}

describe.each(Object.entries(KINDS))("1,234 rows by %s", (_name, { action, params, key, counted }) => {
  const run = async (own: Record<string, unknown>, signal?: AbortSignal, progress?: (step: Progress) => void) =>
    listIn(await road.run(action, { ...params, select: [key], ...own }, signal, progress ? { progress } : {}));
  const keys = (rows: readonly unknown[]) => rows.map((row) => String((row as Record<string, unknown>)[key]));

  it("page by page: each row once, in one order, and an end", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { items, page } = await run({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(counted ? ROWS : undefined);
      seen.push(...keys(items));
      cursor = page.next;
      pages++;
    } while (cursor !== undefined && pages < 20);
    expect([seen.length, new Set(seen).size, pages]).toEqual([ROWS, ROWS, 13]);
  });

  it("at once: up to the cap, with progress; the cursor has the rest", async () => {
    const told: Progress[] = [];
    const first = await run({ all: true, budget: 50_000 }, undefined, (step) => told.push(step));
    expect([first.items.length, first.truncated]).toEqual([1_000, expect.stringContaining("page.next")]);
    expect(told.map(({ progress }) => progress)).toEqual(Array.from({ length: 10 }, (_, n) => (n + 1) * 100));
    expect(told.every(({ total }) => total === (counted ? 1_000 : undefined))).toBe(true);
    const rest = await run({ all: true, budget: 50_000, cursor: first.page.next });
    expect([rest.items.length, rest.page.next, rest.truncated]).toEqual([234, undefined, undefined]);
    expect(new Set(keys([...first.items, ...rest.items])).size).toBe(ROWS);
  });

  it("at once within the usual budget: cut at a row, and nothing is lost after it", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let round = 0; round < 10; round++) {
      const { items, page } = await run({ all: true, budget: 4_000, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...keys(items));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect([seen.length, new Set(seen).size]).toEqual([ROWS, ROWS]);
  });

  it("at once, cancelled between pages: an end, and no more is asked for", async () => {
    const stop = new AbortController();
    let pages = 0;
    const running = run({ all: true }, stop.signal, () => {
      pages++;
      if (pages === 2) stop.abort();
    });
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
    expect(pages).toBe(2);
  });
});
