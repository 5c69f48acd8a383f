import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Outcome } from "../../src/catalog/types.ts";
import { chosenFor } from "../../src/executor/slim.ts";
import { entityFields } from "../../src/sandbox/entity-fields.ts";
import { renderOutcome } from "../../src/surface/render.ts";
import { openRoad, PROJECT, type SandboxRoad } from "../support/sandbox-road.ts";
import { tokens } from "../support/tokens.ts";

let road: SandboxRoad;

const NAMES = "storage billing search mailer invoices returns stock pricing reviews coupons export metrics gateway images legal".split(" ");

beforeAll(async () => {
  road = await openRoad();
  for (const name of NAMES) {
    const description = `The ${name} service: API, workers and the command line, with its deployment and dashboards`;
    await road.ask("/projects", "POST", { name, namespace_id: 10, visibility: "private", description, initialize_with_readme: true });
  }
});

afterAll(() => road.close());

/** Tokens of an outcome in each of the two forms, as a host passes them on. */
function forms(outcome: Outcome): { readonly text: number; readonly json: number } {
  const { content, structuredContent } = renderOutcome(outcome);
  return { text: tokens(String(content[0]?.text)), json: tokens(structuredContent) };
}

function most(outcome: Outcome): number {
  const { text, json } = forms(outcome);
  return Math.max(text, json);
}

const rowsOf = (outcome: Outcome) => (outcome.kind === "list" ? outcome.items.length : -1);
const valueIn = (outcome: Outcome) => (outcome.kind === "value" ? outcome.value : {});

describe("on the seeds, in either form", () => {
  it("20 projects ≤ 1,500 tokens, a small part of the raw reply", async () => {
    const outcome = await road.run("project.list", { limit: 20 });
    expect(rowsOf(outcome)).toBe(20);
    expect(most(outcome)).toBeLessThanOrEqual(1_500);
    const raw = tokens(await road.ask("/projects?per_page=20"));
    expect(raw).toBeGreaterThan(10_000);
    expect(most(outcome)).toBeLessThan(raw / 8);
  });

  it("20 merge requests ≤ 2,000", async () => {
    for (const params of [
      { state: "all", scope: "all" },
      { scope: "all", state: "opened" },
    ]) {
      const outcome = await road.run("merge_request.list", { ...params, limit: 20 });
      expect(rowsOf(outcome)).toBe(20);
      expect(most(outcome)).toBeLessThanOrEqual(2_000);
    }
  });

  it.each([
    ["issue.get", "issue_iid", "issues", 400],
    ["merge_request.get", "merge_request_iid", "merge_requests", 600],
  ] as const)("%s: the description whole, the rest ≤ its ceiling", async (id, name, path, ceiling) => {
    const all = (await road.ask(`/projects/101/${path}?per_page=100&state=all`)) as { iid: number; description: string | null }[];
    expect(all.length).toBeGreaterThan(10);
    for (const { iid, description } of all) {
      const outcome = await road.run(id, { project_id: PROJECT, [name]: iid });
      expect(valueIn(outcome).description ?? "", `${iid}`).toBe(description ?? "");
      const { description: _long, ...rest } = valueIn(outcome);
      expect(most({ ...outcome, value: rest } as Outcome), `${iid}`).toBeLessThanOrEqual(ceiling);
    }
  });

  it("a list holds no descriptions, and tells what it leaves out", async () => {
    const outcome = await road.run("issue.list", { project_id: PROJECT });
    expect(JSON.stringify(outcome)).not.toContain('"description"');
    expect(outcome).toMatchObject({ omitted: expect.any(Number) });
    expect(renderOutcome(outcome).content[0]?.text).toMatch(/omitted fields: \d+ \(full: true shows them\)/);
  });

  it("select reaches any path; full shows every field", async () => {
    const where = { project_id: PROJECT, merge_request_iid: 42 };
    const select = ["iid", "author.username", "diff_refs.head_sha", "reviewers.username", "time_stats.time_estimate"];
    const raw = (await road.ask("/projects/101/merge_requests/42")) as Record<string, Record<string, unknown>>;
    expect(valueIn(await road.run("merge_request.get", { ...where, select }))).toEqual({
      iid: 42,
      author: { username: raw.author?.username },
      diff_refs: { head_sha: raw.diff_refs?.head_sha },
      reviewers: (raw.reviewers as unknown as { username: string }[]).map(({ username }) => ({ username })),
      time_stats: { time_estimate: 0 },
    });
    const full = await road.run("merge_request.get", { ...where, full: true });
    expect(Object.keys(valueIn(full)).sort()).toEqual(Object.keys(raw).sort());
    expect(full).not.toHaveProperty("omitted");
  });

  it("a write ≤ 150 tokens", async () => {
    const p = { project_id: PROJECT };
    const long = "A long text about what is to be done. ".repeat(100);
    const writes: readonly (readonly [string, Record<string, unknown>])[] = [
      ["issue.create", { ...p, title: "Cart total is wrong", description: long, labels: ["bug", "backend"], assignee_ids: ["me"] }],
      ["issue.update", { ...p, issue_iid: 12, title: "Another title for this one", description: long, add_labels: ["frontend"] }],
      ["issue.note_create", { ...p, issue_iid: 12, body: long }],
      ["merge_request.update", { ...p, merge_request_iid: 42, description: long, labels: ["bug"] }],
      ["merge_request.note_create", { ...p, merge_request_iid: 42, body: long }],
      ["branch.create", { ...p, branch: "some-branch", ref: "main" }],
      ["label.create", { ...p, name: "very-new", color: "#ff0000", description: long.slice(0, 200) }],
      ["milestone.create", { ...p, title: "9.9", description: long, due_date: "2027-01-31" }],
      ["project.update", { ...p, description: long.slice(0, 1_500), topics: ["shop", "cart"] }],
      ["release.create", { ...p, tag_name: "v9.0.0", ref: "main", name: "9.0", description: long }],
      ["pipeline.create", { ...p, ref: "main" }],
      ["work_item.create", { ...p, work_item_type_id: 1, title: "By GraphQL", description: long }],
    ];
    for (const [id, params] of writes) {
      const outcome = await road.run(id, params);
      expect([id, forms(outcome), most(outcome) <= 150]).toEqual([id, expect.anything(), true]);
    }
  });
});

describe("entities with many fields", () => {
  const MANY = 25;

  it("have chosen ones wherever a read answers with them", () => {
    const plain = (entity: string) => Object.keys(entityFields(entity)).filter((name) => !name.includes(".")).length;
    const uncharted = loadActions().filter(
      ({ effect, entity }) => effect === "read" && entity !== undefined && !chosenFor(entity) && plain(entity) > MANY,
    );
    expect(uncharted.map(({ id, entity }) => `${id} ${entity}`)).toEqual([]);
  });
});
