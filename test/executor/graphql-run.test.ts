import { Projects } from "@gitbeaker/rest";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Action } from "../../src/catalog/types.ts";
import { createCredentials } from "../../src/executor/credentials.ts";
import { createNetwork } from "../../src/executor/network.ts";
import { createRequesterFn } from "../../src/executor/requester.ts";
import { createDoor } from "../../src/policy/door.ts";
import {
  API,
  answers,
  callOf,
  contextOf,
  failureOf,
  HOST,
  json,
  log,
  sent,
  server,
  settingsOf,
  sourceOf,
  useNetwork,
  valueIn,
} from "./gitlab-fixture.ts";

useNetwork();

const row = (own: Partial<Action>): Action => ({
  id: "work_item.get",
  tool: "get_work_item",
  title: "Get work item",
  about: "",
  toolset: "work_items",
  source: "gitlab",
  effect: "read",
  graphql: "query ($id: ID!) { workItem(id: $id) { id title } }",
  params: { id: { in: "body", type: "string", required: true } },
  ...own,
});

const change = row({
  id: "work_item.update",
  effect: "write",
  graphql: "mutation ($id: ID!, $title: String) { workItemUpdate(input: { id: $id, title: $title }) { workItem { id title } errors } }",
});

const run = (action: Action, params: Record<string, unknown>, own: Record<string, unknown> = {}) =>
  sourceOf(own).run(callOf(action, params), contextOf());

describe("GraphQL rows", () => {
  it("send the document with the params as variables, beside the REST root", async () => {
    server.use(http.post(`${HOST}/gitlab/api/graphql`, () => json({ data: { workItem: { id: "gid://gitlab/WorkItem/1", title: "T" } } })));
    const value = valueIn(await run(row({}), { id: "gid://gitlab/WorkItem/1" }, { url: `${HOST}/gitlab` }));
    expect(value).toEqual({ id: 1, title: "T" });
    expect(JSON.parse(sent[0]?.body ?? "")).toEqual({ query: row({}).graphql, variables: { id: "gid://gitlab/WorkItem/1" } });
  });

  it.each([
    [{ errors: [{ message: "Field 'x' doesn't exist on type 'WorkItem'" }] }, "unprocessable"],
    [{ errors: [{ message: "Query has complexity of 300, which exceeds max complexity of 250" }] }, "too_large"],
    [{ data: { workItemUpdate: null }, errors: [{ message: "Insufficient permissions" }] }, "forbidden"],
    [
      {
        data: { workItem: null },
        errors: [{ message: "The resource that you are attempting to access does not exist or you don't have permission" }],
      },
      "not_found",
    ],
    [{ data: { workItemUpdate: { workItem: null, errors: ["Title can't be blank"] } } }, "unprocessable"],
  ])("find the failure inside HTTP 200: %j", async (body, code) => {
    answers("post", `${HOST}/api/graphql`, () => json(body));
    expect((await failureOf(run(change, { id: "1" }))).code).toBe(code);
  });

  it("that write are shut out by the door of a read-only server, whatever they call themselves", async () => {
    for (const action of [change, row({ graphql: change.graphql as string })]) {
      const error = await failureOf(run(action, { id: "1" }, { readOnly: true }));
      expect([error.code, sent.length]).toEqual(["not_permitted", 0]);
    }
  });

  const hang = () => new Promise<Response>(() => undefined);
  const typed = { headers: { "content-type": "application/json" } };

  it.each<[string, () => Response | Promise<Response>]>([
    ["502", () => json({}, { status: 502 })],
    ["504", () => json({}, { status: 504 })],
    ["a reset", () => HttpResponse.error()],
    ["no answer in time", hang],
    ["half an answer", () => new HttpResponse('{"data": {"workItemUp', typed)],
    ["a body that breaks off", () => new HttpResponse(new ReadableStream({ start: (stream) => stream.error(new Error("reset")) }), typed)],
  ])("that write and get no answer have an unknown outcome, and are sent once: %s", async (_name, answer) => {
    answers("post", `${HOST}/api/graphql`, answer);
    expect((await failureOf(run(change, { id: "1" }, { timeout: answer === hang ? 2_000 : 60_000 }))).code).toBe("outcome_unknown");
    expect(sent).toHaveLength(1);
  });

  it("that write and are cancelled on their way have an unknown outcome", async () => {
    const stop = new AbortController();
    server.use(
      http.post(`${HOST}/api/graphql`, () => {
        stop.abort();
        return hang();
      }),
    );
    const running = sourceOf().run(callOf(change, { id: "1" }), contextOf({ signal: stop.signal }));
    expect((await failureOf(running)).code).toBe("outcome_unknown");
    expect(sent).toHaveLength(1);
  });
});

describe("gitbeaker's own resources", () => {
  const settings = settingsOf({ readOnly: false });
  const requesterFn = (door = createDoor(settings)) =>
    createRequesterFn({
      settings,
      door,
      log,
      version: "1",
      fetch: (...args) => globalThis.fetch(...args),
      network: createNetwork(settings),
      credentials: createCredentials(settings, log),
    });

  it("work through our requester, with keys untouched", async () => {
    server.use(http.post(`${API}/projects`, () => json({ id: 3 }, { status: 201 })));
    const projects = new Projects({ host: HOST, requesterFn: requesterFn() });
    await projects.create({ name: "n", someUserKey: { innerKey: 1 } } as never);
    expect(JSON.parse(sent[0]?.body ?? "")).toEqual({ name: "n", someUserKey: { innerKey: 1 } });
    expect(sent[0]?.headers.get("private-token")).toBe("glpat-server-secret-1");
  });

  it("are held by the door too", async () => {
    const projects = new Projects({ host: HOST, requesterFn: requesterFn(createDoor({ ...settings, readOnly: true })) });
    expect((await failureOf(projects.create({ name: "n" }))).code).toBe("not_permitted");
    expect(sent).toEqual([]);
  });
});
