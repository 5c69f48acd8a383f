import { readFileSync, writeFileSync } from "node:fs";
import { CHECKS, type CheckName, type Results, runChecks } from "./chain-checks.ts";
import { toAggregatorsPage } from "./chain-page.ts";
import { CHAINS, type ChainRow, DIRECT, installAggregators, NotUp } from "./chains.ts";

// Puts the built bridge behind real aggregators, loopback only, and writes docs/aggregators.md from what was seen.
// Arguments choose chains by name; the page is written only where all ran, and never with --check.
// An aggregator that is not there, or does not come up, is told and counts as not run; a check that does not hold on one that runs is a failure.
const PAGE = "docs/aggregators.md";
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const rows = CHAINS.filter(({ name }) => chosen.length === 0 || chosen.some((word) => name.includes(word)));
const names = Object.keys(CHECKS) as CheckName[];

type Verdict = { readonly results: Results; readonly broken: readonly CheckName[] } | { readonly notRun: string };

function verdictOf(row: ChainRow, results: Results): Verdict {
  const mayMiss = (name: CheckName) => name === "byName" && row.viaExecute !== undefined;
  return { results, broken: names.filter((name) => CHECKS[name].ours && results[name] !== true && !mayMiss(name)) };
}

async function judge(row: ChainRow): Promise<Verdict> {
  const since = Date.now();
  try {
    const verdict = verdictOf(row, await runChecks(row));
    const { results, broken } = verdict as Extract<Verdict, { results: Results }>;
    const shown = names.map((name) => `${results[name] === true ? "+" : "-"}${name}`).join(" ");
    const seconds = Math.round((Date.now() - since) / 1_000);
    console.log(`${row.name}: ${shown} (${seconds} s)${broken.length > 0 ? ` BROKEN: ${broken.join(", ")}` : ""}`);
    return verdict;
  } catch (error) {
    if (!(error instanceof NotUp)) throw error;
    return { notRun: error.message };
  }
}

const installed = await installAggregators();
const all = new Map<string, Results>();
const problems: string[] = [];
const notRun: string[] = [];
for (const row of [DIRECT, ...rows]) {
  const missing = row.package === undefined ? undefined : installed.get(row.package);
  const verdict: Verdict = missing === undefined ? await judge(row) : { notRun: missing };
  if ("notRun" in verdict) {
    const told = `${row.name}: NOT RUN HERE: ${verdict.notRun}`;
    console.log(told);
    // What is our own must come up.
    (row.package === undefined ? problems : notRun).push(told);
    continue;
  }
  if (row !== DIRECT) all.set(row.name, verdict.results);
  if (verdict.broken.length > 0) problems.push(`${row.name}: ${verdict.broken.join(", ")}`);
}

const readPage = (): string => {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return "";
  }
};

if (chosen.length === 0 && problems.length + notRun.length === 0) {
  const page = toAggregatorsPage(all);
  const isChecked = process.argv.includes("--check");
  if (isChecked && readPage() !== page) console.error(`${PAGE} says something else than this run; npm run test:chain writes it anew`);
  if (!isChecked) writeFileSync(PAGE, page);
}
for (const told of notRun) console.error(`\n!!! ${told}`);
for (const problem of problems) console.error(`\n${problem}`);
console.log(`\n${rows.length - notRun.length} of ${rows.length} chains ran, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
