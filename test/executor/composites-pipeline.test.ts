import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { answerOf, type Fields, failure, items, type Replies, runComposite, text, value } from "./composites-run.ts";

const pipeline = (id: number, status: string, more: Fields = {}) => ({
  id,
  status,
  ref: "main",
  web_url: `https://gitlab.example.com/p/${id}`,
  ...more,
});
const job = (id: number, name: string, more: Fields = {}) => ({
  id,
  name,
  stage: "test",
  status: "failed",
  allow_failure: false,
  failure_reason: "script_failure",
  web_url: `https://gitlab.example.com/j/${id}`,
  ...more,
});

interface World {
  readonly pipelines?: readonly Fields[];
  readonly jobs?: Readonly<Record<number, readonly Fields[]>>;
  readonly bridges?: Readonly<Record<number, readonly Fields[]>>;
  readonly logs?: Readonly<Record<number, string>>;
}

const gitlab =
  ({ pipelines = [], jobs = {}, bridges = {}, logs = {} }: World): Replies =>
  (id, params) => {
    const number = Number(params.pipeline_id);
    switch (id) {
      case "project.get":
        return value({ default_branch: "main" });
      case "pipeline.list":
        return items(params.scope === "finished" ? pipelines.filter((one) => one.finished === true) : pipelines.slice(0, 20));
      case "pipeline.get": {
        const found = pipelines.find((one) => one.id === number);
        return found ? value(found) : failure("not_found");
      }
      case "pipeline.job_list":
        return items(jobs[number] ?? []);
      case "pipeline.bridge_list":
        return items(bridges[number] ?? []);
      case "job.log_get": {
        const log = logs[Number(params.job_id)];
        return log === undefined ? failure("forbidden") : text(log);
      }
      default:
        throw new Error(`not expected: ${id}`);
    }
  };

const explain = (world: World, params: Fields = {}) =>
  runComposite("pipeline.explain_failure", { project_id: "a/b", ...params }, gitlab(world));

const failingLog = "setup\nAssertionError: expected 119, got 100\nERROR: Job failed: exit code 1\n";

describe("why a pipeline failed", () => {
  it("tells the failed jobs of the latest finished pipeline of the default branch with the lines of their logs", async () => {
    const run = explain({
      pipelines: [pipeline(12, "running"), pipeline(11, "skipped"), pipeline(10, "failed"), pipeline(9, "failed")],
      jobs: {
        10: [job(1, "rspec"), job(2, "lint", { allow_failure: true }), job(3, "deploy", { failure_reason: "runner_system_failure" })],
      },
      logs: { 1: failingLog, 3: "ERROR: Job failed (system failure): no space left" },
    });
    const answer = await answerOf(run.outcome);
    expect(answer).toMatchObject({
      summary: "Pipeline 10 of main failed because of 2 jobs: rspec, deploy.",
      failed: true,
      pipeline: { id: 10, status: "failed", web_url: "https://gitlab.example.com/p/10" },
      newer: { id: 12, status: "running" },
      jobs: [
        { id: 1, name: "rspec", failure_reason: "script_failure", log: expect.arrayContaining(["AssertionError: expected 119, got 100"]) },
      ],
      runner_failures: [{ id: 3, failure_reason: "runner_system_failure", log: ["ERROR: Job failed (system failure): no space left"] }],
      allowed_failures: [{ id: 2, name: "lint" }],
    });
    expect(run.ran.filter(([id]) => id === "job.log_get").map(([, params]) => params.job_id)).toEqual([1, 3]);
    expect(await run.outcome).toMatchObject({ project: "a/b", untrusted: true, hint: expect.any(String) });
    expect(run.ran.every(([, params]) => params.full === true)).toBe(true);
    expect(run.progress.length).toBeGreaterThan(0);
  });

  it("says so where it did not fail", async () => {
    const run = explain({ pipelines: [pipeline(10, "success"), pipeline(9, "failed")] });
    expect(await answerOf(run.outcome)).toEqual({
      summary: "Pipeline 10 of main did not fail: it passed.",
      failed: false,
      pipeline: expect.objectContaining({ id: 10 }),
    });
    expect(run.ran.map(([id]) => id)).toEqual(["project.get", "pipeline.list", "pipeline.get"]);
    expect((await answerOf(explain({ pipelines: [pipeline(10, "canceled")] }).outcome)).summary).toContain("it is canceled");
  });

  it("takes a ref or a pipeline", async () => {
    const world = { pipelines: [pipeline(10, "failed"), pipeline(9, "failed")], jobs: { 9: [job(1, "rspec")] }, logs: { 1: failingLog } };
    const byId = explain(world, { pipeline_id: 9 });
    expect(await answerOf(byId.outcome)).toMatchObject({ pipeline: { id: 9 }, jobs: [{ name: "rspec" }] });
    expect(byId.ran[0]?.[0]).toBe("pipeline.get");
    const byRef = explain(world, { ref: "topic" });
    await byRef.outcome;
    expect(byRef.ran[0]).toEqual(["pipeline.list", { project_id: "a/b", ref: "topic", limit: 20, full: true }]);
  });

  it("finds a finished one behind many that still run, or says that there is none", async () => {
    const running = Array.from({ length: 25 }, (_, index) => pipeline(100 - index, "running"));
    const run = explain({
      pipelines: [...running, pipeline(5, "failed", { finished: true })],
      jobs: { 5: [job(1, "rspec")] },
      logs: { 1: failingLog },
    });
    expect(await answerOf(run.outcome)).toMatchObject({ pipeline: { id: 5 }, newer: { id: 100 } });
    await expect(explain({ pipelines: running }).outcome).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("latest is running"),
    });
    await expect(explain({}).outcome).rejects.toMatchObject({ message: expect.stringContaining("it has none") });
  });

  it("gives YAML errors", async () => {
    const run = explain({ pipelines: [pipeline(10, "failed", { yaml_errors: "jobs:rspec config contains unknown keys: scirpt" })] });
    expect(await answerOf(run.outcome)).toMatchObject({
      summary: expect.stringContaining("configuration is not valid"),
      pipeline: { yaml_errors: "jobs:rspec config contains unknown keys: scirpt" },
    });
  });

  it("follows child pipelines two levels down, other projects too", async () => {
    const bridge = (name: string, id: number, project = 1) => ({
      id: id * 10,
      name,
      status: "failed",
      downstream_pipeline: { id, status: "failed", project_id: project, web_url: `w${id}` },
    });
    const run = explain({
      pipelines: [pipeline(10, "failed")],
      jobs: { 20: [job(2, "child")], 30: [job(3, "grandchild")], 40: [job(4, "too deep")] },
      bridges: {
        10: [bridge("trigger", 20, 7), { name: "ok", status: "success", downstream_pipeline: { id: 21, status: "success" } }],
        20: [bridge("deeper", 30, 8)],
        30: [bridge("deepest", 40)],
      },
      logs: { 2: failingLog, 3: failingLog },
    });
    const answer = await answerOf(run.outcome);
    expect(answer.jobs).toMatchObject([
      { id: 2, name: "child", pipeline: 20 },
      { id: 3, name: "grandchild", pipeline: 30 },
    ]);
    expect(answer.child_pipelines).toMatchObject([{ id: 20, started_by: "trigger" }, { id: 30 }, { id: 40 }]);
    expect(run.ran.filter(([id]) => id === "job.log_get").map(([, params]) => params.project_id)).toEqual(["7", "8"]);
  });

  it("counts what an allowed trigger job started as allowed", async () => {
    const bridge = { id: 5, name: "trigger", status: "failed", allow_failure: true, downstream_pipeline: { id: 20, status: "failed" } };
    const run = explain({
      pipelines: [pipeline(10, "failed")],
      jobs: { 10: [job(1, "rspec")], 20: [job(2, "child")] },
      bridges: { 10: [bridge] },
      logs: { 1: failingLog },
    });
    const answer = await answerOf(run.outcome);
    expect(answer).toMatchObject({ jobs: [{ id: 1 }], allowed_failures: [{ id: 2 }], child_pipelines: [{ id: 20, allow_failure: true }] });
    expect(answer.jobs).toHaveLength(1);
  });

  it("shows a trigger job that started nothing", async () => {
    const run = explain({
      pipelines: [pipeline(10, "failed")],
      bridges: { 10: [{ id: 5, name: "trigger", status: "failed", failure_reason: "downstream_bridge_project_not_found" }] },
    });
    expect((await answerOf(run.outcome)).jobs).toMatchObject([
      { id: 5, name: "trigger", failure_reason: "downstream_bridge_project_not_found" },
    ]);
    expect(run.ran.map(([id]) => id)).not.toContain("job.log_get");
  });

  it("goes on without a log that may not be read", async () => {
    const run = explain({ pipelines: [pipeline(10, "failed")], jobs: { 10: [job(1, "rspec"), job(2, "jest")] }, logs: { 2: failingLog } });
    const { jobs } = await answerOf(run.outcome);
    expect(jobs).toMatchObject([
      { id: 1, missing: "log: forbidden" },
      { id: 2, log: expect.arrayContaining(["AssertionError: expected 119, got 100"]) },
    ]);
  });

  it("shows once what several jobs say alike", async () => {
    const jobs = [job(1, "jest 1/2"), job(2, "jest 2/2"), job(3, "lint")];
    const run = explain({
      pipelines: [pipeline(10, "failed")],
      jobs: { 10: jobs },
      logs: { 1: failingLog, 2: failingLog, 3: "error: other" },
    });
    const found = (await answerOf(run.outcome)).jobs as Fields[];
    expect(found).toMatchObject([
      { id: 1, log: expect.any(Array) },
      { id: 2, log_like_job: 1 },
      { id: 3, log: ["error: other"] },
    ]);
    expect(found[1]).not.toHaveProperty("log");
  });

  it("stays small, whatever the logs hold", async () => {
    const hex = (seed: number) => ((seed * 2_654_435_761) % 4_294_967_296).toString(16);
    const loud = (id: number) =>
      Array.from(
        { length: 800 },
        (_, n) => `src/${hex(n + id)}.ts error TS${n}: '${"xyz".repeat(n % 40)}' is no Map<string, ${hex(n * id)}>`,
      ).join("\n");
    const jobs = Array.from({ length: 60 }, (_, index) => job(index + 1, `job ${index + 1}`));
    const run = explain({
      pipelines: [pipeline(10, "failed")],
      jobs: { 10: jobs },
      logs: Object.fromEntries(jobs.map(({ id }) => [id, loud(id)])),
    });
    const answer = await answerOf(run.outcome);
    expect(countTokens(JSON.stringify(answer))).toBeLessThanOrEqual(2_500);
    expect(answer.more_failed_jobs).toBe(60 - (answer.jobs as unknown[]).length);
    expect((answer.jobs as { log?: string[] }[])[0]?.log?.length).toBeGreaterThan(0);
  });

  it("stops when it is cancelled", async () => {
    const run = explain({ pipelines: [pipeline(10, "failed")], jobs: { 10: [job(1, "rspec")] }, logs: { 1: failingLog } });
    run.controller.abort();
    await expect(run.outcome).rejects.toMatchObject({ code: "cancelled" });
    expect(run.ran.map(([id]) => id)).not.toContain("job.log_get");
  });
});
