import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Action } from "../../src/catalog/types.ts";
import { API, action, answers, callOf, contextOf, failureOf, json, sent, server, sourceOf, useNetwork, valueIn } from "./gitlab-fixture.ts";

useNetwork();

const ok = () => json({ id: 1, iid: 7, title: "T" });

describe("where a request goes", () => {
  it("encodes project paths once", async () => {
    server.use(http.get(`${API}/projects/:id/issues/7`, ok));
    await sourceOf().run(callOf("issue.get", { project_id: "group/sub group/app", issue_iid: 7 }), contextOf());
    expect(sent[0]?.url.pathname).toBe("/api/v4/projects/group%2Fsub%20group%2Fapp/issues/7");
  });

  it("encodes file paths, branches and percent signs once", async () => {
    server.use(http.get(`${API}/projects/1/repository/files/:path`, () => json({})));
    await sourceOf().run(callOf("repository.file_get", { project_id: "1", file_path: "src/a b/100%.ts", ref: "feat/x+y" }), contextOf());
    expect(sent[0]?.url.pathname).toBe("/api/v4/projects/1/repository/files/src%2Fa%20b%2F100%25.ts");
    expect(sent[0]?.url.searchParams.get("ref")).toBe("feat/x+y");
    expect(sent[0]?.url.search).toContain("%2By");
  });

  it.each([
    ["https://gitlab.test", "/api/v4/"],
    ["https://gitlab.test/", "/api/v4/"],
    ["https://gitlab.test/api/v4", "/api/v4/"],
    ["https://gitlab.test/api/v4/", "/api/v4/"],
    ["https://gitlab.test/gitlab", "/gitlab/api/v4/"],
    ["https://gitlab.test/gitlab//", "/gitlab/api/v4/"],
    ["https://gitlab.test//gitlab/api/v4/", "/gitlab/api/v4/"],
  ])("%s is reached at %s", async (url, prefix) => {
    server.use(http.get(`https://gitlab.test${prefix}projects/1/issues/7`, ok));
    await sourceOf({ url }).run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf());
    expect(sent.map((one) => one.url.pathname)).toEqual([`${prefix}projects/1/issues/7`]);
  });

  it.each(["", " ", ".", "..", "%2e%2e", "%2E", "%252e%252e", "a/../b", "a/%2e%2e/b", "..\\x", "a%2F.."])(
    "refuses %j in a path, with nothing sent",
    async (value) => {
      const error = await failureOf(sourceOf().run(callOf("label.delete", { project_id: "1", label_id: value }), contextOf()));
      expect(error.code).toBe("invalid_params");
      expect(error.detail.fields).toHaveProperty("label_id");
      expect(sent).toEqual([]);
    },
  );

  it("keeps names with dots that are no dot segments", async () => {
    server.use(http.get(`${API}/projects/1/repository/branches/:name`, () => json({ name: "v1..2" })));
    await sourceOf().run(callOf("branch.get", { project_id: "1", branch: "release/v1.2" }), contextOf());
    expect(sent).toHaveLength(1);
  });

  it("refuses a parameter that belongs to another route", async () => {
    const row: Action = {
      ...action("issue.list"),
      params: { ...action("issue.list").params, only_group: { in: "query", type: "string", on: ["group_id"] } },
    };
    const error = await failureOf(sourceOf().run(callOf(row, { project_id: "1", only_group: "x" }), contextOf()));
    expect([error.code, sent.length]).toEqual(["invalid_params", 0]);
  });
});

describe("what a request carries", () => {
  it("sends body keys untouched, however deep", async () => {
    server.use(http.post(`${API}/projects/1/pipeline`, () => json({ id: 5 }, { status: 201 })));
    const inputs = { myInput: "A", nested: { keepMe: { andMe: [1, { DeepKey: true }] } } };
    await sourceOf().run(callOf("pipeline.create", { project_id: "1", ref: "main", inputs }), contextOf());
    expect(JSON.parse(sent[0]?.body ?? "")).toEqual({ ref: "main", inputs });
    expect(sent[0]?.headers.get("content-type")).toBe("application/json");
  });

  it("sends arrays as name[], hashes as name[key], comma lists joined", async () => {
    server.use(http.get(`${API}/projects/1/merge_requests`, () => json([])));
    const params = { project_id: "1", iids: [1, 2], labels: ["a", "b c"], not: { labels: ["x", "y"], author_username: "bot" } };
    await sourceOf().run(callOf("merge_request.list", params), contextOf());
    const query = sent[0]?.url.searchParams;
    expect(query?.getAll("iids[]")).toEqual(["1", "2"]);
    expect(query?.get("labels")).toBe("a,b c");
    expect(query?.get("not[labels]")).toBe("x,y");
    expect(query?.get("not[author_username]")).toBe("bot");
  });

  it("uses the name on the wire", async () => {
    server.use(http.post(`${API}/projects/1/share`, () => json({ id: 1 }, { status: 201 })));
    await sourceOf().run(callOf("project.share", { project_id: "1", shared_group_id: 9, group_access: 30 }), contextOf());
    expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ group_id: 9 });
  });

  it("sends files as multipart", async () => {
    server.use(
      http.post(`${API}/projects/1/uploads`, async ({ request }) => {
        const file = (await request.formData()).get("file") as File;
        return json({ id: 3, alt: `${file.name} ${file.type} ${await file.text()}` }, { status: 201 });
      }),
    );
    const file = `data:image/png;name=a%20b.png;base64,${Buffer.from("bytes").toString("base64")}`;
    const outcome = await sourceOf().run(callOf("upload.create", { project_id: "1", file }, { full: true }), contextOf());
    expect(valueIn(outcome).alt).toBe("a b.png image/png bytes");
  });

  it("names the bridge and the client, without characters that end the comment", async () => {
    server.use(http.get(`${API}/projects/1/issues/7`, ok));
    await sourceOf().run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf({ client: "Zed (1)\r\nX: y" }));
    expect(sent[0]?.headers.get("user-agent")).toBe("gitlab-toolset-bridge/9.9.9 (Zed 1X: y)");
    expect(sent[0]?.headers.get("if-none-match")).toBeNull();
  });
});

describe("whose credential it carries", () => {
  const get = (settings: Record<string, unknown>, credential?: { header: "Authorization"; value: string }) => {
    answers("get", `${API}/projects/1/issues/7`, ok);
    return sourceOf(settings).run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf(credential ? { credential } : {}));
  };

  it.each([
    ["glpat-abcdefghijkl", "private-token", "glpat-abcdefghijkl"],
    ["a".repeat(64), "authorization", `Bearer ${"a".repeat(64)}`],
    ["glcbt-64_abcdefgh", "job-token", "glcbt-64_abcdefgh"],
    ["gldt-abcdefgh", "deploy-token", "gldt-abcdefgh"],
  ])("%s goes in %s", async (token, header, value) => {
    await get({ token });
    expect(sent[0]?.headers.get(header)).toBe(value);
  });

  it("the caller's own wins, and alone", async () => {
    await get({}, { header: "Authorization", value: "Bearer theirs-1234" });
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer theirs-1234");
    expect(sent[0]?.headers.get("private-token")).toBeNull();
  });

  it("reads anonymously without a token, and writes nothing", async () => {
    await get({ token: undefined });
    expect(sent[0]?.headers.get("private-token")).toBeNull();
    const error = await failureOf(sourceOf({ token: undefined }).run(callOf("issue.create", { project_id: "1", title: "T" }), contextOf()));
    expect(error.code).toBe("unauthenticated");
    expect(error.hint).toContain("https://gitlab.test/-/user_settings/personal_access_tokens");
    expect(error.hint).toMatch(/scope api,.*GITLAB_TOKEN/);
    expect(sent).toHaveLength(1);
  });

  it("runs the token command on first use and again after 401, once", async () => {
    const { mkdtempSync, writeFileSync } = await import("node:fs");
    const dir = mkdtempSync("/tmp/bridge-test-");
    writeFileSync(`${dir}/n`, "");
    const tokenCommand = `printf x >> ${dir}/n; printf 'glpat-number-%s' "$(wc -c < ${dir}/n | tr -d ' ')"`;
    answers(
      "post",
      `${API}/projects/1/issues`,
      () => json({ message: "401 Unauthorized" }, { status: 401 }),
      () => json({ id: 1, iid: 2 }, { status: 201 }),
    );
    await sourceOf({ token: undefined, tokenCommand }).run(callOf("issue.create", { project_id: "1", title: "T" }), contextOf());
    expect(sent.map((one) => one.headers.get("private-token"))).toEqual(["glpat-number-1", "glpat-number-2"]);
  });

  it("does not repeat with a token that did not change", async () => {
    answers("get", `${API}/projects/1/issues/7`, () => json({ message: "401 Unauthorized" }, { status: 401 }));
    const source = sourceOf({ token: undefined, tokenCommand: "echo glpat-always-same" });
    const error = await failureOf(source.run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf()));
    expect([error.code, sent.length]).toEqual(["unauthenticated", 1]);
  });
});

describe("redirects", () => {
  it("are followed for reads, without the credential once the origin changes", async () => {
    const to = (location: string) => () => new HttpResponse(null, { status: 302, headers: { location } });
    answers("get", `${API}/projects/1/jobs/2/artifacts`, to("/api/v4/projects/9/jobs/2/artifacts"));
    answers("get", `${API}/projects/9/jobs/2/artifacts`, to("https://storage.test/object?sig=1"));
    answers(
      "get",
      "https://storage.test/object",
      () => new HttpResponse(new Uint8Array([0, 1, 2, 255]), { headers: { "content-type": "application/zip" } }),
    );
    const outcome = await sourceOf().run(callOf("job.artifacts_download", { project_id: "1", job_id: 2 }), contextOf());
    expect(outcome).toMatchObject({ kind: "binary", mime: "application/zip", base64: "AAEC/w==" });
    expect(sent.map((one) => one.headers.get("private-token"))).toEqual(["glpat-server-secret-1", "glpat-server-secret-1", null]);
  });

  it("end somewhere", async () => {
    answers(
      "get",
      `${API}/projects/1/issues/7`,
      () => new HttpResponse(null, { status: 302, headers: { location: "/api/v4/projects/1/issues/7" } }),
    );
    const error = await failureOf(sourceOf().run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf()));
    expect([error.code, sent.length]).toEqual(["not_gitlab", 6]);
  });

  it("are not followed for writes; the new place is named", async () => {
    answers(
      "post",
      `${API}/projects/old%2Fapp/issues`,
      () => new HttpResponse(null, { status: 301, headers: { location: "/api/v4/projects/42/issues" } }),
    );
    const error = await failureOf(sourceOf().run(callOf("issue.create", { project_id: "old/app", title: "T" }), contextOf()));
    expect(error.code).toBe("not_found");
    expect(error.hint).toContain("project_id: 42");
    expect(sent).toHaveLength(1);
  });
});
