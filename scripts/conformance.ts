import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startFixtureServer } from "./conformance/fixture-server.ts";
import { gaps, type Plan, parseSuite, readPlans, readSuites, type Suite, writeSuites } from "./conformance/plan.ts";
import { startHttpProcess } from "./conformance/process.ts";

const CACHE = new URL("../node_modules/.cache/conformance/", import.meta.url).pathname;

/** Writes down the suite's list as it is. */
const WRITES = process.argv.includes("--write");

interface Ran {
  readonly code: number;
  readonly output: string;
}

function run(command: string, args: readonly string[], options: { cwd?: string; path?: string; limit?: number } = {}): Promise<Ran> {
  const env = { ...process.env, ...(options.path ? { PATH: `${options.path}${delimiter}${process.env.PATH}` } : {}) };
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { env, ...(options.cwd ? { cwd: options.cwd } : {}), timeout: options.limit ?? 120_000, maxBuffer: 50_000_000 },
      (error, stdout, stderr) => resolve({ code: error ? 1 : 0, output: `${stdout}${stderr}` }),
    );
  });
}

/** The suite needs a newer Node than ours: both are installed aside, once, and again where the network was not there. */
async function install(version: string): Promise<string> {
  const home = join(CACHE, version);
  const bin = join(home, "node_modules/.bin");
  mkdirSync(home, { recursive: true });
  if (!existsSync(join(home, "package.json"))) writeFileSync(join(home, "package.json"), '{"private":true}\n');
  for (let attempt = 1; attempt <= 4 && !existsSync(join(bin, "conformance")); attempt++) {
    const packages = ["node@24", `@modelcontextprotocol/conformance@${version}`];
    const { code, output } = await run("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: home, limit: 300_000 });
    if (code !== 0) console.error(`installing the suite ${version}, attempt ${attempt}: ${output.slice(-300)}`);
  }
  if (!existsSync(join(bin, "conformance"))) throw new Error(`the suite ${version} cannot be installed`);
  return bin;
}

/** The suite's own list of what it has. */
async function suiteOf(bin: string, version: string): Promise<Suite> {
  const { output } = await run(join(bin, "conformance"), ["list"], { path: bin });
  return parseSuite(version, output);
}

const hasPassed = ({ code, output }: Ran) => code === 0 && !/\b[1-9]\d* (failed|warnings)\b/.test(output);

function told(name: string, ran: Ran): string[] {
  console.log(`${hasPassed(ran) ? "✓" : "✗"} ${name}`);
  return hasPassed(ran) ? [] : [`${name}\n${ran.output.slice(-1_500)}`];
}

const TSX = import.meta.resolve("tsx");
const CLIENT = new URL("conformance/client.ts", import.meta.url).pathname;
/** Scenarios for clients mostly wait for a process to start. */
const AT_ONCE = 3;

const pairsOf = (lists: Plan["client"]) =>
  Object.entries(lists).flatMap(([revision, names]) => names.map((name) => [revision, name] as const));

async function runAll(bin: string, url: string, lists: Plan["server"], takesRevision: boolean): Promise<string[]> {
  const failed: string[] = [];
  for (const [revision, name] of pairsOf(lists)) {
    const version = takesRevision ? ["--spec-version", revision] : [];
    const ran = await run(join(bin, "conformance"), ["server", "--url", url, "--scenario", name, ...version], { path: bin });
    failed.push(...told(`${revision} ${name}`, ran));
  }
  return failed;
}

/** The suite starts our client for each scenario; a few at once. */
async function runClients(bin: string, lists: Plan["client"], takesRevision: boolean): Promise<string[]> {
  const failed: string[] = [];
  const waiting = [...pairsOf(lists)];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [revision, name] = next;
      const version = takesRevision ? ["--spec-version", revision] : [];
      const command = ["--command", `node --import ${TSX} ${CLIENT}`, "--timeout", "90000"];
      const ran = await run(join(bin, "conformance"), ["client", ...command, "--scenario", name, ...version], { path: bin });
      failed.push(...told(`${revision} ${name}`, ran));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

async function check(plan: Plan, stored: Suite | undefined): Promise<{ readonly suite: Suite; readonly problems: readonly string[] }> {
  const bin = await install(plan.version);
  const suite = await suiteOf(bin, plan.version);
  if (Object.keys(suite.server).length === 0) return { suite, problems: [`the suite ${plan.version} lists no scenarios`] };
  const takesRevision = plan.version !== "0.1.16";
  const problems = gaps(plan, suite);
  if (JSON.stringify(suite) !== JSON.stringify(stored) && !WRITES)
    problems.push(
      `fixtures/conformance/suite.json is not what the suite ${plan.version} lists; npm run conformance -- --write writes it anew`,
    );
  console.log(`\nsuite ${plan.version}\nagainst the built server`);
  const server = await startHttpProcess(spawn);
  problems.push(...(await runAll(bin, server.url, plan.server, takesRevision).finally(server.stop)));
  console.log("against our transport with the suite's fixtures");
  const fixtures = await startFixtureServer();
  problems.push(...(await runAll(bin, fixtures.url, plan.fixtures, takesRevision).finally(() => fixtures.stop())));
  console.log("against the bridge as a client, the suite's server behind it");
  problems.push(...(await runClients(bin, plan.client, takesRevision)));
  return { suite, problems };
}

const suites = readSuites();
const checked: Awaited<ReturnType<typeof check>>[] = [];
for (const plan of readPlans())
  checked.push(
    await check(
      plan,
      suites.find(({ version }) => version === plan.version),
    ),
  );
if (WRITES) writeSuites(checked.map(({ suite }) => suite));
const problems = checked.flatMap((one) => one.problems);
for (const problem of problems) console.error(`\n${problem}`);
console.log(problems.length === 0 ? "\nEverything that is run passes; everything else has a reason." : `\n${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
