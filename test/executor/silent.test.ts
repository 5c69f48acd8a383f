import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import { API, answers, callOf, contextOf, failureOf, json, sent, sourceOf, useNetwork } from "./gitlab-fixture.ts";

useNetwork();

const PROJECT = `${API}/projects/a%2Fb`;
const rows = (...names: string[]) => names.map((name, id) => ({ id, name }));
const ISSUE = { project_id: "a/b", title: "T", labels: ["bug", "new-one"] };

const run = (id: string, params: Record<string, unknown>) => sourceOf().run(callOf(id, params), contextOf());

const made = (labels: unknown) => answers("post", `${PROJECT}/issues`, () => json({ id: 1, iid: 2, labels }, { status: 201 }));

describe("labels that a write made", () => {
  it("are told: those that were not there and now are", async () => {
    answers("get", `${PROJECT}/labels`, () => json(rows("bug", "other")));
    made(["bug", "new-one"]);
    expect(await run("issue.create", ISSUE)).toMatchObject({ did: { labels_created: ["new-one"] } });
    expect(sent.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("are not claimed where all were there, or where GitLab left them out", async () => {
    answers("get", `${PROJECT}/labels`, () => json(rows("bug", "new-one")));
    made(["bug", "new-one"]);
    expect(await run("issue.create", ISSUE)).not.toHaveProperty("did");
    answers("get", `${PROJECT}/labels`, () => json(rows("bug")));
    made(["bug"]);
    expect(await run("issue.create", ISSUE)).not.toHaveProperty("did");
  });

  it("are looked for by name where one page does not hold them all", async () => {
    answers(
      "get",
      `${PROJECT}/labels`,
      () => json(rows(...Array.from({ length: 100 }, (_, index) => `label ${index}`))),
      () => json(rows("bug", "bugfix")),
      () => json([]),
    );
    made(["bug", "new-one"]);
    expect(await run("issue.create", ISSUE)).toMatchObject({ did: { labels_created: ["new-one"] } });
    expect(sent.map(({ url }) => url.searchParams.get("search"))).toEqual([null, "bug", "new-one", null]);
  });

  it("never stop the write: a look that fails claims nothing", async () => {
    answers("get", `${PROJECT}/labels`, () => json({ message: "403 Forbidden" }, { status: 403 }));
    made(["bug", "new-one"]);
    const outcome = await run("issue.create", ISSUE);
    expect(outcome).toMatchObject({ kind: "value", value: { iid: 2 } });
    expect(outcome).not.toHaveProperty("did");
    answers("get", `${PROJECT}/labels`, () => HttpResponse.html("<html>"));
    made(["bug", "new-one"]);
    expect(await run("issue.create", ISSUE)).toMatchObject({ kind: "value" });
  });

  it("of an update count only what is added; without labels nothing is read", async () => {
    answers("get", `${PROJECT}/labels`, () => json(rows("bug")));
    answers("put", `${PROJECT}/merge_requests/1`, () => json({ iid: 1, labels: ["bug", "fresh"] }));
    const params = { project_id: "a/b", merge_request_iid: 1 };
    expect(await run("merge_request.update", { ...params, add_labels: ["fresh"], remove_labels: ["gone"] })).toMatchObject({
      did: { labels_created: ["fresh"] },
    });
    sent.length = 0;
    await run("merge_request.update", { ...params, remove_labels: ["gone"] });
    expect(sent.map(({ method }) => method)).toEqual(["PUT"]);
  });

  it("of a group's epic are looked for in the group", async () => {
    answers("get", `${API}/groups/g/labels`, () => json(rows("bug")));
    answers("post", `${API}/groups/g/epics`, () => json({ iid: 1, labels: ["fresh"] }, { status: 201 }));
    expect(await run("epic.create", { group_id: "g", title: "T", labels: ["fresh"] })).toMatchObject({
      did: { labels_created: ["fresh"] },
    });
  });

  it("leave a refused write as it is", async () => {
    answers("get", `${PROJECT}/labels`, () => json(rows("bug")));
    answers("post", `${PROJECT}/issues`, () => json({ message: "403 Forbidden" }, { status: 403 }));
    expect(await failureOf(run("issue.create", ISSUE))).toMatchObject({ code: "forbidden" });
  });
});
