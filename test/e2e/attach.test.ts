import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type ClientKind, connectStdio, type TestClient } from "../support/clients.ts";

const KINDS = ["sdk1", "sdk2-legacy", "sdk2-modern-deaf"] as const satisfies readonly ClientKind[];
const PROJECT = "acme/webshop";
const ENCODED = "acme%2Fwebshop";
const FRAME = /<<<gitlab-data[\s\S]*gitlab-data>>>/;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const open = (kind: ClientKind, ...flags: string[]) =>
  connectStdio(kind, { args: flags, env: { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria } });

async function ask<T>(path: string): Promise<T> {
  return (await (await fetch(`${sandbox.url}/api/v4${path}`, { headers: { "PRIVATE-TOKEN": sandbox.tokens.maria } })).json()) as T;
}

const failure = async (work: Promise<unknown>) => {
  const error = (await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as { code?: number; message: string; data?: unknown } | undefined;
  return error;
};

describe.each(KINDS)("resources, prompts and completions (%s)", (kind) => {
  let client: TestClient;
  let bare: TestClient;
  beforeAll(async () => {
    client = await open(kind, "--capabilities=full");
    bare = await open(kind);
  });
  afterAll(async () => {
    await client.close();
    await bare.close();
  });

  it("minimal: the three of the catalog, no prompts, nothing of GitLab", async () => {
    expect((await bare.resources()).map(({ uri }) => uri)).toEqual(["gitlab://toolsets", "gitlab://tools"]);
    expect((await bare.templates()).map(({ uriTemplate }) => uriTemplate)).toEqual(["gitlab://tools/{id}"]);
    const [toolsets] = await bare.read("gitlab://toolsets");
    expect(JSON.parse(toolsets?.text ?? "")).toMatchObject({ toolsets: expect.arrayContaining([expect.objectContaining({ name: "ci" })]) });
    const [tool] = await bare.read("gitlab://tools/issue.create");
    expect(JSON.parse(tool?.text ?? "")).toMatchObject({
      id: "issue.create",
      tool: "create_issue",
      effect: "write",
      input_schema: { type: "object" },
    });
    const [tools] = await bare.read("gitlab://tools");
    expect(JSON.parse(tools?.text ?? "").ci).toContainEqual(["pipeline.list", "list_pipelines", "read"]);
    expect(await failure(bare.read(`gitlab://projects/${ENCODED}`))).toMatchObject({ code: -32602 });
    expect(await bare.prompts().catch(() => "none")).toSatisfy((found) => found === "none" || (found as unknown[]).length === 0);
  });

  it("an answer about one of these things carries its address, which reads; without full it carries none", async () => {
    const [job] = await ask<{ id: number }[]>("/projects/101/jobs");
    const [pipeline] = await ask<{ id: number }[]>("/projects/101/pipelines");
    const [page] = await ask<{ slug: string }[]>("/projects/101/wikis");
    const title = `Linked by ${kind}`;
    for (const [action, params, uri] of [
      ["project.get", { project_id: 101 }, /^gitlab:\/\/projects\/acme%2Fwebshop$/],
      ["issue.create", { project_id: PROJECT, title }, /^gitlab:\/\/projects\/acme%2Fwebshop\/issues\/\d+$/],
      ["merge_request.get", { project_id: PROJECT, merge_request_iid: 42 }, /\/merge_requests\/42$/],
      ["merge_request.overview", { project_id: PROJECT, merge_request_iid: 42, select: ["title"] }, /\/merge_requests\/42$/],
      ["pipeline.latest_get", { project_id: PROJECT }, /\/pipelines\/\d+$/],
      ["pipeline.get", { project_id: PROJECT, pipeline_id: pipeline?.id }, new RegExp(`/pipelines/${pipeline?.id}$`)],
      ["job.log_get", { project_id: PROJECT, job_id: job?.id }, new RegExp(`/jobs/${job?.id}/log$`)],
      ["repository.file_get", { project_id: PROJECT, file_path: "src/lib/money.ts", ref: "main" }, /\/files\/main\/src\/lib\/money\.ts$/],
      ["wiki_page.get", { project_id: PROJECT, slug: page?.slug }, new RegExp(`/wiki/${page?.slug}$`)],
    ] as const) {
      const answer = await client.call("gitlab_execute_action", { action, params });
      const links = answer.content.filter(({ type }) => type === "resource_link");
      expect(links, `${action} ${answer.text}`).toEqual([
        { type: "resource_link", uri: expect.stringMatching(uri), name: expect.any(String) },
      ]);
      const [contents] = await client.read(String(links[0]?.uri));
      expect(contents?.text, action).toMatch(FRAME);
      const plain = await bare.call("gitlab_execute_action", { action, params });
      expect(plain.content.map(({ type }) => type)).not.toContain("resource_link");
    }
    const list = await client.call("gitlab_execute_action", { action: "issue.list", params: { project_id: PROJECT } });
    expect(list.content.map(({ type }) => type)).not.toContain("resource_link");
    const refused = await client.call("gitlab_execute_action", { action: "issue.get", params: { project_id: PROJECT, issue_iid: 99_999 } });
    expect(refused.content.map(({ type }) => type)).toEqual(["text"]);
  });

  it("reads what people attach, framed as what others wrote", async () => {
    const [pipeline] = await ask<{ id: number }[]>("/projects/101/pipelines");
    const [job] = await ask<{ id: number }[]>("/projects/101/jobs?scope[]=failed");
    const [issue] = await ask<{ iid: number; title: string }[]>("/projects/101/issues");
    const [page] = await ask<{ slug: string; content: string }[]>("/projects/101/wikis?with_content=1");
    const root = `gitlab://projects/${ENCODED}`;
    for (const [uri, holds] of [
      [root, PROJECT],
      [`gitlab://projects/101`, PROJECT],
      [`gitlab://projects/${PROJECT}/issues/${issue?.iid}`, issue?.title],
      [`${root}/issues/${issue?.iid}`, issue?.title],
      [`${root}/merge_requests/42`, "WELCOME10"],
      [`${root}/pipelines/${pipeline?.id}`, "status"],
      [`${root}/jobs/${job?.id}/log`, "$"],
      [`${root}/files/main/README.md`, "webshop"],
      [`${root}/wiki/${page?.slug}`, page?.content.slice(0, 20)],
    ] as const) {
      const [contents] = await client.read(uri);
      expect(contents, uri).toMatchObject({ uri, text: expect.stringMatching(FRAME) });
      expect(contents?.text?.toLowerCase(), uri).toContain(String(holds).toLowerCase());
    }
  });

  it("what is not there is the era's resource-not-found, with the address as its data", async () => {
    for (const uri of [
      `gitlab://projects/${ENCODED}/issues/99999`,
      "gitlab://nothing",
      "gitlab://projects/%E0%A4%A",
      "gitlab://tools/no.such",
      "https://x.example",
    ]) {
      const error = await failure(client.read(uri));
      expect(error, uri).toMatchObject({ code: -32602, data: { uri } });
    }
  });

  it("prompts fetch what they need, and name their arguments", async () => {
    expect((await client.prompts()).map(({ name }) => name)).toEqual([
      "review_merge_request",
      "explain_failed_pipeline",
      "triage_issues",
      "write_release_notes",
      "plan_milestone",
    ]);
    const [milestone] = await ask<{ title: string }[]>("/projects/101/milestones?state=active");
    for (const [name, args, holds] of [
      ["review_merge_request", { merge_request_iid: "42" }, /!42[\s\S]*\+.*WELCOME10/],
      ["explain_failed_pipeline", { ref: "main" }, /main[\s\S]*(failed|no failed)/i],
      ["triage_issues", { label: "bug" }, /bug/],
      ["write_release_notes", {}, /release notes[\s\S]*!\d+/i],
      ["plan_milestone", { milestone: milestone?.title ?? "" }, new RegExp(milestone?.title ?? "?")],
    ] as const) {
      const messages = await client.prompt(name, { project: PROJECT, ...args });
      const text = messages.map(({ content }) => content.text).join("\n");
      expect(messages.length, name).toBeGreaterThan(1);
      expect(text, name).toMatch(holds);
      expect(messages[0]?.content.text, name).not.toMatch(FRAME);
      expect(
        messages.slice(1).every(({ content }) => FRAME.test(content.text ?? "")),
        name,
      ).toBe(true);
    }
  });

  it("a prompt that is not there, or is asked for wrongly, says what is right", async () => {
    expect(await failure(client.prompt("review_merge_requests"))).toMatchObject({
      code: -32602,
      message: expect.stringContaining("review_merge_request"),
    });
    expect(await failure(client.prompt("review_merge_request", { project: PROJECT }))).toMatchObject({
      message: expect.stringContaining("needs merge_request_iid"),
    });
    expect(await failure(client.prompt("review_merge_request", { project: PROJECT, merge_request_iid: "99999" }))).toMatchObject({
      message: expect.stringContaining("not_found"),
    });
    expect(await failure(client.prompt("triage_issues", { project: PROJECT, colour: "red" }))).toMatchObject({
      message: expect.stringContaining("colour"),
    });
  });

  it("completes projects, branches, labels, milestones, users, numbers and actions", async () => {
    const review = { type: "ref/prompt", name: "review_merge_request" } as const;
    const within = { project: PROJECT };
    expect(await client.complete(review, "project", "webs")).toContain(PROJECT);
    expect(await client.complete(review, "project", "acme/webs")).toContain(PROJECT);
    expect(await client.complete(review, "merge_request_iid", "4", within)).toContain("42");
    const triage = { type: "ref/prompt", name: "triage_issues" } as const;
    expect(await client.complete(triage, "label", "bu", within)).toEqual(expect.arrayContaining(["bug"]));
    expect(await client.complete(triage, "assignee", "mar")).toEqual(expect.arrayContaining(["maria"]));
    const explain = { type: "ref/prompt", name: "explain_failed_pipeline" } as const;
    expect(await client.complete(explain, "ref", "mai", within)).toEqual(expect.arrayContaining(["main"]));
    const issue = { type: "ref/resource", uri: "gitlab://projects/{project_id}/issues/{issue_iid}" } as const;
    expect((await client.complete(issue, "issue_iid", "", { project_id: PROJECT })).every((value) => /^\d+$/.test(value))).toBe(true);
    expect(await client.complete({ type: "ref/resource", uri: "gitlab://tools/{id}" }, "id", "issue.cr")).toContain("issue.create");
    expect(await client.complete(review, "merge_request_iid", "4", { project: "no/such" })).toEqual([]);
    expect(await failure(client.complete({ type: "ref/prompt", name: "nothing" }, "x", ""))).toMatchObject({ code: -32602 });
    expect(await failure(client.complete(review, "colour", ""))).toMatchObject({ code: -32602 });
  });
});

describe("what is withheld from tools is withheld here", () => {
  it("lists, reads, prompts and completions alike, with the reason", async () => {
    const client = await open(
      "sdk1",
      "--capabilities=full",
      "--exclude-tools=job.log_get,merge_request.diff_show,release.notes_draft,label.list",
    );
    try {
      const templates = (await client.templates()).map(({ name }) => name);
      expect(templates).not.toContain("job log");
      expect(templates).not.toContain("merge request with diff");
      expect(templates).toContain("issue");
      expect((await client.prompts()).map(({ name }) => name)).toEqual(["explain_failed_pipeline", "plan_milestone"]);
      const before = sandbox.requests.length;
      for (const work of [
        () => client.read(`gitlab://projects/${ENCODED}/jobs/1/log`),
        () => client.read(`gitlab://projects/${ENCODED}/merge_requests/42`),
        () => client.read("gitlab://tools/job.log_get"),
        () => client.prompt("triage_issues", { project: PROJECT }),
        () => client.prompt("write_release_notes", { project: PROJECT }),
      ])
        expect(await failure(work())).toMatchObject({ code: -32602, message: expect.stringContaining("not_permitted") });
      expect(await client.complete({ type: "ref/prompt", name: "triage_issues" }, "label", "bu", { project: PROJECT })).toEqual([]);
      expect(sandbox.requests.length).toBe(before);
    } finally {
      await client.close();
    }
  });

  it("projects out of bounds cannot be attached or completed", async () => {
    const client = await open("sdk1", "--capabilities=full", "--allow-projects=acme/webshop");
    try {
      const others = (await ask<{ path_with_namespace: string }[]>("/projects?membership=true&per_page=100")).map(
        (row) => row.path_with_namespace,
      );
      const other = others.find((path) => path !== PROJECT);
      expect(other).toBeDefined();
      expect(await failure(client.read(`gitlab://projects/${encodeURIComponent(String(other))}`))).toMatchObject({ code: -32602 });
      const seen = await client.complete({ type: "ref/prompt", name: "triage_issues" }, "project", "");
      expect(seen.filter((path) => path !== PROJECT)).toEqual([]);
    } finally {
      await client.close();
    }
  });
});
