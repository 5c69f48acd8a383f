import { afterEach, describe, expect, test } from "vitest";
import { type Fault, startSandbox } from "../../src/sandbox/server.ts";
import { useSandbox } from "./http.ts";

const { call, box } = useSandbox();

const raw = (path: string, init: RequestInit = {}) => fetch(`${box().url}/api/v4${path}`, init);
const links = (header: string | null) =>
  Object.fromEntries([...(header ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, url]));

describe("who is asking", () => {
  test.each([
    ["PRIVATE-TOKEN", "sandbox-token-maria"],
    ["Authorization", "Bearer sandbox-token-maria"],
  ])("%s is understood", async (name, value) => {
    const reply = await raw("/user", { headers: { [name]: value } });
    expect(await reply.json()).toMatchObject({ id: 2, username: "maria", state: "active" });
  });

  test("a token may stand in the query, and is neither recorded nor repeated in links", async () => {
    const reply = await raw("/projects?private_token=sandbox-token-maria&per_page=1");
    expect(reply.status).toBe(200);
    expect(reply.headers.get("link")).not.toContain("sandbox-token");
    expect(JSON.stringify(box().requests)).not.toContain("sandbox-token");
  });

  test("an unknown, an expired and a revoked token are told apart", async () => {
    const as = async (token: string) => {
      const reply = await raw("/user", { headers: { "private-token": token } });
      return [reply.status, await reply.json()];
    };
    expect(await as("nobody-has-this")).toEqual([401, { message: "401 Unauthorized" }]);
    expect(await as("sandbox-token-expired")).toEqual([
      401,
      expect.objectContaining({ error: "invalid_token", error_description: expect.stringContaining("expired") }),
    ]);
    expect(await as("sandbox-token-revoked")).toEqual([
      401,
      expect.objectContaining({ error: "invalid_token", error_description: expect.stringContaining("revoked") }),
    ]);
  });

  test("a reading token reads and does not write", async () => {
    expect((await call("GET", "/projects/101/issues", undefined, "reader")).status).toBe(200);
    const refused = await call("POST", "/projects/101/issues", { title: "no" }, "reader");
    expect([refused.status, refused.json]).toEqual([403, expect.objectContaining({ error: "insufficient_scope", scope: "api" })]);
  });

  test("a token for repositories alone reads no issues", async () => {
    const reply = await raw("/projects/101/issues", { headers: { "private-token": "sandbox-token-clone" } });
    expect(reply.status).toBe(403);
  });

  test("a job token is taken in its own header and for its own routes only", async () => {
    expect((await raw("/projects/101", { headers: { "job-token": "sandbox-job-token" } })).status).toBe(200);
    expect((await raw("/projects/101/issues", { headers: { "job-token": "sandbox-job-token" } })).status).toBe(401);
    expect((await raw("/projects/101", { headers: { "private-token": "sandbox-job-token" } })).status).toBe(401);
  });

  test("administrators may act for others, nobody else may", async () => {
    const sudo = (token: string) => raw("/user", { headers: { "private-token": token, sudo: "jonas" } });
    expect(await (await sudo("sandbox-token-root")).json()).toMatchObject({ username: "jonas" });
    expect((await sudo("sandbox-token-maria")).status).toBe(403);
  });

  test("the anonymous see what is public, and cannot write", async () => {
    const list = await call("GET", "/projects", undefined, null);
    expect(list.json.map(({ path_with_namespace }: { path_with_namespace: string }) => path_with_namespace)).toEqual(["acme/handbook"]);
    expect((await call("GET", "/projects/101", undefined, null)).json).toEqual({ message: "404 Project Not Found" });
    expect((await call("POST", "/projects/104/issues", { title: "x" }, null)).status).toBe(401);
    expect((await call("GET", "/user", undefined, null)).json).toEqual({ message: "401 Unauthorized" });
  });

  test("a private project of somebody else is not there, not even for a write", async () => {
    expect((await call("GET", "/projects/105", undefined, "jonas")).status).toBe(404);
    expect((await call("PUT", "/projects/105", { description: "mine" }, "jonas")).status).toBe(404);
  });

  test("a role that is too low is refused", async () => {
    expect((await call("PUT", "/projects/101", { description: "mine" }, "jonas")).json).toEqual({ message: "403 Forbidden" });
  });
});

describe("headers", () => {
  test("every answer has an id, a rate and GitLab's meta", async () => {
    const { headers } = await call("GET", "/version");
    expect(headers.get("x-request-id")).toMatch(/^[0-9A-F]{26}$/);
    expect(JSON.parse(headers.get("x-gitlab-meta") ?? "")).toMatchObject({ version: "1" });
    for (const name of ["limit", "observed", "remaining", "reset", "name"]) expect(headers.get(`ratelimit-${name}`)).toBeTruthy();
  });

  test("what the client has already is not sent again, until it changes", async () => {
    const get = (etag?: string) =>
      raw("/projects/101/milestones/304", {
        headers: { "private-token": "sandbox-token-maria", ...(etag ? { "if-none-match": etag } : {}) },
      });
    const etag = (await get()).headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\//);
    expect((await get(etag)).status).toBe(304);
    await call("PUT", "/projects/101/milestones/304", { description: "changed" });
    expect((await get(etag)).status).toBe(200);
  });

  test("HEAD has the headers and no body", async () => {
    const reply = await raw("/projects/101/issues", { method: "HEAD", headers: { "private-token": "sandbox-token-maria" } });
    expect([reply.status, await reply.text()]).toEqual([200, ""]);
    expect(Number(reply.headers.get("x-total"))).toBeGreaterThanOrEqual(60);
  });
});

describe("pages", () => {
  test("by number: totals, neighbours and links", async () => {
    const { headers, json } = await call("GET", "/projects/acme%2Fwebshop/labels?per_page=15&page=2&search=");
    expect(json).toHaveLength(15);
    expect(
      Object.fromEntries(
        ["x-page", "x-per-page", "x-next-page", "x-prev-page", "x-total", "x-total-pages"].map((name) => [name, headers.get(name)]),
      ),
    ).toEqual({
      "x-page": "2",
      "x-per-page": "15",
      "x-next-page": "3",
      "x-prev-page": "1",
      "x-total": "43",
      "x-total-pages": "3",
    });
    const found = links(headers.get("link"));
    expect(Object.keys(found).sort()).toEqual(["first", "last", "next", "prev"]);
    expect(found.next).toBe(`${box().url}/api/v4/projects/acme%2Fwebshop/labels?per_page=15&page=3&search=`);
  });

  test("twenty where nothing is said, a hundred at most, and the last page has no next", async () => {
    expect((await call("GET", "/projects/101/issues")).json).toHaveLength(20);
    expect((await call("GET", "/projects/101/labels?per_page=500")).headers.get("x-per-page")).toBe("100");
    const last = await call("GET", "/projects/101/labels?per_page=100");
    expect(last.headers.get("x-next-page")).toBe("");
    expect(links(last.headers.get("link"))).not.toHaveProperty("next");
  });

  test("a page that is no number, and one too far", async () => {
    expect((await call("GET", "/projects/101/issues?page=zero")).json).toEqual({ error: "page is invalid" });
    expect((await call("GET", "/projects/101/issues?page=0")).json).toEqual({ error: "page does not have a valid value" });
    expect((await call("GET", "/projects/101/issues?page=600&per_page=100")).status).toBe(405);
  });

  test("above ten thousand rows nothing is counted", async () => {
    box().world.seedIssues("acme/handbook", 10_050);
    const { headers } = await call("GET", "/projects/104/issues?per_page=5");
    expect(headers.get("x-total")).toBeNull();
    expect(headers.get("x-total-pages")).toBeNull();
    expect(links(headers.get("link"))).not.toHaveProperty("last");
    expect(headers.get("x-next-page")).toBe("2");
    box().reset();
  });

  test.each([
    ["/projects?pagination=keyset&order_by=id&sort=asc&per_page=2", "/projects", "id_after", "maria"],
    ["/projects/101/issues?pagination=keyset&per_page=25", "/projects/101/issues", "cursor", "maria"],
    ["/users?pagination=keyset&order_by=username&sort=asc&per_page=3", "/users", "cursor", "root"],
  ] as const)("by link alone: %s", async (first, all, parameter, who) => {
    const seen: number[] = [];
    let next: string | undefined = `${box().url}/api/v4${first}`;
    while (next) {
      const reply: Response = await fetch(next, { headers: { "private-token": box().tokens[who] } });
      expect(reply.headers.get("x-total")).toBeNull();
      seen.push(...((await reply.json()) as { id: number }[]).map(({ id }) => id));
      next = links(reply.headers.get("link")).next;
      if (next) expect(new URL(next).searchParams.get(parameter)).toBeTruthy();
    }
    const { json } = await call("GET", `${all}?per_page=100`, undefined, who);
    expect(new Set(seen)).toEqual(new Set(json.map(({ id }: { id: number }) => id)));
    expect(seen).toHaveLength(json.length);
  });

  test("a row made between two pages shifts none of the others", async () => {
    const one = await call("GET", "/projects/101/issues?pagination=keyset&per_page=10");
    await call("POST", "/projects/101/issues", { title: "in between" });
    const two = await fetch(links(one.headers.get("link")).next ?? "", { headers: { "private-token": box().tokens.maria } });
    const ids = [...one.json, ...((await two.json()) as unknown[])].map((row) => (row as { id: number }).id);
    expect(new Set(ids).size).toBe(20);
    box().reset();
  });

  test("an order that keyset paging does not know", async () => {
    expect((await call("GET", "/projects?pagination=keyset&order_by=name")).status).toBe(405);
  });
});

describe("what is sent", () => {
  afterEach(() => box().reset());
  const auth = { "private-token": "sandbox-token-maria" };

  test("JSON, forms and multipart give the same issue", async () => {
    const form = new FormData();
    form.append("title", "same");
    form.append("labels[]", "bug");
    form.append("labels[]", "ux");
    const bodies: RequestInit[] = [
      { body: JSON.stringify({ title: "same", labels: ["bug", "ux"] }), headers: { ...auth, "content-type": "application/json" } },
      {
        body: new URLSearchParams([
          ["title", "same"],
          ["labels[]", "bug"],
          ["labels[]", "ux"],
        ]),
        headers: auth,
      },
      { body: form, headers: auth },
    ];
    for (const init of bodies) {
      const reply = await raw("/projects/101/issues", { method: "POST", ...init });
      expect(await reply.json()).toMatchObject({ title: "same", labels: ["bug", "ux"] });
    }
    const query = await raw("/projects/101/issues?title=same&labels=bug,ux", { method: "POST", headers: auth });
    expect(await query.json()).toMatchObject({ title: "same", labels: ["bug", "ux"] });
  });

  test("hashes in the query", async () => {
    const { json } = await call("GET", "/projects/101/issues?state=opened&not[labels]=bug&per_page=100");
    expect(json.length).toBeGreaterThan(0);
    expect(json.some(({ labels }: { labels: string[] }) => labels.includes("bug"))).toBe(false);
  });

  test("broken JSON is told as such", async () => {
    const reply = await raw("/projects/101/issues", {
      method: "POST",
      body: "{",
      headers: { ...auth, "content-type": "application/json" },
    });
    expect(reply.status).toBe(400);
  });

  test("an encoded path is decoded once", async () => {
    expect((await call("GET", "/projects/acme%2Fplatform%2Fdeploy")).json).toMatchObject({ id: 103 });
    expect((await call("GET", "/projects/acme%252Fwebshop")).status).toBe(404);
    expect((await call("GET", "/projects/acme/webshop")).json).toEqual({ error: "404 Not Found" });
  });

  test("a method that a path lacks", async () => {
    const reply = await call("PATCH", "/projects/101/issues/12", {});
    expect([reply.status, reply.json]).toEqual([405, { error: "405 Not Allowed" }]);
    expect(reply.headers.get("allow")).toContain("PUT");
  });
});

describe("faults", () => {
  afterEach(() => box().reset());
  const get = () => raw("/version", { headers: { "private-token": "sandbox-token-maria" }, signal: AbortSignal.timeout(5_000) });

  test.each([
    [{ kind: "429", retryAfter: 7 }, 429, "text/plain"],
    [{ kind: "500" }, 500, "application/json"],
    [{ kind: "502" }, 502, "text/html"],
    [{ kind: "503", retryAfter: 3 }, 503, "text/html"],
    [{ kind: "html" }, 200, "text/html; charset=utf-8"],
  ] as const)("%j", async (fault: Fault, status, type) => {
    box().fail({ ...fault, times: 1 });
    const reply = await get();
    expect([reply.status, reply.headers.get("content-type")]).toEqual([status, type]);
    expect(reply.headers.get("retry-after")).toBe(fault.retryAfter === undefined ? null : String(fault.retryAfter));
    expect((await get()).status).toBe(200);
  });

  test.each(["truncated", "reset"] as const)("%s breaks the answer", async (kind) => {
    box().fail({ kind, times: 1 });
    await expect(get().then((reply) => reply.json())).rejects.toThrow();
    expect((await get()).status).toBe(200);
  });

  test("slow answers late but rightly", async () => {
    box().fail({ kind: "slow", delayMs: 20, times: 1 });
    expect(await (await get()).json()).toMatchObject({ version: "18.9.0-ee" });
  });

  test("hang never answers, and only where it was asked to", async () => {
    const off = box().fail({ kind: "hang", match: { method: "GET", path: /\/user$/ } });
    await expect(raw("/user", { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect((await get()).status).toBe(200);
    off();
    expect((await call("GET", "/user")).status).toBe(200);
  });
});

describe("the sandbox itself", () => {
  test("reset brings everything back", async () => {
    await call("DELETE", "/projects/101/issues/12");
    expect((await call("GET", "/projects/101/issues/12")).status).toBe(404);
    box().reset();
    expect(box().requests).toHaveLength(0);
    expect((await call("GET", "/projects/101/issues/12")).status).toBe(200);
  });

  test("requests are kept with their bodies and without credentials", async () => {
    box().reset();
    await call("POST", "/projects/101/labels", { name: "seen", color: "#112233" });
    expect(box().requests.at(-1)).toMatchObject({
      method: "POST",
      path: "/api/v4/projects/101/labels",
      body: { name: "seen" },
      status: 201,
    });
    expect(box().requests.at(-1)?.headers).not.toHaveProperty("private-token");
    box().reset();
  });

  test("two of them say the same, writes included", async () => {
    const run = async () => {
      const other = await startSandbox();
      const ask = async (method: string, path: string, body?: unknown) => {
        const reply = await fetch(`${other.url}/api/v4${path}`, {
          method,
          headers: { "private-token": other.tokens.maria, "content-type": "application/json" },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        return (await reply.text()).replaceAll(other.url, "");
      };
      const said = [
        await ask("POST", "/projects/101/issues", { title: "twice" }),
        await ask("POST", "/projects/101/issues/12/discussions", { body: "again" }),
        await ask("GET", "/projects/101/issues?per_page=100"),
        await ask("GET", "/projects/101/events?per_page=100"),
      ];
      await other.close();
      return said;
    };
    expect(await run()).toEqual(await run());
  });

  test("it can live below a path", async () => {
    const other = await startSandbox({ relativeRoot: "/gitlab" });
    expect(other.url).toMatch(/\/gitlab$/);
    const headers = { "private-token": other.tokens.maria };
    const reply = await fetch(`${other.url}/api/v4/projects/101`, { headers });
    expect(await reply.json()).toMatchObject({ web_url: `${other.url}/acme/webshop` });
    expect((await fetch(`${other.url.replace("/gitlab", "")}/api/v4/projects/101`, { headers })).status).toBe(404);
    await other.close();
  });

  test("GraphQL answers who is asking, and names unknown fields as GitLab does", async () => {
    const ask = async (query: string) => {
      const reply = await fetch(`${box().url}/api/graphql`, {
        method: "POST",
        headers: { "private-token": box().tokens.maria, "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
      return [reply.status, await reply.json()];
    };
    expect(await ask("query { __typename me: currentUser { username } }")).toEqual([
      200,
      { data: { __typename: "Query", me: { username: "maria" } } },
    ]);
    expect(await ask("{ nothing }")).toEqual([
      200,
      { errors: [expect.objectContaining({ message: "Field 'nothing' doesn't exist on type 'Query'", path: ["query", "nothing"] })] },
    ]);
    expect(await ask("{ broken")).toEqual([
      200,
      { errors: [expect.objectContaining({ message: expect.stringContaining("Syntax Error") })] },
    ]);
  });
});
