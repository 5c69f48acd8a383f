import { readFileSync } from "node:fs";
import { type ChainClient, fixture, openChain } from "../test/upstreams/chain.ts";
import { startHttpFixture } from "../test/upstreams/http-fixture.ts";

// What only shows in real length: calls of more than a minute through servers of every kind, and a hundred connections that leave nothing behind.
// Nothing here is judged by how fast it is; the limits only end what would never end.
const SECONDS = 75;
const ROUNDS = 100;
const AT_ONCE = 4;
const NEVER = 600_000;

const problems: string[] = [];
const check = (holds: boolean, what: string) => {
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  if (!holds) problems.push(what);
};

/** One call that tells of itself each second. A client with the SDK's own patience of a minute waits for it. */
async function longCall(client: ChainClient, id: string): Promise<void> {
  const since = Date.now();
  let told = 0;
  const onprogress = () => {
    told++;
  };
  const options = { onprogress, resetTimeoutOnProgress: true, maxTotalTimeout: NEVER };
  const reply = await client.run(id, { steps: SECONDS, ms: 1_000 }, options).catch((error: Error) => ({ text: error.message }));
  const seconds = Math.round((Date.now() - since) / 1_000);
  const whole = reply.text === `${SECONDS} steps` && seconds >= SECONDS && told > 0;
  check(whole, `${id}: ${reply.text.slice(0, 100)}, after ${seconds} s, progress told ${told} times`);
}

async function longCalls(): Promise<void> {
  const far = { legacy: await startHttpFixture("legacy"), modern: await startHttpFixture("modern"), sse: await startHttpFixture("sse") };
  const chain = openChain({
    stdio_legacy: fixture("legacy.mjs"),
    stdio_modern: fixture("modern.mjs"),
    http_legacy: { url: far.legacy.url },
    http_modern: { url: far.modern.url },
    http_sse: { url: far.sse.url },
  });
  const client = await chain.connect();
  await client.call("list_available_toolsets");
  await Promise.all(chain.upstreams.sources.map(({ name }) => longCall(client, `${name}.slow`)));
  await chain.close();
  await Promise.all(Object.values(far).map((server) => server.kill()));
}

/** A process and when it began: its number may be given to another one later. */
const beganAt = (pid: number): string | undefined => {
  try {
    const [, rest = ""] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const fields = rest.split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

async function round(born: Map<number, string>): Promise<void> {
  const chain = openChain({ fix: fixture("stubborn.mjs") });
  const client = await chain.connect();
  const reply = await client.run("fix.pids", {}, { timeout: NEVER });
  for (const pid of JSON.parse(reply.text) as number[]) born.set(pid, beganAt(pid) ?? "");
  await chain.close();
}

async function manyRounds(): Promise<void> {
  const born = new Map<number, string>();
  let left = ROUNDS;
  const work = async () => {
    while (left-- > 0) await round(born);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const alive = () => [...born].filter(([pid, began]) => beganAt(pid) === began);
  const until = Date.now() + 60_000;
  while (alive().length > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
  const seen = [...born.values()].filter((began) => began !== "").length;
  check(seen === 2 * ROUNDS, `${ROUNDS} connections started ${seen} processes that ignore every request to end`);
  check(alive().length === 0, `${alive().length} of them are left`);
}

await Promise.all([longCalls(), manyRounds()]);
for (const problem of problems) console.error(`\n${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
