/** Runs the sandbox against GitLab clients that were written by others: Debian's python3-gitlab and ruby-gitlab. */
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startSandbox } from "../src/sandbox/server.ts";
import { installDebian } from "./debian.ts";

interface Client {
  readonly name: string;
  readonly debian: string;
  /** Succeeds where the client is installed. */
  readonly probe: readonly [command: string, ...args: string[]];
  readonly run: readonly [command: string, ...args: string[]];
  /** Fewer checks than this mean that the script stopped half-way. */
  readonly least: number;
}

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const script = (name: string) => fileURLToPath(new URL(`../test/clients/${name}`, import.meta.url));

const CLIENTS: readonly Client[] = [
  {
    name: "python-gitlab",
    debian: "python3-gitlab",
    probe: ["/usr/bin/python3", "-c", "import gitlab"],
    run: ["/usr/bin/python3", "-B", script("python_gitlab.py")],
    least: 120,
  },
  {
    name: "ruby-gitlab",
    debian: "ruby-gitlab",
    probe: ["/usr/bin/ruby", "-e", "require 'gitlab'"],
    run: ["/usr/bin/ruby", script("ruby_gitlab.rb")],
    least: 60,
  },
];

const MOST_MS = 300_000;

const works = ([command, ...args]: Client["probe"]): boolean => spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** Prints a script's lines and counts them. A script that ends early or by a signal counts as a failure. */
async function drive(client: Client, env: Readonly<Record<string, string>>): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const [command, ...args] = client.run;
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  const limit = setTimeout(() => child.kill("SIGKILL"), MOST_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`${client.name} ${line}`);
    if (line.startsWith("ok ")) tally.passed++;
    else if (line.startsWith("not ok ")) tally.failed++;
    else if (line.startsWith("skip ")) tally.skipped++;
  }
  const code = await ended;
  clearTimeout(limit);
  const count = tally.passed + tally.failed;
  const expected = tally.failed > 0 ? 1 : 0;
  if (code !== expected || count < client.least) {
    console.log(`${client.name} not ok the script ended with ${code} after ${count} checks, at least ${client.least} were expected`);
    tally.failed++;
  }
  return tally;
}

async function main(): Promise<void> {
  const missing = CLIENTS.filter(({ probe }) => !works(probe)).map(({ debian }) => debian);
  if (missing.length > 0) await installDebian(missing);
  const sandbox = await startSandbox();
  const tokens = Object.entries(sandbox.tokens).map(([name, value]) => [`SANDBOX_TOKEN_${name.toUpperCase()}`, value] as const);
  const total: Tally = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const client of CLIENTS) {
      sandbox.reset();
      sandbox.fail({ kind: "429", match: { method: "GET", path: /\/metadata$/ }, times: 1, retryAfter: 1 });
      sandbox.fail({ kind: "503", match: { method: "GET", path: /\/user\/emails$/ }, times: 1 });
      const { passed, failed, skipped } = await drive(client, { SANDBOX_URL: sandbox.url, ...Object.fromEntries(tokens) });
      total.passed += passed;
      total.failed += failed;
      total.skipped += skipped;
    }
  } finally {
    await sandbox.close();
  }
  if (total.skipped > 0) console.log(`${total.skipped} skipped`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

await main();
