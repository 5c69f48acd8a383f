import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import { toWriteOutcome, WRITE_BUDGET } from "../../src/executor/written.ts";
import {
  API,
  action,
  answers,
  callOf,
  contextOf,
  failureOf,
  json,
  sent,
  settingsOf,
  sourceOf,
  useNetwork,
  valueIn,
} from "./gitlab-fixture.ts";

useNetwork();

const MR = {
  id: 155016530,
  iid: 133,
  project_id: 15513260,
  title: "Keep the retry counter of the upload worker across restarts, and say so in the log",
  description: "Long text. ".repeat(200),
  state: "opened",
  created_at: "2026-05-13T07:26:38.402Z",
  author: { id: 1, username: "kim", name: "Kim" },
  assignees: [{ id: 1, username: "kim", name: "Kim" }],
  labels: ["bug", "backend", "priority::2"],
  milestone: { id: 3, title: "18.9" },
  draft: false,
  merge_when_pipeline_succeeds: true,
  detailed_merge_status: "ci_still_running",
  merge_commit_sha: null,
  source_branch: "fix/retry-counter",
  target_branch: "main",
  web_url: "https://gitlab.example.com/platform/storage-service/-/merge_requests/133",
};
const PARAMS = {
  project_id: "platform/storage-service",
  merge_request_iid: 133,
  title: MR.title,
  description: MR.description,
  labels: ["bug"],
  assignee_ids: [1],
  milestone_id: 3,
};

describe("the answer of a write", () => {
  it("says what it is, where, and what changed, in few tokens", async () => {
    answers("put", `${API}/projects/:id/merge_requests/133`, () => json(MR));
    const value = valueIn(await sourceOf().run(callOf("merge_request.update", PARAMS), contextOf()));
    expect(value).toMatchObject({
      iid: 133,
      state: "opened",
      web_url: MR.web_url,
      labels: MR.labels,
      description: `${MR.description.length} characters`,
      merge_when_pipeline_succeeds: true,
    });
    expect(encode(JSON.stringify(value)).length).toBeLessThanOrEqual(WRITE_BUDGET);
  });

  it("names what was set where GitLab answers an object, and tells nothing twice", async () => {
    const maria = { id: 2, username: "maria", name: "Maria", state: "active", web_url: "https://gitlab.test/maria" };
    const body = { id: 1, iid: 3, title: "t", milestone: { id: 4, iid: 1, title: "1.5" }, assignee: maria, assignees: [maria] };
    answers("post", `${API}/projects/1/issues`, () => json(body, { status: 201 }));
    const call = callOf("issue.create", { project_id: "1", title: "t", milestone_id: 4, assignee_ids: [2] });
    expect(await sourceOf().run(call, contextOf())).toMatchObject({
      value: { id: 1, iid: 3, title: "t", milestone: "1.5", assignees: ["maria"] },
    });
    expect(((await sourceOf().run(call, contextOf())) as { value: object }).value).not.toHaveProperty("assignee");
  });

  it("is never longer than its budget", async () => {
    const long = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field_${index}`, `value ${index} `.repeat(9)]));
    const outcome = await toWriteOutcome(
      { status: 200, body: { ...MR, ...long } },
      callOf(action("merge_request.update"), { ...PARAMS, ...long }),
      settingsOf(),
    );
    expect(encode(JSON.stringify(valueIn(outcome))).length).toBeLessThanOrEqual(WRITE_BUDGET);
  });

  it("without a body is done; with 202 goes on in the background", async () => {
    answers("delete", `${API}/projects/1/issues/7`, () => new HttpResponse(null, { status: 204 }));
    answers("delete", `${API}/projects/1`, () => json({ message: "202 Accepted" }, { status: 202 }));
    expect(await sourceOf().run(callOf("issue.delete", { project_id: "1", issue_iid: 7 }), contextOf())).toEqual({
      kind: "value",
      value: { done: true },
      project: "1",
    });
    expect(await sourceOf().run(callOf("project.delete", { project_id: "1" }), contextOf())).toMatchObject({
      value: { done: true },
      hint: expect.stringContaining("background"),
    });
  });

  it.each([
    ["truncated JSON", () => new HttpResponse('{"iid": 13', { status: 201, headers: { "content-type": "application/json" } })],
    [
      "a body that breaks off",
      () =>
        new HttpResponse(new ReadableStream({ start: (stream) => stream.error(new Error("reset")) }), {
          status: 201,
          headers: { "content-type": "application/json" },
        }),
    ],
    ["text that is no JSON", () => new HttpResponse("created", { status: 201, headers: { "content-type": "application/json" } })],
  ])("%s is still a success", async (_name, answer) => {
    answers("post", `${API}/projects/1/issues`, answer);
    const outcome = await sourceOf().run(callOf("issue.create", { project_id: "1", title: "T" }), contextOf());
    expect(outcome).toMatchObject({ kind: "value", value: { done: true }, hint: expect.stringContaining("Do not repeat") });
    expect(sent).toHaveLength(1);
  });

  it("with unknown fields selected is a success all the same", async () => {
    answers("post", `${API}/projects/1/issues`, () => json({ iid: 9 }, { status: 201 }));
    const outcome = await sourceOf().run(
      callOf("issue.create", { project_id: "1", title: "T" }, { select: ["iid", "nope.deep"] }),
      contextOf(),
    );
    expect(valueIn(outcome)).toEqual({ iid: 9 });
  });

  const odd = fc.oneof(
    fc.constant(null),
    fc.constant(undefined),
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue()),
  );
  const changed = fc.dictionary(fc.constantFrom(...Object.keys(MR)), odd).map((own) => ({ ...MR, ...own }));
  const body = fc.oneof(changed, odd, fc.jsonValue());
  const wanted = fc.constantFrom({}, { full: true }, { select: ["iid", "author.username", "title.x"] });

  it("is a success whatever the answer lacks or holds", async () => {
    const ids = fc.constantFrom("merge_request.update", "merge_request.merge", "merge_request.create");
    await fc.assert(
      fc.asyncProperty(ids, body, wanted, fc.constantFrom(200, 201, 202), async (id, reply, want, status) => {
        const outcome = await toWriteOutcome({ status, body: reply }, { ...callOf(id, PARAMS), wanted: want }, settingsOf());
        expect(outcome.kind).toBe("value");
        expect(() => JSON.stringify(outcome)).not.toThrow();
      }),
      { numRuns: 400 },
    );
  });
});

const rotate = { ...action("issue.create"), id: "project_token.rotate", secret: true, entity: "APIEntitiesPersonalAccessTokenWithToken" };
const fresh = () => json({ id: 5, name: "ci", active: true, token: "glpat-brand-new-secret" }, { status: 200 });

describe("new secrets", () => {
  const run = (revealSecrets: string, secretsDirectory?: string) =>
    sourceOf({ revealSecrets }, secretsDirectory ? { secretsDirectory } : {}).run(
      callOf(rotate, { project_id: "1", title: "x" }),
      contextOf(),
    );

  it.each([
    ["never", undefined],
    ["file", undefined],
    ["file", "/dev/null/deep"],
  ])("%s (%s): refused before anything is sent", async (mode, directory) => {
    const error = await failureOf(run(mode, directory));
    expect([error.code, error.detail.setting, sent.length]).toEqual(["not_permitted", "--reveal-secrets", 0]);
  });

  it("file: written for the owner alone, the path told, the secret not", async () => {
    answers("post", `${API}/projects/1/issues`, fresh);
    const directory = join(mkdtempSync(join(tmpdir(), "bridge-")), "deep");
    const value = valueIn(await run("file", directory));
    const path = value.token_file as string;
    expect(readFileSync(path, "utf8")).toBe("glpat-brand-new-secret\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(JSON.stringify(value)).not.toContain("brand-new");
  });

  it("file: leaves no file where GitLab refused", async () => {
    answers("post", `${API}/projects/1/issues`, () => json({ message: "403 Forbidden" }, { status: 403 }));
    const directory = mkdtempSync(join(tmpdir(), "bridge-"));
    await failureOf(run("file", directory));
    expect(readdirSync(directory)).toEqual([]);
  });

  it("result: in the answer", async () => {
    answers("post", `${API}/projects/1/issues`, fresh);
    expect(valueIn(await run("result")).token).toBe("glpat-brand-new-secret");
  });
});

describe("values of variables and tokens", () => {
  const VARIABLES = `${API}/projects/1/pipelines/2/variables`;
  const variables = () => json([{ key: "DEPLOY_KEY", value: "s3cr3t-value", variable_type: "env_var" }]);

  it("are masked in answers unless the setting reveals them", async () => {
    answers("get", VARIABLES, variables);
    const call = () => callOf("pipeline.variable_list", { project_id: "1", pipeline_id: 2 }, { full: true });
    expect(JSON.stringify(await sourceOf().run(call(), contextOf()))).not.toContain("s3cr3t");
    expect(JSON.stringify(await sourceOf({ revealSecrets: "result" }).run(call(), contextOf()))).toContain("s3cr3t-value");
  });

  it("are masked in answers of writes", async () => {
    answers("post", `${API}/projects/1/pipeline_schedules/2/variables`, () =>
      json({ key: "K", value: "s3cr3t-value", variable_type: "env_var" }, { status: 201 }),
    );
    const params = { project_id: "1", pipeline_schedule_id: 2, key: "K", value: "s3cr3t-value" };
    expect(JSON.stringify(await sourceOf().run(callOf("pipeline_schedule.variable_create", params), contextOf()))).not.toContain("s3cr3t");
  });

  it("are masked in previews, which send nothing", async () => {
    const params = { project_id: "g/p", pipeline_schedule_id: 2, key: "K", value: "s3cr3t-value" };
    const preview = await sourceOf({ url: "https://gitlab.test/gitlab" }).preview(
      callOf("pipeline_schedule.variable_create", params),
      contextOf(),
    );
    expect(preview).toEqual({
      action: "pipeline_schedule.variable_create",
      effect: "write",
      method: "POST",
      path: "/gitlab/api/v4/projects/g%2Fp/pipeline_schedules/2/variables",
      body: { key: "K", value: "[masked]" },
      project: "g/p",
    });
    const pipeline = await sourceOf().preview(
      callOf("pipeline.create", { project_id: "1", ref: "main", variables: [{ key: "A", value: "s3cr3t" }] }),
      contextOf(),
    );
    expect(JSON.stringify(pipeline)).not.toContain("s3cr3t");
    expect(sent).toEqual([]);
  });
});

it("safe mode and read-only hold at the door, whatever sits above", async () => {
  for (const mode of ["safeMode", "readOnly"]) {
    const error = await failureOf(sourceOf({ [mode]: true }).run(callOf("issue.create", { project_id: "1", title: "T" }), contextOf()));
    expect([error.code, sent.length]).toEqual(["not_permitted", 0]);
  }
});
