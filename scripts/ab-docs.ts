import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Runs both drivers without a model over all tasks, under every arm of our own and under the most used other server, and puts the
 * harness's own report into docs/ab.md. `--minutes N` bounds the whole; `--resume` goes on with what stands in the folder; `--report`
 * runs nothing and reports on that.
 */

const FOLDER = ".cache/ab";
const PEER = "@zereight/mcp-gitlab@2.1.64";
const MAIN = resolve("dist/main.js");
const [BEGIN, END] = ["<!-- results: npm run ab:docs -->", "<!-- end: results -->"];

const has = (name: string) => process.argv.includes(name);
const minutes = has("--minutes") ? Number(process.argv[process.argv.indexOf("--minutes") + 1]) : 90;
const end = Date.now() + minutes * 60_000;

/** The other server as npm installs it; the network may need more than one try. */
function installPeer(): string {
  const prefix = join(FOLDER, "peer");
  const entry = resolve(prefix, "node_modules/@zereight/mcp-gitlab/build/index.js");
  mkdirSync(prefix, { recursive: true });
  for (let attempt = 1; attempt <= 4 && !existsSync(entry); attempt++) {
    if (attempt > 1) spawnSync("sleep", [String(attempt * 5)]);
    spawnSync("npm", ["install", "--prefix", prefix, "--no-save", "--no-audit", "--no-fund", PEER], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  if (!existsSync(entry)) throw new Error(`${PEER} could not be installed.`);
  return entry;
}

const peerArm = (name: string, entry: string, more: readonly string[] = []) => [
  ...["--arm", `${name}='${process.execPath}' '${entry}'`],
  ...["GITLAB_API_URL={API}", "GITLAB_PERSONAL_ACCESS_TOKEN={TOKEN}", ...more].flatMap((one) => ["--env", one]),
];

const STYLES = "bridge,toolsets,dynamic,meta,static,individual";

/** What is run, in order: what matters most first, in case the time runs out. */
const steps = (entry: string): readonly (readonly string[])[] => {
  const peers = [...peerArm("zereight", entry), ...peerArm("zereight-all", entry, ["GITLAB_TOOLSETS=all"])];
  return [
    ["--driver", "scripted,heuristic", "--arms", STYLES, ...peers],
    ["--driver", "scripted,heuristic", "--arms", "bridge", "--repeats", "2"],
    ["--driver", "scripted", "--arms", "all"],
    ["--driver", "heuristic", "--arms", "all"],
    ["--driver", "scripted,heuristic", "--arms", "bridge,toolsets,static", "--refresh", "next_turn,never"],
  ];
};

/** One `ab run`; interrupted when the time is over, as a person would. */
function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [MAIN, "ab", "run", "--out", join(FOLDER, "runs"), "--workers", "3", ...args], {
    stdio: "inherit",
  });
  const timer = setTimeout(() => child.kill("SIGINT"), Math.max(0, end - Date.now()));
  return new Promise((done) => {
    child.once("exit", (code) => {
      clearTimeout(timer);
      done(code ?? 130);
    });
  });
}

/** One level down, and long tables folded. */
const toSection = (report: string): string =>
  report
    .replace(/^# .*\n+/, "")
    .replace(/^#(?=#)/gm, "##")
    .replace(
      /^#### By task.*\n+((?:\|.*\n)+)/gm,
      (_whole, table: string) => `<details><summary>By task: successes, and prompt tokens</summary>\n\n${table}\n</details>\n`,
    );

async function runAll(): Promise<void> {
  if (!has("--resume")) rmSync(join(FOLDER, "runs"), { recursive: true, force: true });
  for (const args of steps(installPeer())) {
    const code = await run(args);
    if (code !== 0 && code !== 130) throw new Error(`ab run ${args.join(" ")} ended with ${code}.`);
    if (Date.now() >= end) break;
  }
}

function fillPage(): void {
  const report = readFileSync(join(FOLDER, "runs/report.md"), "utf8");
  const whole = Date.now() < end ? "" : "The time ran out before everything was run.\n\n";
  const [before = "", rest = ""] = readFileSync("docs/ab.md", "utf8").split(BEGIN);
  writeFileSync("docs/ab.md", `${before}${BEGIN}\n\n${whole}${toSection(report)}\n${rest.slice(rest.indexOf(END))}`);
}

if (!has("--report")) await runAll();
spawnSync(process.execPath, [MAIN, "ab", "report", join(FOLDER, "runs")], { stdio: "inherit" });
fillPage();
