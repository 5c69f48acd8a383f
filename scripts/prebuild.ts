/** Makes beforehand what a server would else make at its start: `tsx scripts/prebuild.ts <folder>` packs the rows and the index of find. */
import { rmSync, writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { packRows } from "../src/catalog/packed.ts";
import { TOOLSETS } from "../src/catalog/toolsets.ts";
import { packClasses } from "../src/discovery/classes.ts";
import { buildIndexes } from "../src/discovery/engine.ts";
import { keyOf, pack } from "../src/discovery/prebuilt.ts";
import { readFiles, rowFindings } from "./check-rows.ts";

const findings = rowFindings(readFiles());
if (findings.length > 0) {
  for (const finding of findings) process.stderr.write(`${finding}\n`);
  process.exit(1);
}

const folder = process.argv[2] ?? "dist/data";
const actions = loadActions();
writeFileSync(`${folder}/find-index.bin`, pack(buildIndexes(actions), keyOf(actions)));
writeFileSync(`${folder}/find-classes.bin`, packClasses());
writeFileSync(`${folder}/rows.json`, packRows(actions));
for (const name of [...TOOLSETS.map((one) => one.name), "lean", "area", "deed"]) rmSync(`${folder}/${name}.json`);
