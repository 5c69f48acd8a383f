import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { CallContext } from "../../src/catalog/types.ts";
import { pauseOf, retryAfterOf, waitFor } from "../../src/executor/retry.ts";
import { API, answers, callOf, contextOf, failureOf, json, sent, server, sourceOf, useNetwork, valueIn } from "./gitlab-fixture.ts";

useNetwork();

const READ = () => callOf("issue.get", { project_id: "g/p", issue_iid: 7 });
const CREATE = () => callOf("issue.create", { project_id: "g/p", title: "Boom" });
const ISSUE = `${API}/projects/g%2Fp/issues/7`;
const ISSUES = `${API}/projects/g%2Fp/issues`;
const ok = () => json({ id: 1, iid: 7, title: "T" });
const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    new HttpResponse("Retry later", { status: code, headers });
const hang = () => new Promise<Response>(() => undefined);

/** A source that does not wait, but writes down how long it would have. */
function patient(settings: Record<string, unknown> = {}) {
  const waits: number[] = [];
  const source = sourceOf(settings, { firstWait: 10, wait: async (ms) => void waits.push(ms) });
  return { source, waits };
}

describe("reads are tried again", () => {
  it.each([429, 502, 503, 504])("after %i, waiting longer each time", async (code) => {
    answers("get", ISSUE, status(code), status(code), ok);
    const { source, waits } = patient();
    expect(valueIn(await source.run(READ(), contextOf()))).toMatchObject({ iid: 7 });
    expect([sent.length, waits]).toEqual([3, [10, 20]]);
  });

  it("after a lost connection", async () => {
    answers("get", ISSUE, () => HttpResponse.error(), ok);
    expect(valueIn(await patient().source.run(READ(), contextOf()))).toMatchObject({ iid: 7 });
  });

  it("as often as the setting says", async () => {
    answers("get", ISSUE, status(503));
    const error = await failureOf(patient({ retries: 1 }).source.run(READ(), contextOf()));
    expect([error.code, sent.length]).toEqual(["gitlab_unavailable", 2]);
  });

  it.each([400, 401, 403, 404, 500])("not after %i", async (code) => {
    answers("get", ISSUE, status(code));
    await failureOf(patient().source.run(READ(), contextOf()));
    expect(sent).toHaveLength(1);
  });

  it("reading POSTs too", async () => {
    answers("post", `${API}/projects/g%2Fp/ci/lint`, status(502), () => json({ valid: true }));
    const outcome = await patient().source.run(callOf("ci_config.lint", { project_id: "g/p", content: "a: b" }), contextOf());
    expect([valueIn(outcome).valid, sent.length]).toEqual([true, 2]);
  });
});

describe("Retry-After", () => {
  it("in seconds is honoured", async () => {
    answers("get", ISSUE, status(429, { "retry-after": "3" }), ok);
    const { source, waits } = patient();
    await source.run(READ(), contextOf());
    expect(waits).toEqual([3_000]);
  });

  it("as a date is honoured", () => {
    const now = Date.parse("2026-11-30T12:00:00Z");
    expect(retryAfterOf({ "retry-after": "Mon, 30 Nov 2026 12:00:07 GMT" }, now)).toBe(7);
    expect(retryAfterOf({ "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" }, now)).toBe(0);
    expect(retryAfterOf({ "retry-after": "soon" }, now)).toBeUndefined();
    expect(retryAfterOf({ "ratelimit-remaining": "0", "ratelimit-reset": String(now / 1000 + 9) }, now)).toBe(9);
  });

  it("beyond the cap is told instead of waited for", async () => {
    expect(waitFor(0, { "retry-after": "20" }, 1)).toBe(20_000);
    expect(waitFor(0, { "retry-after": "21" }, 1)).toBeUndefined();
    answers("get", ISSUE, status(429, { "retry-after": "90" }));
    const { source, waits } = patient();
    const error = await failureOf(source.run(READ(), contextOf()));
    expect(error.code).toBe("rate_limited");
    expect(error.detail.retry_after).toBe(90);
    expect(error.hint).toContain("in 90 s");
    expect([sent.length, waits]).toEqual([1, []]);
  });

  it("of a GitLab in maintenance is told", async () => {
    answers("get", ISSUE, status(503, { "retry-after": "120" }));
    const error = await failureOf(patient().source.run(READ(), contextOf()));
    expect([error.code, error.detail.retry_after, sent.length]).toEqual(["gitlab_unavailable", 120, 1]);
  });

  it("of a write is told, and the write not repeated", async () => {
    answers("post", ISSUES, status(429, { "retry-after": "1" }));
    const error = await failureOf(patient().source.run(CREATE(), contextOf()));
    expect([error.code, error.detail.retry_after, sent.length]).toEqual(["rate_limited", 1, 1]);
  });
});

describe("a low rest of the limit", () => {
  it("spreads what is left until the reset", () => {
    const now = 1_000_000;
    const headers = (remaining: number, seconds: number) => ({
      "ratelimit-remaining": String(remaining),
      "ratelimit-reset": String(now / 1000 + seconds),
    });
    expect(pauseOf(headers(500, 60), now)).toBe(0);
    expect(pauseOf(headers(9, 10), now)).toBe(1_000);
    expect(pauseOf(headers(0, 60), now)).toBe(2_000);
    expect(pauseOf({}, now)).toBe(0);
  });

  it("holds the next request back", async () => {
    const reset = String(Math.floor(Date.now() / 1000) + 60);
    answers("get", ISSUE, () => json({ iid: 7 }, { headers: { "ratelimit-remaining": "1", "ratelimit-reset": reset } }), ok);
    const { source, waits } = patient();
    await source.run(READ(), contextOf());
    await source.run(READ(), contextOf());
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThan(1_000);
  });
});

const CHECK = { action: "issue.list", params: { project_id: "g/p", search: "Boom" } };

describe("a write whose answer never came", () => {
  it.each([
    ["502", status(502)],
    ["504", status(504)],
    ["a reset", () => HttpResponse.error()],
  ])("%s: unknown, with the read to look with, sent once", async (_name, answer) => {
    answers("post", ISSUES, answer);
    const error = await failureOf(patient().source.run(CREATE(), contextOf()));
    expect(error.code).toBe("outcome_unknown");
    expect(error.detail.check).toEqual(CHECK);
    expect(error.hint).toContain("issue.list");
    expect(sent).toHaveLength(1);
  });

  it("a timeout before the headers", async () => {
    answers("post", ISSUES, hang);
    const error = await failureOf(sourceOf({ timeout: 1_500 }).run(CREATE(), contextOf()));
    expect([error.code, error.detail.check, sent.length]).toEqual(["outcome_unknown", CHECK, 1]);
  });

  it("a cancel after sending", async () => {
    const stop = new AbortController();
    server.use(
      http.post(ISSUES, () => {
        stop.abort();
        return hang();
      }),
    );
    const error = await failureOf(sourceOf().run(CREATE(), contextOf({ signal: stop.signal })));
    expect(error.code).toBe("outcome_unknown");
  });

  it.each([
    ["issue.update", { project_id: "1", issue_iid: 7, title: "x" }, "issue.get", { project_id: "1", issue_iid: 7 }],
    ["merge_request.merge", { project_id: "1", merge_request_iid: 3 }, "merge_request.get", { project_id: "1", merge_request_iid: 3 }],
    ["issue.note_create", { project_id: "1", issue_iid: 7, body: "x" }, "issue.note_list", { project_id: "1", issue_iid: 7 }],
    ["release.create", { project_id: "1", tag_name: "v1" }, "release.get", { project_id: "1", tag_name: "v1" }],
    [
      "repository.file_update",
      { project_id: "1", file_path: "a/b", branch: "dev", content: "x", commit_message: "m" },
      "repository.file_get",
      { project_id: "1", file_path: "a/b", ref: "dev" },
    ],
    ["branch.delete", { project_id: "1", branch: "b" }, "branch.get", { project_id: "1", branch: "b" }],
  ])("%s is looked up with its own read", async (id, params, check, given) => {
    server.use(http.all(`${API}/*`, status(502)));
    const error = await failureOf(sourceOf().run(callOf(id, params), contextOf()));
    expect(error.detail.check).toMatchObject({ action: check, params: given });
  });

  it("but a connection that never stood leaves it undone", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
    const error = await failureOf(sourceOf({}, { fetch }).run(CREATE(), contextOf()));
    expect(error.code).toBe("gitlab_unavailable");
    expect(error.hint).toContain("Nothing was done");
  });
});

describe("time and cancellation", () => {
  const partial = () =>
    new HttpResponse(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{"iid":')) }), {
      headers: { "content-type": "application/json" },
    });

  it.each([
    ["the headers", hang],
    ["the body", partial],
  ])("the limit covers %s", async (_name, answer) => {
    answers("get", ISSUE, answer);
    const error = await failureOf(sourceOf({ timeout: 1_500 }).run(READ(), contextOf()));
    expect([error.code, error.detail.setting, sent.length]).toEqual(["timeout", "--timeout", 1]);
  });

  const cancelling = (call: () => ReturnType<typeof READ>, own: Partial<CallContext>) => failureOf(sourceOf().run(call(), contextOf(own)));

  it("a cancel before sending is cancelled, with nothing sent", async () => {
    for (const call of [READ, CREATE]) expect((await cancelling(call, { signal: AbortSignal.abort() })).code).toBe("cancelled");
    expect(sent).toEqual([]);
  });

  it("a cancel while waiting in the queue is cancelled, with nothing sent", async () => {
    const stop = new AbortController();
    const first = new AbortController();
    server.use(http.get(ISSUE, hang));
    const source = sourceOf({ concurrency: 1 });
    const running = failureOf(source.run(READ(), contextOf({ signal: first.signal })));
    const waiting = failureOf(source.run(CREATE(), contextOf({ signal: stop.signal })));
    await expect.poll(() => sent.length).toBe(1);
    stop.abort();
    expect((await waiting).code).toBe("cancelled");
    first.abort();
    expect((await running).code).toBe("cancelled");
    expect(sent.map((one) => one.method)).toEqual(["GET"]);
  });

  it("a cancel during a wait ends the wait", async () => {
    const stop = new AbortController();
    server.use(
      http.get(ISSUE, () => {
        queueMicrotask(() => setTimeout(() => stop.abort(), 5));
        return new HttpResponse("", { status: 503, headers: { "retry-after": "15" } });
      }),
    );
    expect((await cancelling(READ, { signal: stop.signal })).code).toBe("cancelled");
  });

  it("keeps to the concurrency of the setting", async () => {
    let now = 0;
    let most = 0;
    server.use(
      http.get(ISSUE, async () => {
        most = Math.max(most, ++now);
        await new Promise((done) => setTimeout(done, 5));
        now--;
        return ok();
      }),
    );
    const source = sourceOf({ concurrency: 2 });
    await Promise.all(Array.from({ length: 6 }, () => source.run(READ(), contextOf())));
    expect(most).toBe(2);
  });
});
