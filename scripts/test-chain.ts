import { readFileSync, writeFileSync } from "node:fs";
import { CHECKS, type CheckName, type Results, runChecks } from "./chain-checks.ts";
import { toAggregatorsPage } from "./chain-page.ts";
import { CHAINS, installAggregators } from "./chains.ts";

// Puts the built bridge behind real aggregators, loopback only, and writes docs/aggregators.md from what was seen.
// Arguments choose chains by name; the page is written only where all ran.
const PAGE = "docs/aggregators.md";
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const rows = CHAINS.filter(({ name }) => chosen.length === 0 || chosen.some((word) => name.includes(word)));

await installAggregators();
const all = new Map<string, Results>();
let failed = false;
for (const row of rows) {
  const since = Date.now();
  const results = await runChecks(row).catch((error: Error): Results => {
    console.error(`  ${row.name}: ${error.message}`);
    return {};
  });
  all.set(row.name, results);
  const names = Object.keys(CHECKS) as CheckName[];
  const broken = names.filter((name) => CHECKS[name].ours && results[name] !== true && !(name === "byName" && row.viaExecute));
  failed ||= broken.length > 0;
  const shown = names.map((name) => `${results[name] === true ? "+" : "-"}${name}`).join(" ");
  console.log(
    `${row.name}: ${shown} (${Math.round((Date.now() - since) / 1_000)} s)${broken.length > 0 ? ` BROKEN: ${broken.join(", ")}` : ""}`,
  );
}
if (chosen.length === 0 && !failed) {
  const page = toAggregatorsPage(all);
  const before = (() => {
    try {
      return readFileSync(PAGE, "utf8");
    } catch {
      return "";
    }
  })();
  if (process.argv.includes("--check") && before !== page)
    console.error(`${PAGE} says something else than this run; npm run test:chain writes it anew`);
  if (!process.argv.includes("--check")) writeFileSync(PAGE, page);
}
process.exit(failed ? 1 : 0);
