import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CHANGE_KINDS, type DumpedRow, diffCatalogs } from "../catalog/diff.ts";
import { loadActions } from "../catalog/load.ts";
import { readSpec } from "../catalog/spec.ts";
import { compareRows, type SpecFinding } from "../catalog/spec-compare.ts";
import { type Judged, judgeFindings, loadDifferences, loadLeftOut } from "../catalog/spec-reasons.ts";
import { SettingsError } from "../config/fault.ts";
import { parseDocument } from "../config/yaml.ts";
import type { Host } from "./run.ts";

/** The excerpt of GitLab's document that stands in where no document is at hand. */
const EXCERPT = "fixtures/facts/openapi.json";

const USAGE = "catalog check [--spec FILE] | catalog diff OLD NEW | catalog dump FILE";

function read(path: string): string {
  if (!existsSync(path)) throw new SettingsError(`There is no file ${path}.`);
  return readFileSync(path, "utf8");
}

function specFile(argv: readonly string[], host: Host): string {
  const at = argv.indexOf("--spec");
  const named = at < 0 ? (host.env.GITLAB_OPENAPI ?? "") : (argv[at + 1] ?? "");
  if (at >= 0 && named === "") throw new SettingsError("--spec needs a file.");
  return resolve(host.cwd, named === "" ? EXCERPT : named);
}

/** An excerpt says of which toolsets it is; rows of other toolsets cannot be judged by it. */
function rowsFor(document: unknown) {
  const excerpt = (document as { "x-toolsets"?: readonly string[] } | null)?.["x-toolsets"];
  return excerpt ? loadActions().filter(({ toolset }) => excerpt.includes(toolset)) : loadActions();
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const groupOf = ({ kind, aspect }: SpecFinding) => `${kind} (${aspect})`;

function report({ open, explained, unused }: Judged, counts: string): void {
  console.log(counts);
  for (const [group, findings] of grouped(open, groupOf)) {
    console.log(`\n${group}: ${findings.length}`);
    for (const { text } of findings) console.log(`  ${text}`);
  }
  console.log(`\nknown, with a reason: ${explained.length}`);
  for (const [why, list] of grouped(explained, (one) => one.why)) console.log(`  ${String(list.length).padStart(5)}  ${why}`);
  if (unused.length > 0) console.log(`\nlisted, but not seen in this document: ${unused.length}`);
  for (const key of unused) console.log(`  ${key}`);
  console.log(`\n${open.length === 0 ? "No difference without a reason." : `${open.length} differences without a reason.`}`);
}

function check(argv: readonly string[], host: Host): void {
  const file = specFile(argv, host);
  const document = parseDocument(read(file), file);
  const operations = readSpec(document);
  if (operations.length === 0) throw new SettingsError(`${file} holds no operations: is it an OpenAPI 3 document?`);
  const rows = rowsFor(document);
  const judged = judgeFindings(compareRows(rows, operations), loadLeftOut(), loadDifferences());
  const whole = rows.length === loadActions().length;
  report(whole ? judged : { ...judged, unused: [] }, `${basename(file)}: ${operations.length} operations; ${rows.length} rows`);
  if (judged.open.length > 0) host.exit(1);
}

/** Rows of a dump, or of a directory with one file per toolset. */
function readCatalog(path: string): readonly DumpedRow[] {
  if (!existsSync(path)) throw new SettingsError(`There is no file or directory ${path}.`);
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith(".json"))
        .map((name) => join(path, name))
    : [path];
  return files.flatMap((file) => {
    const content = parseDocument(read(file), file);
    if (!Array.isArray(content)) return [];
    return (content as DumpedRow[]).map((row) => ({ ...row, toolset: row.toolset ?? basename(file, ".json") }));
  });
}

function diff([old, now]: readonly string[]): void {
  if (old === undefined || now === undefined) throw new SettingsError(`Two catalogs are needed: ${USAGE}`);
  const changes = diffCatalogs(readCatalog(old), readCatalog(now));
  for (const kind of CHANGE_KINDS) {
    const own = changes.filter((change) => change.kind === kind);
    if (own.length > 0) console.log(`${kind}: ${own.length}\n${own.map(({ text }) => `  ${text}`).join("\n")}`);
  }
  if (changes.length === 0) console.log("No difference.");
}

function dump([file]: readonly string[]): void {
  if (file === undefined) throw new SettingsError(`A file is needed: ${USAGE}`);
  writeFileSync(
    file,
    `[\n${loadActions()
      .map((action) => JSON.stringify(action))
      .join(",\n")}\n]\n`,
  );
  console.log(`${file}: ${loadActions().length} actions`);
}

const WORDS: Readonly<Record<string, (argv: readonly string[], host: Host) => void>> = { check, diff, dump };

/** `catalog`: compares the rows with GitLab's OpenAPI document, or two catalogs with each other. */
export function catalog([word = "", ...rest]: readonly string[], host: Host): void {
  const command = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (!command) throw new SettingsError(`catalog takes check, diff or dump: ${USAGE}`);
  command(rest, host);
}
