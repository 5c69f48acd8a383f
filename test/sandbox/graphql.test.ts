import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Outcome } from "../../src/catalog/types.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";
import { sampleCall } from "./graphql-samples.ts";
import { useSandbox } from "./http.ts";

type Json = Record<string, unknown>;

const ROWS = loadActions().filter(({ graphql }) => graphql !== undefined);

/** Nothing of this stands in the seeds: taking it away is refused, in GitLab's words. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  "work_item.link_remove": /No matching link found/,
  "work_item.emoji_remove": /Award emoji not found/,
};

const valueIn = (outcome: Outcome): Json => {
  if (outcome.kind !== "value") throw new Error(`expected a value, got ${outcome.kind}`);
  return outcome.value as Json;
};

const itemsIn = (outcome: Outcome): Json[] => {
  if (outcome.kind !== "list") throw new Error(`expected a list, got ${outcome.kind}`);
  return outcome.items as Json[];
};

let road: SandboxRoad;
beforeAll(async () => {
  road = await openRoad({ flags: ["--confirm=off"] });
});
afterAll(() => road.close());

describe("every GraphQL row is served", () => {
  const reads = ROWS.filter(({ effect }) => effect === "read");

  test.each(reads.map((row) => [row.id, row] as const))("%s", async (_, row) => {
    const outcome = await road.run(row.id, sampleCall(row));
    expect(["value", "list"]).toContain(outcome.kind);
    if (outcome.kind === "value") expect(Object.keys(outcome.value)).not.toEqual([]);
  });

  test("writes too, each on fresh seeds", { timeout: 120_000 }, async () => {
    for (const row of ROWS.filter(({ effect }) => effect !== "read")) {
      road.sandbox.reset();
      const told = await road.run(row.id, sampleCall(row)).then(
        (outcome) => Object.keys(valueIn(outcome)).length > 0,
        (error: Error) => (REFUSED[row.id]?.test(error.message) ? true : `${row.id}: ${error.message}`),
      );
      expect(told, row.id).toBe(true);
    }
    road.sandbox.reset();
  });
});

describe("work items", () => {
  test("a page leads to the next, without loss or repetition", async () => {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const outcome = await road.run("work_item.list", { project_id: "acme/webshop", limit: 7, ...(cursor ? { cursor } : {}) });
      seen.push(...itemsIn(outcome).map(({ iid }) => iid));
      cursor = outcome.kind === "list" ? outcome.page.next : undefined;
    } while (cursor);
    const all = itemsIn(await road.run("work_item.list", { project_id: "acme/webshop", all: true, select: ["iid"] }));
    expect(seen).toEqual(all.map(({ iid }) => iid));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(40);
  });

  test("filters hold, and a group shows what lies below it when asked", async () => {
    const bugs = itemsIn(await road.run("work_item.list", { project_id: "acme/webshop", labels: ["bug"], state: "opened" }));
    expect(bugs.length).toBeGreaterThan(0);
    for (const item of bugs) expect([item.state, item.labels]).toEqual(["OPEN", expect.arrayContaining(["bug"])]);
    const epics = itemsIn(await road.run("work_item.list", { group_id: "acme" }));
    expect(new Set(epics.map(({ work_item_type }) => work_item_type))).toEqual(new Set(["Epic"]));
    const all = itemsIn(await road.run("work_item.list", { group_id: "acme", include_descendants: true, all: true, select: ["iid"] }));
    expect(all.length).toBeGreaterThan(epics.length + 40);
  });

  test("an epic is made in a group, gets an issue, and loses it again", async () => {
    const epic = valueIn(await road.run("work_item.create", { group_id: "acme", title: "A quieter checkout", work_item_type_id: 8 }));
    expect(epic).toMatchObject({ work_item_type: "Epic", state: "OPEN" });
    const issue = valueIn(await road.run("work_item.get", { project_id: "acme/webshop", work_item_iid: "3" }));
    await road.run("work_item.child_add", { work_item_id: epic.id, child_ids: [issue.id] });
    expect(itemsIn(await road.run("work_item.child_list", { work_item_id: epic.id })).map(({ id }) => id)).toEqual([issue.id]);
    expect(valueIn(await road.run("work_item.get", { project_id: "acme/webshop", work_item_iid: "3" })).parent).toMatchObject({
      id: epic.id,
    });
    await road.run("work_item.parent_remove", { work_item_id: issue.id });
    expect(itemsIn(await road.run("work_item.child_list", { work_item_id: epic.id }))).toEqual([]);
    const rest = (await road.ask("/groups/acme/epics?search=quieter")) as Json[];
    expect(rest.map(({ title }) => title)).toContain("A quieter checkout");
  });

  test("a task below an issue, never the other way round", async () => {
    const task = valueIn(
      await road.run("work_item.create", { project_id: "acme/webshop", title: "Measure it", work_item_type_id: 5, parent_id: 503 }),
    );
    expect(itemsIn(await road.run("work_item.child_list", { work_item_id: 503 })).map(({ id }) => id)).toEqual([task.id]);
    await expect(road.run("work_item.parent_set", { work_item_id: 503, parent_id: task.id })).rejects.toMatchObject({
      code: "unprocessable",
    });
    await expect(road.run("work_item.create", { project_id: "acme/webshop", title: "No", work_item_type_id: 8 })).rejects.toThrow(
      /not allowed/,
    );
    await expect(road.run("work_item.update", { work_item_id: task.id, title: "   x" })).resolves.toMatchObject({ kind: "value" });
  });

  test("what GraphQL changes, REST shows", async () => {
    const params = {
      work_item_id: 504,
      state_event: "close",
      description: "New text",
      assignee_ids: ["jonas"],
      weight: 3,
      due_date: "2026-12-01",
      status: "Won't do",
    };
    expect(valueIn(await road.run("work_item.update", params))).toMatchObject({ id: 504, state: "CLOSED" });
    const rest = (await road.ask("/projects/acme%2Fwebshop/issues/4")) as Json;
    expect(rest).toMatchObject({
      state: "closed",
      description: "New text",
      weight: 3,
      due_date: "2026-12-01",
      assignees: [{ username: "jonas" }],
    });
    const item = valueIn(await road.run("work_item.get", { project_id: "acme/webshop", work_item_iid: "4" }));
    expect(item).toMatchObject({
      state: "CLOSED",
      assignees: [{ id: 3, username: "jonas" }],
      status: "Won't do",
      weight: 3,
      due_date: "2026-12-01",
    });
  });

  test("comments: written, answered, read as threads, edited, erased", async () => {
    const first = valueIn(await road.run("work_item.note_create", { work_item_id: 505, body: "Seen again today." }));
    const discussion_id = first.discussion as Json;
    await road.run("work_item.note_create", { work_item_id: 505, body: "Where?", discussion_id: discussion_id.id });
    const threads = itemsIn(await road.run("work_item.note_list", { work_item_id: 505, filter: "only_comments" }));
    expect(threads.at(-1)?.notes).toMatchObject([{ body: "Seen again today.", author: "maria" }, { body: "Where?" }]);
    await road.run("work_item.note_update", { note_id: first.id, body: "Seen again this morning." });
    expect(valueIn(await road.run("work_item.note_get", { note_id: first.id })).body).toBe("Seen again this morning.");
    await road.run("work_item.note_delete", { note_id: first.id });
    await expect(road.run("work_item.note_get", { note_id: first.id })).rejects.toMatchObject({ code: "not_found" });
    await expect(road.run("work_item.note_create", { work_item_id: 505, body: "?", discussion_id: "ffff" })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("links are seen from both ends", async () => {
    await road.run("work_item.link_add", { work_item_id: 506, target_ids: [507], link_type: "BLOCKS" });
    expect(itemsIn(await road.run("work_item.link_list", { work_item_id: 507 }))).toMatchObject([
      { link_type: "is_blocked_by", work_item: { id: 506 } },
    ]);
    await road.run("work_item.link_remove", { work_item_id: 507, target_ids: [506] });
    expect(itemsIn(await road.run("work_item.link_list", { work_item_id: 506 }))).toEqual([]);
  });

  test("logged time adds up, and can be taken back", async () => {
    const stats = async () => ((await road.ask("/projects/acme%2Fwebshop/issues/8/time_stats")) as Json).total_time_spent as number;
    const before = await stats();
    const log = valueIn(
      await road.run("timelog.create", { issue_id: 508, time_spent: "1h 30m", summary: "Looked at it", spent_at: "2026-11-02" }),
    );
    expect((await stats()) - before).toBe(5_400);
    const mine = itemsIn(await road.run("timelog.list", { username: "me", project_id: "acme/webshop" }));
    expect(mine.map(({ id }) => id)).toContain(log.id);
    await road.run("timelog.delete", { timelog_id: log.id });
    expect(await stats()).toBe(before);
    await expect(road.run("timelog.create", { issue_id: 508, time_spent: "soon", summary: "x", spent_at: "2026-11-02" })).rejects.toThrow(
      /formatted correctly/,
    );
  });
});

describe("the rest", () => {
  test("a decision about a vulnerability is kept, with its history", async () => {
    await road.run("vulnerability.dismiss", { vulnerability_id: 72, dismissal_reason: "false_positive", comment: "Not reachable" });
    expect(valueIn(await road.run("vulnerability.get", { vulnerability_id: 72 }))).toMatchObject({
      state: "DISMISSED",
      dismissal_reason: "FALSE_POSITIVE",
      state_comment: "Not reachable",
    });
    const history = itemsIn(await road.run("vulnerability.history_list", { vulnerability_id: 72 }));
    expect(history.at(-1)).toMatchObject({ from_state: "CONFIRMED", to_state: "DISMISSED", author: "maria" });
    const open = itemsIn(
      await road.run("vulnerability.list", { project_id: "acme/webshop", states: ["DETECTED"], severities: ["critical"] }),
    );
    expect(open.map(({ id }) => id)).toEqual([71]);
  });

  test("the worst come first", async () => {
    const found = itemsIn(await road.run("vulnerability.group_list", { group_id: "acme", sort: "severity_desc" }));
    expect(found.map(({ severity }) => severity)).toEqual(["CRITICAL", "HIGH", "MEDIUM"]);
  });

  test("what is made is listed, and gone once it is deleted", async () => {
    const made = valueIn(
      await road.run("custom_emoji.create", { group_id: "acme", name: "blob_wave", url: "https://acme.example/wave.png" }),
    );
    const names = async () => itemsIn(await road.run("custom_emoji.list", { group_id: 10 })).map(({ name }) => name);
    expect(await names()).toContain("blob_wave");
    await expect(
      road.run("custom_emoji.create", { group_id: "acme", name: "blob_wave", url: "https://acme.example/wave.png" }),
    ).rejects.toThrow(/already been taken/);
    await road.run("custom_emoji.delete", { custom_emoji_id: made.id });
    expect(await names()).not.toContain("blob_wave");
  });

  test("frameworks of a project are the ones that were set", async () => {
    await road.run("compliance_framework.project_set", { project_id: 101, framework_ids: [1] });
    expect(itemsIn(await road.run("compliance_framework.project_list", { project_id: "acme/webshop" }))).toMatchObject([{ name: "SOC 2" }]);
  });
});

describe("the sandbox's GraphQL, asked by hand", () => {
  const { box } = useSandbox();
  const ask = async (query: string, variables: Json = {}, as: "maria" | "reader" | null = "maria") => {
    const token: Record<string, string> = as ? { "private-token": box().tokens[as] } : {};
    const headers = { ...token, "content-type": "application/json" };
    const reply = await fetch(`${box().url}/api/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
    return (await reply.json()) as { data?: Json; errors?: { message: string }[] };
  };
  const close = "mutation($id: WorkItemID!) { workItemUpdate(input: { id: $id, stateEvent: CLOSE }) { workItem { state } errors } }";

  test.each([
    ["anonymous", null],
    ["a token that only reads", "reader"],
  ] as const)("%s changes nothing", async (_, as) => {
    const reply = await ask(close, { id: "gid://gitlab/WorkItem/562" }, as);
    expect(reply.errors?.[0]?.message).toMatch(/does not exist or you don't have permission/);
    const state = await ask('{ workItem(id: "gid://gitlab/WorkItem/562") { state } }');
    expect(state.data).toEqual({ workItem: { state: "OPEN" } });
  });

  test("what may not be seen is null", async () => {
    expect((await ask('{ project(fullPath: "acme/webshop") { branchRules { nodes { name } } } }', {}, null)).data).toEqual({
      project: null,
    });
  });

  test("a global id of another kind is refused", async () => {
    const reply = await ask(close, { id: "gid://gitlab/Note/562" });
    expect(reply.errors?.[0]?.message).toContain("does not represent an instance of WorkItem");
  });

  test("a blank title is told in the payload", async () => {
    const reply = await ask(
      'mutation { workItemUpdate(input: { id: "gid://gitlab/WorkItem/562", title: " " }) { workItem { id } errors } }',
    );
    expect(reply).toEqual({ data: { workItemUpdate: { workItem: null, errors: ["Title can't be blank"] } } });
  });

  test("a broken cursor, an argument and a type that are unknown", async () => {
    const messages = async (query: string) => (await ask(query)).errors?.[0]?.message;
    expect(await messages('{ namespace(fullPath: "acme/webshop") { workItems(after: "zzz") { nodes { id } } } }')).toMatch(/valid cursor/);
    expect(await messages('{ namespace(fullPath: "acme", colour: 1) { fullPath } }')).toBe(
      "Field 'namespace' doesn't accept argument 'colour'",
    );
    expect(await messages("query($a: Colour!) { __typename }")).toBe("Colour isn't a defined input type");
  });
});
