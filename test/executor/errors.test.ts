import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { toWords } from "../../src/executor/error-words.ts";
import { toFailure, toNetworkError } from "../../src/executor/failures.ts";
import { ACTION_HINTS, actionHint } from "../../src/executor/hints.ts";
import { API, answers, callOf, contextOf, failureOf, json, sourceOf, useNetwork } from "./gitlab-fixture.ts";

useNetwork();

const ISSUES = `${API}/projects/g%2Fp/issues`;

const create = async (body: unknown, status: number, headers: Record<string, string> = {}) => {
  answers("post", ISSUES, () => json(body, { status, headers }));
  return failureOf(sourceOf().run(callOf("issue.create", { project_id: "g/p", title: "T" }), contextOf()));
};

const get = async (answer: () => Response, own: Record<string, unknown> = {}) => {
  answers("get", `${ISSUES}/7`, answer);
  return failureOf(sourceOf({ retries: 0, ...own }).run(callOf("issue.get", { project_id: "g/p", issue_iid: 7 }), contextOf()));
};

describe("forms of error bodies", () => {
  it.each([
    [{ message: "404 Project Not Found" }, "404 Project Not Found", {}],
    [
      { message: { title: ["can't be blank", "is too short"], label: { name: ["is taken"] } } },
      "title: can't be blank; is too short; label: name: is taken",
      { title: "can't be blank; is too short", "label.name": "is taken" },
    ],
    [{ message: ["one", "two"] }, "one; two", {}],
    [{ message: { base: ["Branch is locked"] } }, "base: Branch is locked", {}],
    [
      { error: "title is missing, order[by] is invalid" },
      "title is missing, order[by] is invalid",
      { title: "is missing", "order.by": "is invalid" },
    ],
    [{ error: "state does not have a valid value" }, "state does not have a valid value", { state: "does not have a valid value" }],
    [{ title: "Problem", detail: "details", status: 400 }, "details", {}],
    [{ errors: ["a", "b"] }, "a; b", {}],
    ["Retry later\n", "Retry later", {}],
    ["<html><body><h1>502</h1> Bad gateway</body></html>", "502 Bad gateway", {}],
    [null, "", {}],
    [17, "17", {}],
  ])("%j", (body, text, fields) => {
    const words = toWords(body);
    expect([words.text, words.fields]).toEqual([text, fields]);
  });

  it.each([
    ["title, labels, weight are missing, at least one parameter must be provided", "Give at least one of title, labels, weight"],
    ["name, new_name are missing, exactly one parameter must be provided", "Give exactly one of name, new_name"],
    ["assignee_id, assignee_username are mutually exclusive", "Give only one of assignee_id, assignee_username"],
    [
      `${[..."abcdefghijk"].join(", ")} are missing, at least one parameter must be provided`,
      "Give at least one of a, b, c, d, e, f, g, h …",
    ],
  ])("%s: no single one is called wrong", async (error, hint) => {
    expect(toWords({ error }).fields).toEqual({});
    expect((await create({ error }, 400)).hint).toBe(`Nothing was changed. ${hint}, and call again.`);
  });

  it("tells OAuth errors and captchas", () => {
    expect(toWords({ error: "insufficient_scope", error_description: "needs more", scope: "api" })).toMatchObject({
      error: "insufficient_scope",
      scope: "api",
      text: "needs more",
    });
    expect(toWords({ needs_captcha_response: true, spam_log_id: 1, message: { error: "Spam" } }).captcha).toBe(true);
  });
});

describe("codes", () => {
  it.each([
    [400, { error: "title is missing" }, "invalid_params"],
    [401, { message: "401 Unauthorized" }, "unauthenticated"],
    [403, { message: "403 Forbidden" }, "forbidden"],
    [404, { message: "404 Project Not Found" }, "not_found"],
    [409, { message: "409 Conflict" }, "conflict"],
    [412, { message: "412 Precondition Failed" }, "conflict"],
    [413, "", "too_large"],
    [422, { message: { title: ["is too long"] } }, "unprocessable"],
    [429, "Retry later", "rate_limited"],
    [500, { message: "500 Internal Server Error" }, "gitlab_unavailable"],
    [503, "", "gitlab_unavailable"],
    [502, "", "outcome_unknown"],
  ])("%i %j is %s", async (status, body, code) => {
    const error = await create(body, status, { "x-request-id": "01REQ" });
    expect([error.code, error.detail.status]).toEqual([code, status]);
    expect(error.message).toContain("issue.create (g/p)");
    if (code !== "outcome_unknown") expect(error.detail.request_id).toBe("01REQ");
  });

  it("name the fields", async () => {
    const error = await create({ message: { title: ["can't be blank"] } }, 422);
    expect(error.detail.fields).toEqual({ title: "can't be blank" });
    expect(error.hint).toContain("title");
  });

  it("share no hint", async () => {
    const hints = new Map<string, string>();
    for (const status of [400, 401, 403, 404, 409, 413, 422, 429, 500, 502]) {
      const error = await create({ message: "x" }, status);
      hints.set(error.hint, error.code);
    }
    hints.set((await create({ error: "insufficient_scope", error_description: "x", scope: "api" }, 403)).hint, "scope");
    hints.set((await get(() => HttpResponse.html("<html></html>"))).hint, "not_gitlab");
    hints.set((await get(() => HttpResponse.error())).hint, "lost");
    expect(hints.size).toBe(13);
  });

  it("tell a missing scope from a missing role", async () => {
    const scope = await create(
      { error: "insufficient_scope", error_description: "The request requires higher privileges", scope: "api" },
      403,
    );
    const role = await create({ message: "403 Forbidden" }, 403);
    expect(scope.message).toContain("the token of this server lacks the scope api");
    expect(scope.hint).toContain("https://gitlab.test/-/user_settings/personal_access_tokens");
    expect(role.message).toContain("the user of the token of this server");
    expect(role.hint).toContain("role in g/p");
  });

  it.each(["insufficient_granular_scope", "insufficient_scope"])("take %s for a matter of the token", async (error) => {
    expect((await create({ error, error_description: "x" }, 403)).message).toContain("lacks the scope api");
  });

  it("tell whose token was refused", async () => {
    const credential = { header: "PRIVATE-TOKEN", value: "glpat-theirs-12345678" } as const;
    answers("get", `${ISSUES}/7`, () => json({ error: "invalid_token", error_description: "Token was revoked" }, { status: 401 }));
    const error = await failureOf(sourceOf().run(callOf("issue.get", { project_id: "g/p", issue_iid: 7 }), contextOf({ credential })));
    expect(error.message).toContain("your own token was not accepted");
    expect(JSON.stringify([error.message, error.hint, error.detail])).not.toContain("theirs-12345678");
  });

  it("give the reasons of a 404: absent, hidden, tier", async () => {
    answers("get", `${API}/groups/1/epics/2`, () => json({ message: "404 Not found" }, { status: 404 }));
    const call = callOf("epic.get", { group_id: "1", epic_iid: 2 });
    const error = await failureOf(
      sourceOf({ token: undefined }).run({ ...call, action: { ...call.action, tier: "premium", since: "18.9" } }, contextOf()),
    );
    expect(error.hint).toMatch(/does not exist.*hidden from anonymous readers.*premium.*18\.9.*personal_access_tokens with scope read_api/);
  });

  it("tell the GitLab that a newer route needs, and of that route alone", async () => {
    answers("get", `${API}/:owners/1/service_accounts/9/personal_access_tokens`, () => json({ error: "404 Not Found" }, { status: 404 }));
    const hintOf = async (scope: object) =>
      (await failureOf(sourceOf().run(callOf("service_account.token_list", { ...scope, user_id: 9 }), contextOf()))).hint;
    expect(await hintOf({ project_id: "1" })).toContain("older than 18.11");
    expect(await hintOf({ group_id: "1" })).not.toContain("older than");
  });
});

describe("hints of single actions", () => {
  it.each([
    [
      "pipeline_schedule.update",
      "put",
      "/projects/1/pipeline_schedules/3",
      { project_id: "1", pipeline_schedule_id: 3, active: false },
      403,
      { message: "403 Forbidden" },
      /take_ownership/,
    ],
    [
      "merge_request.merge",
      "put",
      "/projects/1/merge_requests/4/merge",
      { project_id: "1", merge_request_iid: 4 },
      405,
      { message: "405 Method Not Allowed" },
      /draft.*conflict.*pipeline/,
    ],
    [
      "merge_request.merge",
      "put",
      "/projects/1/merge_requests/4/merge",
      { project_id: "1", merge_request_iid: 4 },
      409,
      { message: "SHA does not match HEAD of source branch" },
      /moved/,
    ],
    [
      "commit.create",
      "post",
      "/projects/1/repository/commits",
      { project_id: "1", branch: "main", commit_message: "m", actions: [] },
      400,
      { message: "You are not allowed to push into this branch" },
      /start_branch.*merge request/,
    ],
  ] as const)("%s", async (id, method, path, params, status, body, hint) => {
    answers(method, `${API}${path}`, () => json(body, { status }));
    const error = await failureOf(sourceOf().run(callOf(id, params), contextOf()));
    expect(error.hint).toMatch(hint);
  });

  it.each([
    ["merge_request.approve", 401, "401 Unauthorized", /author, a committer/],
    ["merge_request.merge", 406, "Branch cannot be merged", /conflict/],
    ["merge_request.merge", 400, "sha is missing", /wants the sha/],
    ["pipeline_schedule.play", 403, "403 Forbidden", /take_ownership/],
    ["protected_branch.create", 409, "Protected branch 'main' already exists", /protected_branch\.update/],
    ["tag.create", 403, "403 Forbidden", /protected_tag\.list/],
    ["release.create", 409, "Release already exists", /release\.update/],
    ["label.create", 409, "Label already exists", /label\.update/],
    ["member.add", 409, "Member already exists", /member\.update/],
    ["project.fork", 409, "Name has already been taken", /fork_list/],
    ["project.transfer", 400, "Transfer failed", /transfer_location_list/],
    ["job.play", 400, "400 Bad request - Unplayable Job", /job\.retry/],
    ["job.retry", 403, "403 Forbidden - Job is not retryable", /latest run/],
    ["job.artifacts_download", 404, "404 Not found", /expired/],
    ["variable.create", 400, "(key) has already been taken", /variable\.update/],
    ["instance_variable.create", 400, "value is invalid", /8 characters/],
    ["runner.enable", 403, "403 Forbidden - Runner is locked", /locked/],
    ["access_token.create", 400, "expires_at must be before 2027-01-01", /longest lifetime/],
    ["personal_access_token.self_rotate", 405, "405 Method Not Allowed", /active/],
    ["epic.list", 404, "404 Not Found", /work_item\.list/],
    ["search.run", 400, "Scope not supported without Elasticsearch!", /advanced search/],
    ["wiki_page.get", 404, "404 Wiki Page Not Found", /wiki_page\.list/],
    ["generic_package.file_upload", 403, "403 Forbidden", /duplicates/],
    ["environment.delete", 403, "403 Forbidden", /environment\.stop/],
    ["webhook.create", 422, "Invalid url given", /local networks/],
  ])("%s %i %s", (id, status, words, hint) => {
    expect(loadActions().map((one) => one.id)).toContain(id);
    expect(actionHint(id, status, words)).toMatch(hint);
  });

  it("are each of their own, and none is out of reach behind an earlier one", () => {
    expect(new Set(ACTION_HINTS.map(({ hint }) => hint)).size).toBe(ACTION_HINTS.length);
    expect(ACTION_HINTS.length).toBeGreaterThanOrEqual(40);
    for (const [index, { action, status, when }] of ACTION_HINTS.entries()) {
      const before = ACTION_HINTS.slice(0, index).filter((one) => one.action === action && one.when === undefined && when === undefined);
      for (const one of before)
        expect(
          status.filter((number) => one.status.includes(number)),
          action,
        ).toEqual([]);
    }
  });

  it("stand back where the token itself is at fault", async () => {
    answers("put", `${API}/projects/1/merge_requests/4/merge`, () =>
      json({ error: "insufficient_scope", error_description: "The request requires higher privileges", scope: "api" }, { status: 403 }),
    );
    const call = callOf("merge_request.merge", { project_id: "1", merge_request_iid: 4 });
    const error = await failureOf(sourceOf().run(call, contextOf()));
    expect(error.hint).toContain("create one with scope api");
  });

  it("a write that is forbidden is told that the project may be archived; a read is not", async () => {
    expect((await create({ message: "403 Forbidden" }, 403)).hint).toContain("archived");
    expect((await get(() => json({ message: "403 Forbidden" }, { status: 403 }))).hint).not.toContain("archived");
  });

  it("name actions that exist", () => {
    const ids = loadActions().map(({ id }) => id);
    const domains = new Set(ids.map((id) => id.split(".")[0]));
    for (const { action, hint } of ACTION_HINTS) {
      const pattern = new RegExp(`^${action.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
      expect(
        ids.some((id) => pattern.test(id)),
        action,
      ).toBe(true);
      for (const [name, domain] of [...hint.matchAll(/\b([a-z_]+)\.[a-z_]+\b/g)])
        if (domains.has(domain ?? "")) expect(ids).toContain(name);
    }
  });
});

describe("answers that are not GitLab's", () => {
  const page = "<!DOCTYPE html><html><head><title>Sign in · Corp SSO</title></head></html>";

  it.each([
    ["a login page with 200", () => HttpResponse.html(page)],
    ["a login page without a type", () => new HttpResponse(page, { headers: { "content-type": "application/json" } })],
    ["a proxy's refusal", () => HttpResponse.html(page, { status: 403 })],
  ])("%s", async (_name, answer) => {
    const error = await get(answer);
    expect(error.code).toBe("not_gitlab");
    expect(error.message).toContain("Sign in · Corp SSO");
  });

  it("a write answered by a page is not taken for done", async () => {
    answers("post", ISSUES, () => HttpResponse.html(page));
    const error = await failureOf(sourceOf().run(callOf("issue.create", { project_id: "g/p", title: "T" }), contextOf()));
    expect(error.code).toBe("not_gitlab");
  });

  it("a gateway's page with 5xx means that GitLab is down", async () => {
    expect((await get(() => HttpResponse.html("<html><h1>503</h1></html>", { status: 503 }))).code).toBe("gitlab_unavailable");
  });

  it("truncated JSON of a read is said to be that", async () => {
    const error = await get(() => new HttpResponse('{"iid": 7, "tit', { headers: { "content-type": "application/json" } }));
    expect([error.code, error.message]).toEqual(["gitlab_unavailable", expect.stringContaining("broke off")]);
  });
});

describe("failures below HTTP", () => {
  const fail = (code: string, message: string, name = "Error") =>
    new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code, name }) });
  const target = { action: "issue.get", place: "g/p", effect: "read", instance: "https://gitlab.test" } as const;
  const cases = [
    [fail("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"), "refused"],
    [fail("ENOTFOUND", "getaddrinfo ENOTFOUND gitlab.test"), "dns"],
    [fail("EHOSTUNREACH", "connect EHOSTUNREACH"), "unreachable"],
    [fail("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain"), "tls"],
    [fail("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"), "tls"],
    [fail("ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match"), "tls"],
    [fail("UND_ERR_ABORTED", "Proxy response (407) !== 200 when HTTP Tunneling"), "proxy"],
    [fail("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"), "connect_timeout"],
    [fail("UND_ERR_SOCKET", "other side closed", "SocketError"), "lost"],
    [fail("ECONNRESET", "read ECONNRESET"), "lost"],
  ] as const;

  it.each(cases)("%#: $cause.code", (error, kind) => expect(toFailure(error).kind).toBe(kind));

  it("each say something of their own", () => {
    const hints = cases.map(([error]) => toNetworkError(toFailure(error), target, error).hint);
    expect(new Set(hints).size).toBe(7);
    expect(toNetworkError(toFailure(cases[3][0]), target, cases[3][0]).hint).toContain("--ca-file");
  });

  it("show no password of a proxy", () => {
    const error = fail("ECONNREFUSED", "proxy http://me:hunter22@proxy.test refused");
    expect(toNetworkError(toFailure(error), target, error).message).not.toContain("hunter22");
  });
});
