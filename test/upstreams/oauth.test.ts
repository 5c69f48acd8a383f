import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openUpstreamsFor } from "../../src/cli/open-upstreams.ts";
import { signInHere } from "../../src/cli/sign-in.ts";
import { loadSettings } from "../../src/config/load.ts";
import { BridgeError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { OAuthTokens } from "../../src/upstreams/oauth.ts";
import { openSignInStore, type SignInStore } from "../../src/upstreams/oauth-store.ts";
import { type SignInOptions, signIn } from "../../src/upstreams/sign-in.ts";
import { type Chain, openChain } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

type Event = { what: string; scope?: string; resource?: string; method?: string; redirect?: string[] };

interface Place {
  readonly server: HttpFixture;
  readonly instance: string;
  readonly store: SignInStore;
  readonly home: string;
  events(what?: string): Promise<readonly Event[]>;
  /** Ends the tokens that were given out. */
  end(how: "expire" | "revoke"): Promise<unknown>;
  /** The whole way through, with the test as browser. */
  signIn(more?: Partial<SignInOptions>): Promise<string[]>;
}

let chain: Chain | undefined;
const open: { server: HttpFixture }[] = [];
const listening: Server[] = [];
afterEach(async () => {
  await chain?.close();
  chain = undefined;
  for (const { server } of open.splice(0)) await server.kill();
  for (const server of listening.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const browse = async (address: string): Promise<Response> => {
  const redirected = await fetch(address, { redirect: "manual" });
  return fetch(redirected.headers.get("location") ?? "http://127.0.0.1:1");
};

async function gitlab(oauth = "", env: Record<string, string> = {}): Promise<Place> {
  const server = await startHttpFixture("gitlab", 0, { OAUTH: oauth, ...env });
  const instance = server.url.replace("/api/v4/mcp", "");
  const home = mkdtempSync(join(tmpdir(), "oauth-"));
  const store = openSignInStore(join(home, ".gitlab-toolset-bridge", "oauth"), instance);
  const place: Place = {
    ...{ server, instance, store, home },
    events: async (what) => {
      const all = (await (await fetch(`${instance}/oauth-log`)).json()) as Event[];
      return all.filter((event) => what === undefined || event.what === what);
    },
    end: (how) => fetch(`${instance}/oauth-do?${how}`),
    async signIn(more = {}) {
      const shown: string[] = [];
      const show = (address: string) => {
        shown.push(address);
        void browse(address);
      };
      await signIn({ instance, resource: server.url, store, show, ...more });
      return shown;
    },
  };
  open.push(place);
  return place;
}

/** Another origin: what it receives is remembered. */
async function elsewhere(): Promise<{ origin: string; received: string[] }> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    response.end("{}");
  });
  listening.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const tokensOf = ({ instance, store }: Place, more: { fallback?: string } = {}) =>
  new OAuthTokens({ instance, store, hide: () => {}, ...more });

function openBehind(place: Place, more: { fallback?: string } = {}, single = true): Chain {
  chain = openChain({}, [], { gitlabMcp: { instance: place.instance, auth: tokensOf(place, more) }, single });
  return chain;
}

const run = async (client: Awaited<ReturnType<Chain["connect"]>>) => client.run("gitlab_mcp.get_job", { id: "a/b" });

const failure = async (work: Promise<unknown>): Promise<BridgeError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BridgeError);
  return error as BridgeError;
};

describe("signing in", () => {
  it("goes the whole way: registration, PKCE, one resource, one scope; the running bridge takes it up", async () => {
    const place = await gitlab();
    const client = await openBehind(place).connect();
    const before = await client.call("list_available_toolsets");
    expect(before.text).toContain(`gitlab-toolset-bridge sign-in --url=${place.instance}`);
    expect((await run(client)).json).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("sign-in --url=") });
    expect(chain?.lines.filter((line) => line.includes("sign-in"))).toHaveLength(1);
    expect(await place.server.log()).toEqual([]);

    const [address = ""] = await place.signIn();
    expect(new URL(address).origin).toBe(place.instance);
    const [register, authorize, exchange] = await place.events();
    expect(register).toMatchObject({
      what: "register",
      scope: "mcp",
      redirect: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)],
    });
    expect(authorize).toEqual({ what: "authorize", scope: "mcp", resource: place.server.url, method: "S256" });
    expect(exchange).toEqual({ what: "authorization_code", resource: place.server.url });

    await expect.poll(async () => (await run(client)).json, { timeout: 10_000 }).toEqual({ tool: "get_job", args: { id: "a/b" } });
    expect((await client.call("list_available_toolsets")).text).not.toContain("sign-in");
  });

  it("keeps the tokens in a file of the user's own, whole or not at all", async () => {
    const place = await gitlab();
    await place.signIn();
    await place.signIn();
    const directory = join(place.home, ".gitlab-toolset-bridge", "oauth");
    expect(statSync(place.store.path).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toHaveLength(1);
    expect(place.store.read()).toMatchObject({
      resource: place.server.url,
      issuer: place.instance,
      accessToken: expect.stringMatching(/^oauth-/),
    });
    const other = openSignInStore(directory, `${place.instance}/gitlab`);
    expect(other.path).not.toBe(place.store.path);
    expect(other.read()).toBeUndefined();
    writeFileSync(place.store.path, '{"resource": "half');
    expect(place.store.read()).toBeUndefined();
  });

  it("turns away whoever comes back with another state, and goes on waiting", async () => {
    const place = await gitlab();
    const statuses: number[] = [];
    await place.signIn({
      show: (address) => {
        void (async () => {
          const redirect = new URL(address).searchParams.get("redirect_uri") ?? "";
          for (const query of ["", "?code=stolen", "?code=stolen&state=guessed"])
            statuses.push((await fetch(`${redirect}${query}`)).status);
          statuses.push((await fetch(redirect.replace("callback", ""))).status);
          statuses.push((await browse(address)).status);
        })();
      },
    });
    expect(statuses).toEqual([400, 400, 400, 404, 200]);
    expect(await place.events("authorization_code")).toHaveLength(1);
  });

  it("ends by itself where nobody comes back with the right state", async () => {
    const place = await gitlab("state-lie");
    const error = await failure(place.signIn({ patience: 500 }));
    expect(error.message).toMatch(/nobody came back/);
    expect(await place.events("authorization_code")).toEqual([]);
    expect(place.store.read()).toBeUndefined();
  });

  it.each([
    ["deny", /not allowed in the browser/],
    ["issuer-lie", /says that it is somebody else/],
    ["iss-lie", /says that it is somebody else/],
    ["resource-lie", /is not .*\/api\/v4\/mcp/],
    ["foreign-server", /nothing was sent there/],
    ["foreign-register", /nothing was sent there/],
    ["foreign-authorize", /is not http/],
    ["foreign-token", /nothing was sent there/],
    ["no-registration", /dynamic client registration/],
    ["register-refused", /registers no clients, HTTP 400/],
    ["token-refused", /invalid_scope/],
  ])("%s: refused, nothing kept, nothing sent anywhere else", async (mode, says) => {
    const { origin, received } = await elsewhere();
    const place = await gitlab(mode, { OTHER: origin });
    const error = await failure(place.signIn({ patience: 5_000 }));
    expect(error.message).toMatch(says);
    expect(`${error.message} ${error.hint}`).not.toMatch(/secret-in-a-description|oauth-|refresh-|code-/);
    expect(place.store.read()).toBeUndefined();
    expect(received).toEqual([]);
  });

  it("works without metadata of the protected resource", async () => {
    const place = await gitlab("no-metadata");
    await place.signIn();
    expect(place.store.read()?.accessToken).toMatch(/^oauth-/);
  });

  it("says that the port is taken before it begins", async () => {
    const place = await gitlab();
    const { origin } = await elsewhere();
    const error = await failure(place.signIn({ port: Number(new URL(origin).port) }));
    expect(error.message).toMatch(/port \d+ is taken/);
    expect(await place.events()).toEqual([]);
  });
});

describe("tokens of a sign-in", () => {
  it("are renewed once, however many calls of however many sessions meet the end of one", async () => {
    const place = await gitlab();
    await place.signIn();
    const { connect } = openBehind(place, {}, false);
    const clients = [await connect(), await connect(), await connect()];
    for (const client of clients) expect((await run(client)).isError).toBe(false);
    await place.end("expire");
    const replies = await Promise.all(clients.flatMap((client) => [run(client), run(client), run(client)]));
    expect(replies.filter(({ isError }) => isError)).toEqual([]);
    expect(await place.events("refresh_token")).toEqual([{ what: "refresh_token", resource: place.server.url }]);
  });

  it("are renewed once by all processes of a user", async () => {
    const place = await gitlab("", { LIFETIME: "10" });
    await place.signIn();
    const first = place.store.read()?.accessToken;
    // Ten seconds are within the margin: each wants another one at once.
    const late = [tokensOf(place), tokensOf(place), tokensOf(place)];
    await Promise.all(late.map((tokens) => tokens.ready()));
    const renewed = await place.events("refresh_token");
    expect(renewed).toHaveLength(1);
    expect(place.store.read()?.accessToken).not.toBe(first);
  });

  it("that were taken back: the call says what helps, and another sign-in does help", async () => {
    const place = await gitlab();
    await place.signIn();
    const client = await openBehind(place).connect();
    expect((await run(client)).isError).toBe(false);
    await place.end("revoke");
    const reply = await run(client);
    expect(reply.json).toMatchObject({ code: "unauthenticated", message: expect.stringContaining("gitlab-toolset-bridge sign-in") });
    expect(place.store.read()).not.toHaveProperty("accessToken");
    expect(await place.events("refresh_token")).toHaveLength(1);
    expect((await run(client)).isError).toBe(true);
    expect(await place.events("refresh_token")).toHaveLength(1);
    await place.signIn();
    await expect.poll(async () => (await run(client)).isError, { timeout: 10_000 }).toBe(false);
  });

  it("without a refresh token end with the first that is refused", async () => {
    const place = await gitlab("no-refresh");
    await place.signIn();
    const client = await openBehind(place).connect();
    expect((await run(client)).isError).toBe(false);
    await place.end("expire");
    expect((await run(client)).json).toMatchObject({ code: "unauthenticated" });
  });

  it("are kept where renewing them only failed", async () => {
    const place = await gitlab("refresh-breaks");
    await place.signIn();
    const client = await openBehind(place).connect();
    expect((await run(client)).isError).toBe(false);
    await place.end("expire");
    expect((await run(client)).isError).toBe(true);
    expect(place.store.read()?.refreshToken).toMatch(/^refresh-/);
  });

  it("never follow a redirect to another origin", async () => {
    const { origin, received } = await elsewhere();
    const place = await gitlab();
    await place.signIn();
    const { fetch: send } = tokensOf(place).connection();
    await expect(send(`${origin}/api/v4/mcp`, { headers: { authorization: "Bearer x" } })).rejects.toThrow(/nothing was sent there/);
    const redirecting = createServer((_request, response) => response.writeHead(302, { location: `${origin}/steal` }).end());
    listening.push(redirecting);
    await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
    const instance = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const { fetch: redirected } = new OAuthTokens({ instance, store: place.store, hide: () => {} }).connection();
    await expect(redirected(`${instance}/x`, { headers: { authorization: "Bearer x" } })).rejects.toThrow(/nothing was sent there/);
    expect((await redirected(`${instance}/x`, { method: "POST", body: "x" })).status).toBe(302);
    expect(received).toEqual([]);
  });

  it("a lock that somebody left behind does not hold for good", async () => {
    const place = await gitlab();
    const lock = `${place.store.path}.lock`;
    mkdirSync(join(place.home, ".gitlab-toolset-bridge", "oauth"), { recursive: true });
    writeFileSync(lock, "");
    const before = new Date(Date.now() - 60_000);
    utimesSync(lock, before, before);
    expect(await place.store.alone(async () => "mine")).toBe("mine");
  });

  it("the GitLab token is tried where nobody signed in; where it is refused, signing in is what helps", async () => {
    const place = await gitlab();
    const good = await openBehind(place, { fallback: "oauth-1234567890" }).connect();
    expect((await run(good)).isError).toBe(false);
    await chain?.close();
    const bad = await openBehind(place, { fallback: "glpat-nothing-good" }).connect();
    expect((await bad.call("list_available_toolsets")).text).toMatch(
      /no other token than that of a sign-in.*gitlab-toolset-bridge sign-in/,
    );
  });
});

describe("the command line", () => {
  const hostOf = (place: Place) =>
    ({ env: { GITLAB_URL: place.instance }, home: place.home, cwd: place.home }) as unknown as Parameters<typeof signInHere>[1];

  it("signs in, and shows no token", async () => {
    const place = await gitlab();
    const lines: string[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((line: string) => {
      lines.push(line);
      const address = /^http\S+$/m.exec(line)?.[0];
      if (address) void browse(address);
    });
    await signInHere(["--callback-port", "0"], hostOf(place)).finally(() => spy.mockRestore());
    const saved = readFileSync(place.store.path, "utf8");
    expect(saved).toMatch(/"accessToken": "oauth-/);
    expect(lines.join("\n")).toContain(place.store.path);
    expect(lines.join("\n")).not.toMatch(/oauth-[0-9a-f]{8}|refresh-[0-9a-f]/);
    await expect(signInHere(["--callback-port=70000"], hostOf(place))).rejects.toThrow(/not a port/);
  });

  const noted = async (place: Place, flags: string[], transport: "stdio" | "http") => {
    const { settings } = loadSettings({ argv: ["--gitlab-mcp", ...flags], env: { GITLAB_URL: place.instance }, transport });
    const written: string[] = [];
    const log = createLog({ level: "debug", write: (line) => written.push(line) });
    const upstreams = openUpstreamsFor(settings, { env: {}, cwd: place.home, home: place.home }, log);
    await upstreams.ready();
    const note = upstreams.sources[0]?.toolsets()[0]?.note;
    const actions = upstreams.sources[0]?.actions().length ?? 0;
    await upstreams.close();
    return { note, actions, written: written.join("") };
  };

  it("a bridge over stdio uses the sign-in, one over HTTP never does and says what it takes instead", async () => {
    const place = await gitlab();
    await place.signIn();
    const near = await noted(place, [], "stdio");
    expect(near.actions).toBeGreaterThan(20);
    expect(near.written).not.toMatch(/oauth-[0-9a-f]{8}|refresh-[0-9a-f]/);
    const far = await noted(place, ["--http"], "http");
    expect(far).toMatchObject({ actions: 0, note: expect.stringContaining("GITLAB_BRIDGE_GITLAB_MCP_TOKEN") });
    expect((await place.server.log()).at(-1)).not.toHaveProperty("authorization");
  });
});
