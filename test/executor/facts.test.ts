import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { createFacts } from "../../src/executor/facts.ts";
import { digestOf } from "../../src/policy/own-token.ts";
import { API, answers, callOf, contextOf, json, sent, server, sourceOf, useNetwork } from "./gitlab-fixture.ts";

useNetwork();

const hang = () => new Promise<Response>(() => undefined);

function gitlab({ user = {}, token = {}, metadata = {} }: { user?: object; token?: object; metadata?: object }): void {
  answers("get", `${API}/user`, () => json({ id: 3, username: "kim", name: "Kim", is_admin: false, ...user }));
  answers("get", `${API}/personal_access_tokens/self`, () => json({ scopes: ["read_api"], expires_at: "2027-01-01", ...token }));
  answers("get", `${API}/metadata`, () => json({ version: "18.9.1-ee", enterprise: true, ...metadata }));
}

describe("facts", () => {
  it("are user, scopes, expiry, version and edition, asked once", async () => {
    gitlab({ token: { id: 7 } });
    const source = sourceOf();
    expect(sent).toEqual([]);
    const facts = await source.facts(contextOf());
    expect(facts).toEqual({
      token: 7,
      digest: digestOf("glpat-server-secret-1"),
      user: { id: 3, username: "kim", name: "Kim", admin: false },
      scopes: ["read_api"],
      expires_at: "2027-01-01",
      version: "18.9.1-ee",
      enterprise: true,
    });
    expect(await source.facts(contextOf())).toEqual(facts);
    expect(sent).toHaveLength(3);
  });

  it("are kept apart per credential", async () => {
    server.use(
      http.get(`${API}/user`, ({ request }) => json({ id: 1, username: request.headers.get("private-token") ?? "" })),
      http.get(`${API}/*`, () => json({}, { status: 404 })),
    );
    const source = sourceOf();
    const as = (value: string) => source.facts(contextOf({ credential: { header: "PRIVATE-TOKEN", value } }));
    expect((await Promise.all([as("ann"), as("bob"), source.facts(contextOf())])).map(({ user }) => user?.username)).toEqual([
      "ann",
      "bob",
      "glpat-server-secret-1",
    ]);
  });

  it("that cannot be learned stay unknown, each for itself", async () => {
    gitlab({ token: { scopes: ["granular"], expires_at: null }, user: { is_admin: undefined } });
    answers("get", `${API}/metadata`, () => HttpResponse.html("<html></html>"));
    expect(await sourceOf().facts(contextOf())).toMatchObject({ user: { id: 3, username: "kim", name: "Kim" }, expires_at: null });
    const known = await sourceOf().facts(contextOf());
    for (const name of ["scopes", "token", "version", "enterprise"]) expect(known).not.toHaveProperty(name);
  });

  it("of a token that GitLab has no id for say so; where it could not be asked, the id is unknown", async () => {
    for (const [status, token] of [
      [401, null],
      [404, null],
      [429, undefined],
      [503, undefined],
    ] as const) {
      gitlab({});
      answers("get", `${API}/personal_access_tokens/self`, () => json({ message: "no" }, { status }));
      const facts = await sourceOf({ retries: 0 }).facts(contextOf({ credential: { header: "Authorization", value: "Bearer of-oauth" } }));
      expect([status, facts.token]).toEqual([status, token]);
      expect(facts.digest).toBe(digestOf("of-oauth"));
      server.resetHandlers();
    }
  });

  it("of a GitLab that hangs are given up at the deadline", async () => {
    const facts = createFacts({
      deadline: 40,
      get: (_path, _context, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    expect(await facts(contextOf())).toEqual({});
  });

  it("of a GitLab that never answers are unknown", async () => {
    server.use(http.get(`${API}/*`, hang));
    expect(await sourceOf({ timeout: 50 }).facts(contextOf())).toEqual({ digest: digestOf("glpat-server-secret-1") });
  });

  it("are asked again after their lifetime, and failed ones sooner", async () => {
    let now = 0;
    let asked = 0;
    let fail = true;
    const get = async (path: string) => {
      asked++;
      if (fail && path === "/metadata") throw new Error("down");
      return {};
    };
    const facts = createFacts({ get, now: () => now, lifetime: 600_000 });
    await facts(contextOf());
    await facts(contextOf());
    expect(asked).toBe(3);
    fail = false;
    now = 31_000;
    await facts(contextOf());
    expect(asked).toBe(6);
    now = 500_000;
    await facts(contextOf());
    expect(asked).toBe(6);
    now = 700_000;
    await facts(contextOf());
    expect(asked).toBe(9);
  });
});

describe("people", () => {
  it("are resolved to ids, and the token's user is known as self", async () => {
    gitlab({});
    server.use(
      http.get(`${API}/users`, ({ request }) =>
        json(new URL(request.url).searchParams.get("username") === "ann.b" ? [{ id: 8, username: "ann.b" }] : []),
      ),
    );
    const { self, resolveUser } = sourceOf().people(contextOf());
    expect(typeof self === "function" && (await self())).toMatchObject({ id: 3, username: "kim" });
    expect([await resolveUser?.("ann.b"), await resolveUser?.("nobody")]).toEqual([8, undefined]);
  });

  it("are asked for again once GitLab refused the caller, but not at once again and again", async () => {
    let now = 0;
    let asked = 0;
    const get = async (path: string) => {
      if (path === "/personal_access_tokens/self") asked++;
      return { scopes: asked > 1 ? ["api"] : ["read_api"] };
    };
    const facts = createFacts({ get, now: () => now });
    expect((await facts(contextOf())).scopes).toEqual(["read_api"]);
    facts.doubt(contextOf());
    await facts(contextOf());
    expect(asked).toBe(1);
    now = 6_000;
    facts.doubt(contextOf());
    expect((await facts(contextOf())).scopes).toEqual(["api"]);
    expect(asked).toBe(2);
  });

  it("are doubted after 401 and 403, and after nothing else", async () => {
    const doubted: number[] = [];
    for (const status of [200, 401, 403, 404, 422]) {
      server.use(http.get(`${API}/projects/1/issues`, () => json(status === 200 ? [] : { message: "no" }, { status })));
      const source = sourceOf({}, { onDoubt: () => void doubted.push(status) });
      await source.run(callOf("issue.list", { project_id: "1" }), contextOf()).catch(() => undefined);
    }
    expect(doubted).toEqual([401, 403]);
  });
});
