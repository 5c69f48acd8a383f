import { request as rawRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGuard } from "../../src/transport/http-guard.ts";
import { createCounter, createGates, createRateLimiter } from "../../src/transport/http-limits.ts";
import {
  ACCEPT,
  type Crowd,
  call,
  handshake,
  httpSettings,
  INITIALIZE,
  markOf,
  modern,
  post,
  type Started,
  startCrowd,
  startHttp,
  tokenOf,
} from "../support/http.ts";

const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };

let crowd: Crowd;
let server: Started | undefined;
beforeEach(async () => {
  crowd = await startCrowd();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await crowd.close();
});
async function start(argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Started> {
  server = await startHttp(argv, { GITLAB_URL: crowd.url, ...env });
  return server;
}
const token = (user: number) => ({ "private-token": tokenOf(user) });

/** `fetch` sets Host by itself. */
const withHost = (url: string, headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const request = rawRequest(url, { method: "POST", headers: { ...ACCEPT, ...headers } }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    request.once("error", reject);
    request.end(JSON.stringify(INITIALIZE()));
  });

describe("by which name, from which page", () => {
  it("a name that only a hostile page would use is 403, as is such a page; loopback and addresses are fine", async () => {
    const { url, held } = await start();
    for (const host of ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"])
      expect([host, await withHost(url, { host })]).toEqual([host, 403]);
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"])
      expect([origin, await withHost(url, { origin })]).toEqual([origin, 403]);
    expect(held().sessions).toBe(0);
    for (const host of ["localhost:99", "127.0.0.1", "[::1]:8", "10.1.2.3:8787"])
      expect([host, await withHost(url, { host })]).toEqual([host, 200]);
    expect(await withHost(url, { origin: "http://localhost:6274" })).toBe(200);
  });

  it("names and pages that the settings allow", () => {
    const guard = createGuard(
      httpSettings([
        "--host=0.0.0.0",
        "--public-url=https://mcp.example.com/gitlab",
        "--allowed-hosts=other.example",
        "--allowed-origins=https://app.example",
      ]),
    );
    expect(["mcp.example.com", "mcp.example.com:443", "other.example:8787", "10.0.0.1"].map((host) => guard.allowsHost(host))).toEqual(
      Array(4).fill(true),
    );
    expect(["app.example", "", undefined, "xmcp.example.com"].map((host) => guard.allowsHost(host))).toEqual(Array(4).fill(false));
    expect(["https://app.example", "https://mcp.example.com", undefined].map((origin) => guard.allowsOrigin(origin))).toEqual(
      Array(3).fill(true),
    );
    // On an open address a page on somebody's own machine is as foreign as any other.
    expect(["http://app.example", "http://localhost:3000", "null"].map((origin) => guard.allowsOrigin(origin))).toEqual(
      Array(3).fill(false),
    );
  });

  it("CORS: an allowed page may read what a client needs, another gets no word of it", async () => {
    const { url } = await start(["--allowed-origins=https://app.example"]);
    const ask = (origin: string) => fetch(url, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });
    const allowed = await ask("https://app.example");
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(allowed.headers.get("access-control-expose-headers")).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);
    for (const name of [
      "Mcp-Session-Id",
      "Mcp-Method",
      "Mcp-Name",
      "MCP-Protocol-Version",
      "Authorization",
      "PRIVATE-TOKEN",
      "X-MCP-Toolsets",
    ])
      expect(allowed.headers.get("access-control-allow-headers")).toContain(name);
    const other = await ask("https://evil.example");
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    const answered = await fetch(url, {
      method: "POST",
      headers: { ...ACCEPT, origin: "https://app.example" },
      body: JSON.stringify(INITIALIZE()),
    });
    expect([answered.headers.get("access-control-allow-origin"), answered.headers.has("mcp-session-id")]).toEqual([
      "https://app.example",
      true,
    ]);
    await answered.text();
  });

  it("forwarded addresses are believed from trusted proxies only", () => {
    const incoming = (peer: string, headers: Record<string, string>) =>
      ({ socket: { remoteAddress: peer }, headers: { host: "a", ...headers } }) as never;
    const guard = createGuard(httpSettings(["--trusted-proxies=10.0.0.0/8,::1"]));
    const chain = { "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.0.0.5", "x-forwarded-proto": "https", "x-forwarded-host": "mcp.example" };
    expect(guard.addressOf(incoming("::ffff:10.0.0.1", chain))).toBe("203.0.113.9");
    expect(guard.originOf(incoming("10.0.0.1", chain))).toBe("https://mcp.example");
    expect(guard.addressOf(incoming("203.0.113.7", chain))).toBe("203.0.113.7");
    expect(guard.originOf(incoming("203.0.113.7", chain))).toBe("http://a");
  });
});

describe("limits", () => {
  it("so many requests a minute, each person by themselves; it says how long to wait", async () => {
    const { url } = await start(["--rate-limit=5"]);
    const { session } = await handshake(url, token(1));
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push(await post(url, LIST, { ...session, ...token(1) }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await handshake(url, token(2))).answer.status).toBe(200);
  });

  it("refused tokens from one address are slowed down; a good token from there is not", async () => {
    const { url } = await start();
    const { session } = await handshake(url, token(1));
    const statuses = new Set<number>();
    for (let i = 0; i < 40; i++) statuses.add((await post(url, INITIALIZE(), { "private-token": `wrong-token-${i}` })).status);
    expect([...statuses]).toEqual([401, 429]);
    expect((await post(url, LIST, { ...session, ...token(1) })).status).toBe(200);
  });

  it("a bucket fills again with time, and is forgotten when it is full", () => {
    let now = 0;
    const limiter = createRateLimiter(60, () => now);
    for (let i = 0; i < 60; i++) expect(limiter.take("a")).toBe(0);
    expect(limiter.take("a")).toBe(1);
    now += 1_000;
    expect(limiter.take("a")).toBe(0);
    limiter.sweep();
    expect(limiter.size()).toBe(1);
    now += 60_000;
    limiter.sweep();
    expect(limiter.size()).toBe(0);
  });

  it("calls of one person wait for each other, those of others do not; the line has an end, and cancelled ones leave it", async () => {
    const gates = createGates(1, 2);
    const order: string[] = [];
    const finish: (() => void)[] = [];
    const work = (name: string) => () =>
      new Promise<string>((resolve) => {
        order.push(name);
        finish.push(() => resolve(name));
      });
    const never = new AbortController().signal;
    const first = gates.run("a", never, work("a1"));
    const cancelled = new AbortController();
    const second = gates.run("a", cancelled.signal, work("a2"));
    const third = gates.run("a", never, work("a3"));
    await expect(gates.run("a", never, work("a4"))).rejects.toMatchObject({ code: "rate_limited" });
    const other = gates.run("b", never, work("b1"));
    expect(order).toEqual(["a1", "b1"]);
    cancelled.abort();
    await expect(second).rejects.toMatchObject({ code: "cancelled" });
    finish[0]?.();
    finish[1]?.();
    expect([await first, await other]).toEqual(["a1", "b1"]);
    await expect.poll(() => order).toEqual(["a1", "b1", "a3"]);
    finish[2]?.();
    await third;
    expect(gates.size()).toBe(0);
  });

  it("open streams are counted per person, and counted down again", async () => {
    const counter = createCounter(2);
    const end = counter.open("a");
    expect([counter.open("a") !== undefined, counter.open("a"), counter.open("b") !== undefined]).toEqual([true, undefined, true]);
    end?.();
    end?.();
    expect([counter.total(), counter.open("a") !== undefined, counter.open("a")]).toEqual([2, true, undefined]);
  });
});

describe("one token for all", () => {
  const env = { GITLAB_TOKEN: tokenOf(9) };
  const own = { authorization: "Bearer door-key-of-the-server" };

  it("behind the server's own bearer: without and with a wrong one 401; GitLab gets the server's token, never the bearer", async () => {
    const { url } = await start(["--http-tokens=door-key-of-the-server,another-key-for-others"], env);
    expect((await handshake(url)).answer.status).toBe(401);
    const wrong = await handshake(url, { authorization: "Bearer wrong" });
    expect([wrong.answer.status, wrong.answer.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("invalid_token")]);
    const { session } = await handshake(url, own);
    const answer = await post(url, call("gitlab_execute_action", { action: "issue.list", params: { project_id: "a/b" } }), {
      ...session,
      ...own,
    });
    expect(answer.text).toContain(markOf(9));
    expect(new Set(crowd.seen)).toEqual(new Set([tokenOf(9)]));
    const bearerOfAnother = await post(url, LIST, { ...session, authorization: "Bearer another-key-for-others" });
    expect(bearerOfAnother.status).toBe(403);
  });

  it("a caller's own GitLab token is not taken for one of the server's, nor passed on", async () => {
    const { url } = await start([], env);
    expect((await handshake(url, token(1))).answer.status).toBe(400);
    expect(crowd.seen).not.toContain(tokenOf(1));
    expect((await handshake(url)).answer.status).toBe(200);
  });
});

describe("each caller's own token", () => {
  it("travels as it came, in both eras, and is neither logged nor told", async () => {
    const started = await start();
    const { url } = started;
    const run = { name: "gitlab_execute_action", arguments: { action: "issue.list", params: { project_id: "a/b" } } };
    const ways: readonly (readonly [Record<string, string>, number])[] = [
      [{ "private-token": tokenOf(1) }, 1],
      [{ authorization: `Bearer ${tokenOf(2)}` }, 2],
      [{ "job-token": tokenOf(3) }, 3],
    ];
    for (const [headers, user] of ways) {
      const { session } = await handshake(url, headers);
      const legacy = await post(url, call(run.name, run.arguments), { ...session, ...headers });
      const { body, headers: own } = modern("tools/call", run);
      const answer = await post(url, body, { ...headers, ...own });
      for (const { text } of [legacy, answer]) {
        expect(text).toContain(markOf(user));
        expect(text).not.toContain(tokenOf(user));
      }
      await post(url, "{", headers);
    }
    expect(started.logged.join("\n")).not.toMatch(/token-\d+-v1/);
  });

  it("the server's own GitLab token is not used for callers who bring none", async () => {
    const { url } = await start(["--auth=caller"], { GITLAB_TOKEN: tokenOf(9) });
    const { session } = await handshake(url);
    const answer = await post(url, call("gitlab_execute_action", { action: "issue.list", params: { project_id: "a/b" } }), session);
    expect(answer.text).toContain("unauthenticated");
    expect(crowd.seen).not.toContain(tokenOf(9));
  });

  it("another instance only from the list, and never with a session of the first", async () => {
    const other = await startCrowd();
    const { url } = await start([`--instances=${other.url}`]);
    const there = { ...token(1), "x-gitlab-url": `${other.url}/api/v4/` };
    const { session } = await handshake(url, there);
    const args = { action: "issue.list", params: { project_id: "a/b" } };
    await post(url, call("gitlab_execute_action", args), { ...session, ...there });
    expect([crowd.seen.length, other.seen.length > 0]).toEqual([0, true]);
    expect((await post(url, LIST, { ...session, ...token(1), "x-gitlab-url": crowd.url })).status).toBe(403);
    expect((await handshake(url, { ...token(1), "x-gitlab-url": "http://169.254.169.254/latest" })).answer.status).toBe(400);
    await other.close();
  });
});

describe("OAuth at GitLab", () => {
  it("401 on everything without a token, naming metadata that names GitLab, the client id and the scopes in use", async () => {
    const { url } = await start([
      "--auth=gitlab",
      "--oauth-client-id=0123abcd",
      "--read-only",
      "--public-url=https://mcp.example.com/gl",
      "--base-path=/gl",
    ]);
    const { body, headers } = modern("tools/list");
    for (const answer of [await post(url, INITIALIZE()), await post(url, body, headers)]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain(
        'resource_metadata="https://mcp.example.com/gl/.well-known/oauth-protected-resource", scope="read_api"',
      );
    }
    for (const path of ["/gl/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/gl/mcp"]) {
      const metadata = await (await fetch(new URL(path, url))).json();
      expect(metadata).toMatchObject({
        resource: "https://mcp.example.com/gl/mcp",
        authorization_servers: [crowd.url],
        scopes_supported: ["read_api"],
        client_id: "0123abcd",
      });
    }
    expect((await handshake(url, { authorization: `Bearer ${tokenOf(1)}` })).answer.status).toBe(200);
    const refused = await post(url, body, { ...headers, authorization: "Bearer wrong-token" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  it.each(["legacy", "modern"])(
    "a %s call that only the scopes forbid is a challenge for more; what another rule forbids is not",
    async (era) => {
      crowd.scopes.splice(0, 1, "read_api");
      const ask = async (flags: readonly string[], name: string, args: Record<string, unknown>) => {
        const { url } = await start(["--auth=gitlab", ...flags]);
        const bearer = { authorization: `Bearer ${tokenOf(1)}` };
        const { body, headers } = modern("tools/call", { name, arguments: args });
        const answer =
          era === "modern"
            ? await post(url, body, { ...headers, ...bearer })
            : await post(url, call(name, args), { ...(await handshake(url, bearer)).session, ...bearer });
        await server?.stop();
        return { answer, challenge: answer.headers.get("www-authenticate") };
      };
      const write = { action: "issue.create", params: { project_id: "a/b", title: "t" } };
      for (const [name, args] of [
        ["gitlab_execute_action", write],
        ["create_issue", write.params],
        ["gitlab_execute_action", { ...write, action: "create_issue" }],
      ] as const) {
        const { answer, challenge } = await ask([], name, args);
        expect([name, answer.status, challenge]).toEqual([name, 403, expect.stringMatching(/error="insufficient_scope".* scope="api"/)]);
        expect(answer.messages[0]?.error?.message).toMatch(/issue\.create.*read_api/);
      }
      const reads = await ask([], "gitlab_execute_action", { action: "issue.list", params: {} });
      expect([reads.answer.status, reads.challenge]).toEqual([200, null]);
      const readOnly = await ask(["--read-only"], "gitlab_execute_action", write);
      expect([readOnly.answer.status, readOnly.challenge]).toEqual([200, null]);
      expect(readOnly.answer.messages.at(-1)?.result).toMatchObject({ isError: true });
      expect((await ask([], "gitlab_find_action", { query: "create an issue" })).answer.status).toBe(200);
    },
  );

  it("without it there is no such metadata, and the 404 is JSON", async () => {
    const { url } = await start();
    const answer = await fetch(new URL("/.well-known/oauth-protected-resource", url));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/json"]);
    await answer.text();
  });
});

describe("for those who run it", () => {
  it("health and readiness need nothing and tell nothing; metrics need their token or port", async () => {
    const started = await start(["--metrics-token=only-for-the-scraper", "--metrics-port=0"]);
    const at = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, started.url), { headers });
    await handshake(started.url, token(1));
    expect(await (await at("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await at("/readyz")).json()).toEqual({ status: "ready" });
    expect((await at("/metrics")).status).toBe(401);
    const text = await (await at("/metrics", { authorization: "Bearer only-for-the-scraper" })).text();
    expect(text).toMatch(/^gitlab_bridge_sessions_open 1$/m);
    expect(text).toMatch(/^gitlab_bridge_mcp_requests_total\{era="legacy"\} 1$/m);
    expect(text).not.toContain("user-1");
    const own = await fetch(`http://127.0.0.1:${started.metricsPort}/metrics`);
    expect(await own.text()).toContain("gitlab_bridge_sessions_open 1");
  });

  it("no metrics where none were asked for", async () => {
    const { url } = await start();
    expect((await fetch(new URL("/metrics", url))).status).toBe(404);
  });
});
