import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startFixtureServer } from "./conformance/fixture-server.ts";
import { startHttpProcess } from "./conformance/process.ts";

/** One version of the suite: which scenarios are run against what, by protocol revision; the others each with a reason. */
interface Plan {
  readonly version: string;
  /** Against the built server, as people run it. */
  readonly server: Readonly<Record<string, readonly string[]>>;
  /** Against our transport with the suite's own fixtures. */
  readonly fixtures: Readonly<Record<string, readonly string[]>>;
  readonly left_out: Readonly<Record<string, string>>;
}

const PLANS = JSON.parse(readFileSync(new URL("../fixtures/conformance/scenarios.json", import.meta.url), "utf8")) as readonly Plan[];
const CACHE = new URL("../node_modules/.cache/conformance/", import.meta.url).pathname;

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

/** Every scenario of the suite for servers, with its revisions. */
async function scenariosOf(bin: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { output } = await run(join(bin, "conformance"), ["list"], { path: bin });
  const servers = output.split(/^Client scenarios/m)[0] ?? "";
  const found = [...servers.matchAll(/^\s+- (\S+) \[([^\]]*)\]/gm)];
  return new Map(found.map(([, name = "", revisions = ""]) => [name, revisions.split(",")]));
}

/** What stands in neither list, or in a list and nowhere else. */
function gaps(plan: Plan, scenarios: ReadonlyMap<string, readonly string[]>): string[] {
  const planned = (name: string, revision: string) =>
    [plan.server, plan.fixtures].some((lists) => lists[revision]?.includes(name)) ||
    plan.left_out[name] !== undefined ||
    plan.left_out[`${name} ${revision}`] !== undefined;
  const missing = [...scenarios].flatMap(([name, revisions]) =>
    revisions
      .filter((revision) => !planned(name, revision))
      .map((revision) => `${name} ${revision} is neither run nor left out with a reason`),
  );
  const names = [plan.server, plan.fixtures].flatMap((lists) => Object.values(lists).flat());
  const gone = [...names, ...Object.keys(plan.left_out).map((key) => key.split(" ")[0] ?? "")].filter((name) => !scenarios.has(name));
  return [...missing, ...gone.map((name) => `${name} is listed, but not in the suite`)];
}

async function runAll(
  bin: string,
  url: string,
  lists: Readonly<Record<string, readonly string[]>>,
  takesRevision: boolean,
): Promise<string[]> {
  const failed: string[] = [];
  for (const [revision, names] of Object.entries(lists)) {
    for (const name of names) {
      const version = takesRevision ? ["--spec-version", revision] : [];
      const { code, output } = await run(join(bin, "conformance"), ["server", "--url", url, "--scenario", name, ...version], { path: bin });
      const passed = code === 0 && !/\b[1-9]\d* (failed|warnings)\b/.test(output);
      console.log(`${passed ? "✓" : "✗"} ${revision} ${name}`);
      if (!passed) failed.push(`${revision} ${name}\n${output.slice(-1_500)}`);
    }
  }
  return failed;
}

async function check(plan: Plan): Promise<string[]> {
  const bin = await install(plan.version);
  const scenarios = await scenariosOf(bin);
  if (scenarios.size === 0) return [`the suite ${plan.version} lists no scenarios`];
  const takesRevision = plan.version !== "0.1.16";
  const problems = gaps(plan, scenarios);
  console.log(`\nsuite ${plan.version}: ${scenarios.size} scenarios\nagainst the built server`);
  const server = await startHttpProcess(spawn);
  problems.push(...(await runAll(bin, server.url, plan.server, takesRevision).finally(server.stop)));
  console.log("against our transport with the suite's fixtures");
  const fixtures = await startFixtureServer();
  problems.push(...(await runAll(bin, fixtures.url, plan.fixtures, takesRevision).finally(() => fixtures.stop())));
  return problems;
}

const problems: string[] = [];
for (const plan of PLANS) problems.push(...(await check(plan)));
for (const problem of problems) console.error(`\n${problem}`);
console.log(problems.length === 0 ? "\nEverything that is run passes; everything else has a reason." : `\n${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
