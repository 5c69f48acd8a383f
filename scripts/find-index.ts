/** Makes the index of find beforehand: `tsx scripts/find-index.ts <file>`. */
import { writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { keyOf, pack } from "../src/discovery/prebuilt.ts";
import { buildIndex } from "../src/discovery/search-index.ts";

const actions = loadActions();
writeFileSync(process.argv[2] ?? "dist/data/find-index.json", JSON.stringify(pack(buildIndex(actions), keyOf(actions))));
