import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { isDirect, proxyFor } from "../../src/executor/network.ts";
import { callOf, contextOf, failureOf, settingsOf, sourceOf, valueIn } from "./gitlab-fixture.ts";

const open: net.Server[] = [];
const sockets = new Set<net.Socket>();

function listen(server: net.Server): Promise<number> {
  open.push(server);
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done((server.address() as net.AddressInfo).port)));
}

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of open.splice(0)) server.close();
});

const gitlab = (request: http.IncomingMessage, response: http.ServerResponse) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ iid: 7, title: request.url }));
};
const READ = () => callOf("issue.get", { project_id: "g/p", issue_iid: 7 });
const PATH = "/api/v4/projects/g%2Fp/issues/7";
const ask = async (own: Record<string, unknown>) => {
  const source = sourceOf({ retries: 0, ...own });
  try {
    return valueIn(await source.run(READ(), contextOf())).title;
  } finally {
    await source.close();
  }
};
const failing = async (own: Record<string, unknown>) => failureOf(ask(own));

describe("straight to GitLab", () => {
  it("keeps the encoded path on the wire", async () => {
    const port = await listen(http.createServer(gitlab));
    expect(await ask({ url: `http://127.0.0.1:${port}` })).toBe(PATH);
  });

  it("tells a refused connection", async () => {
    const port = await listen(http.createServer(gitlab));
    await new Promise((done) => open.splice(0)[0]?.close(done));
    const error = await failing({ url: `http://127.0.0.1:${port}` });
    expect([error.code, error.message]).toEqual(["gitlab_unavailable", expect.stringContaining("refused the connection")]);
  });

  it("tells a name that does not resolve", async () => {
    expect((await failing({ url: "http://gitlab.invalid" })).message).toContain("is not a name that can be resolved");
  });

  it("a write whose connection is cut has an unknown outcome", async () => {
    let reached = 0;
    const port = await listen(
      http.createServer((request) => {
        reached++;
        request.socket.destroy();
      }),
    );
    const source = sourceOf({ url: `http://127.0.0.1:${port}` });
    const error = await failureOf(source.run(callOf("issue.create", { project_id: "1", title: "T" }), contextOf()));
    await source.close();
    expect([error.code, reached]).toEqual(["outcome_unknown", 1]);
  });

  it("a cancel closes the connection", async () => {
    const stop = new AbortController();
    let gone = false;
    const port = await listen(
      http.createServer((_request, response) => {
        response.on("close", () => {
          gone = true;
        });
        stop.abort();
      }),
    );
    const source = sourceOf({ url: `http://127.0.0.1:${port}` });
    const error = await failureOf(source.run(READ(), contextOf({ signal: stop.signal })));
    expect(error.code).toBe("cancelled");
    await expect.poll(() => gone).toBe(true);
    await source.close();
  });
});

describe("TLS", () => {
  const at = (name: string) => join(import.meta.dirname, "../../fixtures/tls", name);
  const serve = (more: https.ServerOptions = {}) =>
    listen(https.createServer({ key: readFileSync(at("server.key")), cert: readFileSync(at("server.pem")), ...more }, gitlab));

  it("an unknown authority is named as such, and --ca-file adds it", async () => {
    const url = `https://localhost:${await serve()}`;
    const error = await failing({ url });
    expect([error.code, error.hint]).toEqual(["gitlab_unavailable", expect.stringContaining("--ca-file")]);
    expect(await ask({ url, caFile: at("ca.pem") })).toBe(PATH);
  });

  it("a client certificate is shown where it is asked for", async () => {
    const url = `https://localhost:${await serve({ requestCert: true, rejectUnauthorized: true, ca: readFileSync(at("ca.pem")) })}`;
    expect(await ask({ url, caFile: at("ca.pem"), certFile: at("client.pem"), keyFile: at("client.key") })).toBe(PATH);
    expect((await failing({ url, caFile: at("ca.pem") })).code).toBe("gitlab_unavailable");
  });

  it("unknown authorities are not taken, whatever the environment says of it", async () => {
    const url = `https://localhost:${await serve()}`;
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      expect((await failing({ url })).code).toBe("gitlab_unavailable");
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });

  it("a file that cannot be read is named with its setting", async () => {
    const error = await failing({ url: "https://localhost:1", caFile: at("none.pem") });
    expect(error.detail.setting).toBe("--ca-file");
  });

  it("goes through an HTTP proxy by a tunnel", async () => {
    const asked: (string | undefined)[] = [];
    const proxy = http.createServer().on("connect", (request, socket: net.Socket) => {
      asked.push(request.url, request.headers["proxy-authorization"]);
      const [host, port] = (request.url ?? "").split(":");
      const upstream = net.connect(Number(port), host, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      sockets.add(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    const httpsProxy = `http://me:pw@127.0.0.1:${await listen(proxy)}`;
    const port = await serve();
    expect(await ask({ url: `https://localhost:${port}`, caFile: at("ca.pem"), httpsProxy })).toBe(PATH);
    expect(asked).toEqual([`localhost:${port}`, `Basic ${Buffer.from("me:pw").toString("base64")}`]);
  });

  it("a proxy that refuses is named", async () => {
    const proxy = http.createServer().on("connect", (_request, socket: net.Socket) => void socket.end("HTTP/1.1 407 No\r\n\r\n"));
    const error = await failing({ url: "https://gitlab.test", httpsProxy: `http://127.0.0.1:${await listen(proxy)}` });
    expect([error.code, error.hint]).toEqual(["gitlab_unavailable", expect.stringContaining("--https-proxy")]);
  });

  it("goes through a SOCKS5 proxy, which resolves the name", async () => {
    const asked: string[] = [];
    const httpsProxy = `socks5://127.0.0.1:${await listen(socks(asked))}`;
    const port = await serve();
    expect(await ask({ url: `https://localhost:${port}`, caFile: at("ca.pem"), httpsProxy })).toBe(PATH);
    expect(asked).toEqual([`localhost:${port}`]);
  });
});

/** The least of SOCKS5: no authentication, CONNECT to a name. */
function socks(asked: string[]): net.Server {
  return net.createServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.from([5, 0]));
      socket.once("data", (request: Buffer) => {
        const length = request[4] ?? 0;
        const host = request.subarray(5, 5 + length).toString();
        const port = request.readUInt16BE(5 + length);
        asked.push(`${host}:${port}`);
        const upstream = net.connect(port, host, () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          socket.pipe(upstream).pipe(socket);
        });
        sockets.add(upstream);
      });
    });
  });
}

describe("plain HTTP by proxy", () => {
  it("asks the proxy for the whole address", async () => {
    const seen: (string | undefined)[] = [];
    const port = await listen(
      http.createServer((request, response) => {
        seen.push(request.url);
        gitlab(request, response);
      }),
    );
    await ask({ url: "http://gitlab.invalid", httpProxy: `127.0.0.1:${port}` });
    expect(seen).toEqual([`http://gitlab.invalid${PATH}`]);
  });

  it("goes around it for hosts of --no-proxy", async () => {
    const port = await listen(http.createServer(gitlab));
    expect(await ask({ url: `http://127.0.0.1:${port}`, httpProxy: "http://127.0.0.1:1", noProxy: ["127.0.0.1"] })).toBe(PATH);
  });
});

describe("which proxy", () => {
  it.each([
    ["https://git.corp.test", ["corp.test"], true],
    ["https://git.corp.test", [".corp.test"], true],
    ["https://git.corp.test", ["*.corp.test"], true],
    ["https://git.corp.test", ["git.corp.test:443"], true],
    ["https://git.corp.test", ["git.corp.test:8443"], false],
    ["https://evilcorp.test", ["corp.test"], false],
    ["https://git.corp.test", ["*"], true],
    ["https://git.corp.test", ["", " "], false],
  ])("%s without %j: direct is %s", (url, rules, direct) => expect(isDirect(new URL(url), rules)).toBe(direct));

  it.each(["ftp://proxy.test", "socks4://proxy.test", "http://[bad"])("%s is refused, never passed over", (httpsProxy) => {
    expect(() => proxyFor(new URL("https://gitlab.test"), settingsOf({ httpsProxy }))).toThrow(/--https-proxy/);
  });
});

afterAll(() => {
  for (const server of open) server.close();
});
