import { beforeEach, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { parseDocument } from "../../src/executor/graphql-variables.ts";
import { API, answers, callOf, contextOf, failureOf, HOST, json, listIn, sent, sourceOf, useNetwork, valueIn } from "./gitlab-fixture.ts";

useNetwork();

type Json = Record<string, unknown>;

const ROWS = loadActions().filter(({ graphql }) => graphql !== undefined);

const run = (id: string, params: Json, wanted: Json = {}, own: Json = {}) => sourceOf(own).run(callOf(id, params, wanted), contextOf());

const graphql = (...bodies: unknown[]) => answers("post", `${HOST}/api/graphql`, ...bodies.map((body) => () => json(body)));

const asked = () => sent.filter(({ url }) => url.pathname === "/api/graphql").map(({ body }) => JSON.parse(body).variables as Json);

const page = (nodes: unknown[], endCursor: string | null = null) => ({
  data: { namespace: { workItems: { nodes, pageInfo: { hasNextPage: endCursor !== null, endCursor } } } },
});

describe("variables", () => {
  it("are global ids and inputs within inputs", async () => {
    graphql({ data: { workItemUpdate: { workItem: { id: "gid://gitlab/WorkItem/7", iid: "3" }, errors: [] } } });
    await run("work_item.update", {
      work_item_id: 7,
      state_event: "CLOSE",
      assignee_ids: [2, 3],
      due_date: "2026-12-01",
      start_date: "2026-11-01",
      parent_id: 9,
    });
    expect(asked()).toEqual([
      {
        input: {
          id: "gid://gitlab/WorkItem/7",
          stateEvent: "CLOSE",
          assigneesWidget: { assigneeIds: ["gid://gitlab/User/2", "gid://gitlab/User/3"] },
          startAndDueDateWidget: { startDate: "2026-11-01", dueDate: "2026-12-01" },
          hierarchyWidget: { parentId: "gid://gitlab/WorkItem/9" },
        },
      },
    ]);
  });

  it("say paths where GraphQL wants paths, and ids where it wants ids", async () => {
    answers("get", `${API}/projects/101`, () => json({ id: 101, path_with_namespace: "acme/webshop" }));
    answers("get", `${API}/groups/acme`, () => json({ id: 10, full_path: "acme" }));
    graphql(page([]), { data: { timelogs: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } } });
    await run("work_item.list", { project_id: "101" });
    await run("timelog.list", { group_id: "acme" });
    expect(asked()).toMatchObject([{ fullPath: "acme/webshop" }, { groupId: "gid://gitlab/Group/10" }]);
  });

  it("paths that are given as such are asked for nowhere", async () => {
    graphql(page([]));
    await run("work_item.list", { group_id: "acme/shop" });
    expect(sent.map(({ url }) => url.pathname)).toEqual(["/api/graphql"]);
  });

  it.each([
    [{ project_id: "acme/webshop", group_id: "acme" }, /not both/],
    [{}, /needs project_id or group_id/],
  ])("of one place only: %j", async (params, words) => {
    const error = await failureOf(run("work_item.list", params));
    expect([error.code, sent.length]).toEqual(["invalid_params", 0]);
    expect(error.message).toMatch(words);
  });

  it("a project nobody may see ends the call before anything is written", async () => {
    answers("get", `${API}/groups/404`, () => json({ message: "404 Group Not Found" }, { status: 404 }));
    const error = await failureOf(run("custom_emoji.create", { group_id: "404", name: "x", url: "https://a.example/x.png" }));
    expect([error.code, asked().length]).toEqual(["not_found", 0]);
  });
});

describe("lists", () => {
  const node = (iid: number) => ({ id: `gid://gitlab/WorkItem/${500 + iid}`, iid: String(iid), title: `T${iid}` });

  it("come in pages that a cursor continues", async () => {
    graphql(page([node(1), node(2)], "abc"), page([node(3)]));
    const first = listIn(await run("work_item.list", { project_id: "acme/webshop" }, { limit: 2 }));
    expect(first.items.map((item) => (item as Json).id)).toEqual([501, 502]);
    expect(first.page.next).toEqual(expect.any(String));
    const second = listIn(await run("work_item.list", { project_id: "acme/webshop" }, { limit: 2, cursor: first.page.next }));
    expect(second.items.map((item) => (item as Json).id)).toEqual([503]);
    expect(second.page.next).toBeUndefined();
    expect(asked()).toMatchObject([{ first: 2 }, { first: 2, after: "abc" }]);
  });

  it("a cursor of one list is no cursor of another", async () => {
    graphql(page([node(1)], "abc"));
    const first = listIn(await run("work_item.list", { project_id: "acme/webshop" }, { limit: 1 }));
    const error = await failureOf(run("timelog.list", { project_id: "101" }, { cursor: first.page.next }));
    expect([error.code, sent.length]).toEqual(["invalid_params", 1]);
  });

  it("read to the end where all is asked", async () => {
    graphql(page([node(1)], "a"), page([node(2)], "b"), page([node(3)]));
    const { items } = listIn(await run("work_item.list", { project_id: "acme/webshop" }, { all: true }));
    expect(items.map((item) => (item as Json).id)).toEqual([501, 502, 503]);
  });

  it("of a place that is not there are not empty but not found", async () => {
    graphql({ data: { namespace: null } });
    expect((await failureOf(run("work_item.list", { project_id: "acme/gone" }))).code).toBe("not_found");
  });
});

describe("answers look as those of REST", () => {
  it("widgets are fields, people and labels are words, ids are numbers", async () => {
    const workItem = {
      id: "gid://gitlab/WorkItem/507",
      iid: "7",
      webUrl: "https://gitlab.test/acme/webshop/-/work_items/7",
      workItemType: { name: "Issue" },
      widgets: [
        {},
        { assignees: { nodes: [{ username: "maria" }] } },
        { labels: { nodes: [{ title: "bug" }] } },
        { startDate: null, dueDate: "2026-12-01" },
        { hasChildren: false, parent: { id: "gid://gitlab/WorkItem/9", iid: "1", title: "Epic" } },
      ],
    };
    graphql({ data: { namespace: { workItem } } });
    expect(valueIn(await run("work_item.get", { project_id: "acme/webshop", work_item_iid: "7" }))).toMatchObject({
      id: 507,
      work_item_type: "Issue",
      assignees: ["maria"],
      labels: ["bug"],
      due_date: "2026-12-01",
      parent: { id: 9, title: "Epic" },
    });
  });

  it("one by its id: by the twin of the document, whatever place is given beside it", async () => {
    graphql({ data: { workItem: { id: "gid://gitlab/WorkItem/507", title: "Epic" } } });
    expect(valueIn(await run("work_item.get", { work_item_id: 507, project_id: "acme/webshop" }))).toMatchObject({ id: 507 });
    const { query, variables } = JSON.parse(sent.at(-1)?.body ?? "");
    expect(query).toMatch(/^query getWorkItemById/);
    expect(variables).toEqual({ id: "gid://gitlab/WorkItem/507" });
    for (const params of [{}, { project_id: "acme/webshop" }, { work_item_iid: "7" }]) {
      const { code, message } = await failureOf(run("work_item.get", params));
      expect([code, message]).toEqual(["invalid_params", expect.stringMatching(/needs \w+ or work_item_id$/)]);
    }
  });

  it("one that is not there is not found", async () => {
    graphql({ data: { namespace: { workItem: null } } });
    expect((await failureOf(run("work_item.get", { project_id: "acme/webshop", work_item_iid: "999" }))).code).toBe("not_found");
  });

  it("what GitLab refuses to write is told in its words", async () => {
    graphql({ data: { createCustomEmoji: { customEmoji: null, errors: ["Name has already been taken", "Url is blocked"] } } });
    const error = await failureOf(run("custom_emoji.create", { group_id: "acme", name: "x", url: "https://a.example/x.png" }));
    expect(error.code).toBe("unprocessable");
    expect(error.message).toMatch(/Name has already been taken.*Url is blocked/);
  });

  it("an older GitLab is named as the cause, with the version that has it", async () => {
    graphql({ errors: [{ message: "Field 'branchRules' doesn't exist on type 'Project'" }] });
    const error = await failureOf(run("branch_rule.list", { project_id: "acme/webshop" }));
    expect(error.code).toBe("unprocessable");
    expect(error.hint).toContain("17.9");
  });
});

describe("nothing is written that may not be", () => {
  const writes = ROWS.filter(({ effect }) => effect !== "read");
  const bare = (params: (typeof ROWS)[number]["params"]) =>
    Object.fromEntries(Object.entries(params).map(([name, { type }]) => [name, type === "integer" ? 1 : "1"]));

  beforeEach(() => graphql({ data: {} }));

  it.each(writes.map((row) => [row.id, row] as const))("%s of a read-only server", async (_, row) => {
    const alone = Object.entries(bare(row.params)).filter(([name]) => name !== "group_id" || row.params.project_id === undefined);
    const paths = alone.map(([name, value]) => [name, row.params[name]?.format === "full_path" ? "acme/webshop" : value]);
    const error = await failureOf(run(row.id, Object.fromEntries(paths), {}, { readOnly: true }));
    expect(error.code).toBe("not_permitted");
    expect(asked()).toEqual([]);
  });

  it("reads are queries: the door of a read-only server lets them pass", async () => {
    graphql(page([]));
    await run("work_item.list", { project_id: "acme/webshop" }, {}, { readOnly: true });
    expect(asked()).toHaveLength(1);
  });

  it("a document is parsed once", () => {
    const [row] = ROWS;
    expect(parseDocument(row?.graphql as string)).toBe(parseDocument(row?.graphql as string));
  });
});
