import { call, handshake, post, startCrowd, startHttp, tokenOf } from "../test/support/http.ts";

/** Short sessions with calls, cancels and drops, some ended and some left behind; afterwards everything must be as it began. */
const TOTAL = Number(process.argv[2] ?? 10_000);
const AT_ONCE = 8;
const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };
const ISSUES = { action: "issue.list", params: { project_id: "a/b" } };

const resources = () => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
const heap = () => {
  globalThis.gc?.();
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1_000_000);
};

async function live(url: string, index: number): Promise<void> {
  const token = { "private-token": tokenOf((index % 50) + 1) };
  const { session } = await handshake(url, token);
  const headers = { ...token, ...session };
  await post(url, LIST, headers);
  const kind = index % 5;
  if (kind === 0) await post(url, call("enable_toolset", { toolset: "ci" }), headers);
  if (kind === 1) await post(url, call("gitlab_execute_action", ISSUES), headers);
  if (kind === 2) {
    const sent = post(url, call("gitlab_execute_action", ISSUES, 5), headers).catch(() => {});
    await post(url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } }, headers);
    await sent;
  }
  if (kind === 3) {
    const gone = new AbortController();
    const stream = fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal: gone.signal });
    await stream.then((response) => response.status);
    gone.abort();
  }
  // One in four says nothing when it goes.
  if (index % 4 !== 0) await fetch(url, { method: "DELETE", headers }).then((response) => response.text());
}

const atStart = resources();
const crowd = await startCrowd();
const server = await startHttp(["--settle=0", "--rate-limit=1000000", "--max-sessions=100"], { GITLAB_URL: crowd.url });
const once = async (count: number) => {
  let next = 0;
  const worker = async () => {
    while (next < count) await live(server.url, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};
await once(Math.min(500, TOTAL));
const before = heap();
await once(TOTAL);
const after = heap();
console.log(`${TOTAL} sessions: heap ${before} MB → ${after} MB, held ${JSON.stringify(server.held())}`);
await server.stop();
await crowd.close();
const left = server.held();
await new Promise((resolve) => setTimeout(resolve, 500));
const open = resources();
console.log(`still open afterwards: ${JSON.stringify(open)}`);
const problems = [
  ...(after > before * 1.25 + 8 ? [`the heap grew from ${before} to ${after} MB`] : []),
  ...(left.streams || left.callers || left.event_bytes ? [`left behind: ${JSON.stringify(left)}`] : []),
  ...["TCPServerWrap", "Timeout", "TCPSocketWrap"].flatMap((kind) =>
    (open[kind] ?? 0) > (atStart[kind] ?? 0) + (kind === "TCPSocketWrap" ? AT_ONCE : 1) ? [`${open[kind]} ${kind} are still open`] : [],
  ),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
