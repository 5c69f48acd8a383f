/** What an idle HTTP session holds in the built server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Crowd, handshake, post, startCrowd, tokenOf } from "../test/support/http.ts";

const SESSIONS = 1_000;
/** Whatever is made once is made by these. */
const WARM = 100;

async function startServer(crowd: Crowd): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const args = ["--expose-gc", "--import", "./scripts/heap-hook.mjs", "dist/main.js", "serve", "--http", "--port=0"];
  const env = { PATH: process.env.PATH ?? "", GITLAB_URL: crowd.url };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let said = "";
  for await (const chunk of child.stderr ?? []) {
    said += String(chunk);
    const url = /listens at (\S+)/.exec(said)?.[1];
    if (url) return { child, url };
  }
  throw new Error(`the server did not start: ${said}`);
}

async function heapOf(child: ChildProcess): Promise<number> {
  child.send("heap");
  const [{ heap }] = (await once(child, "message")) as [{ heap: number }];
  return heap;
}

/** As a client begins: handshake, first list, then nothing. */
async function open(url: string, first: number, last: number): Promise<void> {
  for (let user = first; user <= last; user++) {
    const token = { "private-token": tokenOf(user) };
    const { session } = await handshake(url, token);
    await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...token, ...session });
    await post(url, { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }, { ...token, ...session });
  }
}

/** Kilobytes of heap for each of a thousand people who connected, listed and went quiet. */
export async function measureSessions(): Promise<number> {
  const crowd = await startCrowd();
  const { child, url } = await startServer(crowd);
  await open(url, 1, WARM);
  const before = await heapOf(child);
  await open(url, WARM + 1, WARM + SESSIONS);
  const kilobytes = (await heapOf(child)) - before;
  child.kill();
  await crowd.close();
  return kilobytes / SESSIONS / 1_000;
}
