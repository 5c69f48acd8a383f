import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { report } from "../src/ab/report.ts";
import { HOSTILE, syntheticRuns } from "../test/support/ab-runs.ts";
import { installDebian } from "./debian.ts";

/**
 * Opens the A/B report in Debian's Chromium as a person would, on a phone and a screen, in light and in dark: `npm run test:page`.
 * With a path, that report is opened instead of one of made-up runs. Pictures go to the folder that LOOK names.
 */
const CHROMIUM = "/usr/bin/chromium";
const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } } as const;

const problems: string[] = [];
function check(ok: boolean, what: string): void {
  console.log(`${ok ? "✓" : "✗"} ${what}`);
  if (!ok) problems.push(what);
}

/** A report of runs that nobody ran, hostile texts among them. */
function makeReport(dir: string): string {
  const runs = syntheticRuns({
    seed: 4,
    tasks: 60,
    arms: [
      "bridge",
      "toolsets",
      "dynamic",
      "meta",
      "static",
      "individual",
      "bridge-read-only",
      "bridge-split",
      "dynamic-prefix",
      "zereight",
    ],
    drivers: ["scripted", "heuristic"],
    refreshes: ["at_once", "never"],
    repeats: 2,
  });
  writeFileSync(join(dir, "runs.jsonl"), runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
  const prompts = Object.fromEntries(runs.map(({ task }) => [task, `Please do ${task}. ${HOSTILE}`]));
  const prices = { currency: "EUR", rows: [{ model: "some-model", input: 3, cached: 0.3, output: 15 }] };
  report(dir, { rounds: 200, prompts, prices });
  return join(dir, "report.html");
}

async function checkTranscript(page: Page, label: string): Promise<void> {
  const button = page.locator(".tasks button").first();
  const id = await button.getAttribute("aria-controls");
  const detail = page.locator(`#${id}`);
  check(!(await detail.isVisible()), `${label}: a task is closed at first`);
  await button.focus();
  await page.keyboard.press("Enter");
  await detail.locator(".turns li").first().waitFor({ state: "visible" });
  check((await button.getAttribute("aria-expanded")) === "true", `${label}: Enter opens a task to its transcript, and says so`);
  const closed = detail.locator("details.run:not([open]) > summary");
  if ((await closed.count()) > 0) {
    const before = await detail.locator(".turns").count();
    await closed.first().focus();
    await page.keyboard.press("Enter");
    await detail
      .locator(".turns")
      .nth(before)
      .waitFor({ state: "visible" })
      .catch(() => undefined);
    check((await detail.locator(".turns").count()) > before, `${label}: every run of a task opens by keyboard`);
  }
}

async function checkHostile(page: Page, label: string): Promise<void> {
  const text = (await page.locator(".detail:visible").first().textContent()) ?? "";
  check(text.includes("</script><script>window.hurt=1</script><img src=x onerror="), `${label}: hostile text is shown as text`);
  check(!(await page.evaluate<boolean>("look.hurt()")), `${label}: and does nothing`);
}

async function checkNarrowing(page: Page, label: string): Promise<void> {
  const rows = page.locator('tr[data-group="0"]:visible');
  const all = await rows.count();
  const tools = page.locator('.tools[data-group="0"]');
  const offered = await tools.locator("option").count();
  const last = (await tools.locator("option").last().textContent()) ?? "";
  await tools.locator("select").selectOption(last);
  const left = await rows.count();
  const sizes = await Promise.all((await rows.all()).map((row) => row.getAttribute("data-size")));
  check(left > 0 && (left < all || offered <= 2) && sizes.every((size) => size === last), `${label}: tasks can be narrowed by size`);
  await tools.locator("select").selectOption("");
}

async function checkStructure(page: Page, label: string): Promise<void> {
  const faults = await page.evaluate<readonly string[]>("look.structure()");
  check(
    faults.length === 0,
    `${label}: tables have headers, charts have names, headings are in order${faults.map((one) => `; ${one}`).join("")}`,
  );
  const charts = await page.locator("figure svg:visible").count();
  check(charts === 2 * (await page.locator("section > .charts").count()) && charts > 0, `${label}: two charts in each section are seen`);
}

async function look(browser: Browser, file: string, screen: keyof typeof SCREENS, scheme: "light" | "dark", own: boolean): Promise<string> {
  const label = `${screen}, ${scheme}`;
  const page = await browser.newPage({ viewport: SCREENS[screen], colorScheme: scheme, deviceScaleFactor: 1 });
  const address = pathToFileURL(file).href;
  const said: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== address) said.push(`asked for ${request.url()}`);
  });
  await page.addInitScript({ path: join(import.meta.dirname, "look-in-page.js") });
  await page.goto(address, { waitUntil: "load" });
  await checkStructure(page, label);
  if (process.env.LOOK) await page.screenshot({ path: join(process.env.LOOK, `${screen}-${scheme}.png`), fullPage: false });
  if (process.env.LOOK) await page.screenshot({ path: join(process.env.LOOK, `${screen}-${scheme}-whole.png`), fullPage: true });
  await checkTranscript(page, label);
  if (own) await checkHostile(page, label);
  await checkNarrowing(page, label);
  const faint = await page.evaluate<readonly string[]>("look.faint()");
  check(faint.length === 0, `${label}: every text stands out by 4.5 or more${faint.map((one) => `; ${one}`).join("")}`);
  const wide = await page.evaluate<number>("look.overhang()");
  check(wide <= 0, `${label}: the page does not scroll sideways (${wide})`);
  if (process.env.LOOK) {
    await page.locator(".tasks button").first().scrollIntoViewIfNeeded();
    await page
      .locator(".tasks")
      .first()
      .screenshot({ path: join(process.env.LOOK, `${screen}-${scheme}-tasks.png`) });
  }
  const ground = await page.evaluate<string>("look.ground()");
  check(said.length === 0, `${label}: no error, no request${said.map((one) => `; ${one}`).join("")}`);
  await page.close();
  return ground;
}

async function main(file: string, own: boolean): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    for (const screen of ["phone", "desktop"] as const) {
      const grounds = [await look(browser, file, screen, "light", own), await look(browser, file, screen, "dark", own)];
      check(grounds[0] !== grounds[1], `${screen}: dark has another ground (${grounds.join(", ")})`);
    }
  } finally {
    await browser.close();
  }
}

if (!existsSync(CHROMIUM)) await installDebian(["chromium"]);
if (process.env.LOOK) mkdirSync(process.env.LOOK, { recursive: true });
const home = mkdtempSync(join(tmpdir(), "bridge-page-"));
const given = process.argv[2];
try {
  await main(given === undefined ? makeReport(home) : resolve(given), given === undefined);
} finally {
  rmSync(home, { recursive: true, force: true });
}
process.exit(problems.length === 0 ? 0 : 1);
