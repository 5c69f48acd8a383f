import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { faultsOfJson, faultsOfText, MARK } from "../support/hostile.ts";
import { type HostileGitLab, startHostile } from "../support/hostile-proxy.ts";
import { handshake, modern, post, type Rpc, type Started, startHttp } from "../support/http.ts";

type Json = Record<string, unknown>;

let sandbox: Sandbox;
let evil: HostileGitLab;
let server: Started;
const made: Json = {};
const legacy: { session: Readonly<Record<string, string>> } = { session: {} };

beforeAll(async () => {
  sandbox = await startSandbox();
  const ask = async (path: string, method = "GET", body?: Json) => {
    const headers = { "PRIVATE-TOKEN": sandbox.tokens.root, "Content-Type": "application/json" };
    const reply = await fetch(`${sandbox.url}/api/v4${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return (await reply.json()) as Json & Json[];
  };
  const failed = (await ask("/projects/101/jobs?scope[]=failed"))[0] as Json;
  made.job_id = failed.id;
  made.pipeline_id = (failed.pipeline as Json).id;
  made.sha = ((await ask("/projects/101/repository/commits/main")) as Json).id;
  await ask("/projects/101/issues/1/todo", "POST");
  await ask("/projects/101/wikis", "POST", { title: "Evil", content: "x" });
  evil = await startHostile(sandbox.url);
  server = await startHttp(
    ["--capabilities=full", "--auth=server", "--confirm=off", "--rate-limit=100000", "--max-writes-per-minute=1000"],
    {
      GITLAB_URL: evil.url,
      GITLAB_TOKEN: sandbox.tokens.root,
    },
  );
  legacy.session = (await handshake(server.url)).session;
});
afterAll(async () => {
  await server.stop();
  await evil.close();
  await sandbox.close();
});

type Era = "legacy" | "modern";

let id = 0;
async function request(era: Era, method: string, params: Json): Promise<Rpc["messages"][number]> {
  id++;
  const uri = typeof params.uri === "string" ? { "mcp-name": params.uri } : {};
  const one = modern(method, params, id);
  const reply =
    era === "modern"
      ? await post(server.url, one.body, { ...one.headers, ...uri })
      : await post(server.url, { jsonrpc: "2.0", id, method, params }, legacy.session);
  const message = reply.messages.find((each) => each.id === id);
  if (!message) throw new Error(`no answer to ${method}: ${reply.status} ${reply.text.slice(0, 200)}`);
  return message;
}

const withMade = (params: Json): Json =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value === "made" ? made[name] : value]));

const P = { project_id: 101 };

/** Every kind of text that people write in GitLab, by the action that brings it. */
const CALLS: readonly [string, Json][] = [
  ["issue.get", { ...P, issue_iid: 1 }],
  ["issue.list", { ...P, full: true }],
  ["issue.note_list", { ...P, issue_iid: 1 }],
  ["issue.discussion_list", { ...P, issue_iid: 1 }],
  ["work_item.get", { ...P, work_item_iid: 1 }],
  ["work_item.list", P],
  ["merge_request.get", { ...P, merge_request_iid: 42 }],
  ["merge_request.overview", { ...P, merge_request_iid: 42 }],
  ["merge_request.diff_show", { ...P, merge_request_iid: 42 }],
  ["merge_request.diff_show", { ...P, merge_request_iid: 42, paths: ["**"] }],
  ["merge_request.diff_list", { ...P, merge_request_iid: 42 }],
  ["pipeline.explain_failure", { ...P, pipeline_id: "made" }],
  ["pipeline.job_list", { ...P, pipeline_id: "made" }],
  ["job.get", { ...P, job_id: "made" }],
  ["job.log_get", { ...P, job_id: "made" }],
  ["job.log_get", { ...P, job_id: "made", head: 5 }],
  ["job.log_get", { ...P, job_id: "made", grep: MARK, context: 3 }],
  ["job.log_get", { ...P, job_id: "made", errors: true }],
  ["repository.file_get", { ...P, file_path: "README.md", ref: "main" }],
  ["repository.file_raw_get", { ...P, file_path: "README.md", ref: "main" }],
  ["repository.file_blame_get", { ...P, file_path: "README.md", ref: "main" }],
  ["repository.tree_list", P],
  ["repository.compare", { ...P, from: "main", to: "made_sha" }],
  ["commit.list", P],
  ["commit.get", { ...P, sha: "made" }],
  ["commit.diff_get", { ...P, sha: "made" }],
  ["branch.list", P],
  ["tag.list", P],
  ["label.list", P],
  ["milestone.list", P],
  ["search.run", { ...P, scope: "blobs", search: "the" }],
  ["search.run", { ...P, scope: "issues", search: "a" }],
  ["todo.list", {}],
  ["user.list", { username: "maria", full: true }],
  ["user.current_get", {}],
  ["member.all_get", { ...P, user_id: "maria" }],
  ["wiki_page.get", { ...P, slug: "Evil" }],
  ["release.notes_draft", P],
  ["ci_config.lint", { ...P, content: "a: b" }],
  ["project.get", P],
  [
    "batch.run",
    {
      calls: [
        { action: "job.log_get", params: { ...P, job_id: 1 } },
        { action: "issue.get", params: { ...P, issue_iid: 1 } },
      ],
    },
  ],
  ["issue.update", { ...P, issue_iid: 1, state_event: "close" }],
  ["issue.update", { ...P, issue_iid: 1, state_event: "reopen", full: true }],
  ["merge_request.update", { ...P, merge_request_iid: 42, target_branch: "main" }],
  ["issue.note_create", { ...P, issue_iid: 1, body: "own words" }],
  ["branch.create", { ...P, branch: "of-era", ref: "main" }],
];

interface Result {
  readonly content: { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Json;
  readonly isError?: boolean;
}

const textOf = ({ content }: Result) => content.map((block) => block.text ?? "").join("\n");

describe.each<Era>(["legacy", "modern"])("hostile words on the way to a client of the %s era", (era) => {
  let met = 0;

  it.each(CALLS)("%s %j", async (action, given) => {
    const params = withMade({
      ...given,
      ...(given.to === "made_sha" ? { to: made.sha } : {}),
      ...(given.branch === "of-era" ? { branch: `of-${era}` } : {}),
    });
    const { result } = await request(era, "tools/call", { name: "gitlab_execute_action", arguments: { action, params } });
    const answer = result as unknown as Result;
    if (textOf(answer).includes(MARK)) met++;
    expect(answer.isError, textOf(answer).slice(0, 300)).toBeUndefined();
    expect(faultsOfText(textOf(answer))).toEqual([]);
    expect(faultsOfJson(answer.structuredContent)).toEqual([]);
  });

  it("nearly every one of them really brought the words", () => expect(met).toBeGreaterThan(CALLS.length * 0.75));

  it.each([
    "gitlab://projects/101/issues/1",
    "gitlab://projects/101/merge_requests/42",
    "gitlab://projects/101/pipelines/PIPELINE",
    "gitlab://projects/101/jobs/JOB/log",
    "gitlab://projects/101/files/main/README.md",
    "gitlab://projects/101/wiki/Evil",
    "gitlab://projects/101",
  ])("resource %s", async (template) => {
    const uri = template.replace("PIPELINE", String(made.pipeline_id)).replace("JOB", String(made.job_id));
    const { result, error } = await request(era, "resources/read", { uri });
    expect(error).toBeUndefined();
    const text = ((result?.contents ?? []) as { text?: string }[]).map((one) => one.text ?? "").join("\n");
    expect(text).toContain(MARK);
    expect(faultsOfText(text)).toEqual([]);
  });

  it.each<[string, Json]>([
    ["review_merge_request", { project: "acme/webshop", merge_request_iid: "42" }],
    ["explain_failed_pipeline", { project: "acme/webshop" }],
    ["triage_issues", { project: "acme/webshop" }],
    ["write_release_notes", { project: "acme/webshop" }],
    ["plan_milestone", { project: "acme/webshop", milestone: "m" }],
  ])("prompt %s", async (name, args) => {
    const { result, error } = await request(era, "prompts/get", { name, arguments: args });
    expect(error).toBeUndefined();
    const messages = ((result?.messages ?? []) as { content: { text: string } }[]).map(({ content }) => content.text);
    expect(messages.join("\n")).toContain(MARK);
    for (const text of messages) expect(faultsOfText(text)).toEqual([]);
  });

  it("what the server says of itself and what it finds is free of them", async () => {
    for (const [name, args] of [
      ["list_available_toolsets", {}],
      ["gitlab_find_action", { query: "close an issue" }],
    ] as const) {
      const { result } = await request(era, "tools/call", { name, arguments: args });
      expect(JSON.stringify(result)).not.toContain(MARK);
    }
  });
});
