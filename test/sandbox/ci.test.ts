import { describe, expect, test } from "vitest";
import { condition, readConfig } from "../../src/sandbox/ci-config.ts";
import { nextRun } from "../../src/sandbox/ci-json.ts";
import { finishPipeline } from "../../src/sandbox/ci-run.ts";
import { parseYaml } from "../../src/sandbox/ci-yaml.ts";
import { useSandbox } from "./http.ts";

const P = "/projects/acme%2Fwebshop";
type Row = Record<string, unknown>;

describe("pipeline files", () => {
  test("the YAML that they use", () => {
    const text = 'a: 1\nb:\n  - x\n  - "y: z" # note\n  - k: v\n    l: [1, two]\nc: |\n  one\n  two\nd: {e: true, f: null}\n"g h":\n- i\n';
    expect(parseYaml(text)).toEqual({
      a: 1,
      b: ["x", "y: z", { k: "v", l: [1, "two"] }],
      c: "one\ntwo\n",
      d: { e: true, f: null },
      "g h": ["i"],
    });
    expect(() => parseYaml("a:\n\t- b")).toThrow("cannot start any token");
    expect(() => parseYaml("a: 1\n   b: 2")).toThrow("did not find expected key");
  });

  test("what is wrong is said in GitLab's words", () => {
    expect(readConfig("stages: [a]").errors).toEqual(["jobs config should contain at least one visible job"]);
    expect(readConfig("x:\n  stage: nope\n  script: [a]").errors).toEqual([
      "x job: chosen stage nope does not exist; available stages are .pre, build, test, deploy, .post",
    ]);
    expect(readConfig("x:\n  tags: [a]").errors).toEqual(["jobs:x config should implement the script:, run:, or trigger: keyword"]);
    expect(readConfig("x:\n  script: a\n  needs: [y]").errors).toEqual(["x job: undefined need: y"]);
    expect(readConfig(".t:\n  stage: deploy\nx:\n  extends: .t\n  script: a").jobs[0]).toMatchObject({
      name: "x",
      stage: "deploy",
      script: ["a"],
    });
  });

  test("rules", () => {
    const values = new Map([
      ["A", "1"],
      ["B", "feature/x"],
    ]);
    expect(condition('$A == "1" && $B =~ /^feature/', values)).toBe(true);
    expect(condition('$A == "2" || $C', values)).toBe(false);
    expect(condition("$C == null", values)).toBe(true);
  });

  test("the next run of a cron line", () => {
    expect(nextRun("30 5 * * 1", "2026-11-02T09:00:00.000Z")).toBe("2026-11-09T05:30:00.000Z");
    expect(nextRun("*/15 9-10 * * *", "2026-11-02T09:46:00.000Z")).toBe("2026-11-02T10:00:00.000Z");
    expect(nextRun("rubbish", "2026-11-02T09:00:00.000Z")).toBeNull();
  });
});

describe("why main failed", () => {
  const { call } = useSandbox();
  const failing = async () => (await call("GET", `${P}/pipelines?ref=main&status=failed`)).json[0];

  test("the newest runs, the newest finished one failed, older ones succeeded", async () => {
    const rows = (await call("GET", `${P}/pipelines?ref=main&per_page=100`)).json;
    expect(rows.slice(0, 3).map((row: Row) => row.status)).toEqual(["running", "failed", "success"]);
    expect(new Set(rows.slice(2).map((row: Row) => row.status))).toEqual(new Set(["success"]));
    expect((await call("GET", `${P}/pipelines/latest`)).json).toMatchObject({ status: "running", ref: "main" });
    expect((await call("GET", `${P}/pipelines?source=schedule`)).json).toHaveLength(2);
    expect((await call("GET", `${P}/pipelines?status=broken`)).json).toEqual({ error: "status does not have a valid value" });
  });

  test("its jobs say what kind of failure", async () => {
    const { id } = await failing();
    const jobs = (await call("GET", `${P}/pipelines/${id}/jobs?scope[]=failed`)).json;
    expect(jobs.map((row: Row) => [row.name, row.allow_failure, row.failure_reason])).toEqual([
      ["e2e", false, "runner_system_failure"],
      ["audit", true, "script_failure"],
      ["unit-tests", false, "script_failure"],
      ["lint", false, "script_failure"],
    ]);
    expect((await call("GET", `${P}/pipelines/${id}/jobs?scope[]=bad`)).status).toBe(400);
  });

  test("child pipelines lead two levels down", async () => {
    const { id } = await failing();
    const [bridge] = (await call("GET", `${P}/pipelines/${id}/bridges`)).json;
    expect(bridge).toMatchObject({
      name: "deploy-staging",
      status: "failed",
      downstream_pipeline: { source: "parent_pipeline", status: "failed" },
    });
    const [inner] = (await call("GET", `${P}/pipelines/${bridge.downstream_pipeline.id}/bridges`)).json;
    const jobs = (await call("GET", `${P}/pipelines/${inner.downstream_pipeline.id}/jobs`)).json;
    expect(jobs.map((row: Row) => [row.name, row.status])).toEqual([["checkout-smoke", "failed"]]);
    const listed = (await call("GET", `${P}/pipelines?per_page=100`)).json.map((row: Row) => row.id);
    expect(listed).not.toContain(bridge.downstream_pipeline.id);
  });

  test("the log is long, coloured, folded, and the reason stands deep in it", async () => {
    const { id } = await failing();
    const job = (await call("GET", `${P}/pipelines/${id}/jobs`)).json.find((row: Row) => row.name === "unit-tests");
    const log = await call("GET", `${P}/jobs/${job.id}/trace`);
    expect(log.headers.get("content-type")).toContain("text/plain");
    const lines = log.text.split("\n");
    expect(lines.length).toBeGreaterThan(2400);
    expect(lines.findIndex((line) => line.includes("expected 2 to be 3"))).toBeGreaterThan(1500);
    expect(log.text).toContain("\u001b[31;1m");
    expect(log.text).toMatch(/section_start:\d+:step_script\r/);
    const report = (await call("GET", `${P}/pipelines/${id}/test_report`)).json;
    expect(report).toMatchObject({ failed_count: 1, test_suites: [{ name: "unit-tests" }] });
    expect((await call("GET", `${P}/pipelines/${id}/test_report_summary`)).json.total).toMatchObject({ failed: 1 });
  });

  test("a pipeline with a broken file has no jobs", async () => {
    const [row] = (await call("GET", `${P}/pipelines?yaml_errors=true`)).json;
    const one = (await call("GET", `${P}/pipelines/${row.id}`)).json;
    expect(one).toMatchObject({ status: "failed", ref: "tomasz/larger-runners" });
    expect(one.yaml_errors).toContain("lint job: chosen stage check does not exist");
    expect((await call("GET", `${P}/pipelines/${row.id}/jobs`)).json).toEqual([]);
    const run = await call("POST", `${P}/pipeline`, { ref: "tomasz/larger-runners" });
    expect([run.status, run.json.message.base[0]]).toEqual([400, expect.stringContaining("chosen stage check")]);
  });
});

describe("running", () => {
  const { call, box } = useSandbox();

  test("a pipeline goes through its stages to the end", async () => {
    const made = await call("POST", `${P}/pipeline`, { ref: "main", variables: [{ key: "DEBUG", value: "1" }] });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ status: "pending", source: "api", ref: "main" });
    expect((await call("GET", `${P}/pipelines/${made.json.id}/variables`)).json).toMatchObject([{ key: "DEBUG", value: "1" }]);
    const before = (await call("GET", `${P}/pipelines/${made.json.id}/jobs`)).json;
    expect(before.map((row: Row) => row.status).sort()).toEqual(["created", "created", "created", "created", "created", "pending"]);
    finishPipeline(box().world, made.json.id);
    expect((await call("GET", `${P}/pipelines/${made.json.id}`)).json.status).toBe("success");
    const [bridge] = (await call("GET", `${P}/pipelines/${made.json.id}/bridges`)).json;
    expect(bridge).toMatchObject({ status: "success", downstream_pipeline: { status: "success" } });
    expect((await call("POST", `${P}/pipeline`, { ref: "nowhere" })).json).toEqual({ message: { base: ["Reference not found"] } });
    expect((await call("POST", `${P}/pipeline`, { ref: "main" }, "reader")).status).toBe(403);
  });

  test("a failed job ends it, a retry takes it up again", async () => {
    const { id } = (await call("POST", `${P}/pipeline`, { ref: "main" })).json;
    finishPipeline(box().world, id, "failed");
    expect((await call("GET", `${P}/pipelines/${id}`)).json.status).toBe("failed");
    const [build] = (await call("GET", `${P}/pipelines/${id}/jobs?scope[]=failed`)).json;
    const again = await call("POST", `${P}/jobs/${build.id}/retry`);
    expect([again.status, again.json.status, again.json.name]).toEqual([201, "pending", "build"]);
    expect((await call("GET", `${P}/pipelines/${id}`)).json.status).toBe("pending");
    expect((await call("GET", `${P}/pipelines/${id}/jobs`)).json.map((row: Row) => row.id)).not.toContain(build.id);
    expect((await call("GET", `${P}/pipelines/${id}/jobs?include_retried=true`)).json.map((row: Row) => row.id)).toContain(build.id);
    expect((await call("POST", `${P}/jobs/${build.id}/retry`)).status).toBe(403);
    expect((await call("POST", `${P}/pipelines/${id}/cancel`)).json.status).toBe("canceled");
    expect((await call("POST", `${P}/pipelines/${id}/retry`)).json.status).toBe("pending");
    expect((await call("DELETE", `${P}/pipelines/${id}`, undefined, "jonas")).status).toBe(403);
    expect((await call("DELETE", `${P}/pipelines/${id}`, undefined, "root")).status).toBe(204);
    expect((await call("GET", `${P}/pipelines/${id}`)).status).toBe(404);
  });

  test("manual jobs wait to be played", async () => {
    const D = "/projects/acme%2Fplatform%2Fdeploy";
    const [job] = (await call("GET", `${D}/jobs?scope[]=manual`)).json;
    const played = await call("POST", `${D}/jobs/${job.id}/play`);
    expect([played.status, played.json.status]).toEqual([200, "pending"]);
    expect((await call("POST", `${D}/jobs/${job.id}/play`)).json).toEqual({ message: "400 Bad request - Unplayable Job" });
    expect((await call("POST", `${D}/jobs/${job.id}/cancel`)).json.status).toBe("canceled");
    expect((await call("POST", `${D}/jobs/${job.id}/erase`)).json.erased_at).not.toBeNull();
    expect((await call("GET", `${D}/jobs/${job.id}/trace`)).text).toBe("");
  });

  test("artifacts come zipped, one by one, and by ref", async () => {
    const [job] = (await call("GET", `${P}/jobs?scope[]=success`)).json.filter((row: Row) => row.name === "build");
    expect((await call("GET", `${P}/jobs/${job.id}/artifacts`)).text.startsWith("PK")).toBe(true);
    expect((await call("GET", `${P}/jobs/${job.id}/artifacts/dist/server.js`)).text).toContain("made by build");
    expect((await call("GET", `${P}/jobs/${job.id}/artifacts/tree`)).json).toEqual([
      { name: "dist", path: "dist/", type: "directory", mode: "040755" },
    ]);
    expect((await call("GET", `${P}/jobs/artifacts/main/raw/dist/app.js?job=build`)).status).toBe(200);
    expect((await call("GET", `${P}/jobs/artifacts/main/download`)).json).toEqual({ error: "job is missing" });
    expect((await call("GET", `${P}/jobs/${job.id}/artifacts/none`)).status).toBe(404);
  });

  test("all jobs page by keyset", async () => {
    const first = await call("GET", `${P}/jobs?pagination=keyset&per_page=40`);
    expect(first.json).toHaveLength(40);
    expect(first.headers.get("link")).toContain('rel="next"');
    expect(first.headers.get("x-total")).toBeNull();
  });
});

describe("schedules and settings", () => {
  const { call } = useSandbox();
  const S = `${P}/pipeline_schedules`;

  test("the owner may switch a schedule off, others may not", async () => {
    const rows = (await call("GET", `${S}?scope=active`)).json;
    expect(rows.map((row: { description: string; owner: { username: string } }) => [row.description, row.owner.username])).toEqual([
      ["Nightly build", "maria"],
      ["Weekly dependency scan", "jonas"],
    ]);
    const [nightly, weekly] = rows;
    const no = await call("PUT", `${S}/${nightly.id}`, { active: false }, "jonas");
    expect([no.status, no.json]).toEqual([403, { message: "403 Forbidden" }]);
    expect((await call("PUT", `${S}/${weekly.id}`, { active: false })).status).toBe(403);
    expect((await call("PUT", `${S}/${nightly.id}`, { active: false })).json).toMatchObject({ active: false, next_run_at: null });
    expect((await call("POST", `${S}/${weekly.id}/take_ownership`)).json.owner.username).toBe("maria");
    expect((await call("PUT", `${S}/${weekly.id}`, { cron: "nonsense" })).json).toEqual({ message: { cron: ["syntax is invalid"] } });
    expect((await call("POST", `${S}/${nightly.id}/take_ownership`, {}, "jonas")).status).toBe(403);
  });

  test("a schedule is made, gets variables, runs and goes", async () => {
    const made = await call("POST", S, { description: "Hourly", ref: "main", cron: "0 * * * *" });
    expect(made.json).toMatchObject({ description: "Hourly", active: true, next_run_at: "2026-11-02T10:00:00.000Z", variables: [] });
    const one = `${S}/${made.json.id}`;
    expect((await call("POST", `${one}/variables`, { key: "A", value: "1" })).json).toMatchObject({ key: "A", variable_type: "env_var" });
    expect((await call("PUT", `${one}/variables/A`, { value: "2" })).json.value).toBe("2");
    expect((await call("POST", `${one}/play`)).json).toEqual({ message: "201 Created" });
    expect((await call("GET", one)).json).toMatchObject({ last_pipeline: { ref: "main" }, variables: [{ key: "A", value: "2" }] });
    expect((await call("GET", `${one}/pipelines`)).json).toMatchObject([{ source: "schedule" }]);
    expect((await call("DELETE", `${one}/variables/A`)).status).toBe(202);
    expect((await call("DELETE", one)).status).toBe(204);
    expect((await call("GET", one)).status).toBe(404);
  });

  test("a trigger's token starts a pipeline by itself", async () => {
    const made = (await call("POST", `${P}/triggers`, { description: "From outside" })).json;
    const run = await call("POST", `${P}/trigger/pipeline`, { token: made.token, ref: "main", variables: { A: "1" } }, null);
    expect([run.status, run.json.source]).toEqual([201, "trigger"]);
    expect((await call("POST", `${P}/trigger/pipeline`, { token: "wrong", ref: "main" }, null)).status).toBe(404);
    expect((await call("DELETE", `${P}/triggers/${made.id}`)).status).toBe(204);
  });

  test("lint", async () => {
    expect((await call("GET", `${P}/ci/lint`)).json).toMatchObject({ valid: true, errors: [] });
    const bad = await call("POST", `${P}/ci/lint`, { content: "a:\n  stage: x\n  script: y" });
    expect(bad.json).toMatchObject({ valid: false, merged_yaml: null });
    expect(bad.json.errors).toHaveLength(1);
  });

  test("job token scope and resource groups", async () => {
    expect((await call("PATCH", `${P}/job_token_scope`, { enabled: false })).status).toBe(204);
    expect((await call("GET", `${P}/job_token_scope`)).json).toEqual({ inbound_enabled: false, outbound_enabled: false });
    expect((await call("POST", `${P}/job_token_scope/allowlist`, { target_project_id: 102 })).json).toEqual({
      source_project_id: 101,
      target_project_id: 102,
    });
    expect((await call("GET", `${P}/job_token_scope/allowlist`)).json.map((row: Row) => row.id)).toEqual([101, 102]);
    expect((await call("PUT", `${P}/resource_groups/staging`, { process_mode: "newest_first" })).json.process_mode).toBe("newest_first");
  });
});
