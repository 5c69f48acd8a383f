import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

const ROOT = join(import.meta.dirname, "..");
const CACHE = join(ROOT, ".cache/aggregators");
/** A copy: a build that runs meanwhile changes nothing. */
const DIST = join(ROOT, ".cache/chain-dist/main.js");
cpSync(join(ROOT, "dist"), join(ROOT, ".cache/chain-dist"), { recursive: true });

/** Aggregators of npm, with the versions that the results are about. */
export const PACKAGES: Readonly<Record<string, string>> = {
  "mcp-proxy": "6.7.19",
  supergateway: "4.0.0",
  "mcp-remote": "0.15.1",
  "mcp-hub": "4.2.1",
};

/** Why an aggregator is not there; without a reason it is. */
export type Installed = ReadonlyMap<string, string | undefined>;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Each in a folder of its own: one that cannot be installed takes no other with it. A network deserves another try. */
async function installOne(name: string, version: string): Promise<string | undefined> {
  const home = join(CACHE, name);
  const manifest = join(home, "node_modules", name, "package.json");
  const isThere = () => existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "private": true }\n');
  let why = "";
  for (let tries = 1; tries <= 4 && !isThere(); tries++) {
    if (tries > 1) await wait(tries * 3_000);
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${version}`];
    await promisify(execFile)("npm", args, { cwd: home, timeout: 300_000 }).catch((error: Error) => {
      why = error.message.slice(0, 300);
    });
  }
  return isThere() ? undefined : `cannot be installed: ${why}`;
}

export async function installAggregators(): Promise<Installed> {
  const installed = new Map<string, string | undefined>();
  for (const [name, version] of Object.entries(PACKAGES)) installed.set(name, await installOne(name, version));
  return installed;
}

const bin = (name: string) => join(CACHE, name, "node_modules/.bin", name);

/** It did not come up: nothing can be said of how the bridge does behind it. */
export class NotUp extends Error {
  override readonly name = "NotUp";
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const HOME = mkdtempSync(join(tmpdir(), "chain-"));
const LOOPBACK = new URL("chain-loopback.mjs", import.meta.url).href;
const ENV = {
  PATH: process.env.PATH ?? "",
  HOME,
  XDG_STATE_HOME: HOME,
  XDG_CONFIG_HOME: HOME,
  XDG_DATA_HOME: HOME,
  NODE_OPTIONS: `--import ${LOOPBACK}`,
};
/** How long something may take to come up (ms); a machine may be busy. */
const PATIENCE = 120_000;
const STEP = 100;

/** The bridge on its sandbox, with a small server behind it whose calls tell progress and can be cancelled. */
const UPSTREAMS = join(HOME, "upstreams.json");
writeFileSync(
  UPSTREAMS,
  JSON.stringify({ mcpServers: { fix: { command: process.execPath, args: [join(ROOT, "fixtures/upstreams/legacy.mjs")] } } }),
);
const BRIDGE = [DIST, "--sandbox", "--settle=1", `--upstreams=${UPSTREAMS}`];

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves with the first match in what it says. */
  says(pattern: RegExp): Promise<RegExpMatchArray>;
  stop(): Promise<void>;
}

function start(command: string, args: readonly string[]): Running {
  const child = spawn(command, args, { env: ENV, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    child,
    output: () => output,
    async says(pattern) {
      for (const end = Date.now() + PATIENCE; Date.now() < end && child.exitCode === null; await wait(STEP)) {
        const match = output.match(pattern);
        if (match) return match;
      }
      throw new NotUp(`${command} did not say ${pattern}: ${output.slice(-500)}`);
    },
    async stop() {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // Gone already.
      }
      await gone;
    },
  };
}

/** Waits until it answers, and says what it must say. */
async function reachable(running: Running, port: number, { path, says }: { path: string; says: RegExp }): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end && running.child.exitCode === null; await wait(STEP)) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) });
      if (says.test(await response.text())) return;
    } catch {
      // Not yet.
    }
  }
  throw new NotUp(`nothing answers at ${port}: ${running.output().slice(-500)}`);
}

/** Local addresses in the kernel's own form that a machine beside this one cannot reach. */
const LOCAL = /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/;

/** @throws Error where other machines could reach the port. Only Linux tells. */
function requireLoopback(port: number): void {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    if (!existsSync(table)) continue;
    for (const line of readFileSync(table, "utf8").split("\n")) {
      const [, address = "", , state] = line.trim().split(/\s+/);
      const [host = "", own] = address.split(":");
      if (own === wanted && state === "0A" && !LOCAL.test(host)) throw new Error(`port ${port} is open to other machines (${host})`);
    }
  }
}

/** An aggregator that runs, with the bridge behind it. */
export interface Chain {
  connect(): Transport;
  stop(): Promise<void>;
}

export interface ChainRow {
  readonly name: string;
  readonly package?: string;
  /** How the pieces stand: client → … → bridge. */
  readonly shape: string;
  /** Put before every tool name. */
  readonly prefix?: string;
  /** Why enabling ends in execute here, not in a call by name. */
  readonly viaExecute?: string;
  start(): Promise<Chain>;
}

const httpTransport = (url: string) => new StreamableHTTPClientTransport(new URL(url)) as Transport;

/** A program over stdio between the client and the bridge over HTTP; each client has its own. */
async function behindHttp(args: (url: string) => readonly string[]): Promise<Chain> {
  const bridge = start(process.execPath, [...BRIDGE, "--http", "--port=0"]);
  const [, url = ""] = await bridge.says(/listens at (http:\S+)/).catch(async (error: unknown) => {
    await bridge.stop();
    throw error;
  });
  const address = url.endsWith("/mcp") ? url : `${url}/mcp`;
  return {
    connect: () => {
      const [command = "", ...rest] = args(address);
      return new StdioClientTransport({ command, args: rest, env: ENV, stderr: "ignore" });
    },
    stop: () => bridge.stop(),
  };
}

async function gateway(
  command: string,
  args: (port: number) => readonly string[],
  connect: (port: number) => Transport,
  sign = { path: "/", says: /^/ },
): Promise<Chain> {
  for (let tries = 1; ; tries++) {
    // Somebody else may take the port before it does.
    const port = await freePort();
    const running = start(command, args(port));
    try {
      await reachable(running, port, sign);
      requireLoopback(port);
      return { connect: () => connect(port), stop: () => running.stop() };
    } catch (error) {
      await running.stop();
      if (!(error instanceof NotUp) || tries === 3) throw error;
    }
  }
}

const stdioCommand = [process.execPath, ...BRIDGE].map((word) => JSON.stringify(word)).join(" ");

/** The inner bridge confirms by itself what must be: asking twice for every call through its pair would help nobody. */
function upstreamFile(name: string, entry: Record<string, unknown>): string {
  const path = join(HOME, `${name}.json`);
  writeFileSync(path, JSON.stringify({ mcpServers: { inner: { ...entry, effect: { gitlab_execute_action: "write" } } } }));
  return path;
}

export const CHAINS: readonly ChainRow[] = [
  {
    name: "mcp-proxy",
    package: "mcp-proxy",
    shape: "HTTP client → mcp-proxy → stdio bridge (one for all clients)",
    start: () =>
      gateway(
        bin("mcp-proxy"),
        (port) => [`--port=${port}`, "--host=127.0.0.1", "--", process.execPath, ...BRIDGE],
        (port) => httpTransport(`http://127.0.0.1:${port}/mcp`),
      ),
  },
  {
    name: "supergateway --stateful",
    package: "supergateway",
    shape: "HTTP client → supergateway → stdio bridge (one for each session)",
    start: () =>
      gateway(
        bin("supergateway"),
        (port) => ["--stdio", stdioCommand, "--outputTransport=streamableHttp", "--stateful", `--port=${port}`],
        (port) => httpTransport(`http://127.0.0.1:${port}/mcp`),
      ),
  },
  {
    name: "supergateway, stateless",
    package: "supergateway",
    shape: "HTTP client → supergateway → stdio bridge (one for each request)",
    start: () =>
      gateway(
        bin("supergateway"),
        (port) => ["--stdio", stdioCommand, "--outputTransport=streamableHttp", `--port=${port}`],
        (port) => httpTransport(`http://127.0.0.1:${port}/mcp`),
      ),
  },
  {
    name: "supergateway, SSE",
    package: "supergateway",
    shape: "SSE client → supergateway → stdio bridge (raw frames, one for all clients)",
    start: () =>
      gateway(
        bin("supergateway"),
        (port) => ["--stdio", stdioCommand, "--outputTransport=sse", `--port=${port}`],
        (port) => new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)) as Transport,
      ),
  },
  {
    name: "supergateway, from HTTP to stdio",
    package: "supergateway",
    shape: "stdio client → supergateway → bridge over HTTP",
    start: () => behindHttp((url) => [bin("supergateway"), "--streamableHttp", url, "--logLevel=none"]),
  },
  {
    name: "mcp-remote",
    package: "mcp-remote",
    shape: "stdio client → mcp-remote → bridge over HTTP",
    start: () => behindHttp((url) => [bin("mcp-remote"), url, "--allow-http"]),
  },
  {
    name: "mcp-hub",
    package: "mcp-hub",
    shape: "SSE client → mcp-hub → stdio bridge (one for all clients)",
    prefix: "bridge__",
    start: () => {
      const config = join(HOME, "hub.json");
      writeFileSync(config, JSON.stringify({ mcpServers: { bridge: { command: process.execPath, args: BRIDGE } } }));
      return gateway(
        bin("mcp-hub"),
        (port) => [`--port=${port}`, `--config=${config}`],
        (port) => new SSEClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as Transport,
        { path: "/api/health", says: /"status":"connected"/ },
      );
    },
  },
  {
    name: "this bridge over stdio",
    shape: "stdio client → bridge → stdio bridge (its own sandbox)",
    prefix: "inner_",
    start: async () => {
      const file = upstreamFile("stdio", { command: process.execPath, args: BRIDGE });
      const args = [DIST, "--sandbox", "--settle=1", `--upstreams=${file}`, "--toolsets=inner"];
      return {
        connect: () => new StdioClientTransport({ command: process.execPath, args, env: ENV, stderr: "ignore" }),
        stop: async () => {},
      };
    },
  },
  {
    name: "this bridge over HTTP",
    shape: "stdio client → bridge → bridge over HTTP",
    prefix: "inner_",
    viaExecute: "the two speak the modern era, in which enabling changes no list: the answer of enable_toolset names the execute tool",
    start: () =>
      behindHttp((url) => {
        const file = upstreamFile("http", { url });
        return [process.execPath, DIST, "--sandbox", "--settle=1", `--upstreams=${file}`, "--toolsets=inner"];
      }),
  },
];

/** The bridge itself, nothing between: what does not hold here is not an aggregator's fault. */
export const DIRECT: ChainRow = {
  name: "nothing between",
  shape: "stdio client → stdio bridge",
  start: async () => ({
    connect: () => new StdioClientTransport({ command: process.execPath, args: BRIDGE, env: ENV, stderr: "ignore" }),
    stop: async () => {},
  }),
};
export const LOG_DIRECTORY = HOME;
