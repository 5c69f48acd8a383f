import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chain, type ChainClient, openChain } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

let server: HttpFixture;
/** A GitLab that shows nothing: names stand for themselves. */
const gitlab = createServer((_request, response) => response.writeHead(404, { "content-type": "application/json" }).end("{}"));
let instance: string;
beforeAll(async () => {
  server = await startHttpFixture("gitlab");
  await new Promise<void>((resolve) => gitlab.listen(0, "127.0.0.1", resolve));
  instance = `http://127.0.0.1:${(gitlab.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await server.kill();
  await new Promise((resolve) => gitlab.close(resolve));
});

/** Stands for the instance in the tables. */
const INSTANCE = "INSTANCE";
const fill = (params: Record<string, unknown>) => JSON.parse(JSON.stringify(params).replaceAll(INSTANCE, instance));

describe.each([
  ["--allow-projects", ["--allow-projects=acme/webshop,42"]],
  ["--allow-groups", ["--allow-groups=acme"]],
])("GitLab's own tools under %s", (flag, flags) => {
  let chain: Chain;
  let client: ChainClient;
  beforeAll(async () => {
    const entry = { url: server.url, headers: { Authorization: "Bearer oauth-1234567890" } };
    chain = openChain({ gitlab_mcp: entry }, [...flags, "--confirm=off"], { url: instance });
    client = await chain.connect();
    await client.call("list_available_toolsets");
  });
  afterAll(() => chain.close());

  const run = (tool: string, params: Record<string, unknown>) => client.run(`gitlab_mcp.${tool}`, fill(params));

  it.each<[string, Record<string, unknown>]>([
    ["get_job", { id: "acme/webshop", job_id: 5 }],
    ["get_job", { id: "Acme%2FWebshop", job_id: 5 }],
    ["get_merge_request", { project_id: "acme/webshop", merge_request_iid: 1 }],
    ["get_merge_request", { url: `${INSTANCE}/acme/webshop/-/merge_requests/1` }],
    ["search", { scope: "issues", search: "other/app#1", project_id: "acme/webshop" }],
    ["search_labels", { full_path: "acme/webshop", is_project: true }],
    ["create_workitem_note", { project_id: "acme/webshop", work_item_iid: 1, body: "see INSTANCE/acme/webshop/-/issues/2, #3 and C#4" }],
    ["save_merge_request", { project_id: "acme/webshop", title: "x", assignee_ids: [5] }],
  ])("%s %j reaches it", async (tool, params) => {
    const reply = await run(tool, params);
    expect(reply.json).toMatchObject({ tool, args: fill(params) });
  });

  it.each<[string, Record<string, unknown>]>([
    ["get_job", { id: "other/app", job_id: 5 }],
    ["get_job", { id: "", job_id: 5 }],
    ["get_job", { id: "acme/webshop/../../other/app", job_id: 5 }],
    ["get_job", { job_id: 5 }],
    ["get_merge_request", { merge_request_iid: 1 }],
    ["get_merge_request", { project_id: 7, merge_request_iid: 1 }],
    ["get_merge_request", { url: `${INSTANCE}/other/app/-/merge_requests/1` }],
    ["get_merge_request", { url: `${INSTANCE}/acme/webshop/../../other/app/-/merge_requests/1` }],
    ["get_merge_request", { url: "https://elsewhere.example.com/acme/webshop/-/merge_requests/1" }],
    ["get_merge_request", { project_id: "acme/webshop", url: `${INSTANCE}/other/app/-/merge_requests/1` }],
    ["get_merge_request", { project_id: "acme/webshop", projectPath: "other/app" }],
    ["search", { scope: "issues", search: "x" }],
    ["search", { scope: "issues", search: "x", group_id: "other" }],
    ["search_labels", { full_path: "other", is_project: false }],
    ["semantic_code_search", { semantic_query: "acme/webshop" }],
    ["save_merge_request", { project_id: "acme/webshop", title: "x", target_project_id: 7 }],
    ["save_work_item", { project_id: "acme/webshop", title: "x", parent_id: "gid://gitlab/WorkItem/5" }],
    ["link_work_items", { project_id: "acme/webshop", work_item_iid: 1, targets: [{ project_id: "other/app", work_item_iid: 2 }] }],
    ["create_workitem_note", { project_id: "acme/webshop", work_item_iid: 1, body: "see INSTANCE/other/app" }],
    ["create_workitem_note", { project_id: "acme/webshop", work_item_iid: 1, body: "like other/app#1" }],
    ["create_workitem_note", { project_id: "acme/webshop", work_item_iid: 1, body: "Moved.\n/move other/app" }],
    ["save_work_item", { project_id: "acme/webshop", work_item_iid: 1, title: "Closes other/app#1" }],
    ["save_work_item", { project_id: "acme/webshop", work_item_iid: 1, title: "x", somethingNew: "/clone other/app" }],
    ["attach_scan_profile", { scan_profile_id: "gid://gitlab/Profile/1", project_ids: ["acme/webshop"] }],
  ])("%s %j is refused and not sent", async (tool, params) => {
    const before = (await server.calls()).length;
    expect((await run(tool, params)).json).toMatchObject({ code: "not_permitted", rule: "scope", setting: flag });
    expect((await server.calls()).length).toBe(before);
  });

  it("a tool that can name no place is not even listed", async () => {
    expect((await client.call("gitlab_find_action", { query: "gitlab_mcp.list_duo_sessions" })).json.results).toEqual([]);
    expect((await run("list_duo_sessions", {})).json).toMatchObject({ code: "not_permitted", rule: "scope" });
    const found = await client.call("gitlab_find_action", { query: "gitlab_mcp.get_job" });
    expect(found.json.results).toMatchObject([{ id: "gitlab_mcp.get_job" }]);
  });
});
