import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openUpstreamsFor } from "../../src/cli/open-upstreams.ts";
import { reachOf } from "../../src/cli/reach.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

const at = (name: string) => join(import.meta.dirname, "../../fixtures/tls", name);
const folder = mkdtempSync(join(tmpdir(), "reach-"));
const file = join(folder, "upstreams.json");

/** The fixture behind a certificate of an authority that nobody knows. */
let fixture: HttpFixture;
let front: https.Server;
beforeAll(async () => {
  fixture = await startHttpFixture("modern");
  const target = new URL(fixture.url);
  front = https.createServer({ key: readFileSync(at("server.key")), cert: readFileSync(at("server.pem")) }, (request, response) => {
    const { method, headers, url } = request;
    const on = http.request(
      { host: target.hostname, port: target.port, path: url, method, headers: { ...headers, host: target.host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    on.on("error", () => response.destroy());
    request.pipe(on);
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(front.address() as AddressInfo).port}${target.pathname}`;
  writeFileSync(file, JSON.stringify({ mcpServers: { far: { type: "http", url } } }));
});
afterAll(async () => {
  await fixture.kill();
  front.closeAllConnections();
  await new Promise((resolve) => front.close(resolve));
  rmSync(folder, { recursive: true });
});

async function toolsOf(...flags: string[]): Promise<number> {
  const { settings } = loadSettings({ argv: [`--upstreams=${file}`, ...flags], env: {}, transport: "stdio" });
  const log = createLog({ level: "error", write: () => {} });
  const upstreams = openUpstreamsFor(settings, { env: {}, cwd: folder, home: folder }, log);
  await upstreams.ready();
  const count = upstreams.sources[0]?.actions().length ?? 0;
  await upstreams.close();
  return count;
}

describe("a server behind a certificate of the company's own", () => {
  it("is reached with --ca-file, as GitLab is", async () => expect(await toolsOf(`--ca-file=${at("ca.pem")}`)).toBeGreaterThan(0));
  it("is not trusted without", async () => expect(await toolsOf()).toBe(0));
  it("needs nothing of ours where the settings name nothing", () =>
    expect(reachOf(loadSettings({ argv: [], env: {}, transport: "stdio" }).settings)).toBeUndefined());
});
