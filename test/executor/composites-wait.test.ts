import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerOf, type Fields, items, runComposite, value } from "./composites-run.ts";
import { failureOf } from "./gitlab-fixture.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A pipeline that goes through these states, one a look; the last stays. */
function wait(states: readonly string[], params: Fields = {}) {
  const looks: number[] = [];
  const start = Date.now();
  const run = runComposite("pipeline.wait", { project_id: "a/b", pipeline_id: 7, ...params }, (id) => {
    if (id === "pipeline.latest_get") return value({ id: 9 });
    if (id === "pipeline.job_list") return items([{ name: "unit" }, { name: "lint", allow_failure: true }]);
    looks.push((Date.now() - start) / 1_000);
    return value({ id: 7, status: states[Math.min(looks.length, states.length) - 1], ref: "main" });
  });
  return { ...run, looks };
}

describe("waiting", () => {
  it("looks at growing intervals until it is finished, tells how far it is, and names the failed jobs", async () => {
    const { outcome, looks, progress } = wait(["created", "pending", "running", "running", "failed"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await answerOf(outcome)).toEqual({
      id: 7,
      status: "failed",
      finished: true,
      waited_seconds: 18,
      ref: "main",
      failed_jobs: ["unit"],
      allowed_failures: ["lint"],
    });
    expect(await outcome).toMatchObject({ hint: expect.stringContaining("pipeline.explain_failure") });
    expect(looks).toEqual([0, 2, 5, 10, 18]);
    expect(progress.map(({ progress: done, total, message }) => [done, total, message])).toEqual([
      [0, 120, "pipeline 7 is created"],
      [2, 120, "pipeline 7 is pending"],
      [5, 120, "pipeline 7 is running"],
      [10, 120, "pipeline 7 is running"],
      [18, 120, "pipeline 7 is failed"],
    ]);
  });

  it("ends when the time is over, not before and not after", async () => {
    const { outcome, looks } = wait(["running"], { timeout: 20 });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await outcome).toMatchObject({
      value: { status: "running", finished: false, waited_seconds: 20 },
      hint: expect.stringMatching(/call again/),
    });
    expect(looks.at(-1)).toBe(20);
    expect(await answerOf(wait(["running"], { timeout: 0 }).outcome)).toMatchObject({ finished: false, waited_seconds: 0 });
  });

  it("ends at once where a person must act, and when the call is cancelled", async () => {
    expect(await wait(["manual"]).outcome).toMatchObject({
      value: { status: "manual", finished: false },
      hint: expect.stringMatching(/waits for a person/),
    });
    const { outcome, controller, looks } = wait(["running"]);
    const failed = failureOf(outcome);
    await vi.advanceTimersByTimeAsync(3_000);
    controller.abort();
    expect(await failed).toMatchObject({ code: "cancelled", hint: expect.stringMatching(/goes on in GitLab/) });
    expect(looks).toEqual([0, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits for the latest pipeline of a branch where none is named, and never longer than ten minutes", async () => {
    const { ran, outcome } = wait(["success"], { pipeline_id: undefined, ref: "dev" });
    await outcome;
    expect(ran[0]).toEqual(["pipeline.latest_get", { project_id: "a/b", ref: "dev", full: true }]);
    expect(ran[1]?.[1]).toMatchObject({ pipeline_id: 9 });
    for (const timeout of [601, -1])
      expect((await failureOf(wait(["success"], { timeout }).outcome)).detail.fields).toHaveProperty("timeout");
  });

  it("for a job tells how it ended", async () => {
    const job = { id: 3, name: "unit", status: "failed", failure_reason: "script_failure", stage: "test" };
    const { outcome } = runComposite("job.wait", { project_id: "a/b", job_id: 3 }, () => value(job));
    expect(await outcome).toMatchObject({ value: { ...job, finished: true }, hint: expect.stringContaining("job.log_get") });
  });
});
