import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { startSandbox } from "../src/sandbox/server.ts";
import { listTools } from "../src/surface/list.ts";
import { connectionFor } from "../test/support/bridge.ts";
import { tokens } from "../test/support/tokens.ts";
import { measureSessions } from "./bench-sessions.ts";
import { latency, measureIndex } from "./find-speed.ts";

/** Measures in one run, interleaved, and prints medians and ratios against the budgets of the design. */

const SPAWNS = Number(process.env.BENCH_SPAWNS ?? 15);
const CALLS = Number(process.env.BENCH_CALLS ?? 300);

const now = () => performance.now();
const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
const quantile = (values: readonly number[], q: number) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
const median = (values: readonly number[]) => quantile(values, 0.5);

interface Peer {
  readonly initialized: number;
  readonly listed: number;
  readonly rss: number;
  call(name: string, args: Record<string, unknown>): Promise<number>;
  enable(toolset: string): Promise<number>;
  close(): Promise<void>;
}

type Message = { id?: number; method?: string };

/** Spawns a server and takes the times from the spawn on, in ms. */
async function start(args: readonly string[], env: Record<string, string>): Promise<Peer> {
  const began = now();
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH ?? "", ...env }, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number | string, (message: Message) => void>();
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    rest += chunk.toString("utf8");
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((text) => text !== "")) {
      const message = JSON.parse(line) as Message;
      waiting.get(message.id ?? message.method ?? "")?.(message);
    }
  });
  let id = 0;
  const wait = (key: number | string) => new Promise<Message>((resolve) => waiting.set(key, resolve));
  const send = (method: string, params: object): Promise<Message> => {
    const own = ++id;
    const answer = wait(own);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
    return answer;
  };
  await send("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  const initialized = now() - began;
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await send("tools/list", {});
  const listed = now() - began;
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
  return {
    initialized,
    listed,
    rss,
    async call(name, params) {
      const at = now();
      await send("tools/call", { name, arguments: params });
      return now() - at;
    },
    async enable(toolset) {
      const changed = wait("notifications/tools/list_changed");
      const at = now();
      const answer = send("tools/call", { name: "enable_toolset", arguments: { toolset } });
      await changed;
      await send("tools/list", {});
      await answer;
      return now() - at;
    },
    close: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.stdin.end();
        setTimeout(() => child.kill("SIGKILL"), 2_000).unref();
      }),
  };
}

const sandbox = await startSandbox();
const env = { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria };
const OURS = ["dist/main.js"];
const FLOOR = ["fixtures/bench/floor.mjs"];
const path = `${sandbox.url}/api/v4/projects/acme%2Fwebshop/labels/bug`;

const starts: Record<"ours" | "floor", { initialized: number[]; listed: number[]; rss: number[] }> = {
  ours: { initialized: [], listed: [], rss: [] },
  floor: { initialized: [], listed: [], rss: [] },
};
for (let round = 0; round < SPAWNS; round++) {
  for (const [name, args] of [
    ["ours", OURS],
    ["floor", FLOOR],
  ] as const) {
    const peer = await start(args, env);
    starts[name].initialized.push(peer.initialized);
    starts[name].listed.push(peer.listed);
    starts[name].rss.push(peer.rss);
    await peer.close();
  }
}

const calls = { ours: [] as number[], direct: [] as number[], floor: [] as number[] };
const ours = await start(OURS, env);
const floor = await start(FLOOR, env);
const direct = async () => {
  const at = now();
  await (await fetch(path, { headers: { "PRIVATE-TOKEN": sandbox.tokens.maria } })).text();
  return now() - at;
};
for (let round = -20; round < CALLS; round++) {
  const own = await ours.call("gitlab_execute_action", { action: "label.get", params: { project_id: "acme/webshop", label_id: "bug" } });
  const plain = await direct();
  const base = await floor.call("get_json", { url: path });
  if (round < 0) continue;
  calls.ours.push(own);
  calls.direct.push(plain);
  calls.floor.push(base);
}
await ours.close();
await floor.close();

const enables: number[] = [];
for (let round = 0; round < 7; round++) {
  const peer = await start(OURS, env);
  // The first enabling asks GitLab who the caller is; that is known from then on.
  await peer.enable("core");
  enables.push(await peer.enable("ci"));
  await peer.close();
}

// First of all that finds: what it keeps is to be counted with what it reads.
const findIndex = measureIndex();
const { finder } = findIndex;
const queries = [
  "list open merge requests",
  "why did the pipeline fail",
  "delte branch",
  "crear una incidencia",
  "x".repeat(2_000),
  "add a label to issue 5",
];
const finds: number[] = [];
for (let round = -400; round < 2_000; round++) {
  const at = now();
  finder.find(queries[(round + 400) % queries.length] ?? "", { permitted: () => true });
  // As long as its code is not compiled, a find takes a few times as long.
  if (round >= 0) finds.push(now() - at);
}
const rowReads = Array.from({ length: 9 }, () => {
  const printed = execFileSync(process.execPath, ["--expose-gc", "--import", "tsx", "scripts/bench-rows.ts"], { encoding: "utf8" });
  return JSON.parse(printed) as { ms: number; mb: number; rows: number };
});
const findLong = Object.entries(latency(findIndex.finder, queries)).slice(1);
const firstList = (...argv: string[]) => listTools(connectionFor(...argv)).reduce((sum, tool) => sum + tokens(tool), 0);
await sandbox.close();
const sessionKb = await measureSessions();

const n = (value: number, digits = 1) => value.toFixed(digits);
const listRatio = median(starts.ours.listed) / median(starts.floor.listed);
const overhead = median(calls.ours) - median(calls.direct);
const readMs = median(rowReads.map(({ ms }) => ms));
const readMb = median(rowReads.map(({ mb }) => mb));
const rows: readonly (readonly [string, string, string, boolean])[] = [
  ["spawn → initialize (ms)", `${n(median(starts.ours.initialized))} (floor ${n(median(starts.floor.initialized))})`, "", true],
  [
    "spawn → tools/list (ms)",
    `${n(median(starts.ours.listed))} (floor ${n(median(starts.floor.listed))}), ratio ${n(listRatio, 2)}`,
    "≤ 1.0 × floor",
    listRatio <= 1,
  ],
  [
    "memory after tools/list (MB)",
    `${n(median(starts.ours.rss))} (floor ${n(median(starts.floor.rss))})`,
    "≤ 80",
    median(starts.ours.rss) <= 80,
  ],
  [
    "call median (ms)",
    `${n(median(calls.ours), 2)} (direct fetch ${n(median(calls.direct), 2)}, floor ${n(median(calls.floor), 2)}), over direct ${n(overhead, 2)}`,
    "≤ 1.5 over direct",
    overhead <= 1.5,
  ],
  ["call p99 (ms)", `${n(quantile(calls.ours, 0.99), 2)} (direct fetch ${n(quantile(calls.direct, 0.99), 2)})`, "", true],
  ["enable → list_changed → list (ms)", n(median(enables)), "≤ 5 beyond the round trip", true],
  ["rows read (ms / MB)", `${n(readMs)} / ${n(readMb)} for ${rowReads[0]?.rows} actions`, "≤ 15 / ≤ 6", readMs <= 15 && readMb <= 6],
  [
    "find, warm, p50 / p99 (ms)",
    `${n(median(finds), 2)} / ${n(quantile(finds, 0.99), 2)}`,
    "≤ 1 / ≤ 5",
    median(finds) <= 1 && quantile(finds, 0.99) <= 5,
  ],
  ...findLong.map(([name, { p50, p99 }]): readonly [string, string, string, boolean] => [
    `find, ${name}, middle of 5 rounds, p50 / p99 (ms)`,
    `${n(p50, 2)} / ${n(p99, 2)}`,
    "≤ 5 at p99",
    p99 <= 5,
  ]),
  [
    "find: index ready (ms) / kept (MB)",
    `${n(findIndex.readyMs)} / ${n(findIndex.megabytes)}`,
    "≤ 30 / ≤ 15",
    findIndex.readyMs <= 30 && findIndex.megabytes <= 15,
  ],
  ["HTTP: heap per idle session (KB)", n(sessionKb), "≤ 30", sessionKb <= 30],
  [
    "first list bridge / dynamic (tokens)",
    `${firstList()} / ${firstList("--style=dynamic")}`,
    "≤ 900 / ≤ 450",
    firstList() <= 900 && firstList("--style=dynamic") <= 450,
  ],
];
const width = (at: 0 | 1) => Math.max(...rows.map((row) => row[at].length)) + 2;
for (const [what, measured, target, ok] of rows)
  console.log(`${ok ? " " : "!"} ${what.padEnd(width(0))}${measured.padEnd(width(1))}${target}`);
